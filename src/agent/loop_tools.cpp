// SPDX-License-Identifier: Apache-2.0
#include "agent/loop_tools.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::int64_t kDefaultSeconds = 120;
constexpr std::int64_t kMostSeconds = 3600;
constexpr std::size_t kMostCommandOutput = std::size_t{16} << 20U;
constexpr std::size_t kMostListed = 1'000;
constexpr std::size_t kMostFound = 200;
constexpr std::size_t kMostColumns = 400;  // of a line that grep found
constexpr std::size_t kMostPattern = 4'000;
constexpr double kMostSteps = 2e9;  // of grep: instructions of the pattern times bytes that are searched; seconds

// What the model is told instead of a result.
struct ToolFault {
  std::string what;
};

class ToolRun {
 public:
  ToolRun(const ToolCall& call, const WorkspaceState& state, const Sandbox& sandbox, const ToolLimits& limits,
          const StopFlag* stop)
      : call_(call), state_(state), sandbox_(sandbox), limits_(limits), stop_(stop) {
    outcome_.files = state.files;
  }

  Result<ToolOutcome> Run() {
    using Tool = Status (ToolRun::*)();
    constexpr std::array<std::pair<std::string_view, Tool>, 7> kTools = {{{"bash", &ToolRun::Bash},
                                                                          {"read_file", &ToolRun::ReadText},
                                                                          {"write_file", &ToolRun::Write},
                                                                          {"edit_file", &ToolRun::Edit},
                                                                          {"list_files", &ToolRun::List},
                                                                          {"grep", &ToolRun::Grep},
                                                                          {kActivateSkillTool, &ToolRun::Activate}}};
    try {
      if (!call_.arguments.is_object()) throw ToolFault{"the arguments of the call are not a JSON object"};
      for (const auto& [name, tool] : kTools) {
        if (name != call_.name) continue;
        RETURN_IF_ERROR((this->*tool)());
        return Finished();
      }
      throw ToolFault{fmt::format("there is no tool {}", Quoted(call_.name))};
    } catch (const ToolFault& fault) {
      outcome_.text = "Error: " + fault.what;
      outcome_.is_error = true;
      return Finished();
    }
  }

 private:
  static std::string Quoted(const std::string& text) { return fmt::format("\"{}\"", ExcerptLine(text, 80)); }

  ToolOutcome Finished() {
    if (FindInvalidUtf8(outcome_.text)) outcome_.text = ReplaceInvalidUtf8(outcome_.text);
    outcome_.text = WithoutMiddle(outcome_.text, limits_.text_bytes);
    return std::move(outcome_);
  }

  std::string Text(const char* key) const {
    const Json& value = Member(call_.arguments, key);
    if (!value.is_string()) throw ToolFault{fmt::format("\"{}\" must be given, as a string", key)};
    return value.get<std::string>();
  }

  std::optional<std::int64_t> Number(const char* key) const {
    const Json& value = Member(call_.arguments, key);
    if (value.is_null()) return std::nullopt;
    const std::optional<std::int64_t> number = value.is_number() ? NumberAs<std::int64_t>(value) : std::nullopt;
    if (!number) throw ToolFault{fmt::format("\"{}\" must be a whole number", key)};
    return number;
  }

  // Relative to the workspace; empty for the workspace itself. An absolute path into it will do.
  static std::string PlainPath(std::string path) {
    constexpr std::string_view kRoot = "/workspace";
    if (path == kRoot || path.starts_with(std::string(kRoot) + "/")) path.erase(0, kRoot.size());
    while (path.starts_with('/') && path.size() == 1) path.clear();
    if (path.empty() || path == "." || path == "./") return "";
    if (path.starts_with('/')) path.erase(0, path.starts_with("//") ? 0 : 1);
    const Result<std::filesystem::path> inside = ContainedPath("", path);
    if (!inside) throw ToolFault{fmt::format("{} is not a path in the working folder", Quoted(path))};
    std::string plain = PlainFileName(path);
    while (plain.ends_with('/')) plain.pop_back();
    return plain == "." ? "" : plain;
  }

  std::string FileName() const {
    const std::string name = Text("path");
    const bool absolute = name.starts_with('/') && !name.starts_with("/workspace/");
    std::string plain = absolute ? "" : PlainPath(name);
    if (plain.empty()) throw ToolFault{fmt::format("{} is not a path of a file in the working folder", Quoted(name))};
    return plain;
  }

  const std::string* Find(const std::string& name) const {
    for (const WorkspaceFiles* files : {&state_.fixed, &state_.files}) {
      if (const auto found = files->find(name); found != files->end()) return &found->second;
    }
    return nullptr;
  }

  const std::string& TextOf(const std::string& name) const {
    const std::string* const content = Find(name);
    if (content == nullptr) throw ToolFault{fmt::format("there is no file {}", Quoted(name))};
    if (FindInvalidUtf8(*content)) throw ToolFault{fmt::format("{} is not a text file", Quoted(name))};
    return *content;
  }

  // The files in a folder, or the one of this name, with those of the skill.
  std::vector<std::pair<std::string, const std::string*>> Below(const std::string& path) const {
    std::map<std::string, const std::string*> found;
    for (const WorkspaceFiles* files : {&state_.files, &state_.fixed}) {
      for (const auto& [name, content] : *files) {
        if (path.empty() || name == path || name.starts_with(path + "/")) found[name] = &content;
      }
    }
    if (found.empty() && !path.empty()) throw ToolFault{fmt::format("there is no file or folder {}", Quoted(path))};
    return {found.begin(), found.end()};
  }

  std::string OptionalPath() const {
    const Json& path = Member(call_.arguments, "path");
    return path.is_null() ? "" : PlainPath(Text("path"));
  }

  Status ReadText() {
    const std::string name = FileName();
    const std::string& content = TextOf(name);
    const std::optional<std::int64_t> offset = Number("offset");
    const std::optional<std::int64_t> limit = Number("limit");
    if (!offset && !limit) {
      outcome_.text = content.empty() ? "(the file is empty)" : content;
      return {};
    }
    const std::vector<std::string_view> lines = SplitLines(content);
    const auto first = static_cast<std::size_t>(std::max<std::int64_t>(offset.value_or(1), 1)) - 1;
    if (first >= lines.size()) throw ToolFault{fmt::format("{} has {} lines", Quoted(name), lines.size())};
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(limit.value_or(1'000'000'000), 1));
    for (std::size_t i = first; i < std::min(lines.size(), first + most); ++i)
      outcome_.text += std::string(lines[i]) + "\n";
    return {};
  }

  Status Activate() {
    const std::string skill = Text("name");
    const std::string folder = std::string(kWorkspaceSkills) + "/" + skill + "/";
    const auto body = state_.fixed.find(folder + "SKILL.md");
    if (body == state_.fixed.end()) throw ToolFault{fmt::format("no skill is called {}", Quoted(skill))};
    outcome_.text = fmt::format("{}\n\n[The skill's folder is {}]\n", TextOf(body->first), folder);
    return {};
  }

  void Store(const std::string& name, std::string content) {
    if (state_.fixed.contains(name) || name.starts_with(std::string(kWorkspaceSkills) + "/"))
      throw ToolFault{
          fmt::format("{} belongs to a skill, which can only be read; write your files elsewhere in the "
                      "working folder",
                      Quoted(name))};
    std::size_t bytes = content.size();
    for (const auto& [other, text] : outcome_.files) bytes += other == name ? 0 : text.size();
    if (bytes > kMaxWorkspaceBytes || outcome_.files.size() >= kMaxWorkspaceFiles)
      throw ToolFault{"the working folder is full"};
    WorkspaceFiles files = outcome_.files;
    // A folder isn't empty any more.
    for (std::size_t at = name.find('/'); at != std::string::npos; at = name.find('/', at + 1))
      files.erase(name.substr(0, at + 1));
    if (files.contains(name + "/")) throw ToolFault{fmt::format("{} is a folder", Quoted(name))};
    files[name] = std::move(content);
    WorkspaceFiles named = files;
    std::erase_if(named, [](const auto& entry) { return entry.first.ends_with('/'); });
    if (const std::string conflict = ConflictOfFiles(named); !conflict.empty()) throw ToolFault{conflict};
    outcome_.files = std::move(files);
  }

  Status Write() {
    const std::string name = FileName();
    std::string content = Text("content");
    outcome_.text = fmt::format("Wrote {} bytes to {}", content.size(), name);
    if (const auto before = state_.files.find(name); before != state_.files.end())
      outcome_.text += before->second == content ? ", which had this text already: nothing has changed"
                                                 : fmt::format(", replacing the {} that it had", before->second.size());
    Store(name, std::move(content));
    return {};
  }

  Status Edit() {
    const std::string name = FileName();
    const std::string old_text = Text("old_text");
    const std::string new_text = Text("new_text");
    const Json& all = Member(call_.arguments, "replace_all");
    if (!all.is_null() && !all.is_boolean()) throw ToolFault{"\"replace_all\" must be true or false"};
    const std::string content = TextOf(name);
    if (old_text.empty()) throw ToolFault{"\"old_text\" is empty; write_file writes a whole file"};
    std::size_t count = 0;
    std::string edited;
    std::size_t from = 0;
    for (std::size_t at = content.find(old_text); at != std::string::npos; at = content.find(old_text, from)) {
      edited.append(content, from, at - from).append(new_text);
      from = at + old_text.size();
      ++count;
      if (edited.size() > kMaxWorkspaceBytes) throw ToolFault{"the file would be too large"};
    }
    edited.append(content, from);
    if (count == 0) throw ToolFault{fmt::format("\"old_text\" does not occur in {}", Quoted(name))};
    if (count > 1 && !(all.is_boolean() && all.get<bool>()))
      throw ToolFault{
          fmt::format("\"old_text\" occurs {} times in {}; give more of the text around it, or set "
                      "replace_all",
                      count, Quoted(name))};
    Store(name, std::move(edited));
    outcome_.text = fmt::format("Replaced {} in {}", Counted(count, "occurrence"), name);
    return {};
  }

  Status List() {
    const auto files = Below(OptionalPath());
    if (files.empty()) outcome_.text = "(the folder is empty)";
    for (std::size_t i = 0; i < files.size() && i < kMostListed; ++i) {
      const auto& [name, content] = files[i];
      outcome_.text += name.ends_with('/') ? name + "\n" : fmt::format("{} ({} bytes)\n", name, content->size());
    }
    if (files.size() > kMostListed) outcome_.text += fmt::format("… and {} more\n", files.size() - kMostListed);
    return {};
  }

  Status Grep() {
    const std::string pattern = Text("pattern");
    if (pattern.size() > kMostPattern)
      throw ToolFault{fmt::format("\"pattern\" is longer than {} bytes", WithThousands(kMostPattern))};
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(std::int64_t{8} << 20U);
    const RE2 expression(pattern, options);
    if (!expression.ok())
      throw ToolFault{fmt::format("\"pattern\" is not a regular expression: {}", expression.error())};
    const auto files = Below(OptionalPath());
    std::size_t bytes = 0;
    for (const auto& [name, content] : files) bytes += content->size();
    if (static_cast<double>(expression.ProgramSize()) * static_cast<double>(bytes) > kMostSteps)
      throw ToolFault{"\"pattern\" is too large for so much text; search with a simpler one, or in one file or folder"};
    std::size_t found = 0;
    for (const auto& [name, content] : files) {
      if (name.ends_with('/') || FindInvalidUtf8(*content)) continue;
      std::size_t number = 0;
      for (const std::string_view line : SplitLines(*content)) {
        ++number;
        if (!RE2::PartialMatch(line, expression)) continue;
        if (++found <= kMostFound)
          outcome_.text += fmt::format("{}:{}: {}\n", name, number, ExcerptLine(line, kMostColumns));
      }
    }
    if (found == 0) outcome_.text = "No line matches";
    if (found > kMostFound) outcome_.text += fmt::format("… and {} more lines\n", found - kMostFound);
    return {};
  }

  // A command's own time limit ends it inside the sandbox, so that what it has written until then is kept.
  SandboxCommand CommandFor(const std::string& line, std::int64_t seconds) const {
    constexpr std::int64_t kToEnd = 20;  // to end the command and to pack the files
    SandboxCommand command;
    command.command = fmt::format("exec timeout -k 2 {} {} -c {} 2>&1", seconds,
                                  sandbox_.HasProgram("bash") ? "bash" : "sh", ShellWord(line));
    command.files = state_.files;
    for (const auto& [name, content] : state_.fixed) command.files[name] = content;
    command.limits.time = std::chrono::seconds(seconds + kToEnd);
    command.limits.output_bytes = kMostCommandOutput;
    command.stop = stop_;
    command.collect = CollectLimits{kMaxWorkspaceBytes, kMaxWorkspaceFiles};
    if (!state_.fixed.empty()) {
      for (const auto& [name, content] : state_.fixed) command.collect->bytes += content.size();
      command.collect->files += 2 * state_.fixed.size();
    }
    return command;
  }

  Status Bash() {
    const std::string line = Text("command");
    if (Trim(line).empty() || line.find('\0') != std::string::npos)
      throw ToolFault{"\"command\" must be a command line"};
    constexpr std::size_t kMostBytes = std::size_t{64} * 1024;  // of an argument, for the kernel
    if (line.size() > kMostBytes) throw ToolFault{"\"command\" is too long; write a script with write_file and run it"};
    const std::int64_t left = std::max<std::int64_t>(1, limits_.time.count() / 1000);
    const std::int64_t asked =
        std::clamp<std::int64_t>(Number("timeout_seconds").value_or(kDefaultSeconds), 1, kMostSeconds);
    const std::int64_t seconds = std::min(asked, left);
    ASSIGN_OR_RETURN(SandboxOutcome run, sandbox_.Run(CommandFor(line, seconds)));
    if (run.ending == SandboxOutcome::Ending::kStopped) return Error{ErrorKind::kCancelled, "stopped"};
    outcome_.seconds = run.seconds;
    outcome_.text = WithoutMiddle(ReplaceInvalidUtf8(run.output), limits_.text_bytes);
    if (!outcome_.text.empty() && !outcome_.text.ends_with('\n')) outcome_.text += '\n';
    outcome_.text += EndOf(run, seconds);
    if (run.left_out > 0)
      outcome_.text += fmt::format("[{} not kept]\n", Counted(run.left_out, "link or special file"));
    TakeFiles(run);
    return {};
  }

  // What a command's end means; sets is_error.
  std::string EndOf(const SandboxOutcome& run, std::int64_t seconds) {
    using Ending = SandboxOutcome::Ending;
    constexpr int kTimedOut = 124;
    constexpr int kKilled = 137;
    const bool late = run.seconds >= static_cast<double>(seconds);
    outcome_.is_error = run.ending != Ending::kExited || run.exit_code != 0;
    if (run.ending == Ending::kTimeLimit || (late && (run.exit_code == kTimedOut || run.exit_code == kKilled)))
      return fmt::format("[ended after {} s, the time limit]\n", seconds);
    switch (run.ending) {
      case Ending::kMemoryLimit:
        return "[ended: it used too much memory]\n";
      case Ending::kProcessLimit:
        return "[ended: it started too many processes]\n";
      case Ending::kFileLimit:
        return "[ended: it made too many files]\n";
      case Ending::kOutputLimit:
        return "[ended: it printed too much]\n";
      case Ending::kExited:
      case Ending::kTimeLimit:
      case Ending::kStopped:
        break;
    }
    return fmt::format("[exit code {}]\n", run.exit_code);
  }

  void TakeFiles(SandboxOutcome& run) {
    if (!run.files) {
      outcome_.text += run.too_much ? fmt::format(
                                          "[the working folder had more than {} or {} files, so none of the changes of "
                                          "this command were kept]\n",
                                          BytesText(kMaxWorkspaceBytes), kMaxWorkspaceFiles)
                                    : "[the changes of this command were not kept]\n";
      outcome_.is_error = true;
      return;
    }
    outcome_.files = std::move(*run.files);
    const std::string skills = std::string(kWorkspaceSkills) + "/";
    if (!state_.fixed.empty())
      std::erase_if(outcome_.files, [&](const auto& entry) { return entry.first.starts_with(skills); });
  }

  const ToolCall& call_;
  const WorkspaceState& state_;
  const Sandbox& sandbox_;
  const ToolLimits& limits_;
  const StopFlag* stop_;
  ToolOutcome outcome_;
};

}  // namespace

Result<ToolOutcome> RunTool(const ToolCall& call, const WorkspaceState& state, const Sandbox& sandbox,
                            const ToolLimits& limits, const StopFlag* stop) {
  return ToolRun(call, state, sandbox, limits, stop).Run();
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "skill/formats/readers.h"
#include "util/byte_order_mark.h"
#include "util/files.h"
#include "util/text.h"
#include "util/yaml.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxPluginCases = 10'000;

// What the manifest says that is nearest above a folder; nothing if there is none.
struct Plugin {
  std::string name;
  fs::path cases;
};

Plugin PluginOf(const fs::path& folder) {
  Plugin plugin;
  FindAbove(folder, [&](const fs::path& above) {
    for (const char* name : {".claude-plugin/plugin.json", "plugin.json"}) {
      const Result<std::string> text = ReadTextBelow(above, name);
      const Result<Json> manifest = ParseJson(text ? *text : "null", name);
      if (!manifest || StringAt(*manifest, "name").empty()) continue;
      const Result<fs::path> cases = ContainedPath(above, StringAt(Member(*manifest, "experimental"), "evals"));
      plugin = {StringAt(*manifest, "name"), cases ? *cases : above / "evals"};
      return above;
    }
    return fs::path();
  });
  return plugin;
}

// A grader is the fields of its front matter, or those in case.yaml. `body`: what follows the front matter, which has
// the criteria or the pattern where the fields don't.
constexpr const char* kBody = "body";

std::string TextAt(const Json& grader, const char* key) {
  const Json& stated = Member(grader, FindMember(grader, key) != nullptr ? key : kBody);
  return stated.is_null() ? "" : std::string(Trim(TextOf(stated)));
}

bool CountsSkill(const Json& grader) {
  return StringAt(grader, "type") == "tool_used" && StringAt(grader, "tool") == "Skill";
}

// Claude Code leaves such graders out of the score, unless a case has no others. Calls of `Skill` can be counted there
// all the same (`arm: both`), but are nothing that an answer shows.
bool IsWithOnly(const Json& grader) { return StringAt(grader, "arm") == "with-only" || CountsSkill(grader); }

struct PluginCase {
  std::string name;
  std::string input;
  Json tags;
  std::vector<Json> graders;
  Json checks = Json::array();  // skipped ones, for what it starts from and isn't made here
};

Result<Json> FieldsOf(const std::string& yaml, const fs::path& place) {
  ASSIGN_OR_RETURN(Json fields, ParseYaml(yaml, place.string(), YamlNumbers::kNumbers));
  if (fields.is_null()) return Json::object();
  if (!fields.is_object()) return InputError(place.string() + ": must be a map of names and values");
  return fields;
}

// The front matter of a file of Markdown, which may be missing, and its `body`.
Result<Json> ReadMarkdown(const fs::path& folder, const std::string& name) {
  ASSIGN_OR_RETURN(std::string text, ReadTextBelow(folder, name));
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  const std::vector<std::string_view> lines = SplitLines(text);
  const auto is_fence = [](std::string_view line) { return Trim(line) == "---"; };
  const auto end =
      lines.empty() || !is_fence(lines.front()) ? lines.end() : std::find_if(lines.begin() + 1, lines.end(), is_fence);
  if (end == lines.end()) return Json{{kBody, text}};
  // From the end of the first line on, so that errors name the lines of the file.
  const std::size_t begin = lines.front().size();
  const auto fence = static_cast<std::size_t>(end->data() - text.data());
  ASSIGN_OR_RETURN(Json fields, FieldsOf(text.substr(begin, fence - begin), folder / name));
  fields[kBody] = text.substr(fence + end->size());
  return fields;
}

bool IsCaseFolder(const fs::path& folder) {
  std::error_code code;
  return fs::exists(folder / "case.yaml", code) ||
         (fs::exists(folder / "prompt.md", code) && fs::is_directory(folder / "graders", code));
}

// The first ones, sorted, relative to `folder`.
std::vector<std::string> CaseFoldersIn(const fs::path& folder, std::size_t most) {
  constexpr std::array<std::string_view, 4> kOthers = {"node_modules", ".git", ".claude", "results"};
  std::vector<std::string> found;
  std::error_code code;
  for (fs::recursive_directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    std::error_code ignored;
    if (!fs::is_directory(entry->symlink_status(ignored))) continue;
    const bool is_case = IsCaseFolder(entry->path());
    const std::string name = entry->path().filename().string();
    if (is_case || std::find(kOthers.begin(), kOthers.end(), name) != kOthers.end()) entry.disable_recursion_pending();
    if (is_case) found.push_back(entry->path().lexically_relative(folder).generic_string());
    if (found.size() == most) break;
  }
  std::sort(found.begin(), found.end());
  return found;
}

Status AddGraderFiles(const fs::path& root, const std::string& folder, std::vector<Json>& graders) {
  std::vector<fs::path> names;
  std::error_code code;
  for (fs::directory_iterator entry(root / folder, code), end; !code && entry != end; entry.increment(code)) {
    if (entry->path().extension() == ".md") names.push_back(entry->path().filename());
  }
  std::sort(names.begin(), names.end());
  for (const fs::path& name : names) {
    ASSIGN_OR_RETURN(Json grader, ReadMarkdown(root, folder + "/" + name.string()));
    if (grader.size() == 1 && ToLowerAscii(name.stem().string()) == "readme") continue;  // notes
    grader["name"] = JsonGet(grader, "name", name.stem().string());
    graders.push_back(std::move(grader));
  }
  return {};
}

Result<PluginCase> ReadPluginCase(const fs::path& root, const std::string& folder) {
  std::error_code code;
  Json document = Json::object();
  Json prompt = Json::object();
  if (const std::string name = folder + "/case.yaml"; fs::exists(root / name, code)) {
    ASSIGN_OR_RETURN(const std::string text, ReadTextBelow(root, name));
    ASSIGN_OR_RETURN(document, FieldsOf(text, root / name));
  }
  if (const std::string name = folder + "/prompt.md"; fs::exists(root / name, code)) {
    ASSIGN_OR_RETURN(prompt, ReadMarkdown(root, name));
  }
  const Json& execution = Member(document, "execution");
  const auto text_at = [&](const char* key, const Json& otherwise) {
    return JsonGet(prompt, key, StringAt(otherwise, key));
  };
  PluginCase one;
  one.name = text_at("name", document);
  if (one.name.empty()) one.name = fs::path(folder).filename().string();
  one.input = Trim(StringAt(prompt, kBody));
  if (one.input.empty()) one.input = StringAt(execution, "prompt");
  if (one.input.empty()) return InputError((root / folder).string() + ": no prompt; write one into prompt.md");
  if (const std::string system = text_at("append_system_prompt", execution); !system.empty())
    one.input = system + "\n\n" + one.input;
  one.tags = Member(FindMember(prompt, "tags") != nullptr ? prompt : document, "tags");
  for (const char* key : {"scaffold_script", "history_file", "add_dirs", "mocks"}) {
    if (!Member(Member(document, "context"), key).empty() || fs::is_directory(root / folder / key, code))
      one.checks.push_back(SkippedCheck(key, "only Claude Code can set up what the case starts from"));
  }
  const Json& graders = Member(document, "graders");
  if (graders.is_array()) one.graders.assign(graders.begin(), graders.end());
  RETURN_IF_ERROR(AddGraderFiles(root, folder + "/graders", one.graders));
  return one;
}

// The check on the part of the result that the grader looks at.
Result<Json> WithTarget(Json check, const Json& target) {
  if (target.is_null() || target == "last_message") return check;
  const std::string path = StringAt(target, "path");
  if (StringAt(target, "source") != "file")
    return InputError(fmt::format("it looks at {}, not at the answer or a file", ExcerptLine(TextOf(target), 60)));
  RETURN_IF_ERROR(ContainedPath("", path));
  check["file"] = path;
  return check;
}

// A pattern of JavaScript.
Result<std::string> PatternOf(std::string pattern, std::string flags) {
  if (pattern.empty()) return InputError("it has no pattern");
  std::erase_if(flags, [](char flag) { return std::string_view("ims").find(flag) == std::string_view::npos; });
  if (!flags.empty()) pattern = fmt::format("(?{}){}", flags, pattern);
  RETURN_IF_ERROR(CheckRe2Syntax(pattern));
  return pattern;
}

Result<Json> RegexCheck(const Json& grader) {
  const std::string match = JsonGet(grader, "match", std::string("contains"));
  if (match != "contains" && match != "not_contains" && match != "count:0")
    return InputError(fmt::format("counting matches isn't supported ({})", ExcerptLine(match, 20)));
  ASSIGN_OR_RETURN(std::string pattern, PatternOf(TextAt(grader, "pattern"), StringAt(grader, "flags")));
  Json check = {{"type", match == "contains" ? "regex" : "not_regex"}, {"pattern", std::move(pattern)}};
  return WithTarget(std::move(check), Member(grader, "target"));
}

Result<Json> ToolCheck(const Json& grader) {
  constexpr std::size_t kAnyNumber = 1'000'000;
  const auto minimum = JsonGet(grader, "min", std::size_t{1});
  const auto maximum = JsonGet(grader, "max", kAnyNumber);
  if (maximum < minimum) return InputError("its \"max\" is below its \"min\", which is 1 if it isn't stated");
  if (minimum == 0 && maximum >= kAnyNumber) return InputError("it accepts any number of calls");
  const std::string tool = StringAt(grader, "tool");
  const std::string own = ToLowerAscii(tool);  // students of this program have bash, grep, read_file and so on
  Json check = {{"type", "tool_call"}, {"tool", {tool, own, own + "_file"}}, {"minimum", minimum}};
  if (maximum < kAnyNumber) check["maximum"] = maximum;
  if (const std::string pattern = StringAt(grader, "input_match"); !pattern.empty()) {
    ASSIGN_OR_RETURN(check["pattern"], PatternOf(pattern, ""));
  }
  return check;
}

// The grader as a check, or why there is none.
Result<Json> CheckOf(const Json& grader) {
  if (CountsSkill(grader)) return Json{{"type", "activates"}, {"expected", JsonGet(grader, "min", std::size_t{1}) > 0}};
  const std::string type = StringAt(grader, "type");
  if (type == "regex") return RegexCheck(grader);
  if (type == "tool_used" && !StringAt(grader, "tool").empty()) return ToolCheck(grader);
  if (type == "llm" && !TextAt(grader, "criteria").empty())
    return WithTarget(JudgeCheck(TextAt(grader, "criteria")), Member(grader, "focus"));
  const std::string path = StringAt(grader, "path");
  if (type != "file_exists" || !JsonGet(grader, "exists", true) || !ContainedPath("", path) ||
      path.find_first_of("*?[{") != std::string::npos)
    return InputError(fmt::format("{} has no counterpart", ExcerptLine(DumpJson(grader), 100)));
  return Json{{"type", "file_exists"}, {"path", path}};
}

// Takes out graders of calls of `Skill` with other skills. False: these are what the case is about.
bool TakeForSkill(const std::string& skill, const std::string& plugin, PluginCase& one) {
  const std::string calls = fmt::format(R"({{"skill":"{0}"}}{{"skill":"{1}:{0}"}})", skill, plugin);
  const std::size_t others = std::erase_if(one.graders, [&](const Json& grader) {
    const std::string pattern = StringAt(grader, "input_match");
    const bool counts =
        CheckRe2Syntax(pattern) ? RE2::PartialMatch(calls, RE2(pattern)) : ContainsAny(pattern, {skill});
    return CountsSkill(grader) && !counts;
  });
  return others == 0 || std::any_of(one.graders.begin(), one.graders.end(), CountsSkill);
}

}  // namespace

fs::path PluginCasesOf(const fs::path& folder) {
  for (fs::path cases : {folder / "evals", PluginOf(folder).cases}) {
    if (!CaseFoldersIn(cases, 1).empty()) return cases;
  }
  return {};
}

Result<ConvertedSuite> ConvertPluginCases(const fs::path& root, const fs::path& skill) {
  const std::vector<std::string> folders = CaseFoldersIn(root, kMaxPluginCases);
  if (folders.empty()) {
    return Error{ErrorKind::kNotFound,
                 root.string() + ": no cases: no folder in it has a prompt.md and graders/, or a case.yaml"};
  }
  std::error_code code;
  const bool of_skill = fs::exists(skill / "SKILL.md", code);
  const std::string name = fs::weakly_canonical(skill, code).filename().string();
  const std::string plugin = PluginOf(root).name;
  ConvertedSuite suite;
  UniqueIds ids;
  std::size_t with_only = 0;
  for (const std::string& folder : folders) {
    ASSIGN_OR_RETURN(PluginCase one, ReadPluginCase(root, folder));
    if (of_skill && !TakeForSkill(name, plugin, one)) continue;
    const std::string place = (root / folder).string();
    const bool has_others = !std::all_of(one.graders.begin(), one.graders.end(), IsWithOnly);
    for (const Json& grader : one.graders) {
      if (has_others && IsWithOnly(grader)) {
        ++with_only;
      } else if (Result<Json> check = CheckOf(grader)) {
        one.checks.push_back(*std::move(check));
      } else {
        suite.warnings.push_back(fmt::format("{}: the grader {} is left out: {}", place,
                                             ExcerptLine(StringAt(grader, "name"), 60), check.error().message));
      }
    }
    if (one.checks.empty()) one.checks.push_back(SkippedCheck("its graders", "none of them has a counterpart"));
    suite.cases.push_back(
        {{{"id", ids.Take(one.name)}, {"input", one.input}, {"checks", std::move(one.checks)}}, place, {}});
    if (!one.tags.empty()) suite.cases.back().json["tags"] = one.tags;
  }
  if (suite.cases.empty())
    return Error{ErrorKind::kNotFound,
                 fmt::format("{}: all cases are about other skills than {}", root.string(), name)};
  if (fs::is_directory(root / "mocks", code))
    suite.warnings.push_back((root / "mocks").string() + ": mock MCP servers aren't supported, so none is started");
  if (with_only > 0)
    suite.warnings.push_back(
        fmt::format("{}: left out: {} for whether the plugin is used; Claude Code doesn't score them either",
                    root.string(), Counted(with_only, "grader")));
  return suite;
}

}  // namespace upskill

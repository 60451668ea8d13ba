// SPDX-License-Identifier: Apache-2.0
#include "check/command_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "check/text_checks.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr double kMaxSeconds = 3600.0;
constexpr std::size_t kShownOutput = 300;
constexpr std::string_view kTimeLimit = "time limit of ";  // "time limit of 60 s reached"
constexpr std::size_t kMaxCommandBytes = std::size_t{64} << 10U;
constexpr std::size_t kMaxExitCodes = 100;

// Words with which a command of the shell may begin that aren't programs.
constexpr std::array<std::string_view, 37> kShellWords = {
    "cd",   "echo", "test",  "export",  "set",      "if",     "for",    "while", "case",  "exec",
    "eval", "true", "[",     "printf",  "exit",     "read",   "trap",   "wait",  "false", "until",
    ".",    ":",    "unset", "command", "ulimit",   "umask",  "type",   "shift", "alias", "unalias",
    "hash", "jobs", "local", "times",   "readonly", "return", "getopts"};

struct CommandOptions {
  std::string command;
  std::vector<int> exit_codes = {0};
  std::unique_ptr<RE2> output;
  std::unique_ptr<RE2> error;
  std::vector<std::string> needs;
  std::map<std::string, std::string> files;
  SandboxLimits limits;
};

// The program that a command begins with; empty if it doesn't name one.
std::string FirstProgram(const std::string& command) {
  const std::string_view text = Trim(command);
  const std::size_t end =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.:[");
  const std::string_view word = text.substr(0, end);
  if (end != std::string_view::npos && std::string_view(" \t\n;|&<>").find(text[end]) == std::string_view::npos)
    return "";
  if (std::find(kShellWords.begin(), kShellWords.end(), word) != kShellWords.end()) return "";
  return std::string(word);
}

Result<std::unique_ptr<RE2>> ReadOutputPattern(const CheckSpec& spec, const char* key, CaseParts& parts) {
  const Json* const pattern = FindMember(spec.options, key);
  if (pattern == nullptr) return std::unique_ptr<RE2>();
  if (!pattern->is_string()) return InputError(fmt::format("\"{}\" of command must be a string: a pattern", key));
  return CompilePattern(pattern->get<std::string>(), parts);
}

Status ReadExitCodes(const CheckSpec& spec, CommandOptions& options) {
  const Json* const codes = FindMember(spec.options, "exit_code");
  if (codes == nullptr) return {};
  options.exit_codes.clear();
  for (const Json& code : codes->is_array() ? *codes : Json::array({*codes})) {
    if (!code.is_number_integer() || code.get<double>() < 0 || code.get<double>() > 255)
      return InputError("\"exit_code\" of command must be a number from 0 to 255, or a list of them");
    options.exit_codes.push_back(code.get<int>());
  }
  if (options.exit_codes.empty() || options.exit_codes.size() > kMaxExitCodes)
    return InputError("\"exit_code\" of command must have between 1 and 100 numbers");
  return {};
}

Status ReadTimeLimit(const CheckSpec& spec, CommandOptions& options) {
  const Json* const seconds = FindMember(spec.options, "timeout_seconds");
  if (seconds == nullptr) return {};
  const double limit = seconds->is_number() ? seconds->get<double>() : 0.0;
  if (!(limit > 0.0) || limit > kMaxSeconds)
    return InputError("\"timeout_seconds\" of command must be a number above 0, at most 3600");
  options.limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(std::ceil(limit * 1000.0)));
  return {};
}

Status ReadNeeds(const CheckSpec& spec, CommandOptions& options) {
  const Json* const needs = FindMember(spec.options, "needs");
  if (needs == nullptr) {
    if (std::string program = FirstProgram(options.command); !program.empty())
      options.needs.push_back(std::move(program));
    return {};
  }
  for (const Json& need : needs->is_array() ? *needs : Json::array({*needs})) {
    if (!need.is_string() || need.get_ref<const std::string&>().empty() ||
        need.get_ref<const std::string&>().find('/') != std::string::npos)
      return InputError("\"needs\" of command must be the name of a program, or a list of them");
    options.needs.push_back(need.get<std::string>());
  }
  return {};
}

Status ReadFiles(const CheckSpec& spec, CommandOptions& options) {
  const Json* const files = FindMember(spec.options, "files");
  if (files == nullptr) return {};
  if (!files->is_object()) return InputError("\"files\" of command must be an object {name: text}");
  for (const auto& [name, text] : files->items()) {
    RETURN_IF_ERROR(ContainedPath("", name).With("\"files\" of command"));
    if (!text.is_string()) return InputError(fmt::format("\"files\" of command: {} must be a string", Quoted(name)));
    options.files[PlainFileName(name)] = text.get<std::string>();
  }
  if (const std::string conflict = ConflictOfFiles(options.files); !conflict.empty())
    return InputError("\"files\" of command: " + conflict);
  return {};
}

Result<CommandOptions> ReadCommandOptions(const CheckSpec& spec, CaseParts& parts) {
  CommandOptions options;
  const Json* const command = FindMember(spec.options, "command");
  if (command == nullptr || !command->is_string() || Trim(command->get_ref<const std::string&>()).empty())
    return InputError("command needs a \"command\": a line for the shell");
  options.command = command->get<std::string>();
  if (options.command.size() > kMaxCommandBytes || options.command.find('\0') != std::string::npos)
    return InputError("\"command\" must be at most 64 KiB long and have no NUL; put a longer script into \"files\"");
  RETURN_IF_ERROR(ReadExitCodes(spec, options));
  RETURN_IF_ERROR(ReadTimeLimit(spec, options));
  RETURN_IF_ERROR(ReadNeeds(spec, options));
  RETURN_IF_ERROR(ReadFiles(spec, options));
  ASSIGN_OR_RETURN(options.output, ReadOutputPattern(spec, "stdout", parts));
  ASSIGN_OR_RETURN(options.error, ReadOutputPattern(spec, "stderr", parts));
  return options;
}

class CommandCheck : public Check {
 public:
  CommandCheck(std::string name, CommandOptions options, const Sandbox& sandbox)
      : name_(std::move(name)), options_(std::move(options)), sandbox_(sandbox) {}

  CheckResult Run(const CheckedAnswer& answer) const override {
    if (std::string reason = WhyNot(); !reason.empty()) return {name_, Outcome::kSkip, std::move(reason)};
    if (answer.stop != nullptr && answer.stop->load() > 1) return {name_, Outcome::kSkip, "stopped"};
    SandboxCommand command;
    command.command = options_.command;
    command.files = FilesForCommand(answer);
    for (const auto& [name, content] : options_.files) command.files[name] = content;
    if (const std::string conflict = ConflictOfFiles(command.files); !conflict.empty())
      return {name_, Outcome::kFail, "the files of the answer can't be written: " + conflict};
    command.limits = options_.limits;
    command.stop = answer.stop;
    const Result<SandboxOutcome> run = sandbox_.Run(command);
    if (!run) return {name_, Outcome::kSkip, run.error().message};
    if (run->ending == SandboxOutcome::Ending::kStopped) return {name_, Outcome::kSkip, "stopped"};
    std::string problem = FindProblem(*run);
    return {name_, problem.empty() ? Outcome::kPass : Outcome::kFail, std::move(problem), CheckRun{run->seconds, ""}};
  }

  std::string WhyItCannotPass() const override {
    const std::string reason = WhyNot();
    return reason.empty() ? "" : CannotRun(name_, reason);
  }

 private:
  std::string WhyNot() const {
    if (const Status available = sandbox_.Available(); !available) return available.error().message;
    for (const std::string& program : options_.needs) {
      if (!sandbox_.HasProgram(program))
        return fmt::format("{} isn't installed where the sandbox can read it", ExcerptLine(program, 60));
    }
    return "";
  }

  std::string FindProblem(const SandboxOutcome& run) const {
    if (std::string limit = LimitOf(run, options_.limits); !limit.empty()) return limit;
    const auto& codes = options_.exit_codes;
    const std::string end = EndOfOutput(run);
    if (std::find(codes.begin(), codes.end(), run.exit_code) == codes.end())
      return fmt::format("exit code {} instead of {}{}{}", run.exit_code, fmt::join(codes, ", "),
                         end.empty() ? "" : ": ", end);
    if (options_.output != nullptr && !RE2::PartialMatch(ReplaceInvalidUtf8(run.output), *options_.output))
      return fmt::format("no match for {} in its output{}{}", Quoted(options_.output->pattern()),
                         end.empty() ? ", which is empty" : ": ", end);
    if (options_.error != nullptr && !RE2::PartialMatch(ReplaceInvalidUtf8(run.error), *options_.error))
      return fmt::format("no match for {} in its standard error{}{}", Quoted(options_.error->pattern()),
                         end.empty() ? ", which is empty" : ": ", end);
    return "";
  }

  std::string name_;
  CommandOptions options_;
  const Sandbox& sandbox_;
};

// Without sequences for a terminal, such as colours, and other control characters; lines are joined by " · ".
std::string PlainLines(std::string_view text) {
  static const RE2 escape(R"(\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_]))");
  std::string plain = ReplaceInvalidUtf8(text);
  RE2::GlobalReplace(&plain, escape, "");
  std::string out;
  for (const std::string_view line : SplitLines(plain)) {
    const std::string_view trimmed = Trim(line);
    if (!trimmed.empty()) out += (out.empty() ? "" : " · ") + std::string(trimmed);
  }
  std::erase_if(out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  return out;
}

}  // namespace

std::map<std::string, std::string> FilesForCommand(const CheckedAnswer& answer) {
  std::map<std::string, std::string> files = answer.files;
  if (answer.parts.front().text) files[kAnswerFile] = *answer.parts.front().text;
  return files;
}

std::string LimitOf(const SandboxOutcome& outcome, const SandboxLimits& limits) {
  switch (outcome.ending) {
    case SandboxOutcome::Ending::kExited:
    case SandboxOutcome::Ending::kStopped:
      return "";
    case SandboxOutcome::Ending::kTimeLimit:
      return fmt::format("{}{:g} s reached", kTimeLimit, static_cast<double>(limits.time.count()) / 1000.0);
    case SandboxOutcome::Ending::kMemoryLimit:
      return fmt::format("it used more than {} MB of memory", limits.memory_bytes >> 20U);
    case SandboxOutcome::Ending::kProcessLimit:
      return fmt::format("it started more than {} processes", limits.processes);
    case SandboxOutcome::Ending::kFileLimit:
      return fmt::format("it made more than {} files", WithThousands(static_cast<long long>(limits.files)));
    case SandboxOutcome::Ending::kOutputLimit:
      return fmt::format("it printed more than {} bytes", WithThousands(static_cast<long long>(limits.output_bytes)));
  }
  return "";
}

// By the detail, because that is what journals have.
bool ReachedTimeLimit(const CheckResult& result) {
  if (result.outcome != Outcome::kFail) return false;
  if (result.detail.starts_with(kTimeLimit)) return true;
  const bool group =
      result.name.starts_with("all of ") || result.name.starts_with("any of ") || result.name.starts_with("at_least ");
  return group && result.detail.find(": " + std::string(kTimeLimit)) != std::string::npos;
}

std::string EndOfOutput(const SandboxOutcome& outcome) {
  std::string text = PlainLines(outcome.error);
  if (text.empty()) text = PlainLines(outcome.output);
  if (text.size() <= kShownOutput) return text;
  std::size_t from = text.size() - kShownOutput;
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0U) == 0x80U) ++from;
  return "…" + text.substr(from);
}

Result<std::unique_ptr<Check>> MakeCommandCheck(const CheckSpec& spec, CaseParts& parts) {
  ASSIGN_OR_RETURN(CommandOptions options, ReadCommandOptions(spec, parts));
  parts.NeedFiles();
  std::string name = fmt::format("command {}", Quoted(options.command));
  return std::unique_ptr<Check>(std::make_unique<CommandCheck>(std::move(name), std::move(options), parts.sandbox()));
}

}  // namespace upskill

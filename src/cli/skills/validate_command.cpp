// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/skills/audited_skill.h"
#include "cli/skills/commands.h"
#include "cli/skills/workflow_command.h"
#include "skill/skill_advice.h"
#include "skill/skill_tree.h"
#include "skill/specification.h"
#include "trace/redact/redact.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

struct ValidateOptions {
  std::vector<std::string> paths;
  bool recursive = false;
  bool strict = false;  // also give advice, and fail if there is any
  bool json = false;
  std::string format;  // "text" or "github"
};

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxScannedBytes = std::uint64_t{1} << 20U;  // of a file, for secrets
constexpr std::size_t kMaxCountedBytes = 10'000;                     // of a line, for the column of a secret
constexpr std::size_t kMaxAdvice = 100;                              // for each skill

Json FindingsJson(const std::vector<SkillFinding>& findings) {
  Json list = Json::array();
  for (const SkillFinding& finding : findings) {
    const bool placed = finding.line > 0;
    list.push_back({{"message", finding.message},
                    {"line", placed ? Json(finding.line) : Json(nullptr)},
                    {"column", placed ? Json(finding.column) : Json(nullptr)}});
  }
  return list;
}

Json ValidationJson(const SkillValidation& skill, const std::vector<SkillFinding>& advice) {
  return {{"path", skill.folder},
          {"valid", skill.errors.empty()},
          {"errors", FindingsJson(skill.errors)},
          {"advice", FindingsJson(advice)}};
}

std::string Annotation(const char* command, const SkillValidation& skill, const SkillFinding& finding) {
  return WorkflowCommand(command, skill.file.empty() ? skill.folder : skill.file, finding.line, finding.column,
                         finding.message);
}

void PrintAdvice(const SkillValidation& skill, const std::vector<SkillFinding>& advice, Env& env) {
  if (advice.empty()) return;
  env.error(TerminalText::Format("Advice for {}:\n", skill.folder));
  for (const SkillFinding& one : advice) {
    const std::string place = one.line > 0 ? fmt::format("{}:{}: ", one.line, one.column) : "";
    env.error(TerminalText::Format("  - {}{}\n", place, one.message));
  }
}

void PrintValid(const SkillValidation& skill, Env& env) {
  PrintDocument(env, fmt::format("Valid skill: {}\n", SafeForTerminalLine(skill.folder)));
}

// What no specification forbids, but hardly any model can use.
void WarnOfLength(const SkillValidation& skill, Env& env) {
  constexpr std::size_t kManyTokens = 15'000;
  const std::size_t tokens = skill.skill ? EstimateTokens(skill.skill->body) : 0;
  if (tokens <= kManyTokens) return;
  PrintWarning(env,
               fmt::format("{}: the body has about {} tokens, which every request with the skill pays for and small "
                           "models can't read; move what isn't always needed to files in references/",
                           skill.folder, WithThousands(static_cast<long long>(tokens))));
}

void PrintText(const SkillValidation& skill, Env& env) {
  if (skill.errors.empty()) {
    PrintValid(skill, env);
    return WarnOfLength(skill, env);
  }
  env.error(TerminalText::Format("Validation failed for {}:\n", TerminalText::EscapeLine(skill.folder)));
  for (const SkillFinding& error : skill.errors)
    env.error(TerminalText::Format("  - {}\n", TerminalText::EscapeLine(error.message)));
  if (!skill.file.empty() || skill.errors.front().message != kNoSkillFile) return;
  if (const auto below = FindSkillFolders(skill.folder); below && !below->empty())
    env.error("for the skills below it, add -r\n");
}

void PrintForGithub(const SkillValidation& skill, const std::vector<SkillFinding>& advice, Env& env) {
  if (skill.errors.empty()) PrintValid(skill, env);
  for (const SkillFinding& error : skill.errors) PrintDocument(env, Annotation("error", skill, error));
  for (const SkillFinding& one : advice) PrintDocument(env, Annotation("warning", skill, one));
}

// Keys, tokens and passwords in a file of a skill, which aren't repeated. `name`: of a file that isn't the SKILL.md.
void FindSecretsIn(const std::string& text, const std::string& name, std::vector<SkillFinding>& advice) {
  std::size_t line = 1;
  std::size_t line_begin = 0;
  for (const SecretSpan& secret : FindSecrets(text, {})) {
    for (std::size_t end = text.find('\n', line_begin); end < secret.begin; end = text.find('\n', line_begin)) {
      ++line;
      line_begin = end + 1;
    }
    const std::string where = name.empty() ? "this" : fmt::format("{}:{}", ExcerptLine(name, 80), line);
    SkillFinding finding{
        fmt::format("{} looks like a secret ({}); remove it, and revoke it if it was shared", where, secret.kind)};
    if (name.empty()) {
      const std::size_t before = std::min(secret.begin - line_begin, kMaxCountedBytes);
      finding.line = line;
      finding.column = 1 + CountCodePoints(std::string_view(text).substr(line_begin, before));
    }
    advice.push_back(std::move(finding));
  }
}

void FindSecretsOf(const SkillValidation& skill, std::vector<SkillFinding>& advice) {
  for (const std::string& name : ListSkillFiles(skill.folder)) {
    const fs::path path = fs::path(skill.folder) / name;
    const Result<std::string> text = ReadFile(path, kMaxScannedBytes);
    if (!text || FindInvalidUtf8(*text)) continue;
    FindSecretsIn(*text, PlainPath(path.string()) == skill.file ? "" : name, advice);
  }
}

// What `upskill audit` calls severe.
Status FindSevere(const SkillValidation& skill, std::vector<SkillFinding>& advice) {
  ASSIGN_OR_RETURN(const AuditedSkill audited, AuditFolder(skill.folder, {}));
  for (const AuditFinding& finding : audited.findings) {
    if (finding.severity != Severity::kSevere || finding.waived) continue;
    const bool is_here = PlainPath((fs::path(skill.folder) / finding.file).string()) == skill.file;
    const std::string where = is_here ? "this" : PlaceText(finding);
    SkillFinding one{fmt::format("{} {} ({}; `upskill audit` says more)", where, finding.reason, finding.rule)};
    if (is_here) one.line = finding.line;
    if (is_here && finding.line > 0) one.column = 1;
    advice.push_back(std::move(one));
  }
  return {};
}

std::vector<SkillFinding> AdviceFor(const SkillValidation& skill) {
  if (!skill.skill) return {};
  std::vector<SkillFinding> advice;
  if (const Status audited = FindSevere(skill, advice); !audited) advice.push_back({audited.error().message});
  for (SkillFinding& one : FindSkillAdvice(*skill.skill, skill.folder)) advice.push_back(std::move(one));
  FindSecretsOf(skill, advice);
  if (advice.size() > kMaxAdvice) {
    const std::size_t more = advice.size() - kMaxAdvice;
    advice.resize(kMaxAdvice);
    advice.push_back({fmt::format("and {} more", WithThousands(static_cast<long long>(more)))});
  }
  return advice;
}

// What to validate. Errors: a path that doesn't exist, with --recursive a tree without a skill.
Result<std::vector<std::string>> PathsOf(const ValidateOptions& options) {
  std::vector<std::string> paths;
  for (const std::string& path : options.paths) {
    std::error_code code;
    if (!fs::exists(path, code)) return Error{ErrorKind::kNotFound, fmt::format("path '{}' does not exist", path)};
    if (!options.recursive || !fs::is_directory(path, code)) {
      paths.push_back(path);
      continue;
    }
    ASSIGN_OR_RETURN(const std::vector<std::string> folders, FindSkillFolders(PlainPath(path)));
    if (folders.empty())
      return Error{ErrorKind::kNotFound, fmt::format("no skills below '{}': no folder has a SKILL.md", path)};
    paths.insert(paths.end(), folders.begin(), folders.end());
  }
  return paths;
}

void AddValidateCommand(CLI::App& app, ValidateOptions& options) {
  CLI::App* command =
      app.add_subcommand("validate", "Check skills against the Agent Skills specification")->group("Skills and cases");
  command->add_option("PATH", options.paths, "Folder of a skill, or its SKILL.md")->required();
  command->add_flag("-r,--recursive", options.recursive, "Validate all skills below a folder");
  command->add_flag("--strict", options.strict,
                    "Also give advice and severe findings of `upskill audit`, and fail if there are any");
  command->add_flag("--json", options.json, "Print a JSON object for each skill, one a line");
  command->add_option("--format", options.format, "text, or github for annotations in GitHub Actions")
      ->type_name("FORMAT")
      ->default_val("text")
      ->transform(OneOf({"text", "github"}));
  AddExamples(*command, {{"Validate a skill", "upskill validate examples/skills/kernel-builder-cuda-kernels"},
                         {"Also say what could be better", "upskill validate --strict skills/pdf-tools"},
                         {"Annotate a pull request with the errors of all skills",
                          "upskill validate -r skills --format github"}});
}

ExitCode RunValidate(const ValidateOptions& options, Env& env) {
  const bool github = options.format == "github";
  if (options.json && github)
    return PrintError(env, InputError("--json and --format github exclude each other; leave out one of them"));
  const Result<std::vector<std::string>> paths = PathsOf(options);
  if (!paths) return PrintError(env, paths.error());
  bool passed = true;
  for (const std::string& path : *paths) {
    const SkillValidation skill = ValidateSkill(path);
    const std::vector<SkillFinding> advice = options.strict ? AdviceFor(skill) : std::vector<SkillFinding>();
    passed = passed && skill.errors.empty() && advice.empty();
    if (options.json) {
      PrintDocument(env, fmt::format("{}\n", DumpJson(ValidationJson(skill, advice))));
    } else if (github) {
      PrintForGithub(skill, advice, env);
    } else {
      PrintText(skill, env);
      PrintAdvice(skill, advice, env);
    }
  }
  return passed ? ExitCode::kSuccess : ExitCode::kFailed;
}

}  // namespace

Command ValidateCommand() { return CommandOf({"validate"}, AddValidateCommand, RunValidate); }

}  // namespace upskill

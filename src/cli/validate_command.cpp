// SPDX-License-Identifier: Apache-2.0
#include "cli/validate_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <system_error>

#include "cli/help_formatter.h"
#include "cli/option_checks.h"
#include "skill/skill_tree.h"
#include "skill/specification.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

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

Json ValidationJson(const SkillValidation& skill) {
  return {{"path", skill.folder},
          {"valid", skill.errors.empty()},
          {"errors", FindingsJson(skill.errors)},
          {"advice", Json::array()}};
}

// For a workflow command of GitHub: its text, or one of its properties, which may not hold ':' and ',' either.
std::string WorkflowText(std::string_view text, bool property) {
  std::string escaped;
  for (const char c : text) {
    const bool special = c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ','));
    if (special) {
      escaped += fmt::format("%{:02X}", static_cast<unsigned>(c));
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string WorkflowCommand(const char* command, const SkillValidation& skill, const SkillFinding& finding) {
  const std::string file = WorkflowText(skill.file.empty() ? skill.folder : skill.file, true);
  const std::string place =
      finding.line > 0 ? fmt::format(",line={},col={}", finding.line, finding.column) : std::string();
  return fmt::format("::{} file={}{}::{}\n", command, file, place, WorkflowText(finding.message, false));
}

void PrintText(const SkillValidation& skill, Env& env) {
  if (skill.errors.empty()) return PrintDocument(env, fmt::format("Valid skill: {}\n", skill.folder));
  env.error(TerminalText::Format("Validation failed for {}:\n", skill.folder));
  for (const SkillFinding& error : skill.errors)
    env.error(TerminalText::Format("  - {}\n", TerminalText::Escape(error.message)));
}

void PrintForGithub(const SkillValidation& skill, Env& env) {
  if (skill.errors.empty()) return PrintDocument(env, fmt::format("Valid skill: {}\n", skill.folder));
  for (const SkillFinding& error : skill.errors) PrintDocument(env, WorkflowCommand("error", skill, error));
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

}  // namespace

void AddValidateCommand(CLI::App& app, ValidateOptions& options) {
  CLI::App* command =
      app.add_subcommand("validate", "Check skills against the Agent Skills specification")->group("Skills and cases");
  command->add_option("PATH", options.paths, "Folder of a skill, or its SKILL.md")->required();
  command->add_flag("-r,--recursive", options.recursive, "Validate all skills below a folder");
  command->add_flag("--json", options.json, "Print a JSON object for each skill, one a line");
  command->add_option("--format", options.format, "text, or github for annotations in GitHub Actions")
      ->type_name("FORMAT")
      ->default_val("text")
      ->transform(OneOf({"text", "github"}));
  AddExamples(*command, {{"Validate a skill", "upskill validate examples/skills/kernel-builder-cuda-kernels"},
                         {"Annotate a pull request with the errors of all skills",
                          "upskill validate -r skills --format github"}});
}

ExitCode RunValidate(const ValidateOptions& options, Env& env) {
  const bool github = options.format == "github";
  if (options.json && github)
    return PrintError(env, InputError("--json and --format github exclude each other; leave out one of them"));
  const Result<std::vector<std::string>> paths = PathsOf(options);
  if (!paths) return PrintError(env, paths.error());
  bool all_valid = true;
  for (const std::string& path : *paths) {
    const SkillValidation skill = ValidateSkill(path);
    all_valid = all_valid && skill.errors.empty();
    if (options.json) {
      PrintDocument(env, fmt::format("{}\n", DumpJson(ValidationJson(skill))));
    } else if (github) {
      PrintForGithub(skill, env);
    } else {
      PrintText(skill, env);
    }
  }
  return all_valid ? ExitCode::kSuccess : ExitCode::kFailed;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <system_error>
#include <variant>

#include "cli/options/help_formatter.h"
#include "cli/skills/commands.h"
#include "skill/skill_properties.h"
#include "util/json.h"

namespace upskill {
namespace {

struct PropertiesOptions {
  std::vector<std::string> paths;  // read-properties has one
};

// As Python's json.dumps with an indentation of 2 writes it: other characters than those of ASCII are escaped.
std::string PropertiesText(const Json& properties) {
  return fmt::format("{}\n", properties.dump(2, ' ', true, Json::error_handler_t::replace));
}

// Nothing if all paths exist.
Status CheckPaths(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code code;
    if (!std::filesystem::exists(path, code))
      return Error{ErrorKind::kNotFound, fmt::format("path '{}' does not exist", path)};
  }
  return {};
}

ExitCode PrintProblem(Env& env, const SkillFinding& problem) {
  env.error(TerminalText::Format("Error: {}\n", TerminalText::Escape(problem.message)));
  return ExitCode::kFailed;
}

void AddReadPropertiesCommand(CLI::App& app, PropertiesOptions& options) {
  CLI::App* command =
      app.add_subcommand("read-properties", "Print the fields of a skill as JSON")->group("Skills and cases");
  command->add_option("PATH", options.paths, "Folder of a skill, or its SKILL.md")->required()->expected(1);
  AddExamples(*command,
              {{"Show the fields of a skill", "upskill read-properties examples/skills/kernel-builder-cuda-kernels"},
               {"Of the skill in this folder", "upskill read-properties SKILL.md"}});
}

ExitCode RunReadProperties(const PropertiesOptions& options, Env& env) {
  if (const Status exist = CheckPaths(options.paths); !exist) return PrintError(env, exist.error());
  const auto properties = ReadSkillProperties(options.paths.front());
  if (const auto* const problem = std::get_if<SkillFinding>(&properties)) return PrintProblem(env, *problem);
  PrintDocument(env, PropertiesText(std::get<Json>(properties)));
  return ExitCode::kSuccess;
}

void AddToPromptCommand(CLI::App& app, PropertiesOptions& options) {
  CLI::App* command = app.add_subcommand("to-prompt", "Print the part of an agent's prompt that lists skills, as XML")
                          ->group("Skills and cases");
  command->add_option("PATH", options.paths, "Folder of a skill, or its SKILL.md")->required();
  AddExamples(*command, {{"Show what an agent is told about a skill", "upskill to-prompt skills/pdf-tools"},
                         {"List two skills", "upskill to-prompt skills/pdf-tools skills/spreadsheets"}});
}

ExitCode RunToPrompt(const PropertiesOptions& options, Env& env) {
  if (const Status exist = CheckPaths(options.paths); !exist) return PrintError(env, exist.error());
  std::string prompt = "<available_skills>\n";
  for (const std::string& path : options.paths) {
    const auto entry = SkillPromptEntry(path);
    if (const auto* const problem = std::get_if<SkillFinding>(&entry)) return PrintProblem(env, *problem);
    prompt += std::get<std::string>(entry);
  }
  PrintDocument(env, prompt + "</available_skills>\n");
  return ExitCode::kSuccess;
}

}  // namespace

Command ReadPropertiesCommand() { return CommandOf({"read-properties"}, AddReadPropertiesCommand, RunReadProperties); }

Command ToPromptCommand() { return CommandOf({"to-prompt"}, AddToPromptCommand, RunToPrompt); }

}  // namespace upskill

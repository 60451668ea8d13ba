// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <system_error>

#include "cli/env/config.h"
#include "cli/options/help_formatter.h"
#include "cli/skills/commands.h"
#include "skill/skeleton.h"
#include "skill/skill_text.h"
#include "skill/specification.h"
#include "util/folder.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

struct InitOptions {
  std::string name;
  std::string parent;  // where the skill's folder is made; empty: the configured skills folder
};

namespace fs = std::filesystem;

std::string BodyOfSkeleton() {
  return fmt::format(
      "# Instructions\n"
      "\n"
      "{}"
      "\n"
      "- Give a rule with its reason, and the exact name or command.\n"
      "- Show one good example.\n"
      "\n"
      "## Example\n"
      "\n"
      "```\n"
      "{}"
      "```\n",
      kSkeletonInstruction, kSkeletonExample);
}

Json CasesOfSkeleton() {
  return {{"tests",
           {{{"id", "first-case"},
             {"input", kSkeletonQuestion},
             {"expected", {{"contains", {"42"}}}},
             {"reference", "The answer of this skill is 42."},
             {"wrong", {{{"name", "guess"}, {"answer", "I don't know this skill."}, {"fails", "42"}}}}}}}};
}

std::string_view WithoutFullStop(std::string_view text) {
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

// What is wrong with a name; nothing if a skill may have it.
Status CheckName(const std::string& name) {
  if (FindInvalidUtf8(name)) return InputError("the name of the skill is not UTF-8 text");
  StrictYaml field;
  field.text = name;
  const std::vector<SkillFinding> errors = FindNameErrors(field, name);
  if (errors.empty()) return {};
  return InputError(
      fmt::format("no skill can be named '{}': {}; choose a name of at most 64 lowercase letters, digits and single "
                  "hyphens between them",
                  ExcerptLine(name, 80), ExcerptLine(WithoutFullStop(errors.front().message), 200)));
}

Status WriteSkeleton(const std::string& name, const fs::path& place) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(place, code))) {
    return InputError(
        fmt::format("{} already exists and is left unchanged; choose another name, or another folder "
                    "with -o DIR",
                    place.string()));
  }
  ASSIGN_OR_RETURN(const Folder folder, Folder::Make(place));
  SkillText skill;
  skill.name = name;
  skill.description = kSkeletonDescription;
  skill.body = BodyOfSkeleton();
  RETURN_IF_ERROR(folder.WriteFile("SKILL.md", SkillFileText(skill)));
  return folder.WriteFile("tests.json", DumpJsonIndented(CasesOfSkeleton()) + "\n");
}

void AddInitCommand(CLI::App& app, InitOptions& options) {
  CLI::App* command =
      app.add_subcommand("init", "Make the folder of a new skill, with a test case")->group("Skills and cases");
  command->add_option("NAME", options.name, "Name of the skill: lowercase letters, digits and hyphens")->required();
  command
      ->add_option("-o,--output", options.parent,
                   "Where to make the skill's folder [default: the configured skills folder, else ./skills]")
      ->type_name("DIR");
  AddExamples(*command,
              {{"Start a skill in ./skills/pdf-tools", "upskill init pdf-tools"},
               {"Start one that an agent finds in this project", "upskill init pdf-tools -o .agents/skills"}});
}

ExitCode RunInit(const InitOptions& options, Env& env) {
  if (const Status named = CheckName(options.name); !named) return PrintError(env, named.error());
  fs::path parent = options.parent;
  if (parent.empty()) {
    const Result<Config> config = LoadConfig(env);
    if (!config) return PrintError(env, config.error());
    parent = config->skills_dir;
  }
  const fs::path place = parent / options.name;
  if (const Status written = WriteSkeleton(options.name, place); !written) return PrintError(env, written.error());
  if (const std::string problem = SkillNameProblem(options.name); !problem.empty())
    PrintWarning(env, problem + ", where it is to be installed: several agents refuse others");
  env.out(
      TerminalText::Format("made {0}/SKILL.md and {0}/tests.json\n"
                           "next  write the description and the instructions, replace the case, then try them:\n"
                           "      upskill validate {1}\n"
                           "      upskill check {1}\n",
                           place, ShellWord(place.string())));
  return ExitCode::kSuccess;
}

}  // namespace

Command InitCommand() { return CommandOf({"init"}, AddInitCommand, RunInit); }

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/options/help_formatter.h"
#include "cli/skills/commands.h"
#include "cli/skills/skill_argument.h"
#include "install/skill_archive.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

struct PackOptions {
  std::string skill;
  std::string output;  // empty: NAME.skill
  bool with_tests = false;
};

namespace fs = std::filesystem;

// An archive in the skill's own folder would be packed the next time.
Status CheckOutside(const fs::path& file, const fs::path& source) {
  std::error_code code;
  if (!fs::is_directory(source, code)) return {};
  const fs::path folder = fs::canonical(source, code);
  const fs::path target = fs::weakly_canonical(FolderOf(file), code);
  if (std::mismatch(folder.begin(), folder.end(), target.begin(), target.end()).first != folder.end()) return {};
  return InputError(
      fmt::format("the archive {} would be in the skill itself; name another place with -o", file.string()));
}

Status Pack(const PackOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(const fs::path source, PathOfSkill(options.skill, env));
  const fs::path output = options.output;
  if (!output.empty() && !IsSkillArchive(output)) {
    return InputError(
        fmt::format("the archive '{}' must end in .skill or .zip, so that it can be installed", output.string()));
  }
  ASSIGN_OR_RETURN(const SkillFiles skill, ReadSkillSource(source, options.with_tests ? EvaluationFiles::kIncluded
                                                                                      : EvaluationFiles::kLeftOut));
  for (const std::string& warning : skill.warnings) PrintWarning(env, warning);
  const fs::path file = output.empty() ? fs::path(skill.name + ".skill") : output;
  RETURN_IF_ERROR(CheckOutside(file, source));
  const std::string bytes = SkillArchive(skill);
  RETURN_IF_ERROR(WriteOutputFile(file, bytes));
  env.out(TerminalText::Format("{} · {} · {}\n", file, Counted(skill.files.size(), "file"), BytesText(bytes.size())));
  return {};
}

void AddPackCommand(CLI::App& app, PackOptions& options) {
  CLI::App* command =
      app.add_subcommand("pack", "Make an archive of a skill that can be installed")->group("Skills for agents");
  command->add_option("SKILL", options.skill, "Skill: its folder, or a name in the configured folder of skills")
      ->required();
  command->add_option("-o,--output", options.output, "Archive to write [default: NAME.skill]")->type_name("FILE");
  command->add_flag("--with-tests", options.with_tests, "Include tests, answers and runs of the skill");
  AddExamples(*command, {{"Make pdf-forms.skill", "upskill pack skills/pdf-forms"},
                         {"With its tests", "upskill pack skills/pdf-forms --with-tests -o pdf-forms-tests.skill"}});
  AddHelpNote(*command, "Equal files give equal bytes, whenever and wherever they are packed.");
}

ExitCode RunPack(const PackOptions& options, Env& env) {
  const Status done = Pack(options, env);
  return done ? ExitCode::kSuccess : PrintError(env, done.error());
}

}  // namespace

Command PackCommand() { return CommandOf({"pack"}, AddPackCommand, RunPack); }

}  // namespace upskill

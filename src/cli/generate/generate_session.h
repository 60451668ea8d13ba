// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/env/config.h"
#include "cli/env/env.h"
#include "cli/generate/generate_command.h"
#include "cli/generate/generate_sources.h"
#include "model/model.h"
#include "prompts/prompts.h"
#include "skill/suite.h"
#include "teach/generate.h"
#include "teach/teacher.h"
#include "util/folder.h"
#include "util/result.h"
#include "util/temp_folder.h"

namespace upskill {

inline constexpr const char* kTrialsFile = "trials.txt";  // "STAGE RUN" a line, in the generation's folder

// Everything that a generation works with.
struct GenerateSession {
  GenerateCommandOptions options;  // resolved; of a resumed generation, the stored ones
  bool output_is_new = false;      // -o was first given when the generation was resumed
  bool is_part = false;            // of another command, which measures the skill and continues what was stopped
  Config config;
  std::optional<TempFolder> scratch;  // with --no-log-runs: in place of the runs folder
  std::filesystem::path runs_dir;
  std::filesystem::path folder;  // runs_dir/generations/<time>-<4 hex>
  std::string id;
  GenerateSources sources;
  Prompts prompts = BuiltInPrompts();
  std::unique_ptr<Model> teacher_model;
  std::unique_ptr<Model> test_teacher_model;
  std::optional<Teacher> teacher;
  std::optional<Teacher> test_teacher;
  std::vector<std::unique_ptr<Model>> student_models;  // of options.eval_models; none with --no-eval
  std::vector<Student> students_before;                // of a resumed generation
  std::optional<Suite> given;
};

// Reads the sources, opens the models and makes the generation's folder, or resumes a generation (--resume). All input
// is validated before a request is sent. `session.options` are those of the command line. With
// --dry-run nothing is written, and the models can't be asked anything.
Status OpenGeneration(GenerateSession& session, Env& env);

// What tells versions of the skill apart from other skills, and how often its held-out cases had been looked at when
// the generation began.
std::string LineageOf(const GenerateSession& session);
int LooksBefore(const GenerateSession& session);
// Whether its own look at them is counted, in the ledger and in the skill's metadata.
bool CountsLooks(const GenerateSession& session);

// Points into the session.
GenerateInput InputOf(GenerateSession& session, const Env& env);

// Where the skill goes.
std::filesystem::path OutputFolder(const GenerateSession& session, const std::string& name);
// Whether a skill is there that this one doesn't come from.
bool IsTaken(const GenerateSession& session, const std::filesystem::path& folder);

// Copies the skill that is improved into the generation's folder, before it is replaced, if no earlier session has done
// so; tells where. Empty: `folder` isn't its folder.
Result<std::filesystem::path> KeepPrevious(const GenerateSession& session, const std::filesystem::path& folder);

// Copies the skill in `folder` to previous/ in the generation's folder, unless that was done before; tells where.
Result<std::filesystem::path> CopyAsPrevious(const GenerateSession& session, const std::filesystem::path& folder);

// Whether somebody changed the SKILL.md that an earlier session wrote below `folder`.
bool WasEdited(const GenerateSession& session, const GenerateOutcome& outcome, const std::filesystem::path& folder);

// The files that a generation writes below a skill's folder, apart from those that describe the generation itself.
std::vector<std::filesystem::path> SkillFilesOf(const GenerateOutcome& outcome);

// Gives files below `target` the content they had before an earlier session wrote them: that of the skill to improve.
// Files that it doesn't have are removed.
Status RestoreExisting(const GenerateSession& session, const std::vector<std::filesystem::path>& files,
                       const std::filesystem::path& target);

// Opens that folder, which is made if it doesn't exist.
Result<Folder> MakeOutputFolder(const GenerateSession& session, const std::string& name);

// What the students used up by stage, over all sessions of the generation, by the journals of their runs.
std::map<std::string, StageCost> StudentCosts(const GenerateSession& session);

// The command that resumes it; it vouches for what this session was told to use
// (CheckVouchedFor).
std::string ResumeLine(const GenerateSession& session);

}  // namespace upskill

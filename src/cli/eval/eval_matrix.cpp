// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/eval_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/eval/eval_command.h"
#include "cli/options/matrix_output.h"
#include "cli/runs/loaded_run.h"
#include "cli/skills/changed_skills.h"
#include "eval/plan/plan.h"
#include "eval/run/budget.h"
#include "report/export/broken_cases.h"
#include "report/export/eval_json.h"
#include "report/terminal/matrix.h"
#include "skill/skill_tree.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr double kMatrixMargin = VerdictOptions().margin;  // of the best values

struct MatrixRuns {
  std::vector<fs::path> folders;          // of the runs that were made, in the order of the skills
  std::vector<std::string> not_measured;  // skills, because of errors
  std::vector<std::string> not_begun;     // skills, since the run was stopped or its budget spent
  ExitCode code = ExitCode::kSuccess;
};

// The one that says most: an interruption, then an error, then what is incomplete, then a gate.
ExitCode Worse(ExitCode a, ExitCode b) {
  const auto rank = [](ExitCode code) {
    switch (code) {
      case ExitCode::kInterrupted:
        return 4;
      case ExitCode::kUsage:
        return 3;
      case ExitCode::kIncomplete:
        return 2;
      case ExitCode::kFailed:
        return 1;
      case ExitCode::kSuccess:
        break;
    }
    return 0;
  };
  return rank(a) >= rank(b) ? a : b;
}

// An error that isn't about one skill, such as an unknown model, would be that of all.
MatrixRuns RunAll(const EvalOptions& options, Env& env) {
  MatrixRuns runs;
  Budget budget(LimitsOf(options));
  Env quiet = env;
  if (options.json) quiet.out = [](const TerminalText&) {};
  const Clock::Steady started = env.clock->Now();
  for (std::size_t i = 0; i < options.skills.size(); ++i) {
    EvalOptions one = options;
    one.skill = options.skills[i];
    EvalUse use{&budget, std::nullopt, true, nullptr};
    if (options.timeout_seconds)
      use.timeout_left_seconds = std::max(0.001, *options.timeout_seconds - SecondsBetween(started, env.clock->Now()));
    if (!options.json) {
      env.out(TerminalText::Format("{}skill {} of {}: {}\n", i > 0 ? "\n" : "", i + 1, options.skills.size(),
                                   options.skills[i]));
    }
    const EvalPart part = RunEvalPart(one, use, quiet);
    runs.code = Worse(part.code, runs.code);
    if (part.run_folder.empty()) {
      runs.not_measured.push_back(options.skills[i]);
    } else {
      runs.folders.push_back(part.run_folder);
    }
    if (!part.ends_all) continue;
    runs.not_begun.assign(options.skills.begin() + static_cast<std::ptrdiff_t>(i) + 1, options.skills.end());
    break;
  }
  return runs;
}

// Of one run: whether its gate holds, and the cases that broke.
Json GateOfRun(const JudgedRun& run) {
  Json broken = Json::array();
  for (std::size_t i = 0; i < run.plan().students.size(); ++i) {
    for (const BrokenCase& one : FindBrokenCases(run, i).cases) {
      broken.push_back({{"model", run.plan().students[i].name},
                        {"case", one.id},
                        {"before", one.before},
                        {"after", one.after},
                        {"check", one.check}});
    }
  }
  return {{"skill", run.plan().skill.name}, {"run", run.plan().run}, {"gate", GateToJson(run)}, {"broken", broken}};
}

struct LoadedRuns {
  std::vector<JudgedRun> runs;  // without their answers
  Json gates = Json::array();   // GateOfRun of each
};

Result<LoadedRuns> LoadForMatrix(const std::vector<fs::path>& folders) {
  LoadedRuns loaded;
  for (const fs::path& folder : folders) {
    ASSIGN_OR_RETURN(JudgedRun run, LoadRun(folder));
    loaded.gates.push_back(GateOfRun(run));
    run.choices = ChoicesOf(run.data);
    run.data = RunData(run.plan());
    loaded.runs.push_back(std::move(run));
  }
  return loaded;
}

// Of the skills that have no run, or none yet.
std::vector<std::string> RemarksOf(const MatrixRuns& made) {
  std::vector<std::string> remarks;
  remarks.reserve(made.not_measured.size() + made.not_begun.size());
  for (const std::string& skill : made.not_measured) remarks.push_back("could not be measured: " + skill);
  for (const std::string& skill : made.not_begun) remarks.push_back("not begun: " + skill);
  return remarks;
}

void PrintEvalMatrix(const EvalOptions& options, const MatrixRuns& made, const LoadedRuns& loaded, const Matrix& matrix,
                     Env& env) {
  const std::vector<JudgedRun>& runs = loaded.runs;
  if (options.json) {
    Json names = Json::array();
    for (const JudgedRun& run : runs) names.push_back(run.plan().run);
    Json document = MatrixToJson(matrix);
    document["runs"] = std::move(names);
    if (!options.gate.empty()) document["gates"] = loaded.gates;
    document["not_measured"] = made.not_measured;
    document["not_begun"] = made.not_begun;
    PrintDocument(env, DumpJsonIndented(document) + "\n");
    return;
  }
  if (runs.empty()) return;
  if (options.ci.empty()) env.out("\n" + MatrixText(matrix, StyleFor(env, env.out_is_terminal, options.color)));
  for (const std::string& skill : made.not_measured)
    env.out(TerminalText::Format("could not be measured: {} (its error is above)\n", skill));
  if (made.folders.size() == 1) return;  // its own result ends with that line
  std::string folders;
  for (const fs::path& folder : made.folders) folders += " " + ShellWord(folder.string());
  env.out(TerminalText::Format("upskill report{} -o report.html\n", folders));
}

// The option that names the commit.
std::string CommitOption(const EvalOptions& options) { return options.ci.empty() ? "--changed-since" : "--ci"; }

}  // namespace

std::vector<std::string> SkillsNotDeleted(const EvalOptions& options, Env& env) {
  std::vector<std::string> skills = options.skills;
  if (options.changed_since.empty()) return skills;
  std::erase_if(skills, [&](const std::string& path) {
    const Result<std::vector<std::string>> deleted =
        SkillsDeletedSince(path, options.changed_since, CommitOption(options));
    const Result<std::vector<std::string>> left = FindSkillFolders(path);
    std::error_code code;
    const bool has_none = !fs::exists(path, code) || (left && left->empty());
    if (!deleted) {
      if (has_none) PrintWarning(env, deleted.error().message);  // else said when its skills are compared
      return false;
    }
    for (const std::string& skill : *deleted) {
      env.error(
          TerminalText::Format("{} was deleted since {}: there is nothing to measure\n", skill, options.changed_since));
    }
    return !deleted->empty() && has_none;
  });
  return skills;
}

bool IsMatrix(const EvalOptions& options) {
  return options.skills.size() > 1 || !options.changed_since.empty() || !options.output.empty();
}

ExitCode RunEvalMatrix(const EvalOptions& given, Env& env) {
  EvalOptions options = given;
  if (!options.resume.empty()) {
    return PrintError(env,
                      InputError("--resume continues the run of one skill; to continue with several or with -o, run "
                                 "the same command again: it resumes the runs that lack answers"));
  }
  if (const Status output = CheckMatrixOutput(options.output); !output) return PrintError(env, output.error());
  if (!options.log_runs)
    return PrintError(
        env, InputError("several skills need the runs folder for their common table; leave out --no-log-runs"));
  if (!options.changed_since.empty()) {
    Result<std::vector<std::string>> changed =
        SkillsChangedSince(options.skills, options.changed_since, options.tests, CommitOption(options));
    if (!changed) return PrintError(env, changed.error());
    env.error(TerminalText::Format("{} of {} changed since {}\n", changed->size(),
                                   Counted(options.skills.size(), "skill"), options.changed_since));
    options.skills = std::move(changed).value();
  }
  const MatrixRuns made = RunAll(options, env);
  const Result<LoadedRuns> loaded = LoadForMatrix(made.folders);
  if (!loaded) return PrintError(env, loaded.error());
  const std::size_t models = loaded->runs.empty() ? 0 : loaded->runs.front().plan().students.size();
  const Matrix matrix = MakeMatrix(loaded->runs, options.skills.size() * models);
  PrintEvalMatrix(options, made, *loaded, matrix, env);
  ExitCode code = made.code;
  const Status written = WriteMatrixOutput(matrix, RemarksOf(made), kMatrixMargin, options.output, options.json, env);
  if (!written) code = Worse(PrintError(env, written.error()), code);
  if (!made.not_begun.empty()) {
    env.error(TerminalText::Format("not begun: {}; run the same command again to resume\n",
                                   TerminalText::Join(made.not_begun, ", ")));
    return Worse(code, ExitCode::kIncomplete);
  }
  return code;
}

}  // namespace upskill

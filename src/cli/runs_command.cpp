// SPDX-License-Identifier: Apache-2.0
#include "cli/runs_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "cli/color_option.h"
#include "cli/config.h"
#include "eval/journal.h"
#include "eval/judged_run.h"
#include "report/eval_json.h"
#include "report/runs_text.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

bool Wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

void KeepWantedModels(const RunsOptions& options, JudgedRun& run) {
  for (std::size_t i = run.summary.students.size(); i-- > 0;) {
    const Student& student = run.summary.students[i].student;
    if (Wanted(options.models, student.name) || Wanted(options.models, student.spec)) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    run.summary.students.erase(run.summary.students.begin() + at);
    run.verdicts.erase(run.verdicts.begin() + at);
    for (auto& [arm, verdicts] : run.others) verdicts.erase(verdicts.begin() + at);
  }
}

struct Found {
  std::vector<RunRow> rows;
  Json runs = Json::array();
};

Found Collect(const RunsOptions& options, const fs::path& runs_dir, Env& env) {
  Found found;
  for (const fs::path& folder : FindRuns(runs_dir)) {
    const Result<Plan> plan = LoadPlan(folder);
    if (!plan) {
      env.error(fmt::format("warning: skipped: {}\n", SafeForTerminal(plan.error().message)));
      continue;
    }
    if (!Wanted(options.skills, plan->skill.name)) continue;
    const Result<JournalContent> content = ReadJournal(folder);
    if (!content) {
      env.error(fmt::format("warning: skipped: {}\n", SafeForTerminal(content.error().message)));
      continue;
    }
    if (content->skipped_lines > 0) {
      env.error(fmt::format("warning: {}: {} lines of samples.jsonl could not be read\n", SafeForTerminalLine(plan->run), content->skipped_lines));
    }
    JudgedRun run = Judge(*plan, content->samples);
    KeepWantedModels(options, run);
    if (run.summary.students.empty()) continue;
    if (options.json) found.runs.push_back(EvalToJson(run));
    for (RunRow& row : RowsOf(run)) found.rows.push_back(std::move(row));
  }
  return found;
}

}  // namespace

void AddRunsCommand(CLI::App& app, RunsOptions& options) {
  const auto add = [&options](CLI::App* command) {
    command->add_option("-d,--dir,--runs-dir", options.runs_dir, "runs folder (default: from the configuration, else ./runs)");
    command->add_option("-s,--skill", options.skills, "only this skill; repeat for several");
    command->add_option("-m,--model", options.models, "only this model; repeat for several");
    command->add_option("--csv", options.csv, "write every run as CSV to this file (- for standard output)");
    command->add_option("--metric", options.metric, "success, tokens, cost or time")->capture_default_str()->check(CLI::IsMember({"success", "tokens", "cost", "time"}));
    command->add_flag("-a,--all", options.all, "a table of all runs instead of the newest for each skill and model");
    command->add_flag("--json", options.json, "a list of results, each as of eval --json");
    AddColorOption(*command, options.color);
  };
  add(app.add_subcommand("runs", "Show the results of earlier runs"));
  add(app.add_subcommand("plot", "Older name of runs")->group(""));
}

ExitCode RunRuns(const RunsOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  const fs::path runs_dir = options.runs_dir.empty() ? config->runs_dir : fs::path(options.runs_dir);
  std::error_code code;
  if (!fs::is_directory(runs_dir, code)) {
    env.error(fmt::format("error: no runs folder {}; `upskill eval SKILL` makes one, --dir names another\n", SafeForTerminalLine(runs_dir.string())));
    return ExitCode::kFailed;
  }
  const Found found = Collect(options, runs_dir, env);
  if (options.json) {
    env.out(DumpJsonIndented(found.runs) + "\n");
    return ExitCode::kSuccess;
  }
  if (found.rows.empty()) {
    env.error(fmt::format("error: no runs in {}\n", SafeForTerminalLine(runs_dir.string())));
    return ExitCode::kFailed;
  }
  if (!options.csv.empty()) {
    const std::string csv = RunCsv(found.rows);
    if (options.csv == "-") {
      env.out(csv);
      return ExitCode::kSuccess;
    }
    if (const Status written = WriteFileAtomically(options.csv, csv); !written) return PrintError(env, written.error());
    env.out(fmt::format("{} rows written to {}\n", found.rows.size(), SafeForTerminalLine(options.csv)));
    return ExitCode::kSuccess;
  }
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  static const std::map<std::string, RunMetric> kMetrics = {
      {"success", RunMetric::kSuccess}, {"tokens", RunMetric::kTokens}, {"cost", RunMetric::kCost}, {"time", RunMetric::kTime}};
  const RunMetric metric = kMetrics.at(options.metric);
  env.out(options.all ? RunTable(found.rows, style) : RunBars(found.rows, metric, style));
  return ExitCode::kSuccess;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/env/config.h"
#include "cli/options/help_formatter.h"
#include "cli/options/matrix_output.h"
#include "cli/options/option_checks.h"
#include "cli/runs/commands.h"
#include "cluster/job_record.h"
#include "eval/journal/journal.h"
#include "eval/plan/plan.h"
#include "eval/verdict/judged_run.h"
#include "eval/verdict/ledger.h"
#include "report/export/eval_json.h"
#include "report/export/python_export.h"
#include "report/export/python_files.h"
#include "report/export/python_result.h"
#include "report/export/run_summaries.h"
#include "report/terminal/ledger_text.h"
#include "report/terminal/matrix.h"
#include "report/terminal/runs_text.h"
#include "util/files.h"
#include "util/log.h"
#include "util/terminal_text.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// What `runs` says of runs that can be resumed; empty for none. Of the record of a run in jobs, which may come from
// elsewhere, only the engine is shown.
TerminalText UnfinishedText(const fs::path& runs_dir, const std::vector<RunRow>& rows) {
  std::map<std::string, bool> answered;            // by run: whether no cell is unanswered
  std::map<std::string, TerminalText> unfinished;  // by run, so that the newest is the last
  for (const RunRow& row : rows) {
    bool& all = answered.try_emplace(row.run, true).first->second;
    all = all && row.answered == row.cells;
    if (all || row.rechecked || !row.trial.empty() || unfinished.contains(row.run)) continue;
    const Result<Plan> plan = LoadPlan(runs_dir / row.run);
    if (plan && !plan->imported)
      unfinished[row.run] = TerminalText::Format("  upskill eval SKILL --resume {}\n", ShellWord(row.run));
  }
  for (const fs::path& folder : StampedFolders(runs_dir, kJobsFile)) {
    const std::string run = folder.filename().string();
    if (const auto found = answered.find(run); found != answered.end() && found->second) continue;
    const Result<JobRecord> record = LoadJobRecord(folder);
    if (record && record->submissions.empty()) continue;  // there is nothing to go on with
    unfinished[run] =
        record ? TerminalText::Format("  upskill eval SKILL --on {} --resume {}\n", ShellWord(record->engine), run)
               : TerminalText::Format("  {}: {}\n", run, record.error().message);
  }
  if (unfinished.empty()) return {};
  constexpr std::size_t kShown = 5;
  TerminalText text =
      TerminalText::Format("{} {} unfinished. Continue with the skill, models and options that {} started with:\n",
                           Counted(unfinished.size(), "run"), unfinished.size() == 1 ? "is" : "are",
                           unfinished.size() == 1 ? "it was" : "each was");
  const std::size_t older = unfinished.size() - std::min(unfinished.size(), kShown);
  if (older > 0) text += TerminalText::Format("  ({} older not shown)\n", older);
  for (auto it = std::next(unfinished.begin(), static_cast<std::ptrdiff_t>(older)); it != unfinished.end(); ++it)
    text += it->second;
  return text;
}

struct RunsOptions {
  std::string runs_dir;  // empty: from the configuration
  std::vector<std::string> skills;
  std::vector<std::string> models;
  std::string csv;      // file to write; "-" for standard output
  bool python = false;  // the columns of the Python tool in `csv`
  std::string metric = "success";
  bool all = false;
  bool ledger = false;
  bool matrix = false;
  std::string output;                                      // with `matrix`: file for the table; empty: none
  double within_points = 100.0 * VerdictOptions().margin;  // the best value's margin of non-inferiority
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

bool Wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

// Drops the other models, and the samples: what is shown is said in the summary and the verdicts, and the answers of
// all runs together may not fit into memory.
void KeepWantedResults(const RunsOptions& options, JudgedRun& run) {
  if (options.matrix) run.choices = ChoicesOf(run.data);
  Plan plan = run.plan();
  for (std::size_t i = run.summary.students.size(); i-- > 0;) {
    const Student& student = run.summary.students[i].student;
    if (Wanted(options.models, student.name) || Wanted(options.models, student.spec)) continue;
    const auto at = static_cast<std::ptrdiff_t>(i);
    run.summary.students.erase(run.summary.students.begin() + at);
    run.verdicts.erase(run.verdicts.begin() + at);
    run.findings.erase(run.findings.begin() + at);
    plan.students.erase(plan.students.begin() + at);
    for (auto& [arm, verdicts] : run.others) verdicts.erase(verdicts.begin() + at);
  }
  run.data = RunData(std::move(plan));
}

struct Found {
  std::vector<RunRow> rows;
  std::vector<Json> results;  // with RunsOptions::python, as the Python tool has them
  std::vector<JudgedRun> runs;
  std::size_t trials = 0;          // runs of generations that were left out
  std::size_t python_folders = 0;  // of the Python tool
};

// What the Python tool wrote has rows alone: it doesn't keep what a verdict needs.
void CollectPythonRun(const RunsOptions& options, const fs::path& folder, Env& env, Found& found) {
  Result<PythonRun> run = ReadPythonRun(folder);
  if (!run) {
    PrintWarning(env, "skipped: " + run.error().message);
    return;
  }
  for (const std::string& warning : run->warnings) PrintWarning(env, warning);
  ++found.python_folders;
  if (options.python) {
    for (Json& result : run->results) {
      const std::string model = JsonGet<std::string>(Member(result, "metadata"), "model", "");
      if (Wanted(options.models, model) && Wanted(options.skills, JsonGet<std::string>(result, "skill_name", "")))
        found.results.push_back(std::move(result));
    }
  }
  for (RunRow& row : run->rows) {
    const Student& student = row.student.student;
    if (!Wanted(options.skills, row.skill) ||
        (!Wanted(options.models, student.name) && !Wanted(options.models, student.spec)))
      continue;
    found.rows.push_back(std::move(row));
  }
}

// Only rows are shown: what is known of a run may have been kept.
bool ShowsRowsAlone(const RunsOptions& options) { return !options.matrix && !options.json && !options.python; }

void NoteSkippedLines(const std::string& run, std::size_t lines, Env& env) {
  if (lines > 0)
    PrintWarning(env, fmt::format("{}: {} of samples.jsonl could not be read", run, Counted(lines, "line")));
}

// The rows of a run of which the summary is known.
void CollectRows(const RunsOptions& options, const std::string& run, RunSummaryRows summary, Env& env, Found& found) {
  if (!Wanted(options.skills, summary.skill)) return;
  if (!options.all && !summary.trial.empty()) {
    ++found.trials;
    return;
  }
  NoteSkippedLines(run, summary.skipped_lines, env);
  for (RunRow& row : summary.rows) {
    const Student& student = row.student.student;
    if (Wanted(options.models, student.name) || Wanted(options.models, student.spec))
      found.rows.push_back(std::move(row));
  }
}

void CollectRun(const RunsOptions& options, const fs::path& folder, RunSummaries& summaries, Env& env, Found& found) {
  if (ShowsRowsAlone(options)) {
    if (std::optional<RunSummaryRows> known = summaries.Find(folder))
      return CollectRows(options, folder.filename().string(), std::move(*known), env, found);
  }
  const auto skip = [&](const Error& error) { PrintWarning(env, "skipped: " + error.message); };
  const Result<Plan> plan = LoadPlan(folder);
  if (!plan) return skip(plan.error());
  if (!Wanted(options.skills, plan->skill.name)) return;
  if (!options.all && !plan->trial.empty()) {
    ++found.trials;
    return;
  }
  Result<RunData> data = RunData::Read(folder);
  if (!data) return skip(data.error());
  NoteSkippedLines(plan->run, data->skipped_lines(), env);
  JudgedRun run = Judge(std::move(data).value());
  if (ShowsRowsAlone(options))
    summaries.Put(folder, {plan->skill.name, plan->trial, run.data.skipped_lines(), RowsOf(run)});
  std::vector<Json> results;
  if (options.python) results = PythonRounds(run);
  KeepWantedResults(options, run);
  if (run.summary.students.empty()) return;
  const std::vector<Student>& students = run.plan().students;
  for (Json& result : results) {
    const std::string& model = result.at("metadata").at("model").get_ref<const std::string&>();
    const bool wanted =
        std::any_of(students.begin(), students.end(), [&](const Student& one) { return one.spec == model; });
    if (wanted) found.results.push_back(std::move(result));
  }
  for (RunRow& row : RowsOf(run)) found.rows.push_back(std::move(row));
  if (!ShowsRowsAlone(options)) found.runs.push_back(std::move(run));
}

// Folders' names begin with their time, so that their order is that of the runs, whichever program wrote them.
Found Collect(const RunsOptions& options, const fs::path& runs_dir, Env& env) {
  std::vector<std::pair<fs::path, bool>> folders;  // with: whether the Python tool wrote it
  for (fs::path& folder : FindRuns(runs_dir)) folders.emplace_back(std::move(folder), false);
  for (fs::path& folder : FindPythonRuns(runs_dir)) folders.emplace_back(std::move(folder), true);
  std::stable_sort(folders.begin(), folders.end(),
                   [](const auto& x, const auto& y) { return x.first.filename() < y.first.filename(); });
  Found found;
  RunSummaries summaries(runs_dir, *env.clock);
  for (const auto& [folder, python] : folders) {
    if (python) {
      CollectPythonRun(options, folder, env, found);
    } else {
      CollectRun(options, folder, summaries, env, found);
    }
  }
  // Where nothing can be written, the runs are judged each time.
  if (const Status stored = summaries.Store(); !stored) Log("runs", stored.error().message);
  return found;
}

Json RunsToJson(const std::vector<JudgedRun>& runs) {
  Json list = Json::array();
  for (const JudgedRun& run : runs) list.push_back(EvalToJson(run));
  return list;
}

ExitCode PrintLedger(const RunsOptions& options, const fs::path& runs_dir, Env& env) {
  Result<Ledger> ledger = ReadLedger(runs_dir);
  if (!ledger) return PrintError(env, ledger.error());
  std::erase_if(ledger->runs, [&](const LedgerRun& run) { return !Wanted(options.skills, run.skill); });
  if (ledger->skipped_lines > 0) {
    PrintWarning(env, fmt::format("{} of {} could not be read", Counted(ledger->skipped_lines, "line"),
                                  (runs_dir / kLedgerFile).string()));
  }
  if (options.json) {
    PrintDocument(env, DumpJsonIndented(LedgerToJson(*ledger)) + "\n");
  } else if (ledger->runs.empty()) {
    env.error(TerminalText::Format("no looks are counted in {}\n", runs_dir.string()));
  } else {
    env.out(LedgerTable(*ledger, StyleFor(env, env.out_is_terminal, options.color)));
  }
  return ExitCode::kSuccess;
}

// "3 trial runs of generations are not shown: --all shows them"; empty for none.
std::string TrialsText(std::size_t trials) {
  if (trials == 0) return "";
  return fmt::format("{} of generations {} not shown: --all shows {}", Counted(trials, "trial run"),
                     trials == 1 ? "is" : "are", trials == 1 ? "it" : "them");
}

void NoteTrials(std::size_t trials, const Env& env) {
  if (trials > 0) env.error(TerminalText::Format("{}\n", TrialsText(trials)));
}

void NoteUnfinished(const RunsOptions& options, const fs::path& runs_dir, const Found& found, const Env& env) {
  if (!options.skills.empty() || !options.models.empty()) return;
  const TerminalText text = UnfinishedText(runs_dir, found.rows);
  if (!text.empty()) env.error(text);
}

ExitCode WriteCsv(const RunsOptions& options, const Found& found, Env& env) {
  const std::string csv = options.python ? PythonCsv(found.results) : RunCsv(found.rows);
  if (options.csv == "-") {
    PrintDocument(env, csv);
    return ExitCode::kSuccess;
  }
  if (const Status written = WriteOutputFile(options.csv, csv); !written) return PrintError(env, written.error());
  env.out(TerminalText::Format("{} written to {}\n",
                               Counted(options.python ? found.results.size() : found.rows.size(), "row"), options.csv));
  return ExitCode::kSuccess;
}

// The matrix says what a skill adds to no skill: a run that compares it with another version says nothing about that,
// and one that compares nothing is shown only for a skill without a comparison.
void KeepComparisons(std::vector<JudgedRun>& runs) {
  const auto compares = [](const JudgedRun& run) {
    return run.plan().has_arm(Arm::kBaseline) && run.plan().has_arm(Arm::kSkill);
  };
  std::set<std::string> compared;
  for (const JudgedRun& run : runs) {
    if (compares(run)) compared.insert(run.plan().skill.name);
  }
  std::erase_if(runs, [&](const JudgedRun& run) {
    return !compares(run) && (run.plan().arms.size() > 1 || compared.contains(run.plan().skill.name));
  });
}

// `runs --matrix`, which may be written to a file as well.
ExitCode PrintMatrix(const RunsOptions& options, const Found& found, Env& env) {
  const double tolerance = options.within_points / 100.0;
  const Matrix matrix = MakeMatrix(found.runs);
  if (options.json) {
    PrintDocument(env, DumpJsonIndented(MatrixToJson(matrix, tolerance)) + "\n");
  } else {
    env.out(MatrixText(matrix, StyleFor(env, env.out_is_terminal, options.color), tolerance));
    NoteTrials(found.trials, env);
  }
  const Status written = WriteMatrixOutput(matrix, {}, tolerance, options.output, options.json, env);
  return written ? ExitCode::kSuccess : PrintError(env, written.error());
}

// `runs` and its older name `plot`.
void AddRunsCommand(CLI::App& app, RunsOptions& options) {
  const auto add = [&options](CLI::App* command) {
    BeginGroup(*command, "Which runs");
    command
        ->add_option("-d,--runs-dir,--dir", options.runs_dir, "Runs folder [default: the configured one, else ./runs]")
        ->type_name("DIR");
    command->add_option("-s,--skill", options.skills, "Only this skill (repeatable)")->type_name("SKILL");
    command->add_option("-m,--model", options.models, "Only this model (repeatable)")->type_name("MODEL");
    command->add_flag(
        "-a,--all", options.all,
        "Show a table of all runs, not only the newest per skill and model, and trials of generations too");
    BeginGroup(*command, "What to show");
    command->add_option("--metric", options.metric, "Metric of the bars: success, tokens, cost or time")
        ->capture_default_str()
        ->transform(OneOf({"success", "tokens", "cost", "time"}))
        ->type_name("METRIC");
    command->add_flag("--ledger", options.ledger,
                      "Show every look at a verdict that was counted, with the share of alpha it used");
    command->add_flag(
        "--matrix", options.matrix,
        "Show skills by models: verdicts, and per skill the best model, the best value (the cheapest that is "
        "shown to be good enough), and whether the skill is worth its tokens");
    command
        ->add_option("--within", options.within_points,
                     "With --matrix: loss against any other choice that must be ruled out for the best value, in "
                     "percentage points")
        ->capture_default_str()
        ->check(Number(0.1, 99.0))
        ->type_name("POINTS");
    BeginGroup(*command, "Output");
    command->add_option("--csv", options.csv, "Write the runs as CSV to this file; - is standard output")
        ->type_name("FILE");
    command->add_flag("--python", options.python,
                      "With --csv: the columns of the Python tool's table, a row for each round of an arm");
    command->add_flag("--json", options.json, "Print results like eval --json; with --matrix, the matrix");
    AddMatrixOutputOption(*command, options.output);
    command->get_option("--output")->needs(command->get_option("--matrix"));
    for (const char* form : {"--matrix", "--json"}) command->get_option("--csv")->excludes(command->get_option(form));
    AddColorOption(*command, options.color);
    AddExamples(*command, {{"Show the newest result of each skill and model", "upskill runs"},
                           {"Find the cheapest model that is good enough", "upskill runs --matrix --within 3"},
                           {"Write all runs to a file", "upskill runs --csv runs.csv"}});
  };
  add(app.add_subcommand("runs", "Show the results of earlier runs")->group("Results"));
  add(app.add_subcommand("plot", "Older name of runs")->group(""));
}

ExitCode RunRuns(const RunsOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  if (options.python && options.csv.empty())
    return PrintError(env, InputError("--python chooses the columns of --csv; name the file with --csv FILE"));
  if (const Status output = CheckMatrixOutput(options.output); !output) return PrintError(env, output.error());
  const fs::path runs_dir = RunsFolder(options.runs_dir, *config);
  std::error_code code;
  if (!fs::is_directory(runs_dir, code)) {
    env.error(TerminalText::Format(
        "error: runs folder '{}' not found; name another with -d DIR; `upskill eval SKILL` creates one\n",
        runs_dir.string()));
    return ExitCode::kFailed;
  }
  if (options.ledger) return PrintLedger(options, runs_dir, env);
  Found found = Collect(options, runs_dir, env);
  const bool had_runs = !found.runs.empty();
  if (options.matrix) KeepComparisons(found.runs);
  if (const std::size_t left = found.python_folders; left > 0 && (options.json || options.matrix)) {
    env.error(TerminalText::Format("note: {} of the Python tool {} left out: {} no answers, which {} needs\n",
                                   Counted(left, "run"), left == 1 ? "is" : "are", left == 1 ? "it has" : "they have",
                                   options.matrix ? "--matrix" : "--json"));
  }
  if (options.json && !options.matrix) {
    PrintDocument(env, DumpJsonIndented(RunsToJson(found.runs)) + "\n");
    return ExitCode::kSuccess;
  }
  if (options.matrix && (options.json || !found.runs.empty())) {
    const ExitCode printed = PrintMatrix(options, found, env);
    if (!options.json) NoteUnfinished(options, runs_dir, found, env);
    return printed;
  }
  if (!options.csv.empty()) return WriteCsv(options, found, env);
  if (had_runs && options.matrix && found.runs.empty()) {
    env.error(TerminalText::Format("no run in the folder '{}' compares a skill with no skill\n", runs_dir.string()));
    return ExitCode::kSuccess;
  }
  if (found.rows.empty() || (options.matrix && found.runs.empty())) {
    const bool all = options.skills.empty() && options.models.empty();
    env.error(
        all ? TerminalText::Format("no runs in the folder '{}'; `upskill eval SKILL` creates one\n", runs_dir.string())
            : TerminalText::Format("no runs of this skill and model in the folder '{}'\n", runs_dir.string()));
    NoteTrials(found.trials, env);
    NoteUnfinished(options, runs_dir, found, env);
    return ExitCode::kSuccess;
  }
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  static const std::map<std::string, RunMetric> metrics = {{"success", RunMetric::kSuccess},
                                                           {"tokens", RunMetric::kTokens},
                                                           {"cost", RunMetric::kCost},
                                                           {"time", RunMetric::kTime}};
  const RunMetric metric = metrics.at(options.metric);
  env.out(options.all ? RunTable(found.rows, style) : RunBars(found.rows, metric, style));
  NoteTrials(found.trials, env);
  NoteUnfinished(options, runs_dir, found, env);
  return ExitCode::kSuccess;
}

}  // namespace

Command RunsCommand() { return CommandOf({"runs", "plot"}, AddRunsCommand, RunRuns); }

}  // namespace upskill

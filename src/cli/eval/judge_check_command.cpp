// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "cli/env/config.h"
#include "cli/eval/commands.h"
#include "cli/models/judge_option.h"
#include "cli/models/students.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "eval/journal/journal.h"
#include "eval/run/judge_labels.h"
#include "eval/run/judge_record.h"
#include "report/terminal/agreement_text.h"
#include "util/clock.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

struct JudgeCheckOptions {
  std::string labels;  // file; empty with `sheet`
  std::string judge;
  std::string sheet;  // the run whose answers are to be labelled
  std::string base_url;
  std::string runs_dir;  // empty: from the configuration
  std::optional<double> max_cost_usd;
  std::optional<double> min_kappa;
  int parallel = 0;
  bool verbose = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxLabelBytes = std::uint64_t{64} << 20U;

ExitCode PrintSheet(const std::string& run, const fs::path& runs_dir, Env& env) {
  const Result<fs::path> folder = ResolveRun(runs_dir, run);
  if (!folder) return PrintError(env, folder.error());
  const Result<RunData> data = RunData::Read(*folder);
  if (!data) return PrintError(env, data.error());
  const std::vector<Json> lines = LabelSheet(*data);
  if (lines.empty()) {
    return PrintError(env, InputError(fmt::format("run {} has no judged answers: give its cases a check of the type "
                                                  "judge, and the run a --judge-model",
                                                  data->plan().run)));
  }
  std::string text;
  for (const Json& line : lines) text += DumpJson(line) + "\n";
  PrintDocument(env, text);
  return ExitCode::kSuccess;
}

// What later runs are told, for each rubric by itself.
std::vector<RubricRecord> RecordsOf(const LabelSet& set, const JudgedLabels& judged, const std::string& identity,
                                    const Clock& clock) {
  std::map<std::string, RubricRecord> by_rubric;
  std::map<std::string, std::vector<WeightedLabel>> labels;
  for (std::size_t i = 0; i < set.answers.size(); ++i) {
    const std::optional<bool> people = set.answers[i].people();
    if (!people || judged.judgments[i].key.empty()) continue;
    const std::string hash = RubricHash(set.answers[i].asked.question.rubric);
    RubricRecord& record = by_rubric[hash];
    record.judge = identity;
    record.rubric = hash;
    record.time = UtcTimestamp(clock.WallNow());
    const bool passes = judged.judgments[i].judgment.word == JudgeWord::kMet;
    record.counts.Add(passes, *people);
    const LabelledAnswer& answer = set.answers[i];
    labels[hash].push_back({passes, *people, answer.times()});
    if (answer.without_skill == 0 && answer.with_skill > 0) record.with_skill.Add(passes, *people);
    if (answer.with_skill == 0 && answer.without_skill > 0) record.without_skill.Add(passes, *people);
  }
  for (auto& [hash, record] : by_rubric) record.effective = EffectiveOf(labels[hash]);
  std::vector<RubricRecord> records;
  records.reserve(by_rubric.size());
  for (auto& [hash, record] : by_rubric) records.push_back(std::move(record));
  return records;
}

// How often the answers occurred in the runs that their sheets are from. A run that is gone leaves them equal.
void CountInRuns(const fs::path& runs_dir, LabelSet& set, Env& env) {
  std::set<std::string> runs;
  for (const LabelledAnswer& answer : set.answers) {
    if (!answer.run.empty()) runs.insert(answer.run);
  }
  for (const std::string& run : runs) {
    const Result<fs::path> folder = ResolveRun(runs_dir, run);
    const Result<RunData> data = folder ? RunData::Read(*folder) : Result<RunData>(folder.error());
    if (!data) {
      PrintWarning(env, fmt::format("each answer of run {} counts once, however often it occurred: {}", run,
                                    data.error().message));
      continue;
    }
    CountOccurrences(*data, set);
  }
}

// Why not all were judged, once.
void PrintWhyUnjudged(const JudgedLabels& judged, Env& env) {
  if (!judged.exhausted.empty()) env.error(TerminalText::Format("stopped: {}\n", judged.exhausted));
  for (const std::optional<Error>& error : judged.errors) {
    if (!error || error->kind == ErrorKind::kCancelled) continue;
    env.error(TerminalText::Format("first error: {}\n", error->message));
    return;
  }
}

ExitCode Conclude(const JudgeCheckOptions& options, const JudgeAgreement& agreement, const JudgedLabels& judged,
                  Env& env) {
  if (agreement.unjudged > 0) {
    PrintWhyUnjudged(judged, env);
    return judged.interrupted ? ExitCode::kInterrupted : ExitCode::kIncomplete;
  }
  if (!options.min_kappa || (agreement.kappa && agreement.kappa->value >= *options.min_kappa))
    return ExitCode::kSuccess;
  if (agreement.kappa) {
    env.error(TerminalText::Format("Cohen's kappa is below {} (--min-kappa)\n", *options.min_kappa));
  } else {
    env.error(
        TerminalText::Format("Cohen's kappa is undefined, so --min-kappa {} doesn't hold: label answers that pass "
                             "and answers that fail\n",
                             *options.min_kappa));
  }
  return ExitCode::kFailed;
}

// Errors: it can't be opened, can't judge, or has no known price though the cost is limited.
Result<std::unique_ptr<Model>> OpenComparedJudge(const JudgeCheckOptions& options, const Env& env) {
  RETURN_IF_ERROR(CheckCanJudge(options.judge));
  ModelOptions model_options;
  model_options.client = std::make_shared<HttpClient>();
  model_options.parallel = options.parallel;
  if (!options.base_url.empty()) model_options.base_urls.push_back(options.base_url);
  ASSIGN_OR_RETURN(std::unique_ptr<Model> judge, OpenModel(options.judge, model_options, env));
  if (options.max_cost_usd) RETURN_IF_ERROR(CheckPriceIsKnown(*judge, options.judge));
  return judge;
}

void AddJudgeCheckCommand(CLI::App& app, JudgeCheckOptions& options) {
  CLI::App* command = app.add_subcommand("judge-check", "Compare a judge with people who have labelled answers")
                          ->group("Skills and cases");
  command
      ->add_option("LABELS", options.labels, "Labelled answers, one JSON object per line: input, answer, rubric, label")
      ->type_name("FILE");
  command->add_option("-m,--judge-model", options.judge, "Judge to compare")->type_name("MODEL");
  command
      ->add_option(
          "--sheet", options.sheet,
          "Print the judged answers of this run instead, to be labelled: without model and arm, in random order")
      ->type_name("RUN");
  command->add_option("--base-url", options.base_url, "OpenAI-compatible server for a plain model name")
      ->type_name("URL");
  command->add_option("-j,--jobs", options.parallel, "Maximum concurrent requests")
      ->check(WholeNumber(1, 4096))
      ->default_str("the model's own")
      ->type_name("N");
  command->add_option("--max-cost", options.max_cost_usd, "Stop before exceeding this cost (USD)")
      ->check(PositiveNumber())
      ->type_name("USD");
  command->add_option("--min-kappa", options.min_kappa, "Exit with 1 if Cohen's kappa is below this")
      ->check(Number(-1.0, 1.0))
      ->type_name("K");
  command->add_option("-d,--runs-dir", options.runs_dir, "Runs folder [default: the configured one, else ./runs]")
      ->type_name("DIR");
  command->add_flag("-v,--verbose", options.verbose, "Show the answers that judge and people see differently");
  command->add_flag("--json", options.json, "Print the result as JSON");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"Answers of the latest run, to be labelled by a person",
                          "upskill judge-check --sheet latest >labels.jsonl"},
                         {"How far the judge can be trusted", "upskill judge-check labels.jsonl -m haiku -v"}});
}

// Compares a judge with the labels of people, and notes for later runs how often it errs. With `sheet`, prints answers
// of a run to be labelled. Exit code 1 if kappa isn't above min_kappa, 3 if answers are left unjudged.
ExitCode RunJudgeCheck(const JudgeCheckOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  const fs::path runs_dir = RunsFolder(options.runs_dir, *config);
  if (!options.sheet.empty()) {
    if (!options.labels.empty() || !options.judge.empty() || options.min_kappa) {
      return PrintError(env, InputError("--sheet only prints answers to label: leave out LABELS, --judge-model and "
                                        "--min-kappa, or --sheet"));
    }
    return PrintSheet(options.sheet, runs_dir, env);
  }
  if (options.labels.empty() || options.judge.empty()) {
    return PrintError(env, InputError("name a file of labelled answers and a judge: upskill judge-check labels.jsonl "
                                      "-m MODEL; `--sheet RUN` prints answers to label"));
  }
  const Result<std::string> text = ReadFile(options.labels, kMaxLabelBytes);
  if (!text) return PrintError(env, text.error());
  Result<LabelSet> set = ParseLabels(*text, options.labels);
  if (!set) return PrintError(env, set.error());
  CountInRuns(runs_dir, *set, env);
  for (const std::string& warning : set->warnings) PrintWarning(env, warning);
  const Result<std::unique_ptr<Model>> judge = OpenComparedJudge(options, env);
  if (!judge) return PrintError(env, judge.error());
  RunLimits limits;
  limits.max_cost_usd = options.max_cost_usd;
  const bool live = env.error_is_terminal && !options.json;
  const std::size_t total = set->answers.size();
  const auto progress = [&](std::size_t done) {
    if (live) env.error(TerminalText::Trusted(fmt::format("\r  {}/{} judged", done, total)));
  };
  Result<JudgmentStore> store = JudgmentStore::Open(runs_dir);
  if (!store) return PrintError(env, store.error());
  const JudgedLabels judged = JudgeLabels(**judge, *set, limits, *env.clock, env.stop, &*store, progress);
  if (live) env.error(TerminalText::Trusted("\r\x1b[K"));
  const ModelInfo& info = (*judge)->info();
  const JudgeAgreement agreement = AgreementOf(*set, judged, info.name);
  if (options.json) {
    Json document = AgreementToJson(agreement);
    document["cost_usd"] = JsonOrNull(judged.cost_usd);
    document["known"] = judged.known;
    PrintDocument(env, DumpJsonIndented(document) + "\n");
  } else {
    env.out(AgreementText(agreement));
    if (options.verbose)
      env.out(DisagreementsText(agreement, *set, judged, StyleFor(env, env.out_is_terminal, options.color)));
    if (judged.known > 0) env.out(TerminalText::Format("{} known from before\n", Counted(judged.known, "verdict")));
    if (judged.cost_usd.value_or(0.0) > 0.0) env.out(TerminalText::Format("spent {}\n", MoneyText(*judged.cost_usd)));
  }
  if (!judged.unsaved.empty()) PrintWarning(env, "the judge's verdicts are not kept: " + judged.unsaved);
  if (agreement.unjudged > 0) {
    if (!options.json)
      env.out("not noted for later runs: not all answers were judged; run it again, which asks about the rest\n");
  } else if (agreement.counts.total() > 0) {
    const Status noted = AppendJudgeRecords(runs_dir, RecordsOf(*set, judged, info.identity, *env.clock));
    if (!noted) return PrintError(env, noted.error().With("noting it for later runs"));
    if (!options.json) env.out(TerminalText::Format("noted in {}\n", (runs_dir / kJudgesFile).string()));
  }
  return Conclude(options, agreement, judged, env);
}

}  // namespace

Command JudgeCheckCommand() { return CommandOf({"judge-check"}, AddJudgeCheckCommand, RunJudgeCheck); }

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "cli/env/catalog_file.h"
#include "cli/env/config.h"
#include "cli/env/model_costs.h"
#include "cli/eval/commands.h"
#include "cli/eval/eval_session.h"
#include "cli/eval/option_row.h"
#include "cli/eval/plan_estimates.h"
#include "cli/eval/run_demand.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "eval/journal/known_student.h"
#include "eval/plan/plan.h"
#include "eval/verdict/input_clusters.h"
#include "model/chat.h"
#include "model/model_spec.h"
#include "report/terminal/style.h"
#include "report/terminal/table.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "stats/power.h"
#include "util/clock.h"
#include "util/percent.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

struct PlanOptions {
  std::string skill;
  std::vector<std::string> models;
  std::vector<std::string> base_urls;
  std::string judge_model;  // empty: none
  std::string tests;
  std::string runs_dir;            // empty: from the configuration
  std::optional<double> baseline;  // stated pass rate without the skill; absent: from earlier runs
  std::optional<int> rounds;       // also show what this number of rounds can detect
  double alpha = VerdictOptions().alpha;
  double margin_points = 100.0 * VerdictOptions().margin;
  int max_tokens = Sampling().max_tokens;
  int parallel = 0;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

namespace fs = std::filesystem;

constexpr std::array<double, 5> kLifts = {0.05, 0.10, 0.25, 0.40, 0.60};
constexpr double kPower = 0.8;
constexpr int kMaxPlannedRounds = 60;
constexpr int kMaxPlannedCases = 500;
constexpr int kMaxRoundsOfNoEffect = 10000;
constexpr int kDraws = 600;
constexpr int kDrawsOfCases = 200;
constexpr double kUnknownBaseline = 0.5;  // where the variance, and so the need for rounds, is largest
constexpr int kNetworkParallel = 64;
constexpr int kLocalParallel = 32;
constexpr int kCommandParallel = 4;

struct Estimate {
  std::string name;
  std::size_t cases = 0;
  std::vector<double> baseline;    // by different input: cases that share one are a single unit of evidence
  std::string source;              // of the baseline, for people
  std::string judge;               // what it adds, for people; empty without one
  double tokens_per_answer = 0.0;  // prompt and output, with half of the answers carrying the skill
  std::optional<double> usd_per_answer;
  AnswerTime time;
  bool local = false;
  int parallel = 1;
};

// What it takes to see one lift.
struct Need {
  double lift = 0.0;
  std::optional<int> rounds;          // for 80 % power; absent: more than kMaxPlannedRounds
  std::optional<double> mean_rounds;  // mean of a run with this maximum that stops when decided
  bool impossible = false;            // the baseline leaves no room for such a lift
  std::optional<int> cases;           // different ones, for `in general` after `rounds`; absent: > kMaxPlannedCases
};

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Need NeedFor(const Estimate& estimate, double lift, const SequentialRule& of_look) {
  Need need;
  need.lift = lift;
  need.impossible = lift > 1.0 - MeanOf(estimate.baseline) + 1e-9;
  if (need.impossible) return need;
  const std::vector<CaseRates> rates = WithLift(estimate.baseline, lift);
  SequentialRule rule = of_look;
  const auto power = [&](int rounds) {
    rule.rounds = rounds;
    return SimulateRule(rates, rule, kDraws, 1);
  };
  if (power(kMaxPlannedRounds).helps < kPower) return need;
  int low = 0;  // too few
  int high = kMaxPlannedRounds;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (power(middle).helps >= kPower ? high : low) = middle;
  }
  need.rounds = high;
  need.mean_rounds = power(high).mean_rounds;
  rule.rounds = high;
  need.cases = CasesForGeneral(estimate.baseline, lift, rule, kPower, kDrawsOfCases, 1, kMaxPlannedCases);
  return need;
}

// What a run could show about one student.
struct Outlook {
  std::vector<Need> needs;
  double margin = 0.0;
  std::optional<int> no_effect;      // rounds that show `no effect` if the skill changes nothing
  std::optional<double> detectable;  // lift, with the number of rounds asked about
};

// `alpha`: of this model, among those of the run.
Outlook OutlookFor(const Estimate& estimate, const PlanOptions& options, const NextLook& look, double alpha) {
  Outlook outlook;
  outlook.margin = options.margin_points / 100.0;
  SequentialRule rule;
  rule.alpha = alpha;
  rule.planned = look.planned_rounds;
  for (const double lift : kLifts) outlook.needs.push_back(NeedFor(estimate, lift, rule));
  if (options.rounds) {
    rule.rounds = *options.rounds;
    outlook.detectable = DetectableLift(estimate.baseline, rule, kPower, kDraws);
  }
  rule.margin = outlook.margin;
  outlook.no_effect = RoundsForNoEffect(estimate.baseline, rule, kPower, kMaxRoundsOfNoEffect);
  return outlook;
}

struct Inputs {
  Skill skill;
  Suite suite;
  fs::path runs_dir;
  Catalog catalog;
};

// Adds what the judge takes for each answer. `output`: tokens of an answer.
Status AddJudge(const std::string& judge_model, const Inputs& inputs, double output, Estimate& estimate) {
  ASSIGN_OR_RETURN(const JudgeEstimate judge, EstimateJudge(judge_model, inputs.suite, inputs.catalog, output));
  estimate.tokens_per_answer += judge.tokens;
  const std::optional<double> student = estimate.local ? std::optional(0.0) : estimate.usd_per_answer;
  const std::optional<double> judging = judge.local ? std::optional(0.0) : judge.usd;
  estimate.usd_per_answer = student && judging ? std::optional(*student + *judging) : std::nullopt;
  estimate.local = estimate.local && judge.local;
  estimate.judge = fmt::format("at most {:.2g} requests to the judge {} per answer, counted in tokens and cost",
                               judge.requests, judge_model);
  return {};
}

int DefaultParallel(const ModelSpec& spec) {
  if (spec.provider == "cmd") return kCommandParallel;
  return RunsInProcess(spec) ? kLocalParallel : kNetworkParallel;
}

Result<Estimate> EstimateFor(const PlanOptions& options, const Inputs& inputs, const std::string& model) {
  Estimate estimate;
  estimate.name = model;
  ASSIGN_OR_RETURN(const ModelSpec spec, ParseModelSpec(model, {&inputs.catalog, !options.base_urls.empty()}));
  estimate.local = RunsInProcess(spec);
  estimate.parallel = options.parallel > 0 ? options.parallel : DefaultParallel(spec);
  double prompt = static_cast<double>(EstimateTokens(inputs.skill.body)) / 2.0;
  for (const Case& test_case : inputs.suite.cases) {
    prompt += static_cast<double>(EstimateTokens(test_case.input)) / static_cast<double>(inputs.suite.cases.size());
  }
  double output = GuessedAnswerTokens(options.max_tokens);
  ASSIGN_OR_RETURN(const KnownStudent known,
                   FindKnownStudent(inputs.runs_dir, model, inputs.suite, options.max_tokens));
  if (known.answers > 0) {
    prompt = known.prompt_tokens.value_or(prompt);
    output = known.output_tokens.value_or(output);
    estimate.usd_per_answer = known.usd;
  }
  estimate.time = TimeOfAnswer(known, spec, output, estimate.parallel);
  estimate.tokens_per_answer = prompt + output;
  if (const std::optional<Price> price = inputs.catalog.PriceOf(spec.provider, PricedName(spec));
      !estimate.usd_per_answer && !RunsInProcess(spec) && price) {
    estimate.usd_per_answer = (prompt * price->input + output * price->output) / 1e6;
  }
  if (!options.judge_model.empty()) RETURN_IF_ERROR(AddJudge(options.judge_model, inputs, output, estimate));
  estimate.cases = inputs.suite.cases.size();
  const std::vector<std::size_t> first = FirstOfEachInput(inputs.suite);
  if (options.baseline) {
    estimate.baseline.assign(first.size(), *options.baseline);
    estimate.source = fmt::format("baseline as given: {:.4g} % for every case", *options.baseline * 100.0);
  } else if (known.baseline_answers > 0) {
    for (const std::size_t i : first) estimate.baseline.push_back(known.baseline[i]);
    estimate.source = fmt::format("baseline of each case from {}: {:.0f} % on average",
                                  Counted(known.baseline_answers, "answer"), WholePercent(known.baseline_rate));
  } else {
    estimate.baseline.assign(first.size(), kUnknownBaseline);
    estimate.source = "baseline unknown, 50 % assumed for every case (--baseline sets it)";
  }
  return estimate;
}

double RequestsFor(const Estimate& estimate, double rounds) {
  return rounds * 2.0 * static_cast<double>(estimate.cases);
}

std::string CostText(const Estimate& estimate, double requests) {
  if (estimate.local) return "free";
  if (!estimate.usd_per_answer) return "price unknown";
  return fmt::format("${:.2f}", requests * *estimate.usd_per_answer);
}

double SecondsFor(const Estimate& estimate, double requests) {
  return std::ceil(requests / estimate.parallel) * estimate.time.seconds;
}

Json SpendingToJson(const Estimate& estimate, double rounds) {
  const double requests = RequestsFor(estimate, rounds);
  return {{"rounds", rounds},
          {"requests", std::llround(requests)},
          {"tokens", std::llround(requests * estimate.tokens_per_answer)},
          {"cost_usd", estimate.local            ? Json(0.0)
                       : estimate.usd_per_answer ? Json(requests * *estimate.usd_per_answer)
                                                 : Json(nullptr)},
          {"seconds", SecondsFor(estimate, requests)}};
}

Json NeedToJson(const Estimate& estimate, const Need& need) {
  return {{"lift", need.lift},
          {"impossible", need.impossible},
          {"for_power", need.rounds ? SpendingToJson(estimate, *need.rounds) : Json(nullptr)},
          {"when_stopped_on_average", need.mean_rounds ? SpendingToJson(estimate, *need.mean_rounds) : Json(nullptr)},
          {"cases_in_general", need.cases ? Json(*need.cases) : Json(nullptr)}};
}

// "12 cases", or "12 cases with 4 different inputs, each of which counts once".
std::string SuiteText(const Estimate& estimate) {
  const std::size_t inputs = estimate.baseline.size();
  if (inputs == estimate.cases) return Counted(inputs, "case");
  return fmt::format("{} with {}, {}counts once", Counted(estimate.cases, "case"), Counted(inputs, "different input"),
                     inputs == 1 ? "which " : "each of which ");
}

Json OutlookToJson(const std::string& model, const Estimate& estimate, const NextLook& look, const Outlook& outlook) {
  Json list = Json::array();
  for (const Need& need : outlook.needs) list.push_back(NeedToJson(estimate, need));
  const Json no_effect = {
      {"margin", outlook.margin},
      {"for_power", outlook.no_effect ? SpendingToJson(estimate, *outlook.no_effect) : Json(nullptr)}};
  return {{"model", model},
          {"baseline", MeanOf(estimate.baseline)},
          {"baseline_source", estimate.source},
          {"time_source", estimate.time.source},
          {"look", look.number},
          {"continues_rounds", look.planned_rounds > 0 ? Json(look.planned_rounds) : Json(nullptr)},
          {"to_see", list},
          {"no_effect", no_effect},
          {"detectable_lift", outlook.detectable ? Json(*outlook.detectable) : Json(nullptr)}};
}

// "57 s", "12 min", "2.5 h".
std::string TimeText(double seconds) {
  constexpr double kMinute = 60.0;
  constexpr double kHour = 3600.0;
  if (seconds < 100.0) return fmt::format("{:.0f} s", std::ceil(seconds));
  if (seconds < 100.0 * kMinute) return fmt::format("{:.0f} min", std::ceil(seconds / kMinute));
  return fmt::format("{:.1f} h", seconds / kHour);
}

std::string CasesText(const Need& need) {
  return need.cases ? Counted(static_cast<std::size_t>(*need.cases), "case")
                    : fmt::format("> {} cases", kMaxPlannedCases);
}

// Both columns of cost and time: the run of all rounds, and what is spent on average when it stops as soon as it is
// decided. The last row is for `no effect`.
TerminalText PlanTable(const Estimate& estimate, const Outlook& outlook, const Style& style) {
  Table table({{"to see", Table::Align::kRight},
               {"rounds", Table::Align::kRight},
               {"requests", Table::Align::kRight},
               {"tokens", Table::Align::kRight, false, 1},
               {"cost", Table::Align::kRight},
               {"time", Table::Align::kRight},
               {"in general", Table::Align::kRight},
               {"on average, with --stop-when-decided", Table::Align::kLeft, false, 2}});
  for (const Need& need : outlook.needs) {
    if (need.impossible) continue;
    const std::string lift = fmt::format("+{:.0f}", need.lift * 100.0);
    if (!need.rounds) {
      table.AddRow({lift, fmt::format("> {}", kMaxPlannedRounds), "–", "–", "–", "–", "–", "–"});
      continue;
    }
    const double requests = RequestsFor(estimate, *need.rounds);
    const double fewer = RequestsFor(estimate, *need.mean_rounds);
    table.AddRow(
        {lift, fmt::format("{}", *need.rounds), WithThousands(std::llround(requests)),
         WithThousands(std::llround(requests * estimate.tokens_per_answer)), CostText(estimate, requests),
         TimeText(SecondsFor(estimate, requests)), CasesText(need),
         fmt::format("{:.1f} rounds · {} requests · {}{}", *need.mean_rounds, WithThousands(std::llround(fewer)),
                     estimate.local ? "" : CostText(estimate, fewer) + " · ", TimeText(SecondsFor(estimate, fewer)))});
  }
  const std::string equal = fmt::format("±{:.4g}", outlook.margin * 100.0);
  if (!outlook.no_effect) {
    table.AddRow({equal, "> " + WithThousands(kMaxRoundsOfNoEffect), "–", "–", "–", "–", "–", "–"});
  } else {
    const double requests = RequestsFor(estimate, *outlook.no_effect);
    table.AddRow({equal, WithThousands(*outlook.no_effect), WithThousands(std::llround(requests)),
                  WithThousands(std::llround(requests * estimate.tokens_per_answer)), CostText(estimate, requests),
                  TimeText(SecondsFor(estimate, requests)), "–", "–"});
  }
  return table.Render(style);
}

// What the baseline leaves to gain, where that rules lifts of the table out.
TerminalText RoomText(const Estimate& estimate, const std::vector<Need>& needs) {
  if (std::none_of(needs.begin(), needs.end(), [](const Need& need) { return need.impossible; })) return "";
  const double room = 100.0 - WholePercent(MeanOf(estimate.baseline));
  if (room <= 0.0) return "every case passes without the skill, so there is nothing to gain: add harder cases\n";
  return TerminalText::Format("a lift above +{:.0f} isn't possible with a baseline of {:.0f} %\n", room, 100.0 - room);
}

TerminalText DetectableText(int rounds, const std::optional<double>& detectable) {
  const std::string count = Counted(static_cast<std::size_t>(rounds), "round");
  if (detectable)
    return TerminalText::Format("{} can detect a lift of +{:.0f} or more (80 % power)\n", count,
                                WholePercent(*detectable));
  return TerminalText::Format("{} can't detect any possible lift (80 % power): use more rounds or more cases\n", count);
}

Result<Inputs> ReadInputs(const PlanOptions& options, const Config& config, const Env& env) {
  Inputs inputs;
  ASSIGN_OR_RETURN(inputs.skill, LoadSkill(options.skill));
  ASSIGN_OR_RETURN(inputs.suite, LoadCases(options.tests, inputs.skill.folder, DefaultSandbox(), env.stop));
  ASSIGN_OR_RETURN(inputs.catalog, LoadCatalogOf(env));
  inputs.runs_dir = RunsFolder(options.runs_dir, config);
  return inputs;
}

void AddPlanCommand(CLI::App& app, PlanOptions& options) {
  CLI::App* command =
      app.add_subcommand("plan", "Show what a run could detect and what it would cost, before running it")
          ->group("Measure skills");
  command->add_option("SKILL", options.skill, "Skill folder, or its SKILL.md")->required();
  BeginGroup(*command, "Planned run");
  command->add_option("-m,--model", options.models, "Model to plan for (repeatable)")
      ->default_str("the configured one, else the default model")
      ->type_name("MODEL");
  AddOptionOfEval(*command, "--base-url", options.base_urls);
  AddOptionOfEval(*command, "--tests", options.tests);
  command->add_option("--runs", options.rounds, "Also show the lift that this number of rounds detects")
      ->check(WholeNumber(1, 1000))
      ->type_name("N");
  AddOptionOfEval(*command, "--max-tokens", options.max_tokens);
  AddParallelOption(*command, options.parallel);
  AddJudgeOption(*command, options.judge_model);
  BeginGroup(*command, "Assumptions");
  command->add_option("--baseline", options.baseline, "Pass rate without the skill, such as 40% or 0.4")
      ->transform(Rate())
      ->default_str("from earlier runs, else 50%")
      ->type_name("RATE");
  AddOptionOfEval(*command, "--alpha", options.alpha);
  AddOptionOfEval(*command, "--margin", options.margin_points);
  command
      ->add_option("-d,--runs-dir", options.runs_dir,
                   "Folder of earlier runs [default: the configured one, else ./runs]")
      ->type_name("DIR");
  BeginGroup(*command, "Output");
  command->add_flag("--json", options.json, "Print the result as JSON");
  AddColorOption(*command, options.color);
  AddExamples(*command,
              {{"Rounds, cost and time needed for lifts of 5 to 60 points", "upskill plan path/to/skill -m haiku"},
               {"What ten rounds can show if 40 % pass without the skill",
                "upskill plan path/to/skill -m haiku --runs 10 --baseline 40%"}});
}

// Tells before anything is spent what a run can show: the rounds, requests, tokens, money and time that it takes to see
// lifts of several sizes. Nothing is asked of a model.
ExitCode RunPlanCommand(const PlanOptions& options, Env& env) {
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  const Result<Inputs> inputs = ReadInputs(options, *config, env);
  if (!inputs) return PrintError(env, inputs.error());
  const std::vector<std::string> models = ChooseModels(options.models, *config);
  const Result<std::vector<NextLook>> looks =
      config->ledger ? FindNextLooks(inputs->runs_dir, inputs->skill, inputs->suite, models, options.alpha)
                     : std::vector<NextLook>(models.size(), {.number = 1, .planned_rounds = 0, .alpha = options.alpha});
  if (!looks) return PrintError(env, looks.error());
  // One alpha for all models of a run: that of the one that was looked at most.
  const auto most = std::max_element(looks->begin(), looks->end(),
                                     [](const NextLook& a, const NextLook& b) { return a.alpha > b.alpha; });
  const double alpha = most->alpha / static_cast<double>(models.size());
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  Json students = Json::array();
  for (std::size_t i = 0; i < models.size(); ++i) {
    const std::string& model = models[i];
    const NextLook& look = (*looks)[i];
    const Result<Estimate> estimate = EstimateFor(options, *inputs, model);
    if (!estimate) return PrintError(env, estimate.error());
    const Outlook outlook = OutlookFor(*estimate, options, look, alpha);
    if (options.json) {
      students.push_back(OutlookToJson(model, *estimate, look, outlook));
      continue;
    }
    const TerminalText name = Tinted(style, Tint::kBold, TerminalText::EscapeLine(model));
    const TerminalText about = TerminalText::Format(" · {} · {}", SuiteText(*estimate), estimate->source);
    const bool fits = TerminalText::EscapeLine(model).columns() + about.columns() <= style.columns;
    env.out(fits ? name + about + "\n" : name + "\n  " + Wrapped(about.text().substr(4), style.columns, 2) + "\n");
    if (const std::string text = LookText(look); !text.empty()) env.out("  " + Wrapped(text, style.columns, 2) + "\n");
    if (!estimate->judge.empty()) env.out("  " + Wrapped(estimate->judge, style.columns, 2) + "\n");
    env.out(PlanTable(*estimate, outlook, style) + RoomText(*estimate, outlook.needs));
    env.out(Wrapped(fmt::format("`time` is rough: {}", estimate->time.source), style.columns, 2) + "\n");
    if (options.rounds) env.out(DetectableText(*options.rounds, outlook.detectable));
    env.out("\n");
  }
  if (options.json) {
    PrintDocument(env, DumpJsonIndented({{"skill", inputs->skill.name},
                                         {"cases", inputs->suite.cases.size()},
                                         {"distinct_inputs", FirstOfEachInput(inputs->suite).size()},
                                         {"alpha", options.alpha},
                                         {"students", students}}) +
                           "\n");
  } else {
    const auto note = [&](const std::string& text) { env.out(Wrapped(text, style.columns, 2) + "\n"); };
    note(
        "`rounds`: plan this many to detect a lift of this size in 80 of 100 runs, assuming that the skill fixes the "
        "same share of failures in every case. Each round asks every case twice.");
    note(fmt::format("`±{:.4g}`: rounds needed to show `no effect` if the skill changes nothing.",
                     options.margin_points));
    note("`in general`: cases needed, at this many rounds, to show the lift for new cases like these.");
  }
  return ExitCode::kSuccess;
}

}  // namespace

Command PlanCommand() { return CommandOf({"plan"}, AddPlanCommand, RunPlanCommand); }

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "cli/selftest_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>

#include "cli/color_option.h"
#include "cli/help_formatter.h"
#include "cli/option_checks.h"
#include "eval/journal.h"
#include "eval/prompts.h"
#include "eval/runner.h"
#include "eval/verdict.h"
#include "model/sim.h"
#include "report/style.h"
#include "report/table.h"
#include "skill/suite.h"
#include "stats/interval.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// One line of the table: what is true of the simulated student.
struct Truth {
  double without = 0.5;
  double with = 0.5;
};
constexpr std::array<Truth, 6> kTruths = {{{0.1, 0.1}, {0.5, 0.5}, {0.9, 0.9}, {0.4, 0.65}, {0.4, 0.85}, {0.8, 0.5}}};

struct Tally {
  int runs = 0;
  std::array<int, 4> words{};  // by Verdict
  std::int64_t rounds = 0;
  std::int64_t cells = 0;

  int count(Verdict verdict) const { return words.at(static_cast<std::size_t>(verdict)); }
};

Result<Plan> SimulatedPlan(const SelftestOptions& options) {
  Json cases = Json::array();
  for (int i = 1; i <= options.cases; ++i) {
    cases.push_back(
        {{"input", fmt::format("question {}", i)}, {"expected", {{"contains", fmt::format("answer {}.", i)}}}});
  }
  Plan plan;
  ASSIGN_OR_RETURN(plan.suite, ParseSuite(DumpJson(cases), "selftest"));
  plan.skill = Snapshot("selftest", "Simulated.");
  plan.arms = {Arm::kBaseline, Arm::kSkill};
  plan.rounds = options.rounds;
  plan.system_prompt = kSystemPrompt;
  plan.verdict.alpha = options.alpha;
  plan.stop_when_decided = true;
  return plan;
}

Status RunOnce(const SelftestOptions& options, const Plan& common, const Truth& truth, int number,
               const fs::path& folder, const Env& env, Tally& tally) {
  Plan plan = common;
  const std::string settings = fmt::format("base={},skill={},seed={}", truth.without, truth.with,
                                           options.seed * 1'000'003 + static_cast<std::uint64_t>(number));
  ASSIGN_OR_RETURN(const std::unique_ptr<Model> model, MakeSimModel(settings, 256));
  plan.students.push_back({"sim:" + settings, model->info().name, model->info().identity});
  ASSIGN_OR_RETURN(Journal journal, Journal::Create(folder, plan, *env.clock));
  RunInput input;
  input.plan = &plan;
  input.models = {model.get()};
  input.journal = &journal;
  input.clock = env.clock;
  input.stop = env.stop;
  RETURN_IF_ERROR(RunPlan(std::move(input)));
  ASSIGN_OR_RETURN(const RunData data, RunData::Read(journal.folder()));
  const std::vector<StudentVerdict> verdicts = JudgeRun(data);
  ++tally.runs;
  ++tally.words.at(static_cast<std::size_t>(verdicts.front().word));
  tally.rounds += verdicts.front().complete_rounds;
  tally.cells += static_cast<std::int64_t>(data.samples().size());
  std::error_code code;
  fs::remove_all(journal.folder(), code);
  return {};
}

bool Stopped(const Env& env) { return env.stop != nullptr && env.stop->load() > 0; }

Result<Tally> Measure(const SelftestOptions& options, const Truth& truth, const fs::path& folder, const Env& env) {
  Tally tally;
  ASSIGN_OR_RETURN(const Plan plan, SimulatedPlan(options));
  for (int i = 0; i < options.runs && !Stopped(env); ++i) {
    RETURN_IF_ERROR(RunOnce(options, plan, truth, i, folder, env, tally));
  }
  return tally;
}

// "1.4 (0.8–2.3)": percent, with the 95 % interval.
std::string ShareText(const Tally& tally, Verdict verdict) {
  const Interval interval = WilsonInterval(tally.count(verdict), tally.runs);
  return fmt::format("{:.1f} ({:.1f}–{:.1f})", 100.0 * tally.count(verdict) / tally.runs, 100.0 * interval.low,
                     100.0 * interval.high);
}

// Whether the word would be false for this truth.
bool IsFalse(const Truth& truth, Verdict verdict) {
  return (verdict == Verdict::kHelps && truth.with <= truth.without) ||
         (verdict == Verdict::kHurts && truth.with >= truth.without);
}

// Whether a word that is false for this truth came more often than alpha, beyond chance.
bool TooOften(const Tally& tally, const Truth& truth, double alpha) {
  const auto too_often = [&](Verdict word) {
    return IsFalse(truth, word) && WilsonInterval(tally.count(word), tally.runs).low > alpha;
  };
  return too_often(Verdict::kHelps) || too_often(Verdict::kHurts);
}

Json ShareToJson(const Tally& tally, Verdict verdict) {
  const Interval interval = WilsonInterval(tally.count(verdict), tally.runs);
  return {{"share", static_cast<double>(tally.count(verdict)) / tally.runs},
          {"low", interval.low},
          {"high", interval.high}};
}

}  // namespace

void AddSelftestCommand(CLI::App& app, SelftestOptions& options) {
  CLI::App* command =
      app.add_subcommand("selftest", "Measure how often verdicts are wrong, with simulated students (no network)")
          ->group("Measure skills");
  command->add_option("--simulations,--runs", options.runs, "Simulated runs per line")
      ->capture_default_str()
      ->check(WholeNumber(10, 1'000'000))
      ->type_name("N");
  command->add_option("--cases", options.cases, "Cases in the suite")
      ->capture_default_str()
      ->check(WholeNumber(1, 1000))
      ->type_name("N");
  command->add_option("--rounds", options.rounds, "Maximum rounds of a run, which ends when decided")
      ->capture_default_str()
      ->check(WholeNumber(1, 1000))
      ->type_name("N");
  command->add_option("--alpha", options.alpha, "Accepted chance of a false verdict")
      ->capture_default_str()
      ->check(Number(1e-6, 0.5))
      ->type_name("P");
  command->add_option("--seed", options.seed, "Random seed of the simulation")->capture_default_str()->type_name("N");
  command->add_flag("--json", options.json, "Print the result as JSON");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"Check the verdicts, in about a minute", "upskill selftest"},
                         {"Check those of a suite of 5 cases at 1 %", "upskill selftest --cases 5 --alpha 0.01"}});
}

ExitCode RunSelftest(const SelftestOptions& options, Env& env) {
  const Result<TempFolder> folder = TempFolder::Make("upskill-selftest-");
  if (!folder) return PrintError(env, folder.error());
  Table table({{"truth", Table::Align::kLeft},
               {"helps %", Table::Align::kLeft},
               {"hurts %", Table::Align::kLeft},
               {"no effect %", Table::Align::kLeft},
               {"undecided %", Table::Align::kLeft},
               {"rounds", Table::Align::kRight},
               {"cells", Table::Align::kRight}});
  Json lines = Json::array();
  bool sound = true;
  if (!options.json) {
    env.out(TerminalText::Format(
        "{} runs per line, through the whole program with simulated students · {} case{} · at most {} "
        "round{}, ended when decided\n",
        WithThousands(options.runs), options.cases, options.cases == 1 ? "" : "s", options.rounds,
        options.rounds == 1 ? "" : "s"));
  }
  std::size_t done = 0;
  for (const Truth& truth : kTruths) {
    if (env.error_is_terminal) env.error(TerminalText::Format("\r{} of {} lines measured ", done++, kTruths.size()));
    const Result<Tally> tally = Measure(options, truth, folder->path(), env);
    if (!tally) return PrintError(env, tally.error());
    if (Stopped(env)) return ExitCode::kInterrupted;
    sound = sound && !TooOften(*tally, truth, options.alpha);
    table.AddRow({fmt::format("{:.0f} → {:.0f} %", truth.without * 100, truth.with * 100),
                  ShareText(*tally, Verdict::kHelps), ShareText(*tally, Verdict::kHurts),
                  ShareText(*tally, Verdict::kNoEffect), ShareText(*tally, Verdict::kUndecided),
                  fmt::format("{:.1f}", static_cast<double>(tally->rounds) / tally->runs),
                  fmt::format("{:.0f}", static_cast<double>(tally->cells) / tally->runs)});
    lines.push_back({{"without", truth.without},
                     {"with", truth.with},
                     {"runs", tally->runs},
                     {"helps", ShareToJson(*tally, Verdict::kHelps)},
                     {"hurts", ShareToJson(*tally, Verdict::kHurts)},
                     {"no_effect", ShareToJson(*tally, Verdict::kNoEffect)},
                     {"undecided", ShareToJson(*tally, Verdict::kUndecided)},
                     {"mean_rounds", static_cast<double>(tally->rounds) / tally->runs},
                     {"mean_cells", static_cast<double>(tally->cells) / tally->runs}});
  }
  if (env.error_is_terminal) env.error("\r\x1b[K");
  if (options.json) {
    PrintDocument(env, DumpJsonIndented({{"alpha", options.alpha},
                                         {"cases", options.cases},
                                         {"rounds", options.rounds},
                                         {"lines", lines},
                                         {"sound", sound}}) +
                           "\n");
  } else {
    env.out(table.Render(StyleFor(env, env.out_is_terminal, options.color)));
    env.out("pass rates without → with the skill; 95 % intervals in brackets; rounds and cells are means\n");
    env.out(
        TerminalText::Format("{}: false `helps` and `hurts` verdicts are {}significantly more frequent than {:.4g} % "
                             "(alpha)\n",
                             sound ? "passed" : "FAILED", sound ? "not " : "", options.alpha * 100.0));
  }
  return sound ? ExitCode::kSuccess : ExitCode::kFailed;
}

}  // namespace upskill

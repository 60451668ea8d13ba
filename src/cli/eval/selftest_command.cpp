// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/eval/commands.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "eval/journal/journal.h"
#include "eval/plan/plan.h"
#include "eval/plan/prompts.h"
#include "eval/run/runner.h"
#include "eval/verdict/verdict.h"
#include "model/sim.h"
#include "report/terminal/style.h"
#include "report/terminal/table.h"
#include "skill/suite.h"
#include "stats/interval.h"
#include "util/rng.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {
namespace {

// What is true of the simulated students on one case.
struct CaseTruth {
  double without = 0.5;  // probability of passing
  double with = 0.5;
  int input = 0;  // cases with the same number have the same input and rates, and so the same answers
};

// One line of `upskill selftest`: a situation, measured in many simulated runs.
struct SelftestLine {
  std::string name;
  std::function<std::vector<CaseTruth>(Rng&)> draw;  // the cases of one run
  int students = 1;                                  // all alike
  double margin = VerdictOptions().margin;
  std::string settings;    // of the simulated students, in addition
  int runs_divisor = 1;    // lines with many cells are measured in fewer runs
  bool new_cases = false;  // each run draws new cases, with a mean lift of 0 over all possible ones
};

using Cases = std::vector<CaseTruth>;

Cases EqualCases(int count, double without, double with) {
  Cases cases;
  cases.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) cases.push_back({without, with, i});
  return cases;
}

// Half of the cases go from `low` to `high`, the others back; the one left over stays between them.
Cases Cancelling(int count, double low, double high) {
  Cases cases;
  cases.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) cases.push_back(i % 2 == 0 ? CaseTruth{low, high, i} : CaseTruth{high, low, i});
  if (count % 2 != 0) cases.back() = {0.5 * (low + high), 0.5 * (low + high), count - 1};
  return cases;
}

// One case breaks; together the others gain as much.
Cases OneBreaks(int count) {
  if (count < 2) return EqualCases(count, 0.5, 0.5);
  constexpr double kLoss = 0.9;
  Cases cases = EqualCases(count, 0.1, 0.1 + kLoss / (count - 1));
  cases.front() = {kLoss, 0.0, 0};
  return cases;
}

// Cases of easy and hard inputs that the skill doesn't change.
Cases EasyAndHard(int count) {
  Cases cases;
  cases.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) cases.push_back(i % 2 == 0 ? CaseTruth{0.1, 0.1, i} : CaseTruth{0.9, 0.9, i});
  return cases;
}

// Each input stands three times in the suite.
Cases Thrice(int count) {
  Cases cases = EqualCases(count, 0.5, 0.5);
  for (int i = 0; i < count; ++i) cases[static_cast<std::size_t>(i)].input = i / 3;
  return cases;
}

// One input with ten cases, which break together; the others gain as much. Each input counts once.
Cases OneOfManyCopiesBreaks(int count) {
  constexpr int kCopies = 10;
  Cases cases = OneBreaks(count);
  if (count > 1) cases.insert(cases.begin(), kCopies - 1, cases.front());
  return cases;
}

// Cases drawn from many, of which half gain 40 points and half lose them.
Cases DrawnCases(int count, Rng& rng) {
  Cases cases;
  cases.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    cases.push_back(rng.Uniform() < 0.5 ? CaseTruth{0.3, 0.7, i} : CaseTruth{0.7, 0.3, i});
  }
  return cases;
}

SelftestLine Line(std::string name, std::function<Cases(Rng&)> draw) {
  SelftestLine line;
  line.name = std::move(name);
  line.draw = std::move(draw);
  return line;
}

SelftestLine Fixed(std::string name, Cases cases) {
  return Line(std::move(name), [cases = std::move(cases)](Rng&) { return cases; });
}

// The mean lift on these cases; each input counts once.
double LiftOf(const std::vector<CaseTruth>& cases) {
  std::map<int, double> by_input;
  for (const CaseTruth& one : cases) by_input[one.input] = one.with - one.without;
  double sum = 0.0;
  for (const auto& [input, lift] : by_input) sum += lift;
  return sum / static_cast<double>(std::max<std::size_t>(by_input.size(), 1));
}

// The lines for suites of `cases` cases.
std::vector<SelftestLine> SelftestLines(int cases) {
  std::vector<SelftestLine> lines;
  lines.push_back(Fixed("10 → 10 %", EqualCases(cases, 0.1, 0.1)));
  lines.push_back(Fixed("50 → 50 %", EqualCases(cases, 0.5, 0.5)));
  lines.push_back(Fixed("easy and hard cases, no change", EasyAndHard(cases)));
  lines.push_back(Fixed("half 30 → 70 %, half 70 → 30 %", Cancelling(cases, 0.3, 0.7)));
  lines.push_back(Fixed("one case breaks, the others gain", OneBreaks(cases)));
  lines.push_back(Fixed("each input three times, 50 → 50 %", Thrice(cases)));
  lines.push_back(Fixed("one input of ten cases breaks, the others gain", OneOfManyCopiesBreaks(cases)));
  lines.push_back(Fixed("steady answers, half turn either way", Cancelling(cases, 0.03, 0.97)));
  lines.push_back(Fixed("fixed answers, half turn either way", Cancelling(cases, 0.0, 1.0)));
  lines.push_back(Fixed("30 → 30 %, 4 points more each round", EqualCases(cases, 0.3, 0.3)));
  lines.back().settings = ",drift=0.04";
  lines.push_back(Fixed("50 → 50 %, errors with the skill", EqualCases(cases, 0.5, 0.5)));
  lines.back().settings = ",skill-error=0.03";
  lines.push_back(Fixed("50 → 50 %, failures with it time out", EqualCases(cases, 0.5, 0.5)));
  lines.back().settings = ",lost=0.2";
  lines.push_back(Line("cases drawn from ±40 points", [cases](Rng& rng) { return DrawnCases(cases, rng); }));
  lines.back().new_cases = true;
  for (const int few : {1, 2, 3}) {
    lines.push_back(
        Fixed(few == 1 ? "1 case, 50 → 50 %" : std::to_string(few) + " cases, 50 → 50 %", EqualCases(few, 0.5, 0.5)));
  }
  lines.push_back(Fixed("100 cases, 50 → 50 %", EqualCases(100, 0.5, 0.5)));
  lines.back().runs_divisor = 5;
  lines.push_back(Fixed("10 students, 50 → 50 %", EqualCases(cases, 0.5, 0.5)));
  lines.back().students = 10;
  lines.back().runs_divisor = 5;
  lines.push_back(Fixed("50 → 30 %, margin 20", EqualCases(cases, 0.5, 0.3)));
  lines.back().margin = 0.2;
  lines.push_back(Fixed("90 → 90 %, margin 20", EqualCases(cases, 0.9, 0.9)));
  lines.back().margin = 0.2;
  lines.push_back(Fixed("40 → 65 %", EqualCases(cases, 0.4, 0.65)));
  lines.push_back(Fixed("40 → 85 %", EqualCases(cases, 0.4, 0.85)));
  lines.push_back(Fixed("80 → 50 %", EqualCases(cases, 0.8, 0.5)));
  return lines;
}

struct SelftestOptions {
  int runs = 500;  // simulated runs a line
  int cases = 12;
  int rounds = 10;  // the most of each run
  double alpha = VerdictOptions().alpha;
  std::uint64_t seed = 1;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

namespace fs = std::filesystem;

// What the runs of a line gave.
struct Tally {
  int runs = 0;
  std::array<int, 4> words{};  // by Verdict, over all students
  std::array<int, 4> wrong{};  // by Verdict: runs in which any student got the word although it is false
  std::int64_t rounds = 0;
  std::int64_t cells = 0;

  int count(Verdict verdict) const { return words.at(static_cast<std::size_t>(verdict)); }
  int wrong_count(Verdict verdict) const { return wrong.at(static_cast<std::size_t>(verdict)); }
};

constexpr std::array<Verdict, 3> kClaims = {Verdict::kHelps, Verdict::kHurts, Verdict::kNoEffect};

Result<Plan> SimulatedPlan(const SelftestOptions& options, const SelftestLine& line,
                           const std::vector<CaseTruth>& truths) {
  Json cases = Json::array();
  for (const CaseTruth& truth : truths) {
    cases.push_back(
        {{"input", fmt::format("question {} [sim base={},skill={}]", truth.input, truth.without, truth.with)},
         {"expected", {{"contains", fmt::format("answer {}.", truth.input)}}}});
  }
  Plan plan;
  ASSIGN_OR_RETURN(plan.suite, ParseSuite(DumpJson(cases), "selftest"));
  plan.skill = Snapshot("selftest", "Simulated.");
  plan.arms = {Arm::kBaseline, Arm::kSkill};
  plan.rounds = options.rounds;
  plan.system_prompt = BuiltInSystemPrompt();
  plan.verdict.alpha = options.alpha;
  plan.verdict.margin = line.margin;
  plan.stop_when_decided = true;
  return plan;
}

// Whether the word is false for this lift.
bool IsFalse(Verdict word, double lift, double margin) {
  constexpr double kRounding = 1e-9;
  switch (word) {
    case Verdict::kHelps:
      return lift <= kRounding;
    case Verdict::kHurts:
      return lift >= -kRounding;
    case Verdict::kNoEffect:
      return std::abs(lift) >= margin - kRounding;
    case Verdict::kUndecided:
      break;
  }
  return false;
}

void Count(const std::vector<StudentVerdict>& verdicts, double lift, double margin, Tally& tally) {
  ++tally.runs;
  std::array<bool, 4> wrong{};
  for (const StudentVerdict& verdict : verdicts) {
    const auto word = static_cast<std::size_t>(verdict.word);
    ++tally.words.at(word);
    wrong.at(word) = wrong.at(word) || IsFalse(verdict.word, lift, margin);
  }
  for (std::size_t i = 0; i < wrong.size(); ++i) tally.wrong.at(i) += wrong.at(i) ? 1 : 0;
  tally.rounds += verdicts.front().complete_rounds;
}

Status RunOnce(const SelftestOptions& options, const SelftestLine& line, int number, const fs::path& folder,
               const Env& env, Tally& tally) {
  constexpr std::uint64_t kMostSeed = 9'000'000'000'000'000;  // of a simulated student
  const std::uint64_t seed = options.seed * 1'000'003 + static_cast<std::uint64_t>(number);
  Rng rng(seed ^ SeedFromText(line.name));
  const std::vector<CaseTruth> truths = line.draw(rng);
  ASSIGN_OR_RETURN(Plan plan, SimulatedPlan(options, line, truths));
  std::vector<std::unique_ptr<Model>> models;
  RunInput input;
  for (int student = 0; student < line.students; ++student) {
    const std::string settings =
        fmt::format("seed={}{}", (seed * 100 + static_cast<std::uint64_t>(student)) % kMostSeed, line.settings);
    ASSIGN_OR_RETURN(std::unique_ptr<Model> model, MakeSimModel(settings, 256));
    plan.students.push_back({"sim:" + settings, model->info().name, model->info().identity});
    input.models.push_back(model.get());
    models.push_back(std::move(model));
  }
  ASSIGN_OR_RETURN(Journal journal, Journal::Create(folder, plan, *env.clock));
  input.plan = &plan;
  input.journal = &journal;
  input.clock = env.clock;
  input.stop = env.stop;
  input.attempts = 1;  // a simulated error stays one
  RETURN_IF_ERROR(RunPlan(std::move(input)));
  ASSIGN_OR_RETURN(const RunData data, RunData::Read(journal.folder()));
  Count(JudgeRun(data), LiftOf(truths), line.margin, tally);
  tally.cells += static_cast<std::int64_t>(data.sample_count());
  std::error_code code;
  fs::remove_all(journal.folder(), code);
  return {};
}

bool Stopped(const Env& env) { return env.stop != nullptr && env.stop->load() > 0; }

Result<Tally> Measure(const SelftestOptions& options, const SelftestLine& line, const fs::path& folder,
                      const Env& env) {
  Tally tally;
  const int runs = std::max(2, options.runs / line.runs_divisor);
  for (int i = 0; i < runs && !Stopped(env); ++i) {
    RETURN_IF_ERROR(RunOnce(options, line, i, folder, env, tally));
  }
  return tally;
}

int Answers(const Tally& tally) {
  int sum = 0;
  for (const int count : tally.words) sum += count;
  return sum;
}

// Percent of the students' verdicts.
std::string ShareText(const Tally& tally, Verdict verdict) {
  return fmt::format("{:.1f}", 100.0 * tally.count(verdict) / Answers(tally));
}

// The word that was false most often: "1.4 (0.8–2.3)", percent of the runs with the 95 % interval.
std::string WrongText(const Tally& tally) {
  const int most = *std::max_element(tally.wrong.begin(), tally.wrong.end());
  const Interval interval = WilsonInterval(most, tally.runs);
  return fmt::format("{:.1f} ({:.1f}–{:.1f})", 100.0 * most / tally.runs, 100.0 * interval.low, 100.0 * interval.high);
}

// Whether a false word came more often than alpha, beyond chance.
bool TooOften(const Tally& tally, double alpha) {
  return std::any_of(kClaims.begin(), kClaims.end(),
                     [&](Verdict word) { return WilsonInterval(tally.wrong_count(word), tally.runs).low > alpha; });
}

Json ShareToJson(int count, int of) {
  const Interval interval = WilsonInterval(count, of);
  return {{"share", static_cast<double>(count) / of}, {"low", interval.low}, {"high", interval.high}};
}

Json LineToJson(const SelftestLine& line, const Tally& tally) {
  const auto share = [&](Verdict word) { return ShareToJson(tally.count(word), Answers(tally)); };
  const auto wrong = [&](Verdict word) { return ShareToJson(tally.wrong_count(word), tally.runs); };
  return {{"truth", line.name},
          {"students", line.students},
          {"margin", line.margin},
          {"runs", tally.runs},
          {"helps", share(Verdict::kHelps)},
          {"hurts", share(Verdict::kHurts)},
          {"no_effect", share(Verdict::kNoEffect)},
          {"undecided", share(Verdict::kUndecided)},
          {"false_helps", wrong(Verdict::kHelps)},
          {"false_hurts", wrong(Verdict::kHurts)},
          {"false_no_effect", wrong(Verdict::kNoEffect)},
          {"mean_rounds", static_cast<double>(tally.rounds) / tally.runs},
          {"mean_cells", static_cast<double>(tally.cells) / tally.runs}};
}

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
  AddExamples(*command, {{"Check the verdicts, in about two minutes", "upskill selftest"},
                         {"Check those of a suite of 5 cases at 1 %", "upskill selftest --cases 5 --alpha 0.01"}});
}

// Measures the verdict rule through the whole program: plans, runner, journal, checks and verdicts, with simulated
// students whose true lift is known. Exit code 1 when a false verdict is more frequent than alpha beyond chance.
ExitCode RunSelftest(const SelftestOptions& options, Env& env) {
  const Result<TempFolder> folder = TempFolder::Make("upskill-selftest-");
  if (!folder) return PrintError(env, folder.error());
  Table table({{"truth", Table::Align::kLeft, true},
               {"helps", Table::Align::kRight},
               {"hurts", Table::Align::kRight},
               {"no effect", Table::Align::kRight},
               {"undecided", Table::Align::kRight},
               {"false", Table::Align::kLeft},
               {"rounds", Table::Align::kRight, false, 1},
               {"cells", Table::Align::kRight, false, 2}});
  Json lines = Json::array();
  bool sound = true;
  if (!options.json) {
    env.out(TerminalText::Format(
        "{} runs per line, through the whole program with simulated students · {} unless the line says otherwise · at "
        "most {}, ended when decided\n",
        WithThousands(options.runs), Counted(static_cast<std::size_t>(options.cases), "case"),
        Counted(static_cast<std::size_t>(options.rounds), "round")));
  }
  std::size_t done = 0;
  const std::vector<SelftestLine> all = SelftestLines(options.cases);
  for (const SelftestLine& line : all) {
    if (env.error_is_terminal) env.error(TerminalText::Format("\r{} of {} lines measured ", done++, all.size()));
    const Result<Tally> tally = Measure(options, line, folder->path(), env);
    if (!tally) return PrintError(env, tally.error());
    if (Stopped(env)) return ExitCode::kInterrupted;
    sound = sound && !TooOften(*tally, options.alpha);
    table.AddRow({line.name, ShareText(*tally, Verdict::kHelps), ShareText(*tally, Verdict::kHurts),
                  ShareText(*tally, Verdict::kNoEffect), ShareText(*tally, Verdict::kUndecided), WrongText(*tally),
                  fmt::format("{:.1f}", static_cast<double>(tally->rounds) / tally->runs),
                  fmt::format("{:.0f}", static_cast<double>(tally->cells) / tally->runs)});
    lines.push_back(LineToJson(line, *tally));
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
    const Style style = StyleFor(env, env.out_is_terminal, options.color);
    constexpr std::size_t kCells = 7;
    env.out(table.Render(style));
    env.out(Wrapped(fmt::format("percent of the students; pass rates without → with the skill; false: percent of the "
                                "runs with a false verdict (the most frequent one), with its 95 % interval{}",
                                table.Shows(kCells, style) ? "; rounds and cells are means" : ""),
                    style.columns, 0) +
            "\n");
    env.out(TerminalText::Format("{}: false verdicts are {}significantly more frequent than {:.4g} % (alpha)\n",
                                 sound ? "passed" : "FAILED", sound ? "not " : "", options.alpha * 100.0));
  }
  return sound ? ExitCode::kSuccess : ExitCode::kFailed;
}

}  // namespace

Command SelftestCommand() { return CommandOf({"selftest"}, AddSelftestCommand, RunSelftest); }

}  // namespace upskill

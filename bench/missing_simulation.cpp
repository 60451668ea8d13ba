// SPDX-License-Identifier: Apache-2.0
// How often verdicts are wrong when errors depend on the answers, and what the precaution against it costs
// (src/eval/verdict/missing.h): runs in which failing or passing answers of one arm time out, are retried and drawn
// again, as an API does; and runs with rare errors that have nothing to do with the answers. "by answers alone" is the
// verdict without the precaution. One argument: draws per scenario (default 1000). Seeds are fixed. Exits with 1 if a
// false verdict is more frequent than 5 % by more than four standard errors, or the precaution costs more power than
// kMostPowerLost where errors are rare.
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "eval/journal/run_data.h"
#include "eval/verdict/verdict.h"
#include "simulated_run.h"
#include "util/rng.h"

namespace upskill {
namespace {

constexpr int kAttempts = 4;
// By the precaution, where 1 % of the answers time out: 1.2 of the 120 in 12 cases × 5 rounds × 2 arms. To count
// against `helps`, those with the skill must have failed and those without it must have passed. In the worst scenario,
// 10 → 30
// %, that takes 0.6 · 30 % + 0.6 · 90 % = 0.72 from the sum of wins less losses, whose standard deviation is
// √(60 · (0.09 + 0.21)) = 4.2. Where power depends on the sum most, at 50 %, this is 0.399 · 0.72/4.2 = 6.8 points.
constexpr double kMostPowerLost = 0.07;

struct Scenario {
  std::string name;
  int cases = 12;
  int rounds = 5;
  double without = 0.5;  // pass rates
  double with = 0.5;
  // Probabilities that an attempt times out, by arm, for an answer that would fail and for one that would pass.
  double lost_failing_with = 0.0;
  double lost_passing_with = 0.0;
  double lost_failing_without = 0.0;
  double lost_passing_without = 0.0;
  int attempts = kAttempts;
};

struct Frequencies {
  double helps = 0.0;
  double hurts = 0.0;
};

struct Measured {
  Frequencies with_precaution;
  Frequencies by_answers;
  double mean_lift = 0.0;  // of the answers
};

// A cell's attempts: each draws its own answer, until one is not lost.
void AddCell(const Scenario& scenario, Sample sample, Rng& rng, RunData& data) {
  const bool with = sample.arm == Arm::kSkill;
  for (int attempt = 0; attempt < scenario.attempts; ++attempt) {
    const bool passes = rng.Uniform() < (with ? scenario.with : scenario.without);
    const double chance = with ? (passes ? scenario.lost_passing_with : scenario.lost_failing_with)
                               : (passes ? scenario.lost_passing_without : scenario.lost_failing_without);
    sample.attempt = attempt;
    sample.error.reset();
    if (rng.Uniform() >= chance) {
      SetAnswer(passes, fmt::format("{} {}", passes, rng.Next()), sample);
      data.Add(sample);
      return;
    }
    sample.error = Error{ErrorKind::kUnavailable, "no data for 180 s"}.Because(ErrorCause::kTimeout);
    sample.will_retry = attempt + 1 < scenario.attempts;
    data.Add(sample);
  }
}

RunData Draw(const Scenario& scenario, const Plan& plan, Rng& rng) {
  RunData data(plan);
  for (int round = 0; round < scenario.rounds; ++round) {
    for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
      for (const Arm arm : plan.arms) AddCell(scenario, SampleOf(plan, 0, i, arm, round), rng, data);
    }
  }
  return data;
}

void Count(Verdict word, double share, Frequencies& frequencies) {
  if (word == Verdict::kHelps) frequencies.helps += share;
  if (word == Verdict::kHurts) frequencies.hurts += share;
}

Measured Simulate(const Scenario& scenario, int draws) {
  Rng rng(SeedFromText(scenario.name));
  const Plan plan = SimulatedPlan(scenario.cases, scenario.rounds);
  const double share = 1.0 / draws;
  Measured outcome;
  for (int i = 0; i < draws; ++i) {
    const StudentVerdict verdict = JudgeRun(Draw(scenario, plan, rng)).at(0);
    Count(verdict.word, share, outcome.with_precaution);
    Count(verdict.without_doubt, share, outcome.by_answers);
    outcome.mean_lift += share * verdict.lift.value_or(0.0);
  }
  fmt::print("{:<72} {:>6.1f} {:>6.1f}   {:>6.1f} {:>6.1f}   {:>+6.1f}\n", scenario.name,
             100.0 * outcome.by_answers.helps, 100.0 * outcome.by_answers.hurts, 100.0 * outcome.with_precaution.helps,
             100.0 * outcome.with_precaution.hurts, 100.0 * outcome.mean_lift);
  return outcome;
}

// Scenarios without an effect, whose errors make one up.
std::vector<Scenario> MadeUpEffects() {
  std::vector<Scenario> all;
  Scenario base;
  for (const int cases : {12, 30}) {
    for (const double chance : {0.1, 0.3, 0.6}) {
      base.cases = cases;
      const auto add = [&](const char* what, double Scenario::* lost, int attempts) {
        Scenario one = base;
        one.*lost = chance;
        one.attempts = attempts;
        one.name = fmt::format("{} cases: {} % of {} time out{}", cases, 100.0 * chance, what,
                               attempts == 1 ? ", not retried" : "");
        all.push_back(one);
      };
      add("failing answers with the skill", &Scenario::lost_failing_with, kAttempts);
      add("passing answers with the skill", &Scenario::lost_passing_with, kAttempts);
      add("failing answers without it", &Scenario::lost_failing_without, kAttempts);
      add("passing answers without it", &Scenario::lost_passing_without, kAttempts);
      add("failing answers with the skill", &Scenario::lost_failing_with, 1);
    }
  }
  return all;
}

bool FalseVerdictsAreRare(int draws) {
  const double most = kAlpha + 4.0 * std::sqrt(kAlpha * (1.0 - kAlpha) / draws);
  bool rare = true;
  for (const Scenario& scenario : MadeUpEffects()) {
    const Measured outcome = Simulate(scenario, draws);
    rare = rare && outcome.with_precaution.helps <= most && outcome.with_precaution.hurts <= most;
  }
  return rare;
}

bool RareErrorsCostLittlePower(int draws) {
  bool little = true;
  for (const auto& [without, with] : {std::pair(0.4, 0.65), std::pair(0.4, 0.8), std::pair(0.1, 0.3)}) {
    Scenario scenario;
    scenario.without = without;
    scenario.with = with;
    scenario.name = fmt::format("12 cases: {:.2f} → {:.2f}, no errors", without, with);
    Simulate(scenario, draws);
    scenario.name = fmt::format("12 cases: {:.2f} → {:.2f}, 1 % of all answers time out", without, with);
    for (double Scenario::* lost : {&Scenario::lost_failing_with, &Scenario::lost_passing_with,
                                    &Scenario::lost_failing_without, &Scenario::lost_passing_without})
      scenario.*lost = 0.01;
    const Measured outcome = Simulate(scenario, draws);
    const double lost = outcome.by_answers.helps - outcome.with_precaution.helps;  // in the same runs
    little = little && lost <= kMostPowerLost + 4.0 * std::sqrt(kMostPowerLost * (1.0 - kMostPowerLost) / draws);
  }
  return little;
}

int Main(int draws) {
  fmt::print("{:<72} {:>13}   {:>13}\n", "", "answers alone", "as printed");
  fmt::print("{:<72} {:>6} {:>6}   {:>6} {:>6}   {:>6}\n", "in %", "helps", "hurts", "helps", "hurts", "lift");
  const bool rare = FalseVerdictsAreRare(draws);
  const bool little = RareErrorsCostLittlePower(draws);
  if (!rare) fmt::print("MISSED: a false verdict is more frequent than {} %\n", 100.0 * kAlpha);
  if (!little) fmt::print("MISSED: the precaution costs more than {} points of power\n", 100.0 * kMostPowerLost);
  return rare && little ? 0 : 1;
}

}  // namespace
}  // namespace upskill

int main(int argc, char** argv) {
  constexpr int kDraws = 1000;
  const int draws = argc > 1 ? std::atoi(argv[1]) : kDraws;
  if (draws < 100) {
    fmt::print(stderr, "usage: missing_simulation [DRAWS, at least 100]\n");
    return 2;
  }
  return upskill::Main(draws);
}

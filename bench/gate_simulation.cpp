// SPDX-License-Identifier: Apache-2.0
// How often a gate of one to four clauses holds although one of them is false, just on its border: after the planned
// rounds, or with rounds added until it holds. A search finds the suites where the false clause alone holds most often;
// there, whole gates are checked as `eval` does (CheckGate). Also with answers of which a few run away. Arguments:
// draws of whole gates per setting (default 2000; ten times as many of the clause), suites that each search tries
// (120), its seed (1), a text that the gates to be tried contain (none: all gates). Exits with 1 if anything false
// holds in more than 5 % by more than four standard errors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "eval/verdict/gate.h"
#include "eval/verdict/verdict.h"
#include "simulated_run.h"
#include "stats/e_process.h"
#include "stats/score_test.h"
#include "util/rng.h"
#include "verdict_claims.h"
#include "verdict_search.h"

namespace upskill {
namespace {

constexpr int kLength = 50;  // tokens of an answer

struct Setting {
  std::string gate;
  double lift = 0.0;  // where one of its clauses is just false
  int cases = 12;
  int planned = 3;           // rounds
  int most = 3;              // rounds are added up to here, until the gate holds
  bool of_rate = false;      // the border is a pass rate of 80 %; the lift is 0
  bool has_another = false;  // a second student, which loses nothing
  int limit = kLength + 10;  // of an answer's tokens
};

std::string RoundsText(const Setting& setting) {
  return setting.most > setting.planned ? fmt::format("{} to {}", setting.planned, setting.most)
                                        : fmt::format("{}", setting.planned);
}

Plan PlanOf(const Setting& setting) {
  Plan plan = SimulatedPlan(setting.cases, setting.most);
  plan.sampling.max_tokens = setting.limit;
  if (setting.most > setting.planned) plan.planned_rounds = setting.planned;
  if (setting.has_another) plan.students.push_back({"another", "another", "another"});
  return plan;
}

bool Holds(const Gate& gate, RunData& data) {
  JudgedRun run;
  run.data = std::move(data);
  if (gate.clauses[0].kind == GateClause::Kind::kVerdict) run.verdicts = JudgeRun(run.data);
  const std::vector<GateResult> results = CheckGate(gate, run);
  data = std::move(run.data);
  return std::all_of(results.begin(), results.end(), [](const GateResult& one) { return one.passed; });
}

// Gives the sample of a cell its answer.
using Answer = std::function<void(std::size_t student, std::size_t case_index, Rng& rng, Sample& sample)>;

// Of the draws, at any look.
double ShareThatHolds(const Setting& setting, const Answer& answer, int draws, std::uint64_t seed) {
  const Plan plan = PlanOf(setting);
  const Gate gate = *ParseGate(setting.gate, plan);
  Rng rng(seed);
  double holds = 0.0;
  for (int draw = 0; draw < draws; ++draw) {
    RunData data(plan);
    for (int round = 0; round < setting.most; ++round) {
      for (std::size_t student = 0; student < plan.students.size(); ++student) {
        for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
          for (const Arm arm : plan.arms) {
            Sample sample = SampleOf(plan, student, i, arm, round);
            answer(student, i, rng, sample);
            data.Add(std::move(sample));
          }
        }
      }
      if (round + 1 < setting.planned || !Holds(gate, data)) continue;
      holds += 1.0;
      break;
    }
  }
  return holds / draws;
}

double ShareThatHolds(const Setting& setting, const std::vector<CaseRates>& suite, int draws, std::uint64_t seed) {
  const Answer answer = [&](std::size_t student, std::size_t i, Rng& rng, Sample& sample) {
    const double rate = sample.arm == Arm::kSkill ? suite[i].with : suite[i].without;
    SetAnswer(student > 0 || rng.Uniform() < rate, fmt::format("{}", rng.Next()), sample);
    sample.response.usage.output = kLength;
  };
  return ShareThatHolds(setting, answer, draws, seed);
}

// LogEvidence, which is asked of the same counts again and again.
class KnownEvidence {
 public:
  explicit KnownEvidence(double lift) : lift_(lift) {}
  double Of(const PairCounts& counts) {
    const auto [entry, is_new] = known_.try_emplace({counts.wins, counts.losses, counts.ties}, 0.0);
    if (is_new) entry->second = LogEvidence(counts, lift_);
    return entry->second;
  }

 private:
  double lift_;
  std::map<std::tuple<double, double, double>, double> known_;  // by wins, losses and ties
};

// The same of a clause on the lift alone, by the tests that it rests on.
double ShareThatHoldsAlone(const Setting& setting, const std::vector<CaseRates>& suite, int draws, std::uint64_t seed,
                           KnownEvidence& known) {
  Rng rng(seed);
  double holds = 0.0;
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<PairCounts> cases(suite.size());
    PairCounts total;
    double evidence = 0.0;  // the most at any look
    for (int round = 1; round <= setting.most; ++round) {
      for (std::size_t i = 0; i < suite.size(); ++i) {
        PairCounts pair;
        const bool without = rng.Uniform() < suite[i].without;
        pair.Add(without, rng.Uniform() < suite[i].with);
        cases[i] += pair;
        total += pair;
      }
      if (setting.most > setting.planned) evidence = std::max(evidence, known.Of(total));
      const double p = round == setting.planned ? ScoreTest(cases, setting.lift) : std::exp(-evidence);
      if (round < setting.planned || p > kAlpha) continue;
      holds += 1.0;
      break;
    }
  }
  return holds / draws;
}

// With the skill, cases pass between 60 and 100 %, in the mean 80.
std::vector<CaseRates> WithRate(std::vector<CaseRates> suite) {
  for (CaseRates& one : suite) one.with = 0.8 + 0.2 * (one.with - one.without);
  return suite;
}

std::vector<Setting> Settings() {
  const std::vector<Setting> gates = {
      {.gate = "not-hurts:*:5", .lift = -0.05},
      {.gate = "better:student+skill vs student; pass>1%"},
      {.gate = "not-worse:student+skill vs student:10; pass>1%; tokens<+50%", .lift = -0.1},
      {.gate = "lift>10; not-hurts:*:60; pass>1%; tokens<+50%", .lift = 0.1},
      {.gate = "not-hurts:*:20; pass:*>1%", .lift = -0.2, .has_another = true},
      {.gate = "pass>80%; not-hurts:*:60", .of_rate = true},
      {.gate = "helps:*; not-hurts:*:60; tokens<+50%; lift>-60"},
      {.gate = "no-effect:*; lift>-60; pass>1%", .lift = 0.05},
  };
  std::vector<Setting> all;
  for (Setting one : gates) {
    for (const auto& [cases, planned, most] : {std::tuple(12, 3, 3), {6, 1, 10}, {30, 2, 6}}) {
      one.cases = cases;
      one.planned = planned;
      one.most = most;
      all.push_back(one);
    }
  }
  return all;
}

void PrintSearched(int draws, int evaluations, std::uint64_t seed, const std::string& wanted, Claims& claims) {
  fmt::print(
      "1. A gate holds although its first clause is just false, at the worst suite found, in %\n\n"
      "   gate                                                         cases  rounds   the clause alone  the gate      "
      " "
      "worst suite\n");
  for (const Setting& setting : Settings()) {
    if (setting.gate.find(wanted) == std::string::npos) continue;
    // Clauses on a word or a pass rate are searched among the suites that a search begins with, as whole gates.
    const bool of_lift = !setting.of_rate && ParseGate(setting.gate)->clauses[0].kind != GateClause::Kind::kVerdict;
    const auto suite_of = [&](const std::vector<CaseRates>& suite) {
      return setting.of_rate ? WithRate(suite) : suite;
    };
    KnownEvidence known(setting.lift);
    const WorstSuite worst =
        SearchWorst({setting.cases, setting.lift, of_lift ? evaluations : 1, seed}, [&](const auto& suite) {
          return of_lift ? ShareThatHoldsAlone(setting, suite, draws, seed, known)
                         : ShareThatHolds(setting, suite_of(suite), draws / 40, seed);
        });
    const std::vector<CaseRates> suite = suite_of(worst.cases);
    const int gates = of_lift ? draws / 5 : draws;
    const double share = ShareThatHolds(setting, suite, gates, seed + 1);
    const double alone = of_lift ? ShareThatHoldsAlone(setting, suite, 10 * draws, seed + 1, known) : share;
    fmt::print("   {:60} {:5}  {:>7}  {:>9} ± {:4.2f}  {:>5} ± {:4.2f}   {}\n", setting.gate, setting.cases,
               RoundsText(setting), of_lift ? Percent(alone) : "–", 100.0 * StandardError(kAlpha, 10 * draws),
               Percent(share), 100.0 * StandardError(kAlpha, gates), SuiteText(suite));
    const std::string what = fmt::format("{}, {} cases, {} rounds", setting.gate, setting.cases, RoundsText(setting));
    claims.AtMost(share, kAlpha, gates, what);
    if (of_lift) claims.AtMost(alone, kAlpha, 10 * draws, what + ", the first clause alone");
  }
}

// The answers with the skill take 20 % more tokens in the mean. A share of the answers of each arm runs into the limit.
void PrintRunaways(int draws, std::uint64_t seed, Claims& claims) {
  constexpr int kLimit = 1000;
  fmt::print(
      "\n2. \"tokens<+20%; pass>1%\" holds although the truth is +20 %; a share of the answers hits the limit; in %\n\n"
      "   without  with   cases  rounds   holds\n");
  for (const auto& [without, with] : {std::pair(0.0, 0.0), {0.0, 0.03}, {0.01, 0.05}, {0.03, 0.03}, {0.1, 0.1}}) {
    for (const auto& [cases, planned, most] : {std::tuple(12, 3, 3), {30, 5, 5}, {12, 1, 20}}) {
      const double mean = 1.2 * ((1.0 - without) * kLength + without * kLimit);
      const double usual = (mean - with * kLimit) / (1.0 - with);
      const Setting setting{
          .gate = "tokens<+20%; pass>1%", .cases = cases, .planned = planned, .most = most, .limit = kLimit};
      const Answer answer = [&](std::size_t, std::size_t, Rng& rng, Sample& sample) {
        const bool skill = sample.arm == Arm::kSkill;
        const double length = (skill ? usual : kLength) * (0.5 + rng.Uniform());
        SetAnswer(true, fmt::format("{}", rng.Next()), sample);
        sample.response.usage.output = rng.Uniform() < (skill ? with : without) ? kLimit : std::lround(length);
      };
      const double share = ShareThatHolds(setting, answer, draws, seed);
      fmt::print("   {:7.2f}  {:4.2f}   {:5}  {:>7}   {:>5} ± {:4.2f}\n", without, with, cases, RoundsText(setting),
                 Percent(share), 100.0 * StandardError(kAlpha, draws));
      claims.AtMost(share, kAlpha, draws,
                    fmt::format("tokens, {} and {}, {} rounds", without, with, RoundsText(setting)));
    }
  }
}

}  // namespace
}  // namespace upskill

int main(int argc, char** argv) {
  const int draws = argc > 1 ? std::atoi(argv[1]) : 2000;
  const int evaluations = argc > 2 ? std::atoi(argv[2]) : 120;
  const auto seed = static_cast<std::uint64_t>(argc > 3 ? std::atoi(argv[3]) : 1);
  const std::string wanted = argc > 4 ? argv[4] : "";
  if (draws < 100 || evaluations < 1) {
    fmt::print(stderr, "usage: gate_simulation [DRAWS, at least 100] [SUITES PER SEARCH] [SEED] [TEXT IN GATES]\n");
    return 2;
  }
  upskill::Claims claims;
  upskill::PrintSearched(draws, evaluations, seed, wanted, claims);
  if (wanted.empty()) upskill::PrintRunaways(draws, seed, claims);
  return claims.Conclude();
}

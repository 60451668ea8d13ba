// SPDX-License-Identifier: Apache-2.0
// How often something false is said where the number of rounds depends on what was seen, and where answers are copies:
// contrasts whose rounds are raised until the claim is shown (doubled, one by one, or by the printed forecast), and
// verdicts on the answers of a server with a cache. One argument: draws per setting (default 1000). Seeds are fixed.
// Exits with 1 if anything false is more frequent than 5 % by more than four standard errors.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "eval/journal/run_data.h"
#include "eval/verdict/contrast.h"
#include "eval/verdict/verdict.h"
#include "simulated_run.h"
#include "util/rng.h"
#include "verdict_claims.h"
#include "verdict_suites.h"

namespace upskill {
namespace {

constexpr int kMost = 96;  // rounds

ChoiceAnswers ChoiceOf(const std::string& name, std::size_t cases) {
  ChoiceAnswers answers;
  answers.model = answers.name = name;
  for (std::size_t i = 0; i < cases; ++i) {
    answers.cases.push_back(fmt::format("case-{}", i));
    answers.questions.push_back(fmt::format("question {}", i));
    answers.requests.push_back(answers.questions.back());
  }
  return answers;
}

void AddRound(const std::vector<double>& rates, Rng& rng, ChoiceAnswers& answers) {
  std::vector<ChoiceAnswer>& row = answers.rounds.emplace_back(rates.size());
  for (std::size_t i = 0; i < rates.size(); ++i) {
    row[i].state = ChoiceAnswer::State::kAnswered;
    row[i].passed = rng.Uniform() < rates[i];
    row[i].text = rng.Next() | 1U;
  }
}

// How many rounds to have next, after the contrast of `rounds` didn't show the claim; `rounds` to give up.
using Raise = std::function<int(const Contrast& contrast, int rounds)>;

struct Raised {
  double claimed = 0.0;   // share of the draws that end with the claim
  double at_first = 0.0;  // with the planned rounds
  double as_fixed = 0.0;  // if each look used the test for a fixed number of rounds
};

// `fixed`: every look uses the test for a fixed number of rounds.
Raised RaiseUntilShown(const Scenario& scenario, double margin, int planned, bool fixed, const Raise& raise,
                       int draws) {
  std::vector<double> rates_a;
  std::vector<double> rates_b;
  for (const CaseRates& one : scenario.cases) {
    rates_a.push_back(one.with);
    rates_b.push_back(one.without);
  }
  Raised raised;
  Rng rng(SeedFromText(scenario.name));
  for (int draw = 0; draw < draws; ++draw) {
    ChoiceAnswers a = ChoiceOf("a", rates_a.size());
    ChoiceAnswers b = ChoiceOf("b", rates_b.size());
    int wanted = planned;
    bool shown = false;
    for (int rounds = 0; rounds < wanted;) {
      for (; rounds < wanted; ++rounds) {
        AddRound(rates_a, rng, a);
        AddRound(rates_b, rng, b);
      }
      a.any_look = b.any_look = rounds != planned && !fixed;
      const Contrast contrast = *MakeContrast(a, b);
      shown = contrast.PAbove(-margin) <= kAlpha;
      if (rounds == planned) raised.at_first += shown ? 1.0 / draws : 0.0;
      if (!shown) wanted = raise(contrast, rounds);
    }
    raised.claimed += shown ? 1.0 / draws : 0.0;
  }
  return raised;
}

void PrintRaised(int draws, Claims& claims) {
  constexpr int kPlanned = 3;
  struct Way {
    std::string name;
    std::function<int(const Contrast& contrast, int rounds, double margin)> raise;
  };
  const std::vector<Way> ways = {
      {"doubled up to 96", [](const Contrast&, int rounds, double) { return std::min(2 * rounds, kMost); }},
      {"one by one up to 40", [](const Contrast&, int rounds, double) { return rounds < 40 ? rounds + 1 : rounds; }},
      {"by the forecast, up to 96", [](const Contrast& contrast, int rounds, double margin) {
         return std::min(kMost, rounds + contrast.MoreFor(-margin, kAlpha).value_or(0));
       }}};
  fmt::print(
      "\n1. A false claim \"not worse by more than the margin\" (\"better\" with 0), true loss equal to the margin,\n"
      "   from 3 rounds, raised until it is shown, in %\n\n"
      "   suite                         margin  raised                     claimed  at the first look  as for fixed "
      "rounds\n");
  const auto equal = [](int cases, double without, double with) {
    return MakeScenario(fmt::format("{} x {:.2f} > {:.2f}", cases, without, with), cases,
                        [=](int) { return CaseRates{without, with}; });
  };
  const std::vector<std::pair<Scenario, double>> suites = {
      {equal(12, 0.95, 0.9), 0.05},
      {equal(12, 0.95, 0.85), 0.1},
      {equal(30, 0.9, 0.85), 0.05},
      {equal(12, 0.6, 0.6), 0.0},
      {equal(30, 0.6, 0.6), 0.0},
      {MakeScenario("12, 5 broken, 5 partly fixed", 12,
                    [](int i) {
                      if (i < 5) return CaseRates{1.0, 0.0};
                      return i < 10 ? CaseRates{0.0, (5.0 - 12 * 0.05) / 5.0} : CaseRates{1.0, 1.0};
                    }),
       0.05},
  };
  for (const auto& [scenario, margin] : suites) {
    for (const Way& way : ways) {
      const Raise raise = [&](const Contrast& contrast, int rounds) { return way.raise(contrast, rounds, margin); };
      Raised raised = RaiseUntilShown(scenario, margin, kPlanned, false, raise, draws);
      raised.as_fixed = RaiseUntilShown(scenario, margin, kPlanned, true, raise, draws).claimed;
      fmt::print("   {:28}  {:6.2f}  {:25}  {:>7}  {:>17}  {:>19}\n", scenario.name, margin, way.name,
                 Percent(raised.claimed), Percent(raised.at_first), Percent(raised.as_fixed));
      claims.AtMost(raised.claimed, kAlpha, draws, scenario.name + ", " + way.name);
    }
  }
}

struct Server {
  std::string name;
  int cases = 12;
  int rounds = 5;
  double temperature = 1.0;
  int varying = 0;                            // cases that the cache lets through
  std::function<CaseRates(int index)> rates;  // of a new answer
};

// The answers of a server that gives those of the first round again.
class Cache {
 public:
  Cache(const Server& server, const Plan& plan) : server_(&server), plan_(&plan) {
    kept_.resize(plan.suite.cases.size() * plan.arms.size());
  }

  void AddRound(int round, Rng& rng, RunData& data) {
    std::size_t place = 0;
    for (int i = 0; i < server_->cases; ++i) {
      const CaseRates rates = server_->rates(i);
      for (const Arm arm : plan_->arms) {
        Kept& kept = kept_[place++];
        if (round == 0 || i < server_->varying)
          kept = {rng.Uniform() < (arm == Arm::kSkill ? rates.with : rates.without), fmt::format("{}", rng.Next())};
        Sample sample = SampleOf(*plan_, 0, static_cast<std::size_t>(i), arm, round);
        SetAnswer(kept.passes, kept.text, sample);
        data.Add(sample);
      }
    }
  }

 private:
  struct Kept {
    bool passes = false;
    std::string text;
  };
  const Server* server_;
  const Plan* plan_;
  std::vector<Kept> kept_;
};

struct Words {
  double helps = 0.0;  // shares of the runs in which any look says so
  double hurts = 0.0;
  double no_effect = 0.0;
};

Words WordsOf(const Server& server, int draws) {
  Plan plan = SimulatedPlan(server.cases, server.rounds);
  plan.sampling.temperature = server.temperature;
  Words words;
  Rng rng(SeedFromText(server.name));
  for (int draw = 0; draw < draws; ++draw) {
    RunData data(plan);
    Cache cache(server, plan);
    std::set<Verdict> said;
    for (int round = 0; round < server.rounds; ++round) {
      cache.AddRound(round, rng, data);
      said.insert(JudgeRun(data)[0].word);
    }
    words.helps += said.contains(Verdict::kHelps) ? 1.0 / draws : 0.0;
    words.hurts += said.contains(Verdict::kHurts) ? 1.0 / draws : 0.0;
    words.no_effect += said.contains(Verdict::kNoEffect) ? 1.0 / draws : 0.0;
  }
  return words;
}

void PrintCopies(int draws, Claims& claims) {
  const auto same = [](double rate) { return [rate](int) { return CaseRates{rate, rate}; }; };
  const auto broken = [](int i) {  // 4 cases break for good; the 8 others gain as much in all
    return i >= 8 ? CaseRates{1.0, 0.0} : CaseRates{0.25, 0.75};
  };
  const std::vector<Server> servers = {
      {"half pass", 12, 5, 1.0, 0, same(0.5)},
      {"half pass", 12, 20, 1.0, 0, same(0.5)},
      {"half pass", 12, 20, 0.0, 1, same(0.5)},
      {"half pass", 12, 20, 1.0, 1, same(0.5)},
      {"half pass", 12, 20, 1.0, 5, same(0.5)},
      {"half pass", 30, 10, 1.0, 14, same(0.5)},
      {"a tenth passes", 12, 10, 1.0, 3, same(0.1)},
      {"4 break, 8 gain, 8 vary", 12, 20, 1.0, 8, broken},
      {"4 break, 8 gain, 5 vary", 12, 20, 1.0, 5, broken},
  };
  fmt::print(
      "\n2. False verdicts at any look where a server gives the answers of the first round again, in %\n\n"
      "   suite                    cases  rounds  temperature  not from the cache   helps  hurts\n");
  for (const Server& server : servers) {
    const Words words = WordsOf(server, draws);
    fmt::print("   {:23}  {:5}  {:6}  {:11}  {:18}   {:>5}  {:>5}\n", server.name, server.cases, server.rounds,
               server.temperature, server.varying, Percent(words.helps), Percent(words.hurts));
    const std::string what = fmt::format("copies, {}, {} rounds, {} vary", server.name, server.rounds, server.varying);
    claims.AtMost(words.helps, kAlpha, draws, what + ", helps");
    claims.AtMost(words.hurts, kAlpha, draws, what + ", hurts");
  }
}

}  // namespace
}  // namespace upskill

int main(int argc, char** argv) {
  const int draws = argc > 1 ? std::atoi(argv[1]) : 1000;
  if (draws < 100) {
    fmt::print(stderr, "usage: look_simulation [DRAWS, at least 100]\n");
    return 2;
  }
  upskill::Claims claims;
  upskill::PrintRaised(draws, claims);
  upskill::PrintCopies(draws, claims);
  return claims.Conclude();
}

// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/expenses.h"

#include <cstddef>
#include <optional>
#include <vector>

#include "stats/interval.h"

namespace upskill {
namespace {

// Mean of a quantity over the pairs, with the interval of the change computed from the means of the cases (of the
// rounds if there is only one case). Nothing if the quantity is unknown for any answer.
template <typename Quantity>
std::optional<PairedChange> ChangeOf(const CompleteRounds& complete, Quantity quantity) {
  const std::size_t cases = complete.cases.size();
  const std::size_t rounds = complete.rounds.size();
  PairedChange change;
  std::vector<double> by_unit(cases > 1 ? cases : rounds, 0.0);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < cases; ++i) {
      const AnswerPair pair = complete.pair(round, i);
      const std::optional<double> without = quantity(*pair.without.figures);
      const std::optional<double> with = quantity(*pair.with.figures);
      if (!without || !with) return std::nullopt;
      change.without += *without;
      change.with += *with;
      by_unit[cases > 1 ? i : round] += *with - *without;
    }
  }
  const auto pairs = static_cast<double>(cases * rounds);
  change.without /= pairs;
  change.with /= pairs;
  for (double& difference : by_unit) difference *= static_cast<double>(by_unit.size()) / pairs;
  if (const std::optional<Interval> interval = MeanInterval(by_unit)) {
    change.low = interval->low;
    change.high = interval->high;
  }
  return change;
}

// Servers and machines are faster at one time than at another: between runs, a change of time says nothing of the
// skill.
bool AreOfOneRun(const CompleteRounds& complete) {
  for (std::size_t round = 0; round < complete.rounds.size(); ++round) {
    for (std::size_t i = 0; i < complete.cases.size(); ++i) {
      const AnswerPair pair = complete.pair(round, i);
      if (pair.without.figures->origin != pair.with.figures->origin) return false;
    }
  }
  return true;
}

}  // namespace

void AddExpenses(const CompleteRounds& complete, StudentVerdict& verdict) {
  verdict.tokens = ChangeOf(complete, [](const SampleFigures& s) {
    return s.reports_tokens()
               ? std::optional(static_cast<double>(s.prompt_tokens) + static_cast<double>(s.output_tokens))
               : std::nullopt;
  });
  verdict.output_tokens = ChangeOf(complete, [](const SampleFigures& s) {
    return s.reports_tokens() ? std::optional(static_cast<double>(s.output_tokens)) : std::nullopt;
  });
  verdict.cost_usd = ChangeOf(complete, [](const SampleFigures& s) { return s.cost_usd; });
  if (AreOfOneRun(complete))
    verdict.seconds = ChangeOf(complete, [](const SampleFigures& s) { return std::optional(s.seconds); });
  if (!verdict.cost_usd) return;
  double solved_without = 0.0;
  double solved_with = 0.0;
  for (std::size_t round = 0; round < complete.rounds.size(); ++round) {
    for (std::size_t i = 0; i < complete.cases.size(); ++i) {
      const AnswerPair pair = complete.pair(round, i);
      solved_without += pair.without.passed ? 1.0 : 0.0;
      solved_with += pair.with.passed ? 1.0 : 0.0;
    }
  }
  const auto pairs = static_cast<double>(complete.rounds.size() * complete.cases.size());
  if (solved_without > 0.0) verdict.cost_per_pass_without = verdict.cost_usd->without * pairs / solved_without;
  if (solved_with > 0.0) verdict.cost_per_pass_with = verdict.cost_usd->with * pairs / solved_with;
}

}  // namespace upskill

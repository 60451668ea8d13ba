// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/expenses.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "stats/expense_interval.h"

namespace upskill {
namespace {

// Mean of a quantity over the pairs, with the interval of the change (ExpenseInterval) from the rounds that are
// evidence. Nothing if the quantity is unknown for any answer.
template <typename Quantity>
std::optional<PairedChange> ChangeOf(const CompleteRounds& complete, int max_tokens, Quantity quantity) {
  PairedChange change;
  std::vector<double> values;
  std::vector<double> lengths;
  std::vector<double> changes;
  for (std::size_t round = 0; round < complete.rounds.size(); ++round) {
    for (std::size_t i = 0; i < complete.cases.size(); ++i) {
      const AnswerPair pair = complete.pair(round, i);
      const std::optional<double> without = quantity(*pair.without.figures);
      const std::optional<double> with = quantity(*pair.with.figures);
      if (!without || !with) return std::nullopt;
      change.without += *without;
      change.with += *with;
      if (round < complete.evidence_rounds()) changes.push_back(*with - *without);
      for (const auto& [answer, value] :
           {std::pair(pair.without.figures, *without), std::pair(pair.with.figures, *with)}) {
        values.push_back(value);
        lengths.push_back(answer->reports_tokens() ? static_cast<double>(answer->output_tokens) : 0.0);
      }
    }
  }
  const auto pairs = static_cast<double>(complete.rounds.size() * complete.cases.size());
  change.without /= pairs;
  change.with /= pairs;
  const double most = MostOfOneAnswer(values, lengths, max_tokens);
  if (const std::optional<Interval> interval = ExpenseInterval(changes, -most, most)) {
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

void AddExpenses(const CompleteRounds& complete, int max_tokens, StudentVerdict& verdict) {
  verdict.tokens = ChangeOf(complete, max_tokens, [](const SampleFigures& s) {
    return s.reports_tokens()
               ? std::optional(static_cast<double>(s.prompt_tokens) + static_cast<double>(s.output_tokens))
               : std::nullopt;
  });
  verdict.output_tokens = ChangeOf(complete, max_tokens, [](const SampleFigures& s) {
    return s.reports_tokens() ? std::optional(static_cast<double>(s.output_tokens)) : std::nullopt;
  });
  verdict.cost_usd = ChangeOf(complete, max_tokens, [](const SampleFigures& s) { return s.cost_usd; });
  if (AreOfOneRun(complete))
    verdict.seconds = ChangeOf(complete, max_tokens, [](const SampleFigures& s) { return std::optional(s.seconds); });
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

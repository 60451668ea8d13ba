// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "eval/verdict/choice_answers.h"
#include "stats/interval.h"
#include "stats/score_test.h"
#include "stats/unit_counts.h"
#include "util/result.h"

namespace upskill {

// A quantity of the answers of A and of B to the same cells, in the same order.
struct PairedMeans {
  std::vector<double> a;
  std::vector<double> b;
  double most = 0.0;  // that one answer can take (MostOfOneAnswer)

  double mean_a() const;
  double mean_b() const;
  std::optional<double> ratio() const;  // of the means, A to B; nothing if B's is 0
  // Of A − B, and of the ratio, for answers to exactly these cases (stats/expense_interval.h); nothing with fewer than
  // two answers.
  std::optional<Interval> Difference(double confidence) const;
  std::optional<Interval> Ratio(double confidence) const;
};

// How answers that were lost to errors count: not at all, against A (as if A had failed and B passed), or for A.
enum class LostAnswers { kLeftOut, kAgainstA, kForA };

// The answers of both choices to one case in one round.
struct CellPair {
  const ChoiceAnswer* a = nullptr;
  const ChoiceAnswer* b = nullptr;

  bool open() const { return a->state == ChoiceAnswer::State::kOpen || b->state == ChoiceAnswer::State::kOpen; }
  bool failed(LostAnswers lost) const { return Fails(*a, lost) || Fails(*b, lost); }
  bool passed_a(LostAnswers lost) const { return Counts(*a, lost) ? lost == LostAnswers::kForA : a->passed; }
  bool passed_b(LostAnswers lost) const { return Counts(*b, lost) ? lost == LostAnswers::kAgainstA : b->passed; }

 private:
  static bool Counts(const ChoiceAnswer& answer, LostAnswers lost) {
    return answer.lost && lost != LostAnswers::kLeftOut;
  }
  static bool Fails(const ChoiceAnswer& answer, LostAnswers lost) {
    return answer.state != ChoiceAnswer::State::kAnswered && !Counts(answer, lost);
  }
};

// By round and case.
using PairedRounds = std::vector<std::vector<CellPair>>;

// What p-values and ranges rest on. A win passes only with A.
struct ContrastEvidence {
  std::vector<ScoreUnit> units;    // over the rounds that are evidence
  std::vector<UnitCounts> totals;  // after each of these rounds
  // Of the first round, where later ones may be copies of it (CompleteRounds::copied); empty elsewhere. What is shown
  // must hold with either.
  std::vector<ScoreUnit> first;

  double PAbove(double bound, bool anytime) const;
  double PBelow(double bound, bool anytime) const;
  Interval Range(double confidence, bool anytime) const;
};

// Two choices, A and B, compared over the cells that both answered: the difference of their pass rates, A − B, on
// exactly these cases. Which rounds and cases count is as for verdicts (complete_rounds.h). docs/contrasts.md has the
// methods and their error rates.
class Contrast {
 public:
  std::size_t cases = 0;              // that count
  int rounds = 0;                     // complete ones
  std::vector<std::string> excluded;  // cases excluded because of errors
  bool answers_repeat = false;        // CompleteRounds::answers_repeat: only the first round counts as evidence
  bool too_many_excluded = false;     // kMaxExcludedShare of the cases: nothing is shown
  bool anytime = false;               // a run that may have looked before: p-values and ranges are valid at every look
  std::optional<PairedMeans> tokens;  // of an answer; absent where any is unknown
  std::optional<PairedMeans> output_tokens;
  std::optional<PairedMeans> cost_usd;
  std::optional<PairedMeans> seconds;

  double difference() const { return evidence_.totals.back().lift(); }
  // Wide enough for whatever the lost answers were; so are the p-values.
  Interval Range(double confidence = 0.95) const;

  // One-sided p-values of "A − B is at most `bound`" and "… at least `bound`". A small PAbove(-m) shows that A is not
  // worse than B by more than m, a small PAbove(0) that it is better.
  double PAbove(double bound) const;
  double PBelow(double bound) const;

  // About how many more rounds like these would bring PAbove(bound) to alpha (after more rounds than were planned,
  // which is another look), or more cases like these if the answers repeat; nothing if the estimate itself isn't above
  // the bound, or beyond 10,000.
  std::optional<int> MoreFor(double bound, double alpha) const;

 private:
  friend Result<Contrast> MakeContrast(const ChoiceAnswers& a, const ChoiceAnswers& b);

  ContrastEvidence evidence_;
  ContrastEvidence against_;  // if all lost answers told against A, or for it
  ContrastEvidence for_;
};

// Errors: the choices were asked different cases or under different conditions (system prompt, maximum tokens,
// temperature), or no round was answered by both.
Result<Contrast> MakeContrast(const ChoiceAnswers& a, const ChoiceAnswers& b);

}  // namespace upskill

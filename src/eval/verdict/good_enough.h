// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "eval/verdict/choice_answers.h"
#include "eval/verdict/contrast.h"

namespace upskill {

// One way to do a job, and what it costs.
struct PricedChoice {
  const ChoiceAnswers* answers = nullptr;  // null: see `load`
  std::function<ChoiceAnswers()> load;     // makes them whenever they are looked at; empty: they aren't known
  double rate = 0.0;
  double price = 0.0;  // of an answer, in whatever unit
};

// Which of several choices are good enough: not worse than the best of them by more than a margin. A choice is shown to
// be if its contrasts with all others show it (stats/near_best.h), whichever of them is the best.
struct GoodEnough {
  std::size_t best = 0;                 // by the estimates: the highest pass rate, then the lowest price
  std::vector<bool> shown;              // by choice
  std::optional<std::size_t> cheapest;  // of those shown
  std::size_t candidate = 0;            // the cheapest by the estimates, whether shown or not
  std::optional<Contrast> with_best;    // of `cheapest`, else of `candidate`, with the best; absent if it is the best
  std::optional<int> more;              // nothing shown: about how many more rounds (or cases) would show `candidate`
  bool more_cases = false;              // `more` counts cases
  std::string problem;                  // why nothing can be shown; empty: only more answers are missing
};

// Nothing for fewer than two choices.
std::optional<GoodEnough> FindGoodEnough(std::span<const PricedChoice> choices, double margin,
                                         double alpha = VerdictOptions().alpha);

}  // namespace upskill

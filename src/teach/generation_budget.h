// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "eval/budget.h"
#include "teach/teacher.h"
#include "util/result.h"

namespace upskill {

// The error (kPermanent) of a generation that has spent its budget, and the test for it.
Error BudgetExceeded(const std::string& what);
bool IsBudgetExceeded(std::string_view message);

// What a generation has spent over all its stages and sessions, and what is left of its limit. The teachers, which
// track their own costs, must outlive it; they may be null or the same. Not thread-safe.
class GenerationBudget {
 public:
  GenerationBudget(std::optional<double> max_usd, double spent_on_trials, const Teacher* teacher,
                   const Teacher* test_teacher)
      : max_usd_(max_usd), trials_usd_(spent_on_trials), teacher_(teacher), test_teacher_(test_teacher) {}

  void AddTrial(double usd) { trials_usd_ += usd; }
  double spent_usd() const;

  // An error once the budget is spent.
  Status MayAsk() const;
  // The limits of the next trial.
  RunLimits Left() const;

  // For a progress line: " · $0.12 spent, $0.88 left"; empty if nothing was spent.
  std::string Text() const;

 private:
  std::optional<double> max_usd_;
  double trials_usd_;
  const Teacher* teacher_;
  const Teacher* test_teacher_;
};

}  // namespace upskill

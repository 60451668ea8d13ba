// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "eval/run/budget.h"
#include "model/chat.h"
#include "model/model.h"
#include "teach/teacher.h"
#include "util/result.h"

namespace upskill {

// The error (kPermanent) of a generation that has spent its budget, and the test for it.
Error BudgetExceeded(const std::string& what);
bool IsBudgetExceeded(std::string_view message);

// What a generation has spent over all its stages and sessions, and its limit: one budget for the requests of the
// teachers and the trials. Not thread-safe.
class GenerationBudget {
 public:
  // `spent_usd`: by earlier sessions.
  GenerationBudget(std::optional<double> max_usd, double spent_usd);

  // Reserves what a teacher's request may use, and settles it; one request at a time. Reserve's error is
  // BudgetExceeded.
  Status Reserve(const Model& model, const ChatRequest& request);
  Spending Settle(const Result<ChatResponse>& answer);

  Budget& trials() { return budget_; }
  double spent_usd() const { return budget_.spent().usd; }

  // For a progress line: " · $0.12 spent, $0.88 left"; empty if nothing was spent.
  std::string Text() const;

 private:
  std::optional<double> max_usd_;
  Budget budget_;
  std::optional<Budget::Reservation> reserved_;
};

}  // namespace upskill

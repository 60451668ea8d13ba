// SPDX-License-Identifier: Apache-2.0
#include "teach/generation_budget.h"

#include <fmt/format.h>

#include <algorithm>

namespace upskill {
namespace {

constexpr std::string_view kExceeded = "budget exceeded: ";

}  // namespace

Error BudgetExceeded(const std::string& what) {
  return Error{ErrorKind::kPermanent, fmt::format("{}{}", kExceeded, what)};
}

bool IsBudgetExceeded(std::string_view message) { return message.starts_with(kExceeded); }

double GenerationBudget::spent_usd() const {
  double spent = trials_usd_;
  if (teacher_ != nullptr) spent += teacher_->cost_usd();
  if (test_teacher_ != nullptr && test_teacher_ != teacher_) spent += test_teacher_->cost_usd();
  return spent;
}

Status GenerationBudget::MayAsk() const {
  if (!max_usd_ || spent_usd() < *max_usd_) return {};
  return BudgetExceeded(fmt::format("${:.2f} of ${:.2f} spent", spent_usd(), *max_usd_));
}

RunLimits GenerationBudget::Left() const {
  RunLimits limits;
  if (max_usd_) limits.max_cost_usd = std::max(0.0, *max_usd_ - spent_usd());
  return limits;
}

std::string GenerationBudget::Text() const {
  if (max_usd_)
    return fmt::format(" · ${:.2f} spent, ${:.2f} left", spent_usd(), std::max(0.0, *max_usd_ - spent_usd()));
  return spent_usd() > 0 ? fmt::format(" · ${:.2f} spent", spent_usd()) : "";
}

}  // namespace upskill

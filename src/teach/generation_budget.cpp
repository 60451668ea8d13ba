// SPDX-License-Identifier: Apache-2.0
#include "teach/generation_budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "util/invariant.h"

namespace upskill {
namespace {

constexpr std::string_view kExceeded = "budget exceeded: ";

RunLimits LimitsFor(std::optional<double> max_usd) {
  RunLimits limits;
  limits.max_cost_usd = max_usd;
  return limits;
}

}  // namespace

Error BudgetExceeded(const std::string& what) {
  return Error{ErrorKind::kPermanent, fmt::format("{}{}", kExceeded, what)};
}

bool IsBudgetExceeded(std::string_view message) { return message.starts_with(kExceeded); }

GenerationBudget::GenerationBudget(std::optional<double> max_usd, double spent_usd)
    : max_usd_(max_usd), budget_(LimitsFor(max_usd)) {
  budget_.Charge({0, spent_usd});
}

Status GenerationBudget::Reserve(const Model& model, const ChatRequest& request) {
  CHECK(!reserved_.has_value());
  reserved_ = budget_.Reserve(model, request);
  if (!reserved_) return BudgetExceeded(budget_.shortage());
  return {};
}

Spending GenerationBudget::Settle(const Result<ChatResponse>& answer) {
  CHECK(reserved_.has_value());
  const Budget::Reservation reservation = *std::exchange(reserved_, std::nullopt);
  Spending used = budget_.Settle(reservation, answer);
  if (answer || answer.error().kind != ErrorKind::kCancelled) return used;
  // A teacher's request is sent at once, so it had been when it was cancelled.
  used = reservation.amount;
  budget_.Charge(used);
  return used;
}

std::string GenerationBudget::Text() const {
  if (max_usd_)
    return fmt::format(" · ${:.2f} spent, ${:.2f} left", spent_usd(), std::max(0.0, *max_usd_ - spent_usd()));
  return spent_usd() > 0 ? fmt::format(" · ${:.2f} spent", spent_usd()) : "";
}

}  // namespace upskill

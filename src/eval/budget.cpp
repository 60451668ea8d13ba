// SPDX-License-Identifier: Apache-2.0
#include "eval/budget.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/text.h"

namespace upskill {
namespace {

// Before the first answer tells what one costs, no more than this many are risked.
constexpr std::size_t kBlindRequests = 2;

}  // namespace

void Budget::Add(const ChatResponse& response) {
  const double cost = response.cost_usd.value_or(0.0);
  const std::int64_t tokens = response.usage.prompt() + response.usage.output;
  cost_usd_ += cost;
  tokens_ += tokens;
  dearest_usd_ = std::max(dearest_usd_, cost);
  longest_tokens_ = std::max(longest_tokens_, tokens);
  any_ = true;
}

bool Budget::Allows(std::size_t in_flight, Clock::Steady now) {
  if (!exhausted_.empty()) return false;
  if (limits_.timeout && now - started_ >= *limits_.timeout) {
    exhausted_ = fmt::format("the time limit of {} is over",
                             DurationText(std::chrono::duration<double>(*limits_.timeout).count()));
    return false;
  }
  if (!limits_.max_cost_usd && !limits_.max_tokens) return true;
  if (!any_) return in_flight < kBlindRequests;
  const auto ahead = static_cast<double>(in_flight + 1);
  if (limits_.max_cost_usd && cost_usd_ + ahead * dearest_usd_ > *limits_.max_cost_usd) {
    if (in_flight > 0) return false;  // what is in flight may turn out cheaper
    exhausted_ = fmt::format("${:.4f} of ${:.4f} are spent and the next answer may cost ${:.4f}", cost_usd_,
                             *limits_.max_cost_usd, dearest_usd_);
    return false;
  }
  if (limits_.max_tokens && static_cast<double>(tokens_) + ahead * static_cast<double>(longest_tokens_) >
                                static_cast<double>(*limits_.max_tokens)) {
    if (in_flight > 0) return false;
    exhausted_ = fmt::format("{} of {} tokens are used up and the next answer may take {}", WithThousands(tokens_),
                             WithThousands(*limits_.max_tokens), WithThousands(longest_tokens_));
    return false;
  }
  return true;
}

}  // namespace upskill

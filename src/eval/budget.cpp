// SPDX-License-Identifier: Apache-2.0
#include "eval/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "eval/plan.h"
#include "model/structured_answer.h"
#include "util/invariant.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

// Requests sent to a model of unknown cost before its first answer shows the cost.
constexpr std::size_t kBlindRequests = 2;
// Chat templates add a preamble, and markers around every message.
constexpr std::int64_t kTokensOfTemplate = 64;
constexpr std::int64_t kTokensOfMarks = 8;
constexpr std::int64_t kTokensOfRepair = 256;  // what was wrong with the answer; the schema is counted separately
constexpr double kRounding = 1e-9;             // floating-point sums of costs aren't exact

std::int64_t CountOrEstimate(const Model& model, const std::string& text) {
  if (text.empty()) return 0;
  if (const std::optional<std::size_t> count = model.CountTokens(text)) return static_cast<std::int64_t>(*count);
  return static_cast<std::int64_t>(EstimateTokens(text));
}

std::int64_t PromptTokens(const Model& model, const ChatRequest& request) {
  std::int64_t tokens = kTokensOfTemplate + CountOrEstimate(model, request.system);
  for (const Message& message : request.messages) {
    tokens += kTokensOfMarks + CountOrEstimate(model, message.text);
    for (const ToolCall& call : message.tool_calls) tokens += CountOrEstimate(model, call.raw_arguments);
    for (const ToolResult& result : message.tool_results) tokens += CountOrEstimate(model, result.text);
  }
  for (const Tool& tool : request.tools)
    tokens += kTokensOfMarks + CountOrEstimate(model, tool.description + DumpJson(tool.schema));
  return tokens;
}

}  // namespace

Spending WorstCase(const Model& model, const ChatRequest& request) {
  std::int64_t prompt = PromptTokens(model, request);
  std::int64_t output = std::max(1, model.MaxOutputTokens(request));
  if (request.answer_schema) {
    // Every repair sends all earlier answers and the schema again.
    const std::int64_t schema = CountOrEstimate(model, DumpJson(*request.answer_schema));
    const std::int64_t repair = output + schema + kTokensOfRepair;
    prompt = (kMaxRepairs + 1) * (prompt + schema) + repair * kMaxRepairs * (kMaxRepairs + 1) / 2;
    output *= kMaxRepairs + 1;
  }
  Spending worst;
  worst.tokens = prompt + output;
  if (const std::optional<Price>& price = model.info().price) {
    Usage usage;
    usage.output = output;
    const double per_million = std::max({price->input, price->cache_read, price->cache_write});
    worst.usd = CostUsd(*price, usage) + static_cast<double>(prompt) * per_million / 1e6;
  }
  return worst;
}

// The largest excess of a model's answers over their estimates counts for each of its requests in flight, too.
Spending Budget::reserved() const {
  Spending sum = estimated_;
  for (const auto& [model, account] : accounts_) {
    sum.tokens += static_cast<std::int64_t>(account.unanswered) * account.excess.tokens;
    sum.usd += static_cast<double>(account.unanswered) * account.excess.usd;
  }
  return sum;
}

bool Budget::Fits(const Spending& amount) {
  const Spending in_flight = reserved();
  const double usd = spent_.usd + in_flight.usd + amount.usd;
  if (limits_.max_cost_usd && usd > *limits_.max_cost_usd * (1.0 + kRounding)) {
    shortage_ = fmt::format("${:.4f} of ${:.4f} spent, and the next answer may cost ${:.4f}", spent_.usd,
                            *limits_.max_cost_usd, amount.usd);
    return false;
  }
  if (limits_.max_tokens && spent_.tokens + in_flight.tokens + amount.tokens > *limits_.max_tokens) {
    shortage_ = fmt::format("{} of {} tokens used, and the next answer may take {}", WithThousands(spent_.tokens),
                            WithThousands(*limits_.max_tokens), WithThousands(amount.tokens));
    return false;
  }
  return true;
}

std::optional<Budget::Reservation> Budget::Reserve(const Model& model, const ChatRequest& request) {
  if (!limits_.max_cost_usd && !limits_.max_tokens) return Reservation{};
  const ModelInfo& info = model.info();
  Account& account = accounts_[info.identity];
  account.name = info.name;
  account.is_local = info.local || info.in_process;
  account.has_price = info.price.has_value() || info.in_process;
  if (limits_.max_cost_usd && !account.has_price && !account.answered && account.unanswered >= kBlindRequests) {
    shortage_ = fmt::format("the cost of {} is unknown until its first answer", info.name);
    return std::nullopt;
  }
  Reservation reservation;
  reservation.model = info.identity;
  reservation.paid_on_error = request.answer_schema.has_value();
  if (limits_.max_tokens || info.price) reservation.estimate = WorstCase(model, request);
  reservation.amount = reservation.estimate;
  reservation.amount.Add(account.excess);
  if (!Fits(reservation.amount)) return std::nullopt;
  estimated_.Add(reservation.estimate);
  ++account.unanswered;
  return reservation;
}

void Budget::Release(const Reservation& reservation) {
  if (reservation.model.empty()) return;
  Account& account = accounts_.at(reservation.model);
  CHECK(account.unanswered > 0);
  --account.unanswered;
  estimated_.tokens -= reservation.estimate.tokens;
  estimated_.usd -= reservation.estimate.usd;
  const bool none_left =
      std::all_of(accounts_.begin(), accounts_.end(), [](const auto& entry) { return entry.second.unanswered == 0; });
  if (none_left) estimated_ = {};  // floating-point sums of costs aren't exact
}

void Budget::Settle(const Reservation& reservation, const Result<ChatResponse>& answer) {
  Release(reservation);
  if (reservation.model.empty()) {
    if (answer) spent_.Add({answer->usage.prompt() + answer->usage.output, answer->cost_usd.value_or(0.0)});
    return;
  }
  if (!answer) {
    if (reservation.paid_on_error && answer.error().kind == ErrorKind::kInput) spent_.Add(reservation.amount);
    return;
  }
  Account& account = accounts_.at(reservation.model);
  const Spending used = UsedBy(reservation, *answer, account);
  spent_.Add(used);
  account.answered = true;
  account.excess.tokens = std::max(account.excess.tokens, used.tokens - reservation.estimate.tokens);
  account.excess.usd = std::max(account.excess.usd, used.usd - reservation.estimate.usd);
}

// What an answer used. An answer without usage counts as the whole reservation.
Spending Budget::UsedBy(const Reservation& reservation, const ChatResponse& response, Account& account) {
  Spending used{response.usage.prompt() + response.usage.output, response.cost_usd.value_or(0.0)};
  const bool counts_tokens = used.tokens > 0;
  if (!counts_tokens) used.tokens = reservation.amount.tokens;
  // A cost of 0 computed from missing token counts says nothing.
  if (used.usd <= 0.0 && (!response.cost_usd || !counts_tokens)) used.usd = reservation.amount.usd;
  if (limits_.max_tokens && !counts_tokens && !account.has_token_caveat) {
    account.has_token_caveat = true;
    caveats_.push_back(
        fmt::format("{}: answers without token counts; --max-tokens-total counts the maximum that each may have used",
                    account.name));
  }
  const bool has_cost = response.cost_usd || account.has_price || account.is_local;
  if (limits_.max_cost_usd && !has_cost && !account.has_cost_caveat) {
    account.has_cost_caveat = true;
    caveats_.push_back(fmt::format("{}: price unknown; --max-cost doesn't count it", account.name));
  }
  return used;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "eval/run/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "util/error_cause.h"
#include "util/invariant.h"
#include "util/text.h"
#include "util/tokens.h"

namespace upskill {
namespace {

// Chat templates add a preamble, and markers around every message.
constexpr std::int64_t kTokensOfTemplate = 64;
constexpr std::int64_t kTokensOfMarks = 8;
constexpr std::int64_t kTokensOfInstruction = 256;  // to answer by a schema; the schema is counted separately
constexpr double kRounding = 1e-9;                  // floating-point sums of costs aren't exact

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
  if (request.answer_schema) tokens += kTokensOfInstruction + CountOrEstimate(model, DumpJson(*request.answer_schema));
  return tokens;
}

bool IsFree(const std::optional<Price>& price) {
  return price && price->input + price->output + price->cache_read + price->cache_write + price->request == 0.0;
}

// Whether an answer says what it used. Servers that don't leave out the counts, or send zeros.
bool ReportsUsage(const ChatResponse& response) {
  const bool wrote_something = !response.text.empty() || !response.tool_calls.empty();
  return response.usage.prompt() > 0 && (response.usage.output > 0 || !wrote_something);
}

}  // namespace

Spending WorstCase(const Model& model, const ChatRequest& request) {
  const std::int64_t prompt = PromptTokens(model, request);
  const std::int64_t output = std::max(1, model.MaxOutputTokens(request));
  Spending worst;
  worst.tokens = prompt + output;
  if (const std::optional<Price> price = KnownPrice(model.info())) {
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

std::string Budget::SpentUsd() const {
  std::string text =
      fmt::format("{} of {} spent", MoneyText(spent_.usd), MoneyText(limits_.max_cost_usd.value_or(0.0)));
  if (failed_.usd > 0.0) text += fmt::format(" (up to {} of it by requests that failed)", MoneyText(failed_.usd));
  return text;
}

std::string Budget::SpentTokens() const {
  std::string text =
      fmt::format("{} of {} tokens used", WithThousands(spent_.tokens), WithThousands(limits_.max_tokens.value_or(0)));
  if (failed_.tokens > 0)
    text += fmt::format(" (up to {} of them by requests that failed)", WithThousands(failed_.tokens));
  return text;
}

bool Budget::Fits(const Spending& amount) {
  const Spending in_flight = reserved();
  const double usd = spent_.usd + in_flight.usd + amount.usd;
  if (limits_.max_cost_usd && amount.usd > 0.0 && usd > *limits_.max_cost_usd * (1.0 + kRounding)) {
    shortage_ = fmt::format("{}, and the next answer may cost {}", SpentUsd(), MoneyText(amount.usd));
    needed_ = amount;
    return false;
  }
  if (limits_.max_tokens && spent_.tokens + in_flight.tokens + amount.tokens > *limits_.max_tokens) {
    shortage_ = fmt::format("{}, and the next answer may take {}", SpentTokens(), WithThousands(amount.tokens));
    needed_ = amount;
    return false;
  }
  return true;
}

bool Budget::MayBeCounted(const Account& account) {
  std::string_view limit;
  if (account.unreported) limit = limits_.max_tokens ? "limit on tokens" : "limit on cost";
  if (!limit.empty()) {
    shortage_ = fmt::format("{} doesn't report what its answers use, so the {} can't be enforced", account.name, limit);
    return false;
  }
  if (!limits_.max_cost_usd || account.price) return true;
  shortage_ = fmt::format("the price of {} is unknown, so the limit on cost can't be enforced", account.name);
  return false;
}

std::optional<Budget::Reservation> Budget::Reserve(const Model& model, const ChatRequest& request) {
  return ReserveWorst(model, [&] { return WorstCase(model, request); });
}

std::optional<Budget::Reservation> Budget::Reserve(const Model& model, const Spending& worst) {
  return ReserveWorst(model, [&] { return worst; });
}

std::optional<Budget::Reservation> Budget::ReserveWorst(const Model& model, const std::function<Spending()>& worst) {
  if (!limits_.max_cost_usd && !limits_.max_tokens) return Reservation{};
  const ModelInfo& info = model.info();
  Account& account = accounts_[info.identity];
  account.name = info.name;
  account.price = KnownPrice(info);
  account.in_process = info.in_process;
  if (!MayBeCounted(account)) return std::nullopt;
  if (!info.bounded && !IsFree(account.price) && !account.answered && account.unanswered > 0) {
    shortage_ = fmt::format("the first answer of {} will show what one may use", account.name);
    return std::nullopt;
  }
  Reservation reservation;
  reservation.model = info.identity;
  if (limits_.max_tokens || !IsFree(account.price)) reservation.estimate = worst();
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

Spending Budget::Settle(const Reservation& reservation, const Result<ChatResponse>& answer) {
  Release(reservation);
  Spending used;
  if (reservation.model.empty()) {
    used = answer ? Spending{answer->usage.prompt() + answer->usage.output, answer->cost_usd.value_or(0.0)}
                  : Spending{answer.error().used_tokens, answer.error().used_usd};
  } else {
    used = answer ? UsedBy(reservation, *answer) : ChargeFailure(reservation, answer.error());
  }
  spent_.Add(used);
  NoteExcess();
  return used;
}

void Budget::NoteExcess() {
  if (exceeded_) return;
  const bool usd = limits_.max_cost_usd && spent_.usd > *limits_.max_cost_usd * (1.0 + kRounding);
  const bool tokens = limits_.max_tokens && spent_.tokens > *limits_.max_tokens;
  exceeded_ = usd || tokens;
  if (!exceeded_) return;
  caveats_.push_back(
      fmt::format("{}: more than the limit, because answers used more than a request could be expected to",
                  usd ? SpentUsd() : SpentTokens()));
}

Spending Budget::ChargeFailure(const Reservation& reservation, const Error& error) {
  const bool was_answered = error.cause == ErrorCause::kTooLong || error.cause == ErrorCause::kUnusable;
  Account& account = accounts_.at(reservation.model);
  Spending used{error.used_tokens, error.used_usd};
  if (account.in_process) return {};
  if (used.usd > 0.0 || used.tokens > 0) {
    account.answered = true;
    account.excess.tokens = std::max(account.excess.tokens, used.tokens - reservation.estimate.tokens);
    account.excess.usd = std::max(account.excess.usd, used.usd - reservation.estimate.usd);
  }
  if (error.kind == ErrorKind::kUnavailable || was_answered) {
    used.tokens = std::max(used.tokens, reservation.amount.tokens);
    used.usd = std::max(used.usd, reservation.amount.usd);
  }
  failed_.Add(used);
  return used;
}

Spending Budget::UsedBy(const Reservation& reservation, const ChatResponse& response) {
  Account& account = accounts_.at(reservation.model);
  account.answered = true;
  Spending used{response.usage.prompt() + response.usage.output, 0.0};
  if (ReportsUsage(response)) {
    used.usd = response.cost_usd ? *response.cost_usd : account.price ? CostUsd(*account.price, response.usage) : 0.0;
    account.excess.tokens = std::max(account.excess.tokens, used.tokens - reservation.estimate.tokens);
    account.excess.usd = std::max(account.excess.usd, used.usd - reservation.estimate.usd);
    return used;
  }
  // A cost computed from missing token counts says nothing.
  used.tokens = std::max(used.tokens, reservation.amount.tokens);
  used.usd = std::max(response.cost_usd.value_or(0.0), reservation.amount.usd);
  const bool matters = limits_.max_tokens || used.usd > 0.0;
  if (matters && !account.unreported) {
    account.unreported = true;
    caveats_.push_back(
        fmt::format("{}: answers without token counts; each counts as the most that it may have used", account.name));
  }
  return used;
}

}  // namespace upskill

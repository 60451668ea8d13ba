// SPDX-License-Identifier: Apache-2.0
#include "program/proxy_ledger.h"

#include <fmt/format.h>

#include <utility>

namespace upskill {

std::string ProxyLedger::Reached() const {
  if (limits_.turns > 0 && record_.turns >= limits_.turns) return "turns";
  if (limits_.requests > 0 && admitted_ >= limits_.requests) return "requests";
  if (limits_.tokens > 0 && record_.usage.prompt() + record_.usage.output >= limits_.tokens) return "tokens";
  if (limits_.cost_usd && record_.cost_usd.value_or(0.0) >= *limits_.cost_usd) return "cost";
  return "";
}

Status ProxyLedger::Admit() {
  if (std::string limit = Reached(); !limit.empty()) {
    if (record_.limit.empty()) record_.limit = limit;
    return Error{ErrorKind::kPermanent,
                 fmt::format("the limit of {} of this task is reached; no more requests are answered", limit)};
  }
  ++admitted_;
  return {};
}

void ProxyLedger::Reserve(const EndpointRequest& request, TurnMeter::Approved approved) const {
  ChatRequest worst;
  worst.messages.push_back({Role::kUser, request.http.body});
  worst.sampling.max_tokens = request.max_tokens;
  limits_.meter->Reserve(*limits_.model, worst, std::move(approved));
}

void ProxyLedger::Record(bool has_tools, const std::optional<std::uint64_t>& meter_ticket, Result<ChatResponse> answer,
                         const Result<HttpResponse>& response) {
  ProxiedRequest request;
  request.has_tools = has_tools;
  request.status = response ? response->status : 0;
  request.seconds = response ? response->seconds : 0.0;
  if (answer) {
    if (!answer->cost_usd && endpoint_.price) answer->cost_usd = CostUsd(*endpoint_.price, answer->usage);
    request.usage = answer->usage;
    const bool is_known = answer->cost_usd && (record_.answers == 0 || record_.cost_usd);
    record_.cost_usd = is_known ? std::optional(record_.cost_usd.value_or(0.0) + *answer->cost_usd) : std::nullopt;
    ++record_.answers;
    if (has_tools) ++record_.turns;
    record_.usage.Add(answer->usage);
    if (!answer->served_model.empty()) record_.served_model = answer->served_model;
  } else {
    request.error = answer.error();
    if ((request.status == 401 || request.status == 403) && limits_.refused) {
      record_.refused = true;
      limits_.refused();
    }
  }
  record_.requests.push_back(std::move(request));
  // What was sent may have to be paid for, also if the program left before its answer.
  if (!answer && answer.error().kind == ErrorKind::kCancelled)
    answer = Error{ErrorKind::kUnavailable, answer.error().message};
  if (meter_ticket) Settle(*meter_ticket, answer);
}

}  // namespace upskill

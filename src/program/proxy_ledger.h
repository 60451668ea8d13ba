// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "program/endpoint_request.h"
#include "program/model_proxy.h"
#include "util/result.h"

namespace upskill {

// Counts what one run of a program asks of its model, and says when it has had enough. Not thread-safe.
class ProxyLedger {
 public:
  ProxyLedger(const ModelEndpoint& endpoint, ProxyLimits limits) : endpoint_(endpoint), limits_(std::move(limits)) {}

  // Whether a request for an answer may be sent, as far as the program's own limits are concerned. Error: one is
  // reached; it is also noted in the record.
  Status Admit();

  // Has the meter approve a request that was admitted. NoteRefusal or Settle follows, the latter by Record for one that
  // was sent.
  bool metered() const { return limits_.meter != nullptr && limits_.model != nullptr; }
  void Reserve(const EndpointRequest& request, TurnMeter::Approved approved) const;
  void NoteRefusal(const Error& error) { record_.meter_refusal = error; }
  void Settle(std::uint64_t ticket, const Result<ChatResponse>& answer) const { limits_.meter->Settle(ticket, answer); }

  // The end of a request that was admitted.
  void Record(bool has_tools, const std::optional<std::uint64_t>& meter_ticket, Result<ChatResponse> answer,
              const Result<HttpResponse>& response);

  ProxyRecord Take() { return std::move(record_); }

 private:
  std::string Reached() const;  // the name of a limit; empty: none

  const ModelEndpoint& endpoint_;
  ProxyLimits limits_;
  ProxyRecord record_;
  int admitted_ = 0;
};

}  // namespace upskill

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

  // Whether a request for an answer may be sent. Returns the meter's ticket, if there is a meter. Error: a limit is
  // reached; it is also noted in the record.
  Result<std::optional<std::uint64_t>> Admit(const EndpointRequest& request);

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

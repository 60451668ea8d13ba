// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "model/chat.h"
#include "util/clock.h"

namespace upskill {

// What a run may use up. Answers taken from a cache or an earlier run cost nothing.
struct RunLimits {
  std::optional<double> max_cost_usd;
  std::optional<std::int64_t> max_tokens;  // prompt and answer, over all requests
  std::optional<std::chrono::milliseconds> timeout;
};

// Holds a run to its limits: a request is allowed only if it and those in flight, each as dear as the dearest answer so
// far, still fit. Not thread-safe.
class Budget {
 public:
  Budget(RunLimits limits, Clock::Steady started) : limits_(limits), started_(started) {}

  void Add(const ChatResponse& response);

  // Whether one more request may be sent while `in_flight` are unanswered. Once it said no, it stays no.
  bool Allows(std::size_t in_flight, Clock::Steady now);

  // "$0.98 of $1.00 spent, the next answer may cost $0.03"; empty while all fits.
  const std::string& exhausted() const { return exhausted_; }
  double cost_usd() const { return cost_usd_; }
  std::int64_t tokens() const { return tokens_; }

 private:
  RunLimits limits_;
  Clock::Steady started_;
  double cost_usd_ = 0.0;
  double dearest_usd_ = 0.0;
  std::int64_t tokens_ = 0;
  std::int64_t longest_tokens_ = 0;
  bool any_ = false;
  std::string exhausted_;
};

}  // namespace upskill

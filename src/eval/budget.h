// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/chat.h"
#include "model/model.h"
#include "util/result.h"

namespace upskill {

// What a run may use. Answers taken from a cache or an earlier run cost nothing.
struct RunLimits {
  std::optional<double> max_cost_usd;
  std::optional<std::int64_t> max_tokens;  // prompt and answer, over all requests
  std::optional<std::chrono::milliseconds> timeout;
};

// What requests have used, or may use.
struct Spending {
  std::int64_t tokens = 0;  // prompt and answer
  double usd = 0.0;

  void Add(const Spending& more) {
    tokens += more.tokens;
    usd += more.usd;
  }
};

// Enforces limits on cost and tokens (not on time) for runs and single requests. The most that a request may use is
// reserved before it is sent, and replaced by its actual use when it is answered: as long as no answer uses more than
// was reserved for it, the limits are never exceeded, however many requests are in flight. Not thread-safe.
//
// A model that runs in process costs nothing. Any other model without a known price has at most two requests in flight
// until its first answer shows what it costs; from then on each counts as much as the most expensive answer so far.
class Budget {
 public:
  explicit Budget(const RunLimits& limits) : limits_(limits) {}

  // What is set aside for one request. Settle or release each exactly once.
  struct Reservation {
    std::string model;           // ModelInfo::identity; empty: there are no limits
    Spending estimate;           // the most that a request of this size may use
    Spending amount;             // set aside: the estimate plus the largest excess of this model's answers
    bool paid_on_error = false;  // the answer must fit a schema: if no attempt does, all attempts are paid for
  };

  // Nothing if the request doesn't fit; shortage() says why. It may fit later, unless nothing is reserved now.
  std::optional<Reservation> Reserve(const Model& model, const ChatRequest& request);

  // The request was answered. Errors cost nothing, except when no answer fit the schema.
  void Settle(const Reservation& reservation, const Result<ChatResponse>& answer);

  void Release(const Reservation& reservation);  // the request was not sent

  // Spent before, or by other means.
  void Charge(const Spending& spending) { spent_.Add(spending); }

  const Spending& spent() const { return spent_; }
  Spending reserved() const;
  // Why the last request didn't fit: "$0.98 of $1.00 spent, and the next answer may cost $0.03".
  const std::string& shortage() const { return shortage_; }
  // One for each model whose cost or tokens can't be counted: "haiku: price unknown; --max-cost doesn't count it".
  const std::vector<std::string>& caveats() const { return caveats_; }

 private:
  // What is known about one model.
  struct Account {
    std::string name;
    bool is_local = false;
    bool has_price = false;
    Spending excess;  // the most that an answer used beyond its estimate
    std::size_t unanswered = 0;
    bool answered = false;
    bool has_cost_caveat = false;
    bool has_token_caveat = false;
  };

  bool Fits(const Spending& amount);
  Spending UsedBy(const Reservation& reservation, const ChatResponse& response, Account& account);

  RunLimits limits_;
  Spending spent_;
  Spending estimated_;                       // of the requests in flight
  std::map<std::string, Account> accounts_;  // by model
  std::string shortage_;
  std::vector<std::string> caveats_;
};

// The most that a request may use: its prompt by the model's own count or its length, the longest answer allowed, and
// all of that again for each repair of an answer that must fit a schema. The dollars are 0 without a price.
Spending WorstCase(const Model& model, const ChatRequest& request);

}  // namespace upskill

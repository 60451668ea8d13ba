// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
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
// A model that doesn't keep to a maximum (ModelInfo::bounded) gets its first request alone: it shows what one may use.
// Where an answer used so much more than was reserved that a limit is exceeded, a caveat says so.
//
// What can't be counted isn't sent: under a limit on cost, nothing to a model whose price is unknown (KnownPrice), and
// nothing more to a model whose answers don't report what the limit counts.
class Budget {
 public:
  explicit Budget(const RunLimits& limits) : limits_(limits) {}

  // What is set aside for one request. Settle or release each exactly once.
  struct Reservation {
    std::string model;  // ModelInfo::identity; empty: there are no limits
    Spending estimate;  // the most that a request of this size may use
    Spending amount;    // set aside: the estimate plus the largest excess of this model's answers
  };

  // Nothing if the request doesn't fit; shortage() says why. It may fit later, unless nothing is reserved now.
  std::optional<Reservation> Reserve(const Model& model, const ChatRequest& request);
  // The same for a request whose WorstCase this is.
  std::optional<Reservation> Reserve(const Model& model, const Spending& worst);

  // The request was answered, or failed. Returns what it counts as. A rejected or cancelled request counts as nothing;
  // one that failed in another way (kUnavailable), or whose answer is too long or can't be read (ErrorCause), counts as
  // the whole reservation, because the provider may have worked on it. Answers that don't report their usage count as
  // the whole reservation, too.
  Spending Settle(const Reservation& reservation, const Result<ChatResponse>& answer);

  void Release(const Reservation& reservation);  // the request was not sent

  // Spent before, or by other means.
  void Charge(const Spending& spending) { spent_.Add(spending); }

  const Spending& spent() const { return spent_; }
  Spending reserved() const;
  // Why the last request didn't fit: "$0.98 of $1.00 spent, and the next answer may cost $0.03".
  const std::string& shortage() const { return shortage_; }
  // The most that this request may use; nothing if that isn't why it didn't fit.
  const Spending& needed() const { return needed_; }
  // One for each model whose use can't be counted: "haiku: answers without token counts; …".
  const std::vector<std::string>& caveats() const { return caveats_; }

 private:
  std::optional<Reservation> ReserveWorst(const Model& model, const std::function<Spending()>& worst);

  // What is known about one model.
  struct Account {
    std::string name;
    std::optional<Price> price;
    bool in_process = false;
    Spending excess;  // the most that an answer used beyond its estimate
    std::size_t unanswered = 0;
    bool unreported = false;  // an answer didn't say what it used
    bool answered = false;    // a request was answered, or failed and said what it used
  };

  bool MayBeCounted(const Account& account);
  bool Fits(const Spending& amount);
  std::string SpentUsd() const;
  std::string SpentTokens() const;
  void NoteExcess();
  Spending ChargeFailure(const Reservation& reservation, const Error& error);
  Spending UsedBy(const Reservation& reservation, const ChatResponse& response);

  RunLimits limits_;
  Spending spent_;
  Spending failed_;                          // the part of spent_ that requests without an answer may have used
  Spending estimated_;                       // of the requests in flight
  std::map<std::string, Account> accounts_;  // by model
  bool exceeded_ = false;                    // and said so
  std::string shortage_;
  Spending needed_;
  std::vector<std::string> caveats_;
};

// The most that a request may use: its prompt by the model's own count or its length, and the longest answer allowed.
// The dollars are 0 without a price.
Spending WorstCase(const Model& model, const ChatRequest& request);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/chat.h"
#include "model/model.h"
#include "model/workspace.h"
#include "net/http_client.h"
#include "program/endpoint_request.h"
#include "util/clock.h"
#include "util/files.h"
#include "util/result.h"

namespace upskill {

// What one run of a program may ask of its model. 0: no limit.
struct ProxyLimits {
  int turns = 0;                     // answers to requests with tools
  int requests = 400;                // of all kinds, failed ones too
  std::int64_t tokens = 0;           // of prompts and answers
  std::optional<double> cost_usd;    // nothing is sent once this is reached
  std::shared_ptr<TurnMeter> meter;  // may be null
  const Model* model = nullptr;      // for the meter
  std::function<void()> refused;     // may be null; called when the endpoint refuses the key (401, 403)
};

// One request of a program for an answer.
struct ProxiedRequest {
  bool has_tools = false;
  int status = 0;              // of HTTP; 0: there was none
  std::optional<Error> error;  // why there is no whole answer
  Usage usage;
  double seconds = 0.0;
};

// What one run of a program has asked of its model.
struct ProxyRecord {
  std::vector<ProxiedRequest> requests;  // for answers, in the order of their ends
  int turns = 0;                         // answers to requests with tools
  int answers = 0;                       // all of them
  Usage usage;
  std::optional<double> cost_usd;  // absent: the price is unknown
  std::string served_model;
  std::string limit;  // the limit that was reached first: "turns", "requests", "tokens", "cost"; else empty
  std::optional<Error> meter_refusal;  // of TurnMeter::Reserve
  bool refused = false;                // ProxyLimits::refused was called
};

// Passes requests of programs on to the endpoint of a model, which gets its key here, and answers back, while they
// arrive; counts and limits what they use. The programs know a dummy key and connect over the sockets that Listen gets,
// which are inside of their sandboxes. One thread for all programs, besides the client's. Thread-safe.
class ModelProxy {
 public:
  using Ticket = std::uint64_t;  // of one run of a program

  ModelProxy(ModelEndpoint endpoint, std::shared_ptr<HttpClient> client, const Clock& clock);
  ~ModelProxy();
  ModelProxy(const ModelProxy&) = delete;
  ModelProxy& operator=(const ModelProxy&) = delete;

  const ModelEndpoint& endpoint() const;

  Ticket Open(ProxyLimits limits);
  // A socket that listens for the program and doesn't block; replaces an earlier one.
  void Listen(Ticket ticket, Fd listener);
  // Waits for the end of what is under way, a few seconds at most unless `at_once`, then ends it. Once for each ticket.
  ProxyRecord Close(Ticket ticket, bool at_once);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
  std::atomic<Ticket> next_ticket_{1};
};

}  // namespace upskill

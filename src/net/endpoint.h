// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/http_client.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

struct EndpointOptions {
  std::vector<std::string> base_urls;  // at least one, without a slash at the end; several form a pool
  int max_in_flight = 64;              // ceiling (-j) of requests on the wire, over the whole pool
  // Rate limiting (429, 529, 503 with Retry-After) is waited out here and costs no attempt of its request; a request
  // that was pushed back for this long without an answer from the server to any request ends in kUnavailable.
  std::chrono::milliseconds patience{900'000};
  // The first wait where the server names none; doubled each time up to 16 of them, less up to a quarter at random.
  std::chrono::milliseconds backoff_unit{500};
};

// Where requests of one provider go: a queue, adaptive concurrency per base URL (starts at the ceiling's share; halved
// on rate limiting, plus one per round of answers, never above the ceiling), and pauses that the server asks for
// (retry-after-ms, retry-after in seconds or as a date, read against the server's own Date header).
// Requests of a pool go to the member with the fewest in flight; a member that can't be reached is left out for a while
// and its request goes to another. One that fails with requests it got is left out as well, but those requests end in
// their error: only the caller knows whether to send them twice. Thread-safe; the destructor cancels and doesn't wait:
// what it ends is told on the client's thread, before the client's destructor returns.
class Endpoint {
 public:
  // `path` is put behind the chosen base URL; request.url is not used. `done` gets any answer with a 2xx status, or an
  // Error made by ErrorOfResponse (net/http_error.h) or by the transfer. It is called exactly once, on the client's
  // thread, and may call the endpoint. Secrets of the request that the server repeats in an error are masked.
  using Done = HttpClient::Done;
  using Ticket = std::uint64_t;

  Endpoint(std::shared_ptr<HttpClient> client, EndpointOptions options, const Clock& clock);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Ticket Start(const std::string& path, HttpRequest request, Done done);
  void Cancel(Ticket ticket);  // `done` gets kCancelled, or the answer if that came first
  void CancelWaiting();        // those not on the wire
  void CancelAll();

  int concurrency() const;  // the present limit over the pool
  const EndpointOptions& options() const;

 private:
  class State;
  std::shared_ptr<State> state_;  // shared with callbacks on the client's thread, which may outlive the endpoint
};

}  // namespace upskill

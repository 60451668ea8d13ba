// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/http_client.h"
#include "net/pool.h"
#include "util/clock.h"
#include "util/rate_limits.h"
#include "util/result.h"

namespace upskill {

struct EndpointOptions {
  std::vector<std::string> base_urls;  // at least one, without a trailing slash; several form a pool
  int max_in_flight = 64;              // maximum of concurrent requests (-j), over the whole pool
  // Rate limiting (429, 529, 503 with Retry-After) is waited out here and doesn't count as an attempt of the request; a
  // request that is rate limited for this long while the server answers no other request ends in kUnavailable.
  std::chrono::milliseconds patience{900'000};
  // The first wait if the server names none; doubled up to a factor of 16, less up to a quarter at random.
  std::chrono::milliseconds backoff_unit{500};
  // A member of a pool that has requests but has sent nothing for `silence` is asked for `probe_path`, with the headers
  // of one of these requests. Any response will do: a server may be slow. One that doesn't respond within
  // `probe_timeout` hangs: its requests end in kUnavailable, and it is left out until it responds.
  std::string probe_path = "/models";
  std::chrono::milliseconds silence{15'000};
  std::chrono::milliseconds probe_timeout{10'000};
};

// Where requests to one provider go: a queue, adaptive concurrency per base URL (starts at its share of the maximum;
// halved on rate limiting, plus one per round of answers, never above the maximum), and pauses that the server asks for
// (retry-after-ms, retry-after in seconds or as a date, relative to the server's Date header).
//
// Requests of a pool go to a member that has had one with the same prefix, or to the one with the fewest in flight
// (Pool). A member that has room gets the waiting request that suits its cache best, but no request is passed over more
// than max_in_flight times: so callers should have more requests waiting than are in flight. An unreachable member is
// left out for a while and its request goes to another one. A member that fails requests it has received, or that
// hangs, is left out too, but those requests end with their error: only the caller knows whether they may be sent
// twice. A member that was left out gets one request at a time until it has answered one. Thread-safe; the destructor
// cancels without waiting: the callbacks run on the client's thread before the client's destructor returns.
class Endpoint {
 public:
  // `path` is appended to the chosen base URL; request.url is ignored. `done` gets any response with a 2xx status, or
  // an Error from ErrorOfResponse (net/http_error.h) or the transfer. It is called exactly once, on the client's
  // thread, and may call the endpoint. `prefixes` has no other effect than on the choice of a member.
  using Done = HttpClient::Done;
  using Ticket = std::uint64_t;

  Endpoint(std::shared_ptr<HttpClient> client, EndpointOptions options, const Clock& clock);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  Ticket Start(const std::string& path, HttpRequest request, Done done, Prefixes prefixes = {});
  void Cancel(Ticket ticket);  // `done` gets kCancelled, or the response if that arrived first
  void CancelWaiting();        // those that aren't on the wire
  void CancelAll();

  int concurrency() const;  // the current limit over the whole pool
  RateLimits rate_limits() const;
  const EndpointOptions& options() const;

 private:
  class State;
  std::shared_ptr<State> state_;  // shared with callbacks on the client's thread, which may outlive the endpoint
};

}  // namespace upskill

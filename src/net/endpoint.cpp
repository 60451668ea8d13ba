// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.h"

#include <fmt/format.h>

#include <mutex>
#include <random>
#include <unordered_map>

#include "net/http_error.h"
#include "util/invariant.h"
#include "util/log.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;

Error CancelledError() { return {ErrorKind::kCancelled, "the request was cancelled"}; }

}  // namespace

// The queue and the requests on the wire. Locking: mutex_ is held while the client is called (which only queues a
// message), but never while a `done` is called.
class Endpoint::State : public std::enable_shared_from_this<State> {
 public:
  State(std::shared_ptr<HttpClient> client, EndpointOptions options, const Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        owned_client_(std::move(client)),
        client_(owned_client_.get()),
        pool_(options_.base_urls.size(), options_.max_in_flight, options_.backoff_unit, std::random_device{}()) {}

  Ticket Start(const std::string& path, HttpRequest request, Done done, Prefixes prefixes);
  void Cancel(Ticket ticket);
  void CancelWaiting();
  void CancelAll();
  void Close();
  int concurrency() const;
  const EndpointOptions& options() const { return options_; }

 private:
  struct Flight {
    std::size_t member = 0;
    std::uint64_t window = 0;
    HttpClient::Ticket ticket = 0;
  };
  struct Entry {
    std::string path;
    std::shared_ptr<HttpRequest> request;  // shared with the client while it is on the wire
    std::shared_ptr<bool> connected;       // whether a server has received it; belongs to the client's thread
    Done done;
    Prefixes prefixes;
    std::set<std::size_t> tried;  // members that couldn't be reached
    std::optional<Clock::Steady> first_rate_limit;
    std::optional<Flight> flight;  // absent: waiting
    bool cancelled = false;
  };

  // All with mutex_ held.
  void Pump();
  void Send(Ticket ticket, Entry& entry, std::size_t member);
  void CancelEntry(Ticket ticket);
  std::optional<Result<HttpResponse>> Judge(Entry& entry, const Flight& flight, Result<HttpResponse> result);
  std::optional<Result<HttpResponse>> JudgeFailure(Entry& entry, const Flight& flight, const Error& error);
  std::optional<Result<HttpResponse>> JudgeLimit(Entry& entry, const Flight& flight, const HttpResponse& response);
  void After(milliseconds delay, void (Pool::*change)(std::size_t), std::size_t member);

  void OnDone(Ticket ticket, Result<HttpResponse> result);

  const EndpointOptions options_;
  const Clock& clock_;                        // not used after closing
  std::shared_ptr<HttpClient> owned_client_;  // until closing: the client must not be destroyed on its own thread

  mutable std::mutex mutex_;
  HttpClient* const client_;  // alive whenever the endpoint or a callback uses it
  Pool pool_;
  std::unordered_map<Ticket, Entry> entries_;
  std::set<Ticket> waiting_;  // oldest first
  std::optional<Clock::Steady> last_answer_;
  Ticket next_ticket_ = 1;
  bool closed_ = false;
};

Endpoint::Ticket Endpoint::State::Start(const std::string& path, HttpRequest request, Done done, Prefixes prefixes) {
  CHECK(done != nullptr);
  Entry entry;
  entry.path = path;
  entry.connected = std::make_shared<bool>(false);
  request.on_connected = [connected = entry.connected, inner = std::move(request.on_connected)] {
    *connected = true;
    if (inner) inner();
  };
  entry.request = std::make_shared<HttpRequest>(std::move(request));
  entry.done = std::move(done);
  entry.prefixes = std::move(prefixes);
  const std::lock_guard lock(mutex_);
  CHECK(!closed_);
  const Ticket ticket = next_ticket_++;
  entries_.emplace(ticket, std::move(entry));
  waiting_.insert(ticket);
  Pump();
  return ticket;
}

void Endpoint::State::Pump() {
  if (closed_) return;
  for (auto next = waiting_.begin(); next != waiting_.end() && !pool_.full();) {
    Entry& entry = entries_.at(*next);
    const std::optional<std::size_t> member = pool_.Choose(entry.tried, entry.prefixes);
    if (member) {
      Send(*next, entry, *member);
      next = waiting_.erase(next);
    } else if (entry.tried.empty()) {
      return;  // no request after it has a wider choice
    } else {
      ++next;
    }
  }
}

void Endpoint::State::Send(Ticket ticket, Entry& entry, std::size_t member) {
  entry.request->url = options_.base_urls[member] + entry.path;
  Flight flight{member, pool_.Sent(member, entry.prefixes)};
  flight.ticket = client_->Start(entry.request, [self = shared_from_this(), ticket](Result<HttpResponse> result) {
    self->OnDone(ticket, std::move(result));
  });
  entry.flight = flight;
}

void Endpoint::State::OnDone(Ticket ticket, Result<HttpResponse> result) {
  std::optional<Result<HttpResponse>> answer;
  Done done;
  {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(ticket);
    CHECK(found != entries_.end() && found->second.flight.has_value());
    Entry& entry = found->second;
    const Flight flight = *std::exchange(entry.flight, std::nullopt);
    answer = Judge(entry, flight, std::move(result));
    if (answer) {
      done = std::move(entry.done);
      entries_.erase(found);
    } else {
      *entry.connected = false;
      waiting_.insert(ticket);
    }
    Pump();
  }
  if (answer) done(*std::move(answer));
}

// The caller's result, or nothing if the request goes back into the queue.
std::optional<Result<HttpResponse>> Endpoint::State::Judge(Entry& entry, const Flight& flight,
                                                           Result<HttpResponse> result) {
  if (!result) return JudgeFailure(entry, flight, result.error());
  if (result->status >= 200 && result->status <= 299) {
    pool_.Succeeded(flight.member);
    if (!closed_) last_answer_ = clock_.Now();
    return result;
  }
  if (closed_ || entry.cancelled) {
    pool_.Cancelled(flight.member);
    return Result<HttpResponse>(CancelledError());
  }
  if (IsRateLimit(*result)) return JudgeLimit(entry, flight, *result);
  last_answer_ = clock_.Now();
  if (result->status < 500) {
    pool_.Succeeded(flight.member);
  } else if (const auto absence = pool_.Failed(flight.member)) {
    After(*absence, &Pool::EndAbsence, flight.member);
  }
  return Result<HttpResponse>(ErrorOfResponse(*result, clock_.WallNow()));
}

std::optional<Result<HttpResponse>> Endpoint::State::JudgeFailure(Entry& entry, const Flight& flight,
                                                                  const Error& error) {
  if (error.kind != ErrorKind::kUnavailable) {
    pool_.Cancelled(flight.member);
    return Result<HttpResponse>(error);
  }
  const std::optional<milliseconds> absence = pool_.Failed(flight.member);
  if (closed_ || entry.cancelled) return Result<HttpResponse>(CancelledError());
  if (absence) After(*absence, &Pool::EndAbsence, flight.member);
  if (*entry.connected) return Result<HttpResponse>(error);
  entry.tried.insert(flight.member);
  if (pool_.HasOther(entry.tried)) return std::nullopt;
  return Result<HttpResponse>(error);
}

std::optional<Result<HttpResponse>> Endpoint::State::JudgeLimit(Entry& entry, const Flight& flight,
                                                                const HttpResponse& response) {
  const int before = pool_.concurrency();
  const milliseconds wait = pool_.Limited(flight.member, flight.window, RetryAfter(response, clock_.WallNow()));
  After(wait, &Pool::EndPause, flight.member);
  if (pool_.concurrency() != before) {
    Log("net", fmt::format("HTTP {}: waiting {} ms, then at most {} concurrent requests", response.status, wait.count(),
                           pool_.concurrency()));
  }
  const Clock::Steady now = clock_.Now();
  if (!entry.first_rate_limit) entry.first_rate_limit = now;
  const Clock::Steady last_progress =
      last_answer_ ? std::max(*entry.first_rate_limit, *last_answer_) : *entry.first_rate_limit;
  if (now - last_progress + wait <= options_.patience) return std::nullopt;
  Error error = ErrorOfResponse(response, clock_.WallNow());
  error.message += fmt::format("; rate limited for {:.0f} s", SecondsBetween(last_progress, now));
  return Result<HttpResponse>(std::move(error));
}

void Endpoint::State::After(milliseconds delay, void (Pool::*change)(std::size_t), std::size_t member) {
  client_->After(delay, [weak = weak_from_this(), change, member] {
    const std::shared_ptr<State> self = weak.lock();
    if (self == nullptr) return;
    const std::lock_guard lock(self->mutex_);
    (self->pool_.*change)(member);
    self->Pump();
  });
}

void Endpoint::State::CancelEntry(Ticket ticket) {
  const auto found = entries_.find(ticket);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  if (entry.flight) {
    entry.cancelled = true;
    client_->Cancel(entry.flight->ticket);
    return;
  }
  client_->Post([done = std::move(entry.done)] { done(CancelledError()); });
  waiting_.erase(ticket);
  entries_.erase(found);
}

void Endpoint::State::Cancel(Ticket ticket) {
  const std::lock_guard lock(mutex_);
  CancelEntry(ticket);
}

void Endpoint::State::CancelWaiting() {
  const std::lock_guard lock(mutex_);
  while (!waiting_.empty()) CancelEntry(*waiting_.begin());
}

void Endpoint::State::CancelAll() {
  const std::lock_guard lock(mutex_);
  while (!waiting_.empty()) CancelEntry(*waiting_.begin());
  for (auto& [ticket, entry] : entries_) {
    entry.cancelled = true;
    client_->Cancel(entry.flight->ticket);
  }
}

void Endpoint::State::Close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  CancelAll();
  owned_client_.reset();  // on this thread, without the lock: it may wait for the client's callbacks
}

int Endpoint::State::concurrency() const {
  const std::lock_guard lock(mutex_);
  return pool_.concurrency();
}

Endpoint::Endpoint(std::shared_ptr<HttpClient> client, EndpointOptions options, const Clock& clock)
    : state_(std::make_shared<State>(std::move(client), std::move(options), clock)) {}

Endpoint::~Endpoint() { state_->Close(); }

Endpoint::Ticket Endpoint::Start(const std::string& path, HttpRequest request, Done done, Prefixes prefixes) {
  return state_->Start(path, std::move(request), std::move(done), std::move(prefixes));
}
void Endpoint::Cancel(Ticket ticket) { state_->Cancel(ticket); }
void Endpoint::CancelWaiting() { state_->CancelWaiting(); }
void Endpoint::CancelAll() { state_->CancelAll(); }
int Endpoint::concurrency() const { return state_->concurrency(); }
const EndpointOptions& Endpoint::options() const { return state_->options(); }

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <random>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/http_error.h"
#include "net/url.h"
#include "util/invariant.h"
#include "util/log.h"
#include "util/text.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;

constexpr int kLooksInSilence = 3;
constexpr int kFailedProbes = 2;  // from then on, a member hangs

std::shared_ptr<const HttpRequest> ProbeLike(const HttpRequest& request, milliseconds timeout) {
  HttpRequest probe;
  probe.method = "GET";
  probe.headers = request.headers;
  probe.secret_headers = request.secret_headers;
  probe.connect_timeout = probe.idle_timeout = probe.total_timeout = timeout;
  return std::make_shared<const HttpRequest>(std::move(probe));
}

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
        pool_(options_.base_urls.size(), options_.max_in_flight, options_.backoff_unit, std::random_device{}()),
        watch_(options_.base_urls.size()),
        paused_until_(options_.base_urls.size()) {}

  Ticket Start(const std::string& path, HttpRequest request, Done done, Prefixes prefixes);
  void Cancel(Ticket ticket);
  void CancelWaiting();
  void CancelAll();
  void Close();
  int concurrency() const;
  RateLimits rate_limits() const;
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
    bool hangs = false;   // cancelled because its member hangs
    int passed_over = 0;  // how often a later request was sent before it
    // Pieces of its answer that have arrived, counted on the client's thread, and as many as Look has seen.
    std::shared_ptr<std::atomic<std::uint64_t>> pieces = std::make_shared<std::atomic<std::uint64_t>>(0);
    std::uint64_t seen_pieces = 0;
  };
  // What is known of a member of a pool apart from its answers.
  struct Watch {
    int silent_looks = 0;   // in a row, while it had requests; not a time, which passes while the machine sleeps
    int failed_probes = 0;  // in a row
    bool is_asked = false;  // a probe is on its way
    bool hangs = false;
  };

  // All with mutex_ held.
  void Pump();
  std::optional<std::pair<Ticket, std::size_t>> NextToSend();
  void Send(Ticket ticket, Entry& entry, std::size_t member);
  void CancelEntry(Ticket ticket);
  std::optional<Result<HttpResponse>> Judge(Entry& entry, const Flight& flight, Result<HttpResponse> result);
  std::optional<Result<HttpResponse>> JudgeFailure(Entry& entry, const Flight& flight, const Error& error);
  std::optional<Result<HttpResponse>> JudgeLimit(Entry& entry, const Flight& flight, const HttpResponse& response);
  void After(milliseconds delay, void (Pool::*change)(std::size_t), std::size_t member);
  void KeepWatch();
  void Look();
  void Ask(std::size_t member);
  void OnProbe(std::size_t member, bool responds);
  void GiveUpOn(std::size_t member);

  void OnDone(Ticket ticket, Result<HttpResponse> result);

  const EndpointOptions options_;
  const Clock& clock_;                        // not used after closing
  std::shared_ptr<HttpClient> owned_client_;  // until closing: the client must not be destroyed on its own thread

  mutable std::mutex mutex_;
  HttpClient* const client_;  // alive whenever the endpoint or a callback uses it
  Pool pool_;
  std::vector<Watch> watch_;  // by member
  bool is_watching_ = false;
  std::shared_ptr<const HttpRequest> probe_;  // without its URL; null until the first request
  std::unordered_map<Ticket, Entry> entries_;
  std::set<Ticket> waiting_;  // oldest first
  std::optional<Clock::Steady> last_answer_;
  RateLimits rate_limits_;                   // but for the time
  std::vector<Clock::Steady> paused_until_;  // by member; may be over
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
  if (entry.request->on_data) {
    entry.request->on_data = [pieces = entry.pieces,
                              inner = std::move(entry.request->on_data)](std::string_view piece) {
      ++*pieces;
      return inner(piece);
    };
  }
  entry.done = std::move(done);
  entry.prefixes = std::move(prefixes);
  const std::lock_guard lock(mutex_);
  CHECK(!closed_);
  if (probe_ == nullptr) probe_ = ProbeLike(*entry.request, options_.probe_timeout);
  const Ticket ticket = next_ticket_++;
  entries_.emplace(ticket, std::move(entry));
  waiting_.insert(ticket);
  Pump();
  return ticket;
}

void Endpoint::State::Pump() {
  if (closed_) return;
  while (const auto next = NextToSend()) {
    Send(next->first, entries_.at(next->first), next->second);
    waiting_.erase(next->first);
  }
}

// The waiting request, and a member with room, that suit each other best; of equal ones the oldest request.
std::optional<std::pair<Endpoint::Ticket, std::size_t>> Endpoint::State::NextToSend() {
  if (pool_.full()) return std::nullopt;
  std::optional<std::pair<Ticket, std::size_t>> best;
  Pool::Fit fit = Pool::Fit::kElsewhere;
  Entry* oldest = nullptr;
  for (const Ticket ticket : waiting_) {
    Entry& entry = entries_.at(ticket);
    const std::optional<std::size_t> member = pool_.Choose(entry.tried, entry.prefixes);
    if (!member && entry.tried.empty()) break;  // no request after it has a wider choice
    if (!member) continue;
    const Pool::Fit here = pool_.FitOf(*member, entry.prefixes);
    if (!best || here < fit) {
      best = {ticket, *member};
      fit = here;
    }
    if (oldest == nullptr) oldest = &entry;
    if (fit == Pool::Fit::kKnown || oldest->passed_over >= options_.max_in_flight) break;
  }
  if (best && oldest != &entries_.at(best->first)) ++oldest->passed_over;
  return best;
}

void Endpoint::State::Send(Ticket ticket, Entry& entry, std::size_t member) {
  entry.request->url = options_.base_urls[member] + entry.path;
  KeepWatch();
  entry.hangs = false;
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
    watch_[flight.member].silent_looks = 0;
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
    return Result<HttpResponse>(RequestCancelled());
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
  if (error.kind == ErrorKind::kCancelled && entry.hangs && !entry.cancelled && !closed_) {
    pool_.Failed(flight.member);  // until it responds to a probe
    return Result<HttpResponse>(
        Error{ErrorKind::kUnavailable,
              fmt::format("{} hangs: it accepts connections but has sent nothing for some time, not even its list of "
                          "models; it is skipped until it responds",
                          AuthorityOf(options_.base_urls[flight.member]))});
  }
  if (error.kind != ErrorKind::kUnavailable) {
    pool_.Cancelled(flight.member);
    return Result<HttpResponse>(error);
  }
  const std::optional<milliseconds> absence = pool_.Failed(flight.member);
  if (closed_ || entry.cancelled) return Result<HttpResponse>(RequestCancelled());
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
  ++rate_limits_.times;
  rate_limits_.host = AuthorityOf(options_.base_urls[flight.member]);
  paused_until_[flight.member] = std::max(paused_until_[flight.member], now + wait);
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
    if (change == &Pool::EndAbsence && self->watch_[member].hangs) return;  // OnProbe ends it
    (self->pool_.*change)(member);
    self->Pump();
  });
}

// Looks at the members of a pool again and again, as long as there are requests.
void Endpoint::State::KeepWatch() {
  if (is_watching_ || options_.base_urls.size() < 2) return;
  is_watching_ = true;
  client_->After(options_.silence / kLooksInSilence, [weak = weak_from_this()] {
    const std::shared_ptr<State> self = weak.lock();
    if (self == nullptr) return;
    const std::lock_guard lock(self->mutex_);
    self->is_watching_ = false;
    if (!self->closed_) self->Look();
  });
}

void Endpoint::State::Look() {
  std::vector<bool> waits(watch_.size());
  for (auto& [ticket, entry] : entries_) {
    if (!entry.flight) continue;
    waits[entry.flight->member] = true;
    const std::uint64_t pieces = *entry.pieces;
    if (std::exchange(entry.seen_pieces, pieces) != pieces) watch_[entry.flight->member].silent_looks = -1;
  }
  for (std::size_t member = 0; member < watch_.size(); ++member) {
    Watch& watch = watch_[member];
    watch.silent_looks = waits[member] ? watch.silent_looks + 1 : 0;
    if (watch.silent_looks >= kLooksInSilence && !watch.is_asked && !watch.hangs) Ask(member);
  }
  if (!entries_.empty()) KeepWatch();
}

void Endpoint::State::Ask(std::size_t member) {
  watch_[member].is_asked = true;
  HttpRequest probe = *probe_;
  probe.url = options_.base_urls[member] + options_.probe_path;
  client_->Start(std::move(probe), [weak = weak_from_this(), member](const Result<HttpResponse>& result) {
    const std::shared_ptr<State> self = weak.lock();
    if (self == nullptr) return;
    const std::lock_guard lock(self->mutex_);
    if (!self->closed_) self->OnProbe(member, result.ok() || result.error().kind != ErrorKind::kUnavailable);
  });
}

void Endpoint::State::OnProbe(std::size_t member, bool responds) {
  Watch& watch = watch_[member];
  watch.is_asked = false;
  watch.silent_looks = 0;
  watch.failed_probes = responds ? 0 : watch.failed_probes + 1;
  if (responds) {
    if (!std::exchange(watch.hangs, false)) return;
    Log("net", fmt::format("{} responds again", AuthorityOf(options_.base_urls[member])));
    pool_.EndAbsence(member);
    return Pump();
  }
  if (watch.failed_probes < kFailedProbes) return Ask(member);
  watch.hangs = true;
  GiveUpOn(member);
  client_->After(options_.silence, [weak = weak_from_this(), member] {
    const std::shared_ptr<State> self = weak.lock();
    if (self == nullptr) return;
    const std::lock_guard lock(self->mutex_);
    if (!self->closed_) self->Ask(member);
  });
}

// Its requests end in an error, by which their caller may send them to others.
void Endpoint::State::GiveUpOn(std::size_t member) {
  int count = 0;
  for (auto& [ticket, entry] : entries_) {
    if (!entry.flight || entry.flight->member != member) continue;
    entry.hangs = true;
    client_->Cancel(entry.flight->ticket);
    ++count;
  }
  if (count > 0)
    Log("net", fmt::format("{} hangs with {}", AuthorityOf(options_.base_urls[member]),
                           Counted(static_cast<std::size_t>(count), "request")));
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
  client_->Post([done = std::move(entry.done)] { done(RequestCancelled()); });
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

RateLimits Endpoint::State::rate_limits() const {
  const std::lock_guard lock(mutex_);
  RateLimits limits = rate_limits_;
  if (limits.times == 0 || closed_) return limits;
  const double seconds = SecondsBetween(clock_.Now(), *std::min_element(paused_until_.begin(), paused_until_.end()));
  limits.next_try_seconds = std::max(0.0, seconds);
  return limits;
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
RateLimits Endpoint::rate_limits() const { return state_->rate_limits(); }
const EndpointOptions& Endpoint::options() const { return state_->options(); }

}  // namespace upskill

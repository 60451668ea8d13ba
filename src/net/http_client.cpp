// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <curl/curl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "net/ca_bundle.h"
#include "net/transfer.h"
#include "util/files.h"
#include "util/invariant.h"
#include "util/log.h"

namespace upskill {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

constexpr long kMaxConnections = 4096;  // kept alive; more may be in use
constexpr std::size_t kMaxSpareHandles = 1024;

// Runs a callback of the client's users. An exception that left the thread would end the program; whoever throws one
// answers for the request itself.
template <typename Callback>
void RunCallback(Callback&& callback) {
  try {
    callback();
  } catch (const std::exception& e) {
    Log("net", fmt::format("a callback failed: {}", e.what()));
  } catch (...) {
    Log("net", "a callback failed");
  }
}

}  // namespace

Error RequestCancelled() { return {ErrorKind::kCancelled, "the request was cancelled"}; }

// The thread, and the state that only it uses: everything except the inbox. libcurl says which sockets to watch and
// when it wants to be called; our own alarms serve timeouts and After. The sockets are watched with epoll, because
// curl_multi_poll looks at every connection on every turn: with responses that arrive one by one, as from providers, it
// took 1.8 to 6 times the processor time per request (64 to 1,000 concurrent requests, libcurl 7.88); with responses
// that arrive all at once, the same.
class HttpClient::Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  Ticket NextTicket() { return next_ticket_.fetch_add(1, std::memory_order_relaxed); }

  struct Message {
    enum class Kind { kStart, kAfter, kPost, kCancel, kStop } kind = Kind::kStop;
    Ticket ticket = 0;
    std::shared_ptr<const HttpRequest> request = nullptr;
    Done done = nullptr;
    SteadyTime when = SteadyTime::min();
    std::function<void()> work = nullptr;
  };
  void Send(Message message);

 private:
  struct Active {
    std::unique_ptr<Transfer> transfer;
    CURL* easy = nullptr;
    Done done;
    SteadyTime alarm;
    bool in_multi = false;
  };
  struct Timer {
    SteadyTime when;
    std::function<void()> work;
  };

  static int WatchSocket(CURL* easy, curl_socket_t socket, int what, void* loop, void*) noexcept;
  static int CloseSocket(void* loop, curl_socket_t socket) noexcept;
  static int SetCurlTimer(CURLM* multi, long timeout_ms, void* loop) noexcept;

  void Run();
  void Wait();
  void TakeInbox();
  void StartOrFail(Message& message);
  void StartTransfer(Message& message);
  void FinishTransfer(Ticket ticket, Result<HttpResponse> result);
  void CancelTicket(Ticket ticket);
  void CallCurl(curl_socket_t socket, int what);
  void TakeFinished();
  void RunAlarms();
  void LookAtTransfer(Ticket ticket, SteadyTime now);
  void RunTimer(Ticket ticket);
  void Drain();
  CURL* TakeHandle();
  void Unwatch(curl_socket_t socket);

  Fd epoll_;
  Fd wake_;
  CURLM* multi_;
  const CaBundle ca_bundle_;
  std::unordered_map<Ticket, Active> active_;
  std::unordered_map<CURL*, Ticket> tickets_;
  std::unordered_map<Ticket, Timer> timers_;
  std::set<std::pair<SteadyTime, Ticket>> alarms_;  // one for each entry of active_ and timers_
  std::optional<SteadyTime> curl_alarm_;
  std::unordered_set<curl_socket_t> watched_;  // sockets registered with epoll_
  std::vector<CURL*> spare_handles_;
  bool stopping_ = false;

  std::atomic<Ticket> next_ticket_{1};
  std::mutex mutex_;
  std::vector<Message> inbox_;  // guarded by mutex_

  std::jthread thread_;  // last: uses everything above
};

HttpClient::Loop::Loop()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      multi_(curl_multi_init()),
      ca_bundle_(FindCaBundle()) {
  CHECK(multi_ != nullptr);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Loop::WatchSocket);
  curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Loop::SetCurlTimer);
  curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, kMaxConnections);
  curl_multi_setopt(multi_, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_.get();
  CHECK(epoll_.valid() && wake_.valid());
  CHECK(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) == 0);
  thread_ = std::jthread([this] { Run(); });
}

HttpClient::Loop::~Loop() {
  CHECK(std::this_thread::get_id() != thread_.get_id());
  Send({Message::Kind::kStop});
  thread_.join();
  for (CURL* easy : spare_handles_) curl_easy_cleanup(easy);
  curl_multi_cleanup(multi_);
}

void HttpClient::Loop::Send(Message message) {
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    was_empty = inbox_.empty();
    inbox_.push_back(std::move(message));
  }
  if (was_empty) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(wake_.get(), &one, sizeof one);  // fails only if already set
  }
}

int HttpClient::Loop::WatchSocket(CURL*, curl_socket_t socket, int what, void* loop, void*) noexcept {
  auto* self = static_cast<Loop*>(loop);
  if (what == CURL_POLL_REMOVE) {
    self->Unwatch(socket);
    return 0;
  }
  epoll_event event{};
  event.data.fd = socket;
  if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
  if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
  const bool is_new = self->watched_.insert(socket).second;
  epoll_ctl(self->epoll_.get(), is_new ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, &event);
  return 0;
}

// libcurl may report only after closing a socket that it no longer needs to be watched; by then another thread may have
// got the same descriptor. So watching ends here, and a loop that is ending leaves its sockets alone.
int HttpClient::Loop::CloseSocket(void* loop, curl_socket_t socket) noexcept {
  static_cast<Loop*>(loop)->Unwatch(socket);
  return close(socket);
}

void HttpClient::Loop::Unwatch(curl_socket_t socket) {
  epoll_event event{};
  if (watched_.erase(socket) > 0 && !stopping_) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, socket, &event);
}

int HttpClient::Loop::SetCurlTimer(CURLM*, long timeout_ms, void* loop) noexcept {
  auto* self = static_cast<Loop*>(loop);
  self->curl_alarm_.reset();
  if (timeout_ms >= 0) self->curl_alarm_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  return 0;
}

void HttpClient::Loop::Run() {
  // Signals are for the main thread; a broken TLS connection must not raise SIGPIPE.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  while (!stopping_) {
    Wait();
    TakeInbox();
    if (curl_alarm_ && *curl_alarm_ <= std::chrono::steady_clock::now()) {
      curl_alarm_.reset();
      CallCurl(CURL_SOCKET_TIMEOUT, 0);
    }
    TakeFinished();
    RunAlarms();
  }
  Drain();
}

// Sleeps until something happens, then lets libcurl work on the sockets that are ready.
void HttpClient::Loop::Wait() {
  std::optional<SteadyTime> next = curl_alarm_;
  if (!alarms_.empty() && (!next || alarms_.begin()->first < *next)) next = alarms_.begin()->first;
  int timeout_ms = -1;
  if (next) {
    constexpr std::chrono::milliseconds kLongest{60'000};
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(*next - std::chrono::steady_clock::now());
    timeout_ms = static_cast<int>(std::clamp(wait, std::chrono::milliseconds{0}, kLongest).count());
  }
  std::array<epoll_event, 256> events{};
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events.at(static_cast<std::size_t>(i));
    if (event.data.fd == wake_.get()) {
      std::uint64_t value = 0;
      [[maybe_unused]] const auto bytes = read(wake_.get(), &value, sizeof value);
      continue;
    }
    int what = 0;
    if ((event.events & EPOLLIN) != 0) what |= CURL_CSELECT_IN;
    if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
    if ((event.events & (EPOLLERR | EPOLLHUP)) != 0) what |= CURL_CSELECT_ERR;
    CallCurl(event.data.fd, what);
  }
}

void HttpClient::Loop::CallCurl(curl_socket_t socket, int what) {
  int running = 0;
  curl_multi_socket_action(multi_, socket, what, &running);
}

void HttpClient::Loop::TakeInbox() {
  std::vector<Message> messages;
  {
    const std::lock_guard lock(mutex_);
    messages.swap(inbox_);
  }
  for (Message& message : messages) {
    switch (message.kind) {
      case Message::Kind::kStart:
        StartOrFail(message);
        break;
      case Message::Kind::kPost:
        RunCallback(message.work);
        break;
      case Message::Kind::kCancel:
        CancelTicket(message.ticket);
        break;
      case Message::Kind::kStop:
        stopping_ = true;
        break;
      case Message::Kind::kAfter:
        if (stopping_) break;
        alarms_.emplace(message.when, message.ticket);
        timers_.emplace(message.ticket, Timer{message.when, std::move(message.work)});
        break;
    }
  }
}

CURL* HttpClient::Loop::TakeHandle() {
  if (spare_handles_.empty()) return curl_easy_init();
  CURL* easy = spare_handles_.back();
  spare_handles_.pop_back();
  return easy;
}

void HttpClient::Loop::StartOrFail(Message& message) {
  try {
    StartTransfer(message);
  } catch (const std::exception& e) {
    const Error error =
        Error{ErrorKind::kUnavailable, fmt::format("the request could not be started: {}", e.what())}.Because(
            ErrorCause::kNotSent);
    if (active_.contains(message.ticket)) return FinishTransfer(message.ticket, error);
    RunCallback([&] { message.done(error); });
  }
}

void HttpClient::Loop::StartTransfer(Message& message) {
  if (stopping_) return RunCallback([&] { message.done(RequestCancelled()); });
  CURL* easy = TakeHandle();
  const auto not_sent = [](const char* why) {
    return Error{ErrorKind::kUnavailable, why}.Because(ErrorCause::kNotSent);
  };
  if (easy == nullptr) return RunCallback([&] { message.done(not_sent("out of memory")); });
  Active& active = active_[message.ticket];
  active.easy = easy;
  active.done = std::move(message.done);
  active.transfer = std::make_unique<Transfer>(std::move(message.request));
  const Status prepared = active.transfer->Prepare(easy, ca_bundle_);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, &Loop::CloseSocket);
  curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, this);
  active.alarm = active.transfer->NextLook(std::chrono::steady_clock::now());
  alarms_.emplace(active.alarm, message.ticket);
  tickets_.emplace(easy, message.ticket);
  if (!prepared) return FinishTransfer(message.ticket, prepared.error());
  active.in_multi = curl_multi_add_handle(multi_, easy) == CURLM_OK;
  if (!active.in_multi) FinishTransfer(message.ticket, not_sent("libcurl rejected the request"));
}

void HttpClient::Loop::FinishTransfer(Ticket ticket, Result<HttpResponse> result) {
  const auto node = active_.extract(ticket);
  Active& active = node.mapped();
  alarms_.erase({active.alarm, ticket});
  tickets_.erase(active.easy);
  if (active.in_multi) curl_multi_remove_handle(multi_, active.easy);
  curl_easy_reset(active.easy);  // before the transfer is destroyed, whose memory it points to
  if (spare_handles_.size() < kMaxSpareHandles) {
    spare_handles_.push_back(active.easy);
  } else {
    curl_easy_cleanup(active.easy);
  }
  active.transfer.reset();
  RunCallback([&] { active.done(std::move(result)); });
}

void HttpClient::Loop::CancelTicket(Ticket ticket) {
  if (active_.contains(ticket)) return FinishTransfer(ticket, RequestCancelled());
  const auto timer = timers_.find(ticket);
  if (timer == timers_.end()) return;
  alarms_.erase({timer->second.when, ticket});
  timers_.erase(timer);
}

void HttpClient::Loop::TakeFinished() {
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(multi_, &left)) {
    if (message->msg != CURLMSG_DONE) continue;
    const Ticket ticket = tickets_.at(message->easy_handle);
    FinishTransfer(ticket, active_.at(ticket).transfer->Finish(message->data.result));
  }
}

void HttpClient::Loop::RunAlarms() {
  const SteadyTime now = std::chrono::steady_clock::now();
  while (!alarms_.empty() && alarms_.begin()->first <= now) {
    const Ticket ticket = alarms_.begin()->second;
    if (active_.contains(ticket)) {
      LookAtTransfer(ticket, now);
    } else {
      RunTimer(ticket);
    }
  }
}

void HttpClient::Loop::LookAtTransfer(Ticket ticket, SteadyTime now) {
  Active& active = active_.at(ticket);
  if (const std::optional<Error> error = active.transfer->TimedOut(now)) return FinishTransfer(ticket, *error);
  alarms_.erase({active.alarm, ticket});
  active.alarm = std::max(active.transfer->NextLook(now), now + std::chrono::milliseconds(1));
  alarms_.emplace(active.alarm, ticket);
}

void HttpClient::Loop::RunTimer(Ticket ticket) {
  const auto node = timers_.extract(ticket);
  alarms_.erase({node.mapped().when, ticket});
  RunCallback(node.mapped().work);
}

// Ends everything that is left. Callbacks may still start requests, which end at once.
void HttpClient::Loop::Drain() {
  timers_.clear();
  for (;;) {
    while (!active_.empty()) FinishTransfer(active_.begin()->first, RequestCancelled());
    {
      const std::lock_guard lock(mutex_);
      if (inbox_.empty()) return;
    }
    TakeInbox();
  }
}

HttpClient::HttpClient() {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  CHECK(initialised == CURLE_OK);
  loop_ = std::make_unique<Loop>();
}

HttpClient::~HttpClient() = default;

HttpClient::Ticket HttpClient::Start(HttpRequest request, Done done) {
  return Start(std::make_shared<const HttpRequest>(std::move(request)), std::move(done));
}

HttpClient::Ticket HttpClient::Start(std::shared_ptr<const HttpRequest> request, Done done) {
  CHECK(request != nullptr && done != nullptr);
  Loop::Message message{Loop::Message::Kind::kStart, loop_->NextTicket(), std::move(request), std::move(done)};
  const Ticket ticket = message.ticket;
  loop_->Send(std::move(message));
  return ticket;
}

HttpClient::Ticket HttpClient::After(std::chrono::milliseconds delay, std::function<void()> work) {
  Loop::Message message{Loop::Message::Kind::kAfter, loop_->NextTicket()};
  message.when = std::chrono::steady_clock::now() + delay;
  message.work = std::move(work);
  const Ticket ticket = message.ticket;
  loop_->Send(std::move(message));
  return ticket;
}

void HttpClient::Post(std::function<void()> work) {
  Loop::Message message{Loop::Message::Kind::kPost};
  message.work = std::move(work);
  loop_->Send(std::move(message));
}

void HttpClient::Cancel(Ticket ticket) { loop_->Send({Loop::Message::Kind::kCancel, ticket}); }

std::optional<std::string> HeaderOf(const HttpResponse& response, const std::string& name) {
  const auto found = response.headers.find(name);
  if (found == response.headers.end()) return std::nullopt;
  return found->second;
}

}  // namespace upskill

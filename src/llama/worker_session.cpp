// SPDX-License-Identifier: Apache-2.0
#include "llama/worker_session.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include "util/log.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20U;
constexpr milliseconds kLongestTick{1000};

bool IsBlocked(int error_number) {
  return error_number == EAGAIN || error_number == EWOULDBLOCK || error_number == EINTR;
}

}  // namespace

WorkerSession::WorkerSession(WorkerProcess process, WorkerRequests& requests, milliseconds patience, Hooks hooks)
    : process_(std::move(process)),
      requests_(requests),
      patience_(patience),
      tick_(std::clamp(patience / 10, milliseconds(1), kLongestTick)),
      hooks_(std::move(hooks)),
      reader_(kMaxMessageBytes) {}

WorkerSession::Ending WorkerSession::Run(LoadOrder order) {
  order.beat = tick_;
  unsent_ = EncodeMessage(LoadMessage(order));
  auto last = std::chrono::steady_clock::now();
  while (true) {
    unsent_ += requests_.TakeOutgoing();
    if (hooks_.stopping()) return {};
    if (std::optional<Ending> ending = Exchange()) return *std::move(ending);
    const auto now = std::chrono::steady_clock::now();
    const auto elapsed = std::chrono::duration_cast<milliseconds>(now - last);
    if (elapsed < milliseconds(1)) continue;
    last = now;
    if (std::optional<Ending> ending = Watch(std::min(elapsed, 2 * tick_))) return *std::move(ending);
  }
}

// Waits until something can be read or written, or a tick has passed.
std::optional<WorkerSession::Ending> WorkerSession::Exchange() {
  std::array<pollfd, 3> files{};
  files[0] = {process_.socket(), static_cast<short>(unsent_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  files[1] = {errors_open_ ? process_.error() : -1, POLLIN, 0};
  files[2] = {requests_.wake(), POLLIN, 0};
  if (::poll(files.data(), files.size(), static_cast<int>(tick_.count())) < 0) return std::nullopt;
  if (files[1].revents != 0) errors_open_ = process_.ReadErrors();
  if ((files[0].revents & POLLOUT) != 0) Write();
  if ((files[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) return Read();
  return std::nullopt;
}

void WorkerSession::Write() {
  const ssize_t sent = ::send(process_.socket(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
  if (sent > 0) unsent_.erase(0, static_cast<std::size_t>(sent));  // after an error, Read finds the end
}

std::optional<WorkerSession::Ending> WorkerSession::Read() {
  std::array<char, 65536> block{};
  const ssize_t got = ::recv(process_.socket(), block.data(), block.size(), 0);
  if (got < 0 && IsBlocked(errno)) return std::nullopt;
  if (got <= 0) return Crashed(process_.End());
  reader_.Add({block.data(), static_cast<std::size_t>(got)});
  while (true) {
    const Result<std::optional<Json>> message = reader_.Next();
    if (!message) return Crashed(message.error().message);
    if (!*message) return std::nullopt;
    if (std::optional<Ending> ending = Accept(**message)) return ending;
  }
}

std::optional<WorkerSession::Ending> WorkerSession::Accept(const Json& message) {
  const std::string type = StringAt(message, "type");
  if (type == "log") {
    Log(StringAt(message, "source"), StringAt(message, "text"));
    return std::nullopt;
  }
  if (type == "count") {
    counting_ = milliseconds(0);
    requests_.TakeCount(message);
    return std::nullopt;
  }
  silent_ = milliseconds(0);
  if (type == "answer" && ready_) {
    requests_.TakeAnswer(message);
  } else if (type == "alive") {
    hooks_.alive(message);
  } else if (type == "ready" && !ready_) {
    ready_ = true;
    const Status accepted = hooks_.ready(message);
    if (!accepted) return Ending{Ending::Kind::kRejected, accepted.error()};
  } else if (type == "failed" && !ready_) {
    return Ending{Ending::Kind::kRejected, ErrorFromJson(Member(message, "error"))};
  }
  return std::nullopt;
}

// Tokens are counted by another thread of the worker than the engine's, so it has to be watched, too.
std::optional<WorkerSession::Ending> WorkerSession::Watch(milliseconds elapsed) {
  silent_ += elapsed;
  counting_ = ready_ && requests_.IsCounting() ? counting_ + elapsed : milliseconds(0);
  if (silent_ < patience_ && counting_ < patience_) return std::nullopt;
  return Crashed(fmt::format("no sign of life for {:g} s", static_cast<double>(patience_.count()) / 1000.0));
}

WorkerSession::Ending WorkerSession::Crashed(const std::string& cause) const {
  return {Ending::Kind::kCrashed, Error{ErrorKind::kPermanent, cause}};
}

}  // namespace upskill

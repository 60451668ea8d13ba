// SPDX-License-Identifier: Apache-2.0
#include "util/run_child.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "util/child_process.h"

namespace upskill {
namespace {

using Steady = std::chrono::steady_clock;
using std::chrono::milliseconds;

// One command's standard streams, until its output has ended or a limit is reached.
class ChildExchange {
 public:
  ChildExchange(ChildProcess& child, std::string_view input, const ChildLimits& limits)
      : child_(child), unsent_(input), limits_(limits), deadline_(Steady::now() + limits.time) {
    if (unsent_.empty()) CloseInput();
  }

  ChildOutcome Run() {
    while (limits_.until_exit ? !child_.HasExited() : output_open_ && !IsLeftBehind()) {
      if (limits_.stopped && limits_.stopped()) return EndedBy(ChildOutcome::Ending::kStopped);
      if (Steady::now() >= deadline_) return EndedBy(ChildOutcome::Ending::kTimeLimit);
      Wait();
      if (!input_closed_) Send();
      TakeOutput();
      TakeErrors();
      if (OverOutput()) return EndedBy(ChildOutcome::Ending::kOutputLimit);
    }
    TakeOutput();  // of its last moments
    outcome_.exit_code = child_.End(limits_.until_exit ? milliseconds(0) : limits_.exit_grace);
    TakeErrors();
    if (OverOutput()) outcome_.ending = ChildOutcome::Ending::kOutputLimit;
    return std::move(outcome_);
  }

 private:
  ChildOutcome EndedBy(ChildOutcome::Ending ending) {
    outcome_.ending = ending;
    outcome_.exit_code = child_.End(milliseconds(0));
    TakeErrors();
    return std::move(outcome_);
  }

  void Wait() const {
    constexpr int kLookMs = 100;      // at the limits
    constexpr int kLookAtExitMs = 5;  // which tells nobody
    std::array<pollfd, 3> waits = {pollfd{output_open_ ? child_.output() : -1, POLLIN, 0},
                                   pollfd{error_open_ ? child_.error() : -1, POLLIN, 0},
                                   pollfd{input_closed_ ? -1 : child_.input(), POLLOUT, 0}};
    ::poll(waits.data(), waits.size(), limits_.until_exit ? kLookAtExitMs : kLookMs);
  }

  void CloseInput() {
    ::shutdown(child_.input(), SHUT_WR);
    input_closed_ = true;
  }

  // Whether the command has exited some time ago, and only what it has started, such as a server in the background,
  // still has its output open.
  bool IsLeftBehind() {
    if (!exited_ && child_.HasExited()) exited_ = Steady::now();
    return exited_ && Steady::now() - *exited_ >= limits_.exit_grace;
  }

  // A command may exit, or close its input, without reading all of it.
  void Send() {
    while (!unsent_.empty()) {
      const ssize_t sent = ::send(child_.input(), unsent_.data(), unsent_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (sent < 0) break;
      unsent_.remove_prefix(static_cast<std::size_t>(sent));
    }
    CloseInput();
  }

  // Appends what is there to read. False: the stream has ended.
  bool Receive(int fd, std::string& into) const {
    std::array<char, 65536> buffer{};
    while (into.size() <= limits_.output_bytes) {
      const ssize_t got = ::read(fd, buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
      if (got == 0) return false;
      into.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return true;
  }

  bool OverOutput() const {
    return outcome_.output.size() > limits_.output_bytes ||
           (limits_.most_error_bytes && errors_ > *limits_.most_error_bytes);
  }

  void TakeOutput() { output_open_ = output_open_ && Receive(child_.output(), outcome_.output); }

  void TakeErrors() {
    if (!error_open_) return;
    std::string more;
    error_open_ = Receive(child_.error(), more);
    errors_ += more.size();
    outcome_.error_tail += more;
    if (outcome_.error_tail.size() > limits_.error_bytes)
      outcome_.error_tail.erase(0, outcome_.error_tail.size() - limits_.error_bytes);
  }

  ChildProcess& child_;
  std::string_view unsent_;
  const ChildLimits& limits_;
  const Steady::time_point deadline_;
  ChildOutcome outcome_;
  std::size_t errors_ = 0;                    // bytes of standard error
  std::optional<Steady::time_point> exited_;  // when it was noticed
  bool input_closed_ = false;
  bool output_open_ = true;
  bool error_open_ = true;
};

}  // namespace

Result<ChildOutcome> RunChild(const std::string& command, std::vector<std::string> environment, std::string_view input,
                              const ChildLimits& limits) {
  ASSIGN_OR_RETURN(ChildProcess child, ChildProcess::Start(command, std::move(environment)));
  return ChildExchange(child, input, limits).Run();
}

}  // namespace upskill

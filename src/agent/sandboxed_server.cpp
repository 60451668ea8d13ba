// SPDX-License-Identifier: Apache-2.0
#include "agent/sandboxed_server.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kPort = 8079;                 // of the server's own network
constexpr std::int64_t kStopCheckMs = 100;  // how often the stop flag is looked at
constexpr std::size_t kMostErrorBytes = 2'000;
constexpr std::size_t kMostReceivedBytes = std::size_t{16} << 20U;  // for one call, or to start

// The server's standard input and output are the connection. Bash makes it, so that nothing else needs to be there.
std::string CommandLineOf(const std::string& command) {
  const std::string script =
      fmt::format("exec 3<>/dev/tcp/127.0.0.1/{} || exit 121; exec sh -c \"$1\" <&3 >&3 3<&-", kPort);
  return fmt::format("exec bash -c {} bash {}", ShellWord(script), ShellWord(command));
}

}  // namespace

SandboxedServer::SandboxedServer(const ToolServer& server, const WorkspaceFiles& files, const Sandbox& sandbox,
                                 milliseconds time) {
  SandboxCommand command;
  command.command = CommandLineOf(server.command);
  command.files = files;
  for (const auto& [name, content] : server.files) command.files[name] = content;
  command.limits.time = time;
  command.stop = &ending_;
  command.served_port = kPort;
  command.serve = [this](Fd listener) {
    const std::lock_guard lock(mutex_);
    listener_ = std::move(listener);
    changed_.notify_all();
  };
  thread_ = std::thread([this, command = std::move(command), &sandbox] {
    Result<SandboxOutcome> outcome = sandbox.Run(command);
    const std::lock_guard lock(mutex_);
    ended_ = std::move(outcome);
    changed_.notify_all();
  });
}

SandboxedServer::~SandboxedServer() {
  ending_ = 2;
  if (thread_.joinable()) thread_.join();
}

void SandboxedServer::Begin(Time deadline, const StopFlag* stop) {
  deadline_ = deadline;
  stop_ = stop;
  received_ = 0;
}

Status SandboxedServer::Connect() {
  int listener = -1;
  {
    std::unique_lock lock(mutex_);
    while (!listener_ && !ended_) {
      if (stop_ != nullptr && stop_->load() >= 2) return Error{ErrorKind::kCancelled, "stopped"};
      if (steady_clock::now() >= deadline_) return Error{ErrorKind::kUnavailable, "its sandbox did not start"};
      changed_.wait_for(lock, milliseconds(kStopCheckMs));
    }
    if (listener_) listener = listener_->get();
  }
  if (listener < 0) return InputError(WhyItEnded());
  RETURN_IF_ERROR(WaitFor(listener, POLLIN));
  connection_ = Fd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (connection_.get() < 0) return ErrnoError("connecting to", "the MCP server", errno);
  return {};
}

Status SandboxedServer::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      const Status ready = WaitFor(connection_.get(), POLLOUT);
      if (!ready) cut_off_ = true;
      if (!ready) return ready.error();
    } else if (errno != EINTR) {
      return InputError(WhyItEnded());
    }
  }
  return {};
}

Result<std::string> SandboxedServer::Receive() {
  std::array<char, 65536> buffer{};
  while (true) {
    RETURN_IF_ERROR(InTime());  // also while there is always more to read
    const ssize_t got = ::recv(connection_.get(), buffer.data(), buffer.size(), 0);
    if (got > 0) {
      received_ += static_cast<std::size_t>(got);
      if (received_ > kMostReceivedBytes)
        return InputError(fmt::format("its output exceeds {}", BytesText(kMostReceivedBytes)));
      return std::string(buffer.data(), static_cast<std::size_t>(got));
    }
    if (got == 0 || (errno != EAGAIN && errno != EINTR)) return InputError(WhyItEnded());
    RETURN_IF_ERROR(WaitFor(connection_.get(), POLLIN));
  }
}

Status SandboxedServer::InTime() const {
  if (stop_ != nullptr && stop_->load() >= 2) return Error{ErrorKind::kCancelled, "stopped"};
  if (steady_clock::now() >= deadline_) return Error{ErrorKind::kUnavailable, "no answer within its time limit"};
  return {};
}

Status SandboxedServer::WaitFor(int fd, short events) const {
  while (true) {
    RETURN_IF_ERROR(InTime());
    const auto left = std::chrono::ceil<milliseconds>(deadline_ - steady_clock::now()).count();
    std::array<pollfd, 1> polled = {{{fd, events, 0}}};
    const int ready =
        ::poll(polled.data(), polled.size(), static_cast<int>(std::min<std::int64_t>(left, kStopCheckMs)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return ErrnoError("waiting for", "the MCP server", errno);
  }
}

// The connection's end and the process's are moments apart.
std::string SandboxedServer::WhyItEnded() {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, milliseconds(2'000), [this] { return ended_.has_value(); });
  if (!ended_) return "it closed its output";
  if (!ended_->ok()) return ended_->error().message;
  const SandboxOutcome& outcome = **ended_;
  const std::string_view said = Trim(outcome.error);
  std::string why = fmt::format("it ended with exit code {}", outcome.exit_code);
  if (!said.empty()) why += ": " + ExcerptLine(said, kMostErrorBytes);
  return why;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "mcp/mcp_tools.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <utility>

#include "util/child_process.h"
#include "util/text.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kMaxBytes = 16U << 20U;  // of the server's whole output
constexpr std::size_t kKeptErrorBytes = 2000;

// The pipes to a server that runs, within a time limit.
class ServerPipes {
 public:
  ServerPipes(ChildProcess& process, milliseconds limit, const StopFlag* stop)
      : process_(process), end_(steady_clock::now() + limit), limit_(limit), stop_(stop) {}

  Status Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t now = ::send(process_.input(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (now >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(now));
      } else if (errno == EAGAIN) {
        RETURN_IF_ERROR(WaitFor(POLLOUT));
      } else if (errno != EINTR) {
        return Ended();
      }
    }
    return {};
  }

  // The output since the last call, at least one byte.
  Result<std::string> Receive() {
    while (output_.empty()) {
      if (closed_) return Ended();
      RETURN_IF_ERROR(WaitFor(0));
    }
    return std::exchange(output_, {});
  }

  // The end of the server's standard error on one line; empty: nothing.
  std::string StandardErrorTail() const { return ExcerptLine(Trim(error_), kKeptErrorBytes); }

 private:
  // Waits for output of the server and reads it; with POLLOUT, returns as soon as the server accepts input.
  Status WaitFor(short input_events) {
    while (true) {
      if (stop_ != nullptr && stop_->load() > 0) return Error{ErrorKind::kCancelled, "interrupted"};
      const auto left = std::chrono::duration_cast<milliseconds>(end_ - steady_clock::now()).count();
      if (left <= 0) return TooLate();
      constexpr std::int64_t kStopCheckMs = 100;  // how often `stop` is checked
      std::array<pollfd, 3> polled = {{{closed_ ? -1 : process_.output(), POLLIN, 0},
                                       {error_closed_ ? -1 : process_.error(), POLLIN, 0},
                                       {input_events != 0 ? process_.input() : -1, input_events, 0}}};
      const int ready =
          ::poll(polled.data(), polled.size(), static_cast<int>(std::min<std::int64_t>(left, kStopCheckMs)));
      if (ready < 0 && errno != EINTR) return ErrnoError("waiting for", "the MCP server", errno);
      if (ready <= 0) continue;
      if (polled[1].revents != 0) {
        error_closed_ = !Take(process_.error(), error_);
        if (error_.size() > kKeptErrorBytes) error_.erase(0, error_.size() - kKeptErrorBytes);
      }
      if (polled[0].revents != 0) closed_ = !Take(process_.output(), output_);
      if (total_ > kMaxBytes) return InputError(fmt::format("its output exceeds {}", BytesText(kMaxBytes)));
      if (polled[0].revents != 0 || polled[2].revents != 0) return {};
    }
  }

  Error TooLate() const {
    const double seconds = std::chrono::duration<double>(limit_).count();
    const std::string what =
        total_ == 0 ? fmt::format("no response within {:g} s", seconds)
                    : fmt::format("it wrote {}, but had not listed its tools after {:g} s", BytesText(total_), seconds);
    return Error{ErrorKind::kUnavailable, what}.Because(ErrorCause::kTimeout);
  }

  // Appends the available output; false at its end.
  bool Take(int fd, std::string& text) {
    std::array<char, 65536> buffer{};
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    total_ += static_cast<std::size_t>(got);
    return got > 0;
  }

  Error Ended() {
    const int code = process_.End(milliseconds(1000));
    while (!error_closed_ && error_.size() < kKeptErrorBytes && Take(process_.error(), error_)) {
      std::array<pollfd, 1> more = {{{process_.error(), POLLIN, 0}}};
      if (::poll(more.data(), more.size(), 0) <= 0) break;
    }
    return InputError(fmt::format("it ended with exit code {} before responding", code));
  }

  ChildProcess& process_;
  steady_clock::time_point end_;
  milliseconds limit_;
  const StopFlag* stop_;
  std::string output_;  // not yet received
  std::string error_;
  bool closed_ = false;
  bool error_closed_ = false;
  std::size_t total_ = 0;
};

}  // namespace

Result<McpTools> ListMcpTools(const std::string& command, const std::vector<std::string>& environment,
                              milliseconds limit, const StopFlag* stop) {
  ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::Start(command, environment));
  ServerPipes server(process, limit, stop);
  Result<McpTools> found =
      RequestMcpTools({[&](std::string_view bytes) { return server.Send(bytes); }, [&] { return server.Receive(); }});
  process.End(milliseconds(found ? 2000 : 0));
  if (found) return found;
  Error error = found.error();
  const std::string error_output = server.StandardErrorTail();
  error.message = fmt::format("MCP server `{}`: {}{}", command, error.message,
                              error_output.empty() ? "" : "; its standard error: " + error_output);
  return error;
}

Result<McpTools> ListMcpToolsAt(const McpAddress& address, milliseconds limit, const StopFlag* stop) {
  McpHttp server(address, std::make_shared<HttpClient>());
  server.Begin(steady_clock::now() + limit, stop, 1);
  return RequestMcpTools(server.connection()).With("MCP server " + address.url);
}

}  // namespace upskill

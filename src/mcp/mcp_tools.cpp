// SPDX-License-Identifier: Apache-2.0
#include "mcp/mcp_tools.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

#include "util/child_process.h"
#include "util/text.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kProtocolVersion = "2025-06-18";  // servers answer with the version that they speak
constexpr std::size_t kMaxBytes = 16U << 20U;           // of the server's whole output
constexpr std::size_t kMaxTools = 10'000;
constexpr std::size_t kKeptErrorBytes = 2000;
constexpr int kMethodNotFound = -32601;

// A conversation with a server.
class Conversation {
 public:
  Conversation(ChildProcess& process, milliseconds limit, const StopFlag* stop)
      : process_(process), end_(steady_clock::now() + limit), limit_(limit), stop_(stop) {}

  // The response to a request: {"result": …} or {"error": …}.
  Result<Json> Request(const std::string& method, const Json& params) {
    const int id = next_id_++;
    RETURN_IF_ERROR(Send({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}));
    while (true) {
      ASSIGN_OR_RETURN(const Json message, Receive());
      if (message.contains("method") && message.contains("id")) {
        RETURN_IF_ERROR(Send({{"jsonrpc", "2.0"},
                              {"id", message.at("id")},
                              {"error", {{"code", kMethodNotFound}, {"message", "not supported"}}}}));
      } else if (JsonGet<int>(message, "id", -1) == id && (message.contains("result") || message.contains("error"))) {
        return message;
      }
    }
  }

  Status Notify(const std::string& method) { return Send({{"jsonrpc", "2.0"}, {"method", method}}); }

  // The end of the server's standard error on one line; empty: nothing.
  std::string StandardErrorTail() const { return ExcerptLine(Trim(error_), kKeptErrorBytes); }

 private:
  Status Send(const Json& message) {
    const std::string line = DumpJson(message) + "\n";
    std::size_t sent = 0;
    while (sent < line.size()) {
      const ssize_t now = ::send(process_.input(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
      if (now >= 0) {
        sent += static_cast<std::size_t>(now);
      } else if (errno == EAGAIN) {
        RETURN_IF_ERROR(WaitFor(POLLOUT));
      } else if (errno != EINTR) {
        return Ended();
      }
    }
    return {};
  }

  // The next line that is a JSON object.
  Result<Json> Receive() {
    while (true) {
      const std::size_t newline = output_.find('\n', searched_);
      if (newline != std::string::npos) {
        const Result<Json> message = ParseJson(std::string_view(output_).substr(taken_, newline - taken_), "stdout");
        taken_ = searched_ = newline + 1;
        if (message && message->is_object()) return *message;
        continue;
      }
      if (closed_) return Ended();
      output_.erase(0, taken_);
      taken_ = 0;
      searched_ = output_.size();
      RETURN_IF_ERROR(WaitFor(0));
    }
  }

  // Waits for output of the server and reads it; with POLLOUT, returns as soon as the server accepts input.
  Status WaitFor(short input_events) {
    while (true) {
      if (stop_ != nullptr && stop_->load() > 0) return Error{ErrorKind::kCancelled, "interrupted"};
      const auto left = std::chrono::duration_cast<milliseconds>(end_ - steady_clock::now()).count();
      if (left <= 0)
        return Error{ErrorKind::kUnavailable, fmt::format("no response within {} s", limit_.count() / 1000)};
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
  int next_id_ = 1;
  std::string output_;
  std::size_t taken_ = 0;     // bytes of output_ already parsed
  std::size_t searched_ = 0;  // bytes of output_ without a line end, from taken_
  std::string error_;
  bool closed_ = false;
  bool error_closed_ = false;
  std::size_t total_ = 0;
};

std::string ErrorOf(const Json& answer) {
  const Json error = answer.value("error", Json::object());
  return fmt::format("error {}: {}", JsonGet<int>(error, "code", 0), JsonGet<std::string>(error, "message", ""));
}

Result<McpTools> List(Conversation& server) {
  McpTools found;
  ASSIGN_OR_RETURN(const Json hello,
                   server.Request("initialize", {{"protocolVersion", kProtocolVersion},
                                                 {"capabilities", Json::object()},
                                                 {"clientInfo", {{"name", "upskill"}, {"version", "1"}}}}));
  if (const auto result = hello.find("result"); result != hello.end() && result->is_object()) {
    const Json info = result->value("serverInfo", Json::object());
    found.server = JsonGet<std::string>(info, "name", "") + " " + JsonGet<std::string>(info, "version", "");
    RETURN_IF_ERROR(server.Notify("notifications/initialized"));
  } else if (JsonGet<int>(hello.value("error", Json::object()), "code", 0) !=
             kMethodNotFound) {  // newer servers need no handshake
    return InputError("initialize: " + ErrorOf(hello));
  }
  Json params = Json::object();
  std::set<std::string> cursors;
  while (true) {
    ASSIGN_OR_RETURN(const Json answer, server.Request("tools/list", params));
    const Json result = answer.value("result", Json());
    if (!result.is_object() || !result.contains("tools") || !result.at("tools").is_array()) {
      return InputError("tools/list: " +
                        (answer.contains("error") ? ErrorOf(answer) : "the response has no `tools` array"));
    }
    for (const Json& tool : result.at("tools")) found.tools.push_back(tool);
    if (found.tools.size() > kMaxTools) return InputError(fmt::format("it has more than {} tools", kMaxTools));
    const auto cursor = JsonGet<std::string>(result, "nextCursor", "");
    if (cursor.empty()) return found;
    if (!cursors.insert(cursor).second) return InputError("tools/list: it repeats the same page");
    params["cursor"] = cursor;
  }
}

}  // namespace

Result<McpTools> ListMcpTools(const std::string& command, const std::vector<std::string>& environment,
                              milliseconds limit, const StopFlag* stop) {
  ASSIGN_OR_RETURN(ChildProcess process, ChildProcess::Start(command, environment));
  Conversation server(process, limit, stop);
  Result<McpTools> found = List(server);
  process.End(milliseconds(found ? 2000 : 0));
  if (found) return found;
  Error error = found.error();
  const std::string error_output = server.StandardErrorTail();
  error.message = fmt::format("MCP server `{}`: {}{}", command, error.message,
                              error_output.empty() ? "" : "; its standard error: " + error_output);
  return error;
}

}  // namespace upskill

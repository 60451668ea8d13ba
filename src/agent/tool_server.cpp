// SPDX-License-Identifier: Apache-2.0
#include "agent/tool_server.h"

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

constexpr int kPort = 8079;  // of the server's own network
constexpr milliseconds kToStart{30'000};
constexpr milliseconds kToAnswer{120'000};
constexpr std::int64_t kStopCheckMs = 100;  // how often the stop flag is looked at
constexpr std::size_t kMostTools = 100;
constexpr std::size_t kMostNameBytes = 64;
constexpr std::size_t kMostDescriptionBytes = 8'000;
constexpr std::size_t kMostErrorBytes = 2'000;
constexpr std::size_t kMostSchemaBytes = 32'000;
constexpr std::size_t kMostReceivedBytes = std::size_t{16} << 20U;  // for one call, or to start

// A name as all providers accept it.
std::string ToolName(const std::string& server, const std::string& tool) {
  std::string name = server + "_" + tool;
  for (char& c : name) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!plain) c = '_';
  }
  return name.substr(0, kMostNameBytes);
}

// The server's standard input and output are the connection. Bash makes it, so that nothing else needs to be there.
std::string CommandLineOf(const std::string& command) {
  const std::string script =
      fmt::format("exec 3<>/dev/tcp/127.0.0.1/{} || exit 121; exec sh -c \"$1\" <&3 >&3 3<&-", kPort);
  return fmt::format("exec bash -c {} bash {}", ShellWord(script), ShellWord(command));
}

}  // namespace

Result<std::unique_ptr<RunningToolServer>> RunningToolServer::Start(const ToolServer& server,
                                                                    const WorkspaceFiles& files, const Sandbox& sandbox,
                                                                    milliseconds time, const StopFlag* stop) {
  const auto named = [&](const Error& error) {
    const ErrorKind kind = error.kind == ErrorKind::kCancelled ? ErrorKind::kCancelled : ErrorKind::kPermanent;
    return Error{kind, fmt::format("MCP server {}: {}", server.name, error.message)};
  };
  if (!sandbox.confined()) return named(InputError("it needs the sandbox; leave out --no-sandbox"));
  if (!sandbox.HasProgram("bash")) return named(InputError("it needs bash"));
  std::unique_ptr<RunningToolServer> running(new RunningToolServer(server));
  running->stop_ = stop;
  running->deadline_ = steady_clock::now() + kToStart;
  running->Launch(files, sandbox, time);
  const Status connected = running->Connect();
  const Status ready = connected ? running->TakeTools() : connected;
  if (!ready) return named(ready.error());
  return running;
}

RunningToolServer::~RunningToolServer() {
  ending_ = 2;
  if (thread_.joinable()) thread_.join();
}

void RunningToolServer::Launch(const WorkspaceFiles& files, const Sandbox& sandbox, milliseconds time) {
  SandboxCommand command;
  command.command = CommandLineOf(server_.command);
  command.files = files;
  for (const auto& [name, content] : server_.files) command.files[name] = content;
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

Status RunningToolServer::Connect() {
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
  session_ = std::make_unique<McpSession>(
      McpConnection{[this](std::string_view bytes) { return Send(bytes); }, [this] { return Receive(); }});
  return {};
}

Status RunningToolServer::TakeTools() {
  ASSIGN_OR_RETURN(const McpTools found, session_->Open());
  if (found.tools.size() > kMostTools)
    return InputError(fmt::format("it has {} tools, at most {} can be offered", found.tools.size(), kMostTools));
  for (const Json& offered : found.tools) {
    const std::string own = StringAt(offered, "name");
    const std::string name = ToolName(server_.name, own);
    if (own.empty()) continue;
    if (!names_.emplace(name, own).second) return InputError(fmt::format("two of its tools would be called {}", name));
    Json schema = Member(offered, "inputSchema");
    if (!schema.is_object()) schema = {{"type", "object"}, {"properties", Json::object()}};
    if (DumpJson(schema).size() > kMostSchemaBytes)
      return InputError(fmt::format("the schema of its tool {} exceeds {}", name, BytesText(kMostSchemaBytes)));
    const std::string description = ReplaceInvalidUtf8(StringAt(offered, "description"));
    tools_.push_back({name, WithoutMiddle(description, kMostDescriptionBytes), std::move(schema)});
  }
  return {};
}

Result<ToolOutcome> RunningToolServer::Call(const ToolCall& call, const ToolLimits& limits, const StopFlag* stop) {
  const std::lock_guard lock(calls_);
  const auto begin = steady_clock::now();
  ToolOutcome outcome;
  const auto finished = [&](const std::string& text, bool is_error) {
    outcome.text = WithoutMiddle(ReplaceInvalidUtf8(text), limits.text_bytes);
    outcome.is_error = is_error;
    outcome.seconds = std::chrono::duration<double>(steady_clock::now() - begin).count();
    return outcome;
  };
  if (!call.arguments.is_object()) return finished("Error: the arguments of the call are not a JSON object", true);
  if (broken_) return finished(fmt::format("Error: the server {} has ended", server_.name), true);
  stop_ = stop;
  received_ = 0;
  deadline_ = begin + std::min<milliseconds>(kToAnswer, limits.time);
  const Result<McpResult> said = session_->Call(names_.at(call.name), call.arguments);
  stop_ = nullptr;
  if (said) return finished(said->text.empty() ? "(no result)" : said->text, said->is_error);
  if (said.error().kind == ErrorKind::kCancelled) return said.error();
  // A late answer to this call is recognized by its number; a dialogue that has broken can't go on.
  if (said.error().kind != ErrorKind::kUnavailable) broken_ = true;
  return finished("Error: " + said.error().message, true);
}

Status RunningToolServer::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(connection_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      const Status ready = WaitFor(connection_.get(), POLLOUT);
      if (!ready) broken_ = true;  // a message that was cut off
      if (!ready) return ready.error();
    } else if (errno != EINTR) {
      return InputError(WhyItEnded());
    }
  }
  return {};
}

Result<std::string> RunningToolServer::Receive() {
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

Status RunningToolServer::InTime() const {
  if (stop_ != nullptr && stop_->load() >= 2) return Error{ErrorKind::kCancelled, "stopped"};
  if (steady_clock::now() >= deadline_) return Error{ErrorKind::kUnavailable, "no answer within its time limit"};
  return {};
}

Status RunningToolServer::WaitFor(int fd, short events) const {
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
std::string RunningToolServer::WhyItEnded() {
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

// SPDX-License-Identifier: Apache-2.0
#include "agent/tool_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "util/text.h"
#include "util/variable_text.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kToStart{30'000};
constexpr milliseconds kToAnswer{120'000};
constexpr std::size_t kMostTools = 100;
constexpr std::size_t kMostNameBytes = 64;
constexpr std::size_t kMostDescriptionBytes = 8'000;
constexpr std::size_t kMostSchemaBytes = 32'000;
constexpr int kEndNow = 2;  // for StopFlag

// A name as all providers accept it.
std::string ToolName(const std::string& server, const std::string& tool) {
  std::string name = server + "_" + tool;
  for (char& c : name) {
    if (!IsAsciiAlphanumeric(c) && c != '-') c = '_';
  }
  return name.substr(0, kMostNameBytes);
}

Result<McpAddress> AddressOf(const ToolServer& server, const McpAccess& access) {
  McpAddress address{server.url, {}};
  for (const auto& [name, text] : server.headers) {
    ASSIGN_OR_RETURN(std::string value,
                     WithVariables(text, [&](const std::string& variable) -> std::optional<std::string> {
                       const auto found = access.variables.find(variable);
                       if (found == access.variables.end()) return std::nullopt;
                       return found->second.reveal();
                     }));
    address.headers.emplace_back(name, Secret(std::move(value)));
  }
  return address;
}

// Whether a call to a server on the network has failed for a reason that isn't the call.
bool EndsTheCell(const Error& error) {
  return error.kind != ErrorKind::kInput && error.cause != ErrorCause::kTimeout && error.cause != ErrorCause::kUnusable;
}

}  // namespace

Result<std::unique_ptr<RunningToolServer>> RunningToolServer::Start(const ToolServer& server,
                                                                    const WorkspaceFiles& files,
                                                                    const ServerPlaces& places, milliseconds time,
                                                                    const StopFlag* stop) {
  std::unique_ptr<RunningToolServer> running(new RunningToolServer(server));
  const auto deadline = steady_clock::now() + kToStart;
  const Status connected = server.url.empty() ? running->StartInSandbox(files, *places.sandbox, time, deadline, stop)
                                              : running->ConnectTo(*places.access, deadline, stop);
  const Status ready = connected ? running->TakeTools() : connected;
  if (ready) return running;
  Error error = ready.error().With("MCP server " + server.name);
  // What fails in the sandbox fails again, and what breaks the protocol does everywhere.
  const bool may_change =
      error.kind == ErrorKind::kCancelled || (!server.url.empty() && error.kind != ErrorKind::kInput);
  if (!may_change) error.kind = ErrorKind::kPermanent;
  return error;
}

RunningToolServer::~RunningToolServer() = default;

Status RunningToolServer::StartInSandbox(const WorkspaceFiles& files, const Sandbox& sandbox, milliseconds time,
                                         steady_clock::time_point deadline, const StopFlag* stop) {
  if (!sandbox.confined()) return Error{ErrorKind::kPermanent, "it needs the sandbox; leave out --no-sandbox"};
  if (!sandbox.HasProgram("bash")) return Error{ErrorKind::kPermanent, "it needs bash"};
  sandboxed_ = std::make_unique<SandboxedServer>(server_, files, sandbox, time);
  sandboxed_->Begin(deadline, stop);
  RETURN_IF_ERROR(sandboxed_->Connect());
  session_ = std::make_unique<McpSession>(McpConnection{
      [this](std::string_view bytes) { return sandboxed_->Send(bytes); }, [this] { return sandboxed_->Receive(); }});
  return {};
}

Status RunningToolServer::ConnectTo(const McpAccess& access, steady_clock::time_point deadline, const StopFlag* stop) {
  if (access.client == nullptr) return Error{ErrorKind::kPermanent, "servers at a URL can't be used here"};
  ASSIGN_OR_RETURN(McpAddress address, AddressOf(server_, access));
  http_ = std::make_unique<McpHttp>(std::move(address), access.client);
  http_->Begin(deadline, stop, kEndNow);
  session_ = std::make_unique<McpSession>(http_->connection());
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
  const auto deadline = begin + std::min<milliseconds>(kToAnswer, limits.time);
  if (http_) {
    http_->Begin(deadline, stop, kEndNow);
  } else {
    sandboxed_->Begin(deadline, stop);
  }
  const Result<McpResult> said = session_->Call(names_.at(call.name), call.arguments);
  if (said) return finished(said->text.empty() ? "(no result)" : said->text, said->is_error);
  const Error& error = said.error();
  if (error.kind == ErrorKind::kCancelled) return error;
  if (http_ && EndsTheCell(error)) {
    broken_ = true;
    return error.With("MCP server " + server_.name);
  }
  // A late answer to this call is recognized by its number; a dialogue that has broken can't go on.
  if (!http_ && (error.kind != ErrorKind::kUnavailable || sandboxed_->cut_off())) broken_ = true;
  return finished("Error: " + error.message, true);
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "agent/loop_tools.h"
#include "agent/sandboxed_server.h"
#include "mcp/mcp_dialogue.h"
#include "mcp/mcp_http.h"
#include "model/chat.h"
#include "model/workspace.h"
#include "sandbox/sandbox.h"
#include "util/result.h"
#include "util/secret.h"
#include "util/stop_flag.h"

namespace upskill {

// The way to servers at URLs.
struct McpAccess {
  std::shared_ptr<HttpClient> client;       // null: none may be used
  std::map<std::string, Secret> variables;  // that ToolServer::headers may name
};

// Where servers are started, or how they are reached.
struct ServerPlaces {
  const Sandbox* sandbox = nullptr;
  const McpAccess* access = nullptr;
};

// An MCP server from Start to its destructor: one that runs in a sandbox of its own, or the session with one at a URL.
// Thread-safe.
class RunningToolServer {
 public:
  // `files`: of the case, and `time`: for which it may run; both are for those in the sandbox. `places` must outlive
  // this. Errors name it: kPermanent if it can't be started or isn't an MCP server; of one at a URL those of
  // McpHttp::Receive; kCancelled.
  static Result<std::unique_ptr<RunningToolServer>> Start(const ToolServer& server, const WorkspaceFiles& files,
                                                          const ServerPlaces& places, std::chrono::milliseconds time,
                                                          const StopFlag* stop);
  ~RunningToolServer();
  RunningToolServer(const RunningToolServer&) = delete;
  RunningToolServer& operator=(const RunningToolServer&) = delete;

  // Named SERVER_TOOL.
  const std::vector<Tool>& tools() const { return tools_; }
  // The server has ended, or can't be understood any more: calls are answered with an error.
  bool broken() const { return broken_; }
  bool Has(const std::string& tool) const { return names_.contains(tool); }
  // Calls a tool that the server has. What goes wrong is told to the model. Errors: `stop` was 2 or more (kCancelled);
  // a server on the network that can't be reached or fails, which says nothing of the call.
  Result<ToolOutcome> Call(const ToolCall& call, const ToolLimits& limits, const StopFlag* stop);

 private:
  using Time = std::chrono::steady_clock::time_point;

  explicit RunningToolServer(ToolServer server) : server_(std::move(server)) {}

  Status StartInSandbox(const WorkspaceFiles& files, const Sandbox& sandbox, std::chrono::milliseconds time,
                        Time deadline, const StopFlag* stop);
  Status ConnectTo(const McpAccess& access, Time deadline, const StopFlag* stop);
  Status TakeTools();

  const ToolServer server_;
  std::vector<Tool> tools_;
  std::map<std::string, std::string> names_;  // the server's own, by those of tools_
  std::atomic<bool> broken_ = false;

  std::mutex calls_;                            // guards the rest
  std::unique_ptr<SandboxedServer> sandboxed_;  // one of the two
  std::unique_ptr<McpHttp> http_;
  std::unique_ptr<McpSession> session_;
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/loop_tools.h"
#include "mcp/mcp_dialogue.h"
#include "model/chat.h"
#include "model/workspace.h"
#include "sandbox/sandbox.h"
#include "util/files.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// An MCP server that runs in a sandbox of its own, without a network, from Start to its destructor. It has its own copy
// of the files: what it does to them reaches nobody. Thread-safe.
class RunningToolServer {
 public:
  // `files`: of the case; those of the server itself are added. `time`: for which it may run. Errors name it:
  // kPermanent if it can't be started or isn't an MCP server, kCancelled.
  static Result<std::unique_ptr<RunningToolServer>> Start(const ToolServer& server, const WorkspaceFiles& files,
                                                          const Sandbox& sandbox, std::chrono::milliseconds time,
                                                          const StopFlag* stop);
  ~RunningToolServer();
  RunningToolServer(const RunningToolServer&) = delete;
  RunningToolServer& operator=(const RunningToolServer&) = delete;

  // Named SERVER_TOOL.
  const std::vector<Tool>& tools() const { return tools_; }
  // It has ended, or can't be understood any more: calls are answered with an error.
  bool broken() const { return broken_; }
  bool Has(const std::string& tool) const { return names_.contains(tool); }
  // Of a tool that it has. What goes wrong is told to the model. Error: `stop` was 2 or more (kCancelled).
  Result<ToolOutcome> Call(const ToolCall& call, const ToolLimits& limits, const StopFlag* stop);

 private:
  explicit RunningToolServer(ToolServer server) : server_(std::move(server)) {}

  void Launch(const WorkspaceFiles& files, const Sandbox& sandbox, std::chrono::milliseconds time);
  Status Connect();
  Status TakeTools();
  Status Send(std::string_view bytes);
  Result<std::string> Receive();
  Status InTime() const;
  Status WaitFor(int fd, short events) const;
  std::string WhyItEnded();

  const ToolServer server_;
  std::vector<Tool> tools_;
  std::map<std::string, std::string> names_;  // the server's own, by those of tools_

  std::mutex calls_;  // guards the next six
  std::chrono::steady_clock::time_point deadline_;
  const StopFlag* stop_ = nullptr;
  Fd connection_;
  std::unique_ptr<McpSession> session_;
  std::size_t received_ = 0;  // bytes since the start, or the last call
  std::atomic<bool> broken_ = false;

  std::mutex mutex_;  // guards the next two
  std::condition_variable changed_;
  std::optional<Fd> listener_;
  std::optional<Result<SandboxOutcome>> ended_;
  StopFlag ending_ = 0;
  std::thread thread_;  // in Sandbox::Run
};

}  // namespace upskill

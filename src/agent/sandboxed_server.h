// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "model/workspace.h"
#include "sandbox/sandbox.h"
#include "util/files.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// A command of an MCP server in a sandbox of its own, without a network, from the constructor to the destructor, and
// the connection to its standard input and output. It has its own copy of the files: what it does to them reaches
// nobody. Used by one thread at a time.
class SandboxedServer {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `files`: of the case; those of the server itself are added. `time`: for which it may run. `sandbox` must outlive
  // this.
  SandboxedServer(const ToolServer& server, const WorkspaceFiles& files, const Sandbox& sandbox,
                  std::chrono::milliseconds time);
  ~SandboxedServer();
  SandboxedServer(const SandboxedServer&) = delete;
  SandboxedServer& operator=(const SandboxedServer&) = delete;

  // Until when what follows must be done. `stop`, which may be null, ends it when it is 2 or more. What is received
  // from now on may have up to 16 MiB.
  void Begin(Time deadline, const StopFlag* stop);

  // First. The errors of all three: kUnavailable if it was too slow, kInput if it has ended or written too much,
  // kCancelled.
  Status Connect();
  Status Send(std::string_view bytes);
  Result<std::string> Receive();

  // A message was cut off: nothing can follow it.
  bool cut_off() const { return cut_off_; }

 private:
  Status InTime() const;
  Status WaitFor(int fd, short events) const;
  std::string WhyItEnded();

  Time deadline_;
  const StopFlag* stop_ = nullptr;
  Fd connection_;
  std::size_t received_ = 0;  // bytes since Begin
  bool cut_off_ = false;

  std::mutex mutex_;  // guards the next two
  std::condition_variable changed_;
  std::optional<Fd> listener_;
  std::optional<Result<SandboxOutcome>> ended_;
  StopFlag ending_ = 0;
  std::thread thread_;  // in Sandbox::Run
};

}  // namespace upskill

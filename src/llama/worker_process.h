// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>

#include "util/files.h"
#include "util/result.h"

namespace upskill {

// The first of the two arguments that start a program as a worker (RunEngineWorker); the second is the model's file.
inline constexpr const char* kWorkerArgument = "--engine-worker";
inline constexpr int kWorkerSocket = 3;  // the worker's end of the socket

// A running worker, and the program's ends of its socket and standard error. The worker has no other file open, gets
// only those environment variables that llama.cpp may need, and no signals of the terminal. It ends with this object,
// and with this process. Start it on a thread that lives as long as the worker: the kernel ends it with that thread.
// Move-only, not thread-safe.
class WorkerProcess {
 public:
  static Result<WorkerProcess> Start(const std::filesystem::path& program, const std::filesystem::path& model);
  ~WorkerProcess() { End(); }
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int socket() const { return socket_.get(); }  // never blocks
  int error() const { return error_.get(); }    // standard error; never blocks

  // Reads what standard error holds now; false at its end.
  bool ReadErrors();

  // Kills the worker if it still runs. How it ended: "signal 11 (Segmentation fault)" or "exit code 1", and
  // after a colon the last line that it wrote to standard error.
  std::string End();

 private:
  WorkerProcess(pid_t pid, Fd socket, Fd error) : pid_(pid), socket_(std::move(socket)), error_(std::move(error)) {}
  std::string LastLine() const;

  pid_t pid_;  // -1: waited for
  Fd socket_;
  Fd error_;
  std::string error_tail_;
  std::string ending_;
};

}  // namespace upskill

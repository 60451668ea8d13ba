// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace upskill {

// A thread for work that would hold up the one that has it. Started with the first piece of work; does one at a time,
// in order. Thread-safe. The destructor finishes what is queued and must not run on the thread itself.
class WorkThread {
 public:
  WorkThread() = default;
  ~WorkThread();
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  void Post(std::function<void()> work);

 private:
  void Run(const std::stop_token& stop);

  std::mutex mutex_;  // guards queue_ and the start of thread_
  std::condition_variable_any wake_;
  std::deque<std::function<void()>> queue_;
  std::jthread thread_;
};

}  // namespace upskill

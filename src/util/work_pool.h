// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace upskill {

// Threads for work that would hold up the one that has it. Each is started when there is work for it. One thread does
// all in order. Thread-safe. The destructor finishes what is queued and must not run on one of the threads.
class WorkPool {
 public:
  explicit WorkPool(std::size_t threads = 1) : most_(threads) {}
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  void Post(std::function<void()> work);

 private:
  void Run(const std::stop_token& stop);

  const std::size_t most_;
  std::mutex mutex_;  // guards all below
  std::condition_variable_any wake_;
  std::deque<std::function<void()>> queue_;
  std::size_t idle_ = 0;  // threads that wait for work
  std::vector<std::jthread> threads_;
};

}  // namespace upskill

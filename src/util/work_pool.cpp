// SPDX-License-Identifier: Apache-2.0
#include "util/work_pool.h"

#include <utility>

#include "util/invariant.h"

namespace upskill {

WorkPool::~WorkPool() {
  for (std::jthread& thread : threads_) {
    CHECK(std::this_thread::get_id() != thread.get_id());
    thread.request_stop();
  }
  for (std::jthread& thread : threads_) thread.join();
}

void WorkPool::Post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  if (idle_ < queue_.size() && threads_.size() < most_)
    threads_.emplace_back([this](const std::stop_token& stop) { Run(stop); });
  wake_.notify_one();
}

void WorkPool::Run(const std::stop_token& stop) {
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      ++idle_;
      const bool found = wake_.wait(lock, stop, [this] { return !queue_.empty(); });
      --idle_;
      if (!found) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "util/work_thread.h"

#include <utility>

#include "util/invariant.h"

namespace upskill {

WorkThread::~WorkThread() {
  if (!thread_.joinable()) return;
  CHECK(std::this_thread::get_id() != thread_.get_id());
  thread_.request_stop();
  thread_.join();
}

void WorkThread::Post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
  wake_.notify_one();
}

void WorkThread::Run(const std::stop_token& stop) {
  while (true) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !queue_.empty(); })) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace upskill

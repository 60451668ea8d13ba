// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "model/model.h"

namespace upskill {

// For tests: a model that answers as a script says, on the sender's thread. A request for which the script has nothing
// is held until AnswerHeld or Cancel; of the held ones the first `running` count as being worked on. Not thread-safe.
class FakeModel : public Model {
 public:
  using Script = std::function<std::optional<Result<ChatResponse>>(const ChatRequest& request, std::size_t number)>;

  FakeModel(std::string name, int window, Script script) : window_(window), script_(std::move(script)) {
    info_.name = name;
    info_.identity = "fake:" + name;
    info_.detail = "scripted";
  }

  const ModelInfo& info() const override { return info_; }
  int Window() const override { return window_; }

  void Start(ChatRequest request, Done done) override {
    if (on_start) on_start();
    requests.push_back(request);
    std::optional<Result<ChatResponse>> answer = script_(request, requests.size() - 1);
    if (answer) {
      done(std::move(*answer));
    } else {
      held_.emplace_back(std::move(request), std::move(done));
    }
    max_held = std::max(max_held, held_.size());
  }

  void Cancel(CancelScope scope) override {
    cancels.push_back(scope);
    const std::size_t kept = scope == CancelScope::kRunning ? 0 : std::min(running, held_.size());
    std::vector<std::pair<ChatRequest, Done>> dropped(held_.begin() + static_cast<std::ptrdiff_t>(kept), held_.end());
    held_.resize(kept);
    for (auto& [request, done] : dropped) done(Error{ErrorKind::kCancelled, "cancelled"});
    if (after_cancel) after_cancel();
  }

  void AnswerHeld(const Result<ChatResponse>& answer) {
    for (auto& [request, done] : std::exchange(held_, {})) done(answer);
  }

  void set_in_process() { info_.in_process = true; }
  std::size_t held() const { return held_.size(); }

  std::vector<ChatRequest> requests;  // all that were started, in order
  std::vector<CancelScope> cancels;
  std::size_t max_held = 0;
  std::size_t running = 0;
  std::function<void()> on_start;
  std::function<void()> after_cancel;

 private:
  ModelInfo info_;
  int window_;
  Script script_;
  std::vector<std::pair<ChatRequest, Done>> held_;
};

// For tests: a model that answers as a script says, on a thread of its own. Thread-safe.
class ThreadedModel : public Model {
 public:
  using Script = std::function<Result<ChatResponse>(const ChatRequest& request)>;

  ThreadedModel(int window, Script script)
      : window_(window), script_(std::move(script)), thread_([this](const std::stop_token& stop) { Work(stop); }) {}
  ~ThreadedModel() override { Cancel(CancelScope::kRunning); }

  const ModelInfo& info() const override { return info_; }
  int Window() const override { return window_; }

  void Start(ChatRequest request, Done done) override {
    const std::lock_guard lock(mutex_);
    queue_.emplace_back(std::move(request), std::move(done));
    wake_.notify_one();
  }

  void Cancel(CancelScope /*scope*/) override {
    std::deque<std::pair<ChatRequest, Done>> dropped;
    {
      const std::lock_guard lock(mutex_);
      dropped.swap(queue_);
    }
    for (auto& [request, done] : dropped) done(Error{ErrorKind::kCancelled, "cancelled"});
  }

 private:
  void Work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (wake_.wait(lock, stop, [this] { return !queue_.empty(); })) {
      auto [request, done] = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      done(script_(request));
      lock.lock();
    }
  }

  ModelInfo info_{"threaded", "threaded", "scripted", false};
  int window_;
  Script script_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<std::pair<ChatRequest, Done>> queue_;  // guarded by mutex_
  std::jthread thread_;                             // last: it uses all of the above
};

}  // namespace upskill

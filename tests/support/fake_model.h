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

// For tests: a model with scripted answers, on the caller's thread. A request without a scripted answer is held until
// AnswerHeld or Cancel; the first `running` held requests count as being worked on. Not thread-safe.
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
    // Nothing of this object is touched after `done`, which may hand the next request to another thread.
    if (answer) return done(std::move(*answer));
    held_.emplace_back(std::move(request), std::move(done));
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

  // Answers only the held request at `index`, with `answer`.
  void AnswerHeldAt(std::size_t index, const std::function<Result<ChatResponse>(const ChatRequest& request)>& answer) {
    const auto at = held_.begin() + static_cast<std::ptrdiff_t>(index);
    const std::pair<ChatRequest, Done> request = std::move(*at);
    held_.erase(at);
    request.second(answer(request.first));
  }

  void ShareProcessors(int models) override { shares.push_back(models); }

  void set_in_process(int threads = 0) {
    info_.in_process = true;
    info_.threads = threads;
  }
  void set_local() { info_.local = true; }
  void set_warm_up() { info_.warm_up = true; }
  void set_price(const Price& price) { info_.price = price; }
  void set_unbounded() { info_.bounded = false; }
  void set_takes_tools() { info_.takes_tools = true; }
  std::size_t held() const { return held_.size(); }

  std::vector<ChatRequest> requests;  // all that were started, in order
  std::vector<CancelScope> cancels;
  std::vector<int> shares;  // what ShareProcessors was told
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

// For tests: a model with scripted answers, on its own thread. Thread-safe.
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
  std::jthread thread_;                             // last: uses everything above
};

// For tests: a model that fills its batch like the engine. It has `slots` slots; while one of them is free and another
// request is promised, it answers nothing. Otherwise it answers some of the requests in them, as scripted, on its own
// thread. Thread-safe.
class EngineLikeModel : public Model {
 public:
  using Script = std::function<Result<ChatResponse>(const ChatRequest& request)>;

  EngineLikeModel(std::size_t slots, Script script)
      : slots_(slots), script_(std::move(script)), thread_([this](const std::stop_token& stop) { Work(stop); }) {}
  ~EngineLikeModel() override { Cancel(CancelScope::kRunning); }

  const ModelInfo& info() const override { return info_; }
  int Window() const override { return static_cast<int>(2 * slots_); }

  void Start(ChatRequest request, Done done) override {
    const std::lock_guard lock(mutex_);
    promised_ = request.more_follows;
    queue_.emplace_back(std::move(request), std::move(done));
    wake_.notify_one();
  }

  void Cancel(CancelScope scope) override {
    std::deque<std::pair<ChatRequest, Done>> dropped;
    {
      const std::lock_guard lock(mutex_);
      dropped.swap(queue_);
      promised_ = false;
      if (scope == CancelScope::kRunning) {
        for (auto& entry : running_) dropped.push_back(std::move(entry));
        running_.clear();
      }
      wake_.notify_one();
    }
    for (auto& [request, done] : dropped) done(Error{ErrorKind::kCancelled, "cancelled"});
  }

  void set_in_process() { info_.in_process = true; }
  void set_price(const Price& price) { info_.price = price; }

 private:
  void Work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    for (std::size_t step = 0; wake_.wait(lock, stop, [this] { return CanWork(); }); ++step) {
      while (running_.size() < slots_ && !queue_.empty()) {
        running_.push_back(std::move(queue_.front()));
        queue_.pop_front();
      }
      // Sometimes one sequence finishes, sometimes all do.
      const std::size_t count = step % 3 == 0 ? running_.size() : std::size_t{1};
      std::deque<std::pair<ChatRequest, Done>> answered;
      for (std::size_t i = 0; i < count; ++i) {
        answered.push_back(std::move(running_.front()));
        running_.pop_front();
      }
      lock.unlock();
      for (auto& [request, done] : answered) done(script_(request));
      lock.lock();
    }
  }

  bool CanWork() const {
    const std::size_t there = running_.size() + queue_.size();
    return there >= slots_ || (there > 0 && !promised_);
  }

  ModelInfo info_{"engine", "engine", "scripted", false};
  std::size_t slots_;
  Script script_;
  std::mutex mutex_;
  std::condition_variable_any wake_;
  bool promised_ = false;                             // guarded by mutex_
  std::deque<std::pair<ChatRequest, Done>> queue_;    // guarded by mutex_
  std::deque<std::pair<ChatRequest, Done>> running_;  // guarded by mutex_
  std::jthread thread_;                               // last: uses everything above
};

}  // namespace upskill

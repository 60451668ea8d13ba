// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "net/http_client.h"
#include "util/invariant.h"

namespace upskill {

// For tests: collects the outcomes of requests by number and waits for them. Thread-safe.
class TestOutcomes {
 public:
  // The callback of request `number`; each may be taken once.
  HttpClient::Done Take(std::size_t number = 0) {
    const std::lock_guard lock(mutex_);
    if (outcomes_.size() <= number) outcomes_.resize(number + 1);
    return [this, number](Result<HttpResponse> result) {
      const std::lock_guard inner(mutex_);
      outcomes_[number].push_back(std::move(result));
      ++count_;
      changed_.notify_all();
    };
  }

  // Waits for `count` outcomes; fails the test after half a minute.
  void Wait(std::size_t count = 1) {
    std::unique_lock lock(mutex_);
    CHECK(changed_.wait_for(lock, std::chrono::seconds(30), [&] { return count_ >= count; }));
  }

  // The outcome of a request; waits for the first outcome.
  Result<HttpResponse> Get(std::size_t number = 0) {
    Wait(1);
    const std::lock_guard lock(mutex_);
    CHECK(outcomes_[number].size() == 1);
    return outcomes_[number].front();
  }

  std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return count_;
  }

  // How often the callback of each request has been called.
  std::vector<std::size_t> calls() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> calls;
    calls.reserve(outcomes_.size());
    for (const auto& outcomes : outcomes_) calls.push_back(outcomes.size());
    return calls;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<Result<HttpResponse>>> outcomes_;
  std::size_t count_ = 0;
};

// For tests: the outcome of one request by a client of its own.
inline Result<HttpResponse> Fetch(HttpRequest request) {
  HttpClient client;
  TestOutcomes outcomes;
  client.Start(std::move(request), outcomes.Take());
  return outcomes.Get();
}

}  // namespace upskill

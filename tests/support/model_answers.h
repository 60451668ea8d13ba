// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/model.h"

namespace upskill {

// For tests: a question to a small local model.
inline ChatRequest Ask(const std::string& question, int max_tokens = 8, double temperature = 0.7,
                       std::uint64_t seed = 1) {
  ChatRequest request;
  request.system = "You are a helpful assistant. Answer the request.";
  request.messages.push_back({Role::kUser, question});
  request.sampling = {temperature, max_tokens, seed};
  return request;
}

// For tests: the answers to requests that are sent together, by their position.
class Answers {
 public:
  explicit Answers(std::size_t count) : responses_(count), calls_(count, 0) {}

  Model::Done Expect(std::size_t i) {
    return [this, i](Result<ChatResponse> response) {
      const std::lock_guard lock(mutex_);
      responses_[i] = std::move(response);
      ++calls_[i];
      ++done_;
      wake_.notify_all();
    };
  }
  void WaitFor(std::size_t count) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return done_ >= count; });
  }
  std::vector<int> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  std::vector<std::string> kinds() {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> kinds;
    for (const auto& response : responses_) {
      kinds.emplace_back(!response ? "none" : (*response ? "ok" : ErrorKindName(response->error().kind)));
    }
    return kinds;
  }
  std::string message(std::size_t i) {
    const std::lock_guard lock(mutex_);
    return responses_[i] && !*responses_[i] ? responses_[i]->error().message : "";
  }
  std::vector<ChatResponse> TakeAll() {
    WaitFor(calls_.size());
    std::vector<ChatResponse> all;
    for (const auto& response : responses_) {
      EXPECT_TRUE(response->ok()) << (response->ok() ? "" : response->error().message);
      all.push_back(response->ok() ? response->value() : ChatResponse{});
    }
    return all;
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::optional<Result<ChatResponse>>> responses_;
  std::vector<int> calls_;
  std::size_t done_ = 0;
};

inline std::vector<ChatResponse> AskAll(Model& model, std::vector<ChatRequest> requests) {
  Answers answers(requests.size());
  for (std::size_t i = 0; i < requests.size(); ++i) {
    requests[i].more_follows = i + 1 < requests.size();
    model.Start(std::move(requests[i]), answers.Expect(i));
  }
  return answers.TakeAll();
}

inline std::vector<std::string> TextsOf(const std::vector<ChatResponse>& responses) {
  std::vector<std::string> texts;
  for (const ChatResponse& response : responses) texts.push_back(response.text);
  return texts;
}

inline std::vector<ChatRequest> SomeRequests(double temperature) {
  std::vector<ChatRequest> requests;
  for (const char* question :
       {"Name a colour.", "Name three animals.", "What is 2 + 2?", "Say hello.", "Name a city.", "Why?"}) {
    requests.push_back(Ask(question, 10, temperature, requests.size()));
  }
  return requests;
}

// For tests: sends six requests at once, waits for the first answer, a short one, cancels, and waits for the others.
inline void CancelAfterTheFirst(Model& model, Answers& answers, Model::CancelScope scope, int max_tokens_of_others) {
  constexpr std::size_t kRequests = 6;
  for (std::size_t i = 0; i < kRequests; ++i) {
    ChatRequest request = Ask("Count from one to a thousand.", i == 0 ? 1 : max_tokens_of_others, 0.0);
    request.more_follows = i + 1 < kRequests;
    model.Start(std::move(request), answers.Expect(i));
  }
  answers.WaitFor(1);
  model.Cancel(scope);
  answers.WaitFor(kRequests);
}

}  // namespace upskill

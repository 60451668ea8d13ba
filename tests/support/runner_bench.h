// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eval/run/runner.h"
#include "support/fake_model.h"
#include "support/stepping_clock.h"

namespace upskill {

// For tests: records what a run reports.
class RecordingObserver : public RunObserver {
 public:
  void OnProgress(const RunProgress& progress) override {
    last = progress;
    if (on_progress) on_progress(progress);
  }
  void OnStopping(const RunProgress& progress, bool now) override {
    stopping.push_back(now);
    in_flight_when_stopping = progress.in_flight;
  }

  std::function<void(const RunProgress&)> on_progress;
  RunProgress last;
  std::vector<bool> stopping;
  std::size_t in_flight_when_stopping = 0;
};

inline ChatResponse Text(const std::string& text) {
  ChatResponse response;
  response.text = text;
  response.usage.output = 3;
  return response;
}

// "right N" to "question N".
inline Result<ChatResponse> Right(const ChatRequest& request) {
  return Text("right" + request.messages[0].text.substr(std::string("question").size()));
}

inline bool WithSkill(const ChatRequest& request) { return request.system.find("<skill") != std::string::npos; }

inline Error Overloaded() { return Error{ErrorKind::kUnavailable, "overloaded"}; }

inline FakeModel::Script AlwaysRight() {
  return [](const ChatRequest& request, std::size_t) { return Right(request); };
}

inline FakeModel::Script Hold() {
  return [](const ChatRequest&, std::size_t) { return std::nullopt; };
}

// For tests: the parameters of a run, with defaults that a test can change.
struct RunnerBench {
  RunnerBench(Plan the_plan, std::vector<Model*> models) : plan(std::move(the_plan)) {
    input.plan = &plan;
    input.models = std::move(models);
    input.clock = &clock;
    input.observer = &observer;
    input.stop = &stop;
  }

  RunOutcome Run() {
    Result<RunOutcome> outcome = RunPlan(input);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome ? std::move(outcome).value() : RunOutcome{};
  }

  Plan plan;
  SteppingClock clock;
  RecordingObserver observer;
  StopFlag stop = 0;
  RunInput input;
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "util/await.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {
namespace {

using Done = std::function<void(Result<std::string>)>;

TEST(Await, AnAnswerBeforeStartReturns) {
  const auto answer = Await<Result<std::string>>([](const Done& done) { done(std::string("at once")); }, {});
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(*answer, "at once");
}

TEST(Await, AnAnswerFromAnotherThread) {
  std::jthread thread;
  const auto answer = Await<Result<std::string>>(
      [&](const Done& done) { thread = std::jthread([done] { done(InputError("no")); }); }, {});
  EXPECT_EQ(answer.error().message, "no");
}

TEST(Await, AStopCancelsOnceAndTheAnswerIsStillAwaited) {
  const StopFlag stop = 1;
  Done answer;
  int cancelled = 0;
  int looks = 0;
  AwaitHooks hooks;
  hooks.stopped = [&] { return stop.load() > 0; };
  hooks.cancel = [&] { ++cancelled; };
  // The cancelled work takes two ticks to end.
  hooks.on_tick = [&] {
    if (++looks == 2) answer(Error{ErrorKind::kCancelled, "stopped"});
  };
  const auto ended = Await<Result<std::string>>([&](const Done& done) { answer = done; }, hooks);
  EXPECT_EQ(ended.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(cancelled, 1);
  EXPECT_EQ(looks, 2);
}

}  // namespace
}  // namespace upskill

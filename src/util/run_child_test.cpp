// SPDX-License-Identifier: Apache-2.0
#include "util/run_child.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

#include "util/child_environment.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using Ending = ChildOutcome::Ending;

ChildLimits Ample() { return {std::chrono::seconds(60), std::size_t{1} << 20U, {}}; }

ChildOutcome RunShellCommand(const std::string& command, std::string_view input = "",
                             const ChildLimits& limits = Ample()) {
  const Result<ChildOutcome> outcome = RunChild(command, ChildEnvironment(), input, limits);
  EXPECT_TRUE(outcome.ok());
  return outcome ? *outcome : ChildOutcome{};
}

TEST(RunChild, GivesTheInputAndTakesTheOutput) {
  const ChildOutcome outcome = RunShellCommand("tr a-z A-Z; echo told >&2; exit 3", "some text");
  EXPECT_EQ(outcome.ending, Ending::kExited);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.output, "SOME TEXT");
  EXPECT_EQ(outcome.error_tail, "told\n");
}

TEST(RunChild, LongInputsAndOutputsPassAtTheSameTime) {
  const std::string text(700'000, 'x');
  EXPECT_EQ(RunShellCommand("cat", text).output, text);
}

TEST(RunChild, ACommandNeedNotReadItsInput) {
  EXPECT_EQ(RunShellCommand("exec <&-; echo done", std::string(700'000, 'x')).output, "done\n");
}

TEST(RunChild, OfLongErrorsTheEndIsKept) {
  const ChildOutcome outcome = RunShellCommand("i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done");
  EXPECT_THAT(outcome.error_tail, testing::EndsWith("line 2999\n"));
  EXPECT_LE(outcome.error_tail.size(), 4096U);
}

// The process that the command has started would write the file.
TEST(RunChild, TheTimeLimitEndsTheWholeGroup) {
  const TempFolder folder;
  const std::string file = (folder.path() / "late").string();
  const ChildOutcome outcome = RunShellCommand("(sleep 0.6; touch '" + file + "') & echo begun; sleep 60", "",
                                               {std::chrono::milliseconds(150), 1000, {}});
  EXPECT_EQ(outcome.ending, Ending::kTimeLimit);
  EXPECT_EQ(outcome.output, "begun\n");
  EXPECT_EQ(RunShellCommand("sleep 0.6; ls '" + folder.path().string() + "'").output, "");
}

// As an agent that starts a server which doesn't end with it.
TEST(RunChild, WhatIsLeftInTheBackgroundDoesNotKeepTheAnswer) {
  const TempFolder folder;
  const std::string file = (folder.path() / "late").string();
  ChildLimits limits = Ample();
  limits.exit_grace = std::chrono::milliseconds(200);
  const ChildOutcome outcome = RunShellCommand("(trap '' TERM; sleep 1; touch '" + file + "') & echo done", "", limits);
  EXPECT_EQ(outcome.ending, Ending::kExited);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "done\n");
  EXPECT_EQ(RunShellCommand("sleep 1; ls '" + folder.path().string() + "'").output, "");
}

TEST(RunChild, TheOutputIsLimited) {
  const ChildOutcome outcome = RunShellCommand("yes", "", {std::chrono::seconds(60), 100'000, {}});
  EXPECT_EQ(outcome.ending, Ending::kOutputLimit);
  EXPECT_LE(outcome.output.size(), 200'000U);
}

TEST(RunChild, CanBeStopped) {
  ChildLimits limits = Ample();
  limits.stopped = [] { return true; };
  EXPECT_EQ(RunShellCommand("sleep 60", "", limits).ending, Ending::kStopped);
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
// What is said of students that a skill can't help, and of those that need none.
#include "teach/probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/generation_bench.h"

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// Counts the runs of each stage.
struct Stages {
  explicit Stages(GenerationBench& bench) {
    bench.on_run = [this](const std::string& stage, const std::string&) {
      seen.push_back(stage);
      return Status();
    };
  }
  std::vector<std::string> seen;
};

TEST(Probe, AStudentThatCannotCopyIsNotMeasuredAndTheDraftStaysWhole) {
  GenerationBench bench(Qualities({"[sim 0.9]"}), "base=0,skill=body,reference=0");
  const Stages stages(bench);
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  ASSERT_THAT(outcome->too_small, SizeIs(1));
  EXPECT_EQ(outcome->too_small[0].answers, kProbeCases * kProbeRounds);
  EXPECT_THAT(outcome->students, IsEmpty());
  EXPECT_THAT(outcome->candidates, SizeIs(1));
  EXPECT_THAT(outcome->candidates[0].skill.body, HasSubstr("Draft [sim 0.9]"));
  EXPECT_FALSE(outcome->measured.has_value());
  EXPECT_EQ(outcome->stopped, "");
  EXPECT_THAT(stages.seen, ElementsAre("baseline", "probe", "probe"));
  EXPECT_THAT(bench.teacher_model.requests, SizeIs(2)) << "nothing was refined";
}

TEST(Probe, AnAbleStudentIsAskedOnceMore) {
  GenerationBench bench(Qualities({"[sim 0.9]"}), "base=0,skill=body,reference=1");
  const Stages stages(bench);
  bench.options.attempts = 0;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->too_small, IsEmpty());
  EXPECT_EQ(std::count(stages.seen.begin(), stages.seen.end(), "probe"), 1);
  ASSERT_TRUE(outcome->measured.has_value());
}

// At one passing answer in two, eight failures in a row have a chance of 1 in 256.
TEST(Probe, AStudentThatPassesHalfIsSeldomCalledTooSmall) {
  int wrong = 0;
  for (int seed = 0; seed < 60; ++seed) {
    GenerationBench bench(Qualities({"[sim 0.9]"}), "base=1,skill=body,reference=0.5,seed=" + std::to_string(seed));
    bench.options.seed = static_cast<std::uint64_t>(seed);
    const Result<GenerateOutcome> outcome = bench.Run();
    ASSERT_TRUE(outcome.ok());
    wrong += outcome->too_small.empty() ? 0 : 1;
  }
  EXPECT_LE(wrong, 2) << "of 60";
}

TEST(NothingToLearn, AStudentThatPassesEverythingWithoutTheSkillEndsIt) {
  GenerationBench bench(Qualities({"[sim 1]"}), "base=1,skill=body");
  const Stages stages(bench);
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->nothing_to_learn);
  EXPECT_EQ(outcome->passed_without, 16U) << "8 train tests, 2 rounds";
  EXPECT_THAT(stages.seen, ElementsAre("baseline", "baseline", "probe", "train"))
      << "neither shortened nor measured on the held-out tests";
  EXPECT_THAT(outcome->candidates, SizeIs(1));
}

TEST(PassedWithoutSkill, SuchTestsAreReplacedAndStayIfNoOthersCome) {
  std::size_t asked = 0;
  FakeTeacher::Script script = Qualities({"[sim 1]"});
  GenerationBench bench(
      [&](const ChatRequest& request, std::size_t number) -> Result<std::string> {
        const bool again = request.messages[0].text.find("models pass it without the skill") != std::string::npos;
        asked += again ? 1 : 0;
        if (again && asked > 1) return std::string(R"({"cases": []})");
        return script(request, number);
      },
      "base=1,skill=body");
  bench.options.attempts = 0;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_GT(asked, 0U);
  EXPECT_THAT(outcome->rejected_cases, Not(IsEmpty()));
  EXPECT_THAT(outcome->cases, SizeIs(16));
}

TEST(PassedNothing, AStudentThatNeverPassesIsNotMeasuredOnTheHeldOutTests) {
  GenerationBench bench(Qualities({"[sim 0]"}), "base=0,skill=body,reference=1");
  const Stages stages(bench);
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_THAT(outcome->too_small, IsEmpty()) << "it can copy the reference answers";
  ASSERT_THAT(outcome->passed_nothing, SizeIs(1));
  EXPECT_EQ(outcome->passed_nothing[0].answers, 32U) << "8 train tests, 2 rounds, without and with the draft";
  EXPECT_THAT(stages.seen, ElementsAre("baseline", "probe", "train", "screen", "screen")) << "one attempt to refine it";
  EXPECT_EQ(outcome->refine_end, "no student passes a train test, with or without the skill");
  EXPECT_FALSE(outcome->measured.has_value());
  EXPECT_EQ(outcome->stopped, "");
  EXPECT_THAT(outcome->candidates[outcome->chosen].skill.body, HasSubstr("Draft"));
}

TEST(PassedNothing, ARefinementThatHelpsIsMeasured) {
  GenerationBench bench(Qualities({"[sim 0]", "[sim 0.9]"}), "base=0,skill=body,reference=1");
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->passed_nothing, IsEmpty());
  EXPECT_TRUE(outcome->measured.has_value());
}

TEST(NothingToLearn, FewAnswersDoNotSaySo) {
  GenerationBench bench(Qualities({"[sim 1]"}), "base=1,skill=body");
  bench.options.train_rounds = 1;
  bench.options.holdout = 0.6;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_FALSE(outcome->nothing_to_learn) << "6 train tests, 1 round";
  EXPECT_TRUE(outcome->measured.has_value());
}

}  // namespace
}  // namespace upskill

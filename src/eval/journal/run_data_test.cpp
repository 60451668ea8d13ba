// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/run_data.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "eval/plan/cell.h"
#include "support/peak_memory.h"
#include "support/plan_fixture.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Sample SampleOf(const std::string& case_id, Arm arm, int round, const std::string& text,
                const std::string& student = "fake") {
  Sample sample;
  sample.key = std::string(64, 'a');
  sample.student = student;
  sample.case_id = case_id;
  sample.arm = arm;
  sample.round = round;
  sample.response.text = text;
  return sample;
}

Sample ErrorOf(const std::string& case_id, Arm arm, int round, const std::string& message) {
  Sample sample = SampleOf(case_id, arm, round, "");
  sample.error = Error{ErrorKind::kUnavailable, message};
  return sample;
}

std::vector<std::string> Texts(const SampleList& samples) {
  std::vector<std::string> texts;
  for (const SamplePtr& sample : samples)
    texts.push_back(sample->ok() ? sample->response.text : sample->error->message);
  return texts;
}

TEST(RunData, TheFirstAnswerElseTheLastErrorIsFinal) {
  const std::vector<Sample> samples = {
      ErrorOf("case-1", Arm::kSkill, 0, "first"), ErrorOf("case-2", Arm::kSkill, 0, "second"),
      SampleOf("case-1", Arm::kSkill, 0, "third"), ErrorOf("case-2", Arm::kSkill, 0, "fourth"),
      SampleOf("case-1", Arm::kSkill, 0, "fifth")};
  const RunData at_once(MakeTestPlan(2), samples);
  RunData grown(MakeTestPlan(2));
  for (const Sample& sample : samples) grown.Add(sample);
  for (const RunData* data : {&at_once, &std::as_const(grown)}) {
    EXPECT_THAT(Texts(data->samples()), ElementsAre("third", "fourth"));
    EXPECT_TRUE(data->at(0, Arm::kSkill, 0, 0).answered);
    EXPECT_FALSE(data->at(0, Arm::kSkill, 1, 0).answered);
    EXPECT_EQ(data->at(0, Arm::kBaseline, 0, 0).figures, nullptr);
  }
  EXPECT_THAT(RunData(MakeTestPlan(2)).samples(), IsEmpty());
}

TEST(RunData, AnErrorBeforeARetryIsNotFinal) {
  Sample retried = ErrorOf("case-1", Arm::kSkill, 0, "first");
  retried.will_retry = true;
  const Sample last = ErrorOf("case-2", Arm::kSkill, 0, "last");
  Sample tried_again = ErrorOf("case-2", Arm::kSkill, 0, "in another session");
  tried_again.will_retry = true;
  const std::vector<Sample> samples = {retried, last, tried_again};
  RunData grown(MakeTestPlan(2));
  for (const Sample& sample : samples) grown.Add(sample);
  const RunData at_once(MakeTestPlan(2), samples);
  for (const RunData* data : {&at_once, &std::as_const(grown)}) {
    EXPECT_EQ(data->at(0, Arm::kSkill, 0, 0).figures, nullptr);
    EXPECT_THAT(Texts(data->samples()), ElementsAre("last"));
  }
  EXPECT_EQ(RunData(MakeTestPlan(2), {retried}).rounds(0), 0);
}

TEST(RunData, ChecksDecideWhatPassed) {
  Sample failed = SampleOf("case-1", Arm::kSkill, 0, "wrong");
  failed.checks = {{"contains", Outcome::kFail, ""}};
  Sample passed = SampleOf("case-2", Arm::kSkill, 0, "right");
  passed.checks = {{"contains", Outcome::kPass, ""}};
  const RunData data(MakeTestPlan(2), {failed, passed});
  EXPECT_FALSE(data.at(0, Arm::kSkill, 0, 0).passed);
  EXPECT_TRUE(data.at(0, Arm::kSkill, 1, 0).passed);
}

TEST(RunData, SamplesOfOtherCellsAreIgnored) {
  RunData data(MakeTestPlan(1, 2),
               {SampleOf("case-9", Arm::kSkill, 0, "case"), SampleOf("case-1", Arm::kSkill, 2, "late"),
                SampleOf("case-1", Arm::kSkill, -1, "early"), SampleOf("case-1", Arm::kPlacebo, 0, "arm"),
                SampleOf("case-1", Arm::kSkill, 0, "student", "another")});
  data.Add(SampleOf("case-9", Arm::kSkill, 0, "case"));
  EXPECT_THAT(data.samples(), IsEmpty());
  EXPECT_EQ(data.rounds(0), 0);
  EXPECT_EQ(data.at(0, Arm::kPlacebo, 0, 0).figures, nullptr);
  EXPECT_EQ(data.at(0, Arm::kSkill, 0, -1).figures, nullptr);
  EXPECT_EQ(data.at(0, Arm::kSkill, 0, 99999).figures, nullptr);
}

TEST(RunData, OrdersSamplesLikeThePlansCells) {
  const Plan plan = MakeTestPlan(2, 2, {"a", "b"});
  std::vector<Sample> samples;
  std::vector<std::string> names;
  for (const Cell& cell : CellsOf(plan)) {
    Sample sample =
        SampleOf(plan.suite.cases[cell.case_index].id, cell.arm, cell.round, "", plan.students[cell.student].spec);
    sample.response.text = CellName(sample);
    names.push_back(sample.response.text);
    samples.insert(samples.begin(), std::move(sample));
  }
  const RunData data(plan, std::move(samples));
  EXPECT_EQ(Texts(data.samples()), names);
  EXPECT_THAT(Texts(data.samples(1, Arm::kSkill)),
              ElementsAre("b\nskill\ncase-1\n0", "b\nskill\ncase-1\n1", "b\nskill\ncase-2\n0", "b\nskill\ncase-2\n1"));
  EXPECT_THAT(Texts(data.samples(0, Arm::kBaseline, 1)),
              ElementsAre("a\nbaseline\ncase-2\n0", "a\nbaseline\ncase-2\n1"));
}

Sample TimedOut(const std::string& case_id, Arm arm, int round, bool will_retry) {
  Sample sample = ErrorOf(case_id, arm, round, "slow");
  sample.error->cause = ErrorCause::kTimeout;
  sample.will_retry = will_retry;
  return sample;
}

TEST(RunData, CountsAttemptsAndTheirErrors) {
  Sample limited = ErrorOf("case-1", Arm::kSkill, 0, "limit");
  limited.error->cause = ErrorCause::kRateLimit;
  limited.will_retry = true;
  Sample reused = SampleOf("case-2", Arm::kSkill, 0, "reused");
  reused.failed_before = {ErrorCause::kTimeout};
  const std::vector<Sample> samples = {limited, TimedOut("case-1", Arm::kSkill, 0, true),
                                       SampleOf("case-1", Arm::kSkill, 0, "answer"), reused,
                                       SampleOf("case-1", Arm::kBaseline, 0, "answer")};
  RunData grown(MakeTestPlan(2));
  for (const Sample& sample : samples) grown.Add(sample);
  const RunData at_once(MakeTestPlan(2), samples);
  for (const RunData* data : {&at_once, &std::as_const(grown)}) {
    EXPECT_EQ(data->attempts(0, Arm::kSkill).attempts, 5U);
    EXPECT_THAT(data->attempts(0, Arm::kSkill).errors,
                ElementsAre(std::pair(ErrorCause::kRateLimit, 1U), std::pair(ErrorCause::kTimeout, 2U)));
    EXPECT_EQ(data->attempts(0, Arm::kBaseline).attempts, 1U);
    EXPECT_TRUE(data->has_lost_answers());
  }
  EXPECT_FALSE(RunData(MakeTestPlan(2), {limited}).has_lost_answers());
}

TEST(RunData, AssumesOnlyLostAnswers) {
  const RunData data(MakeTestPlan(3),
                     {TimedOut("case-1", Arm::kSkill, 0, true), SampleOf("case-1", Arm::kSkill, 0, "answer"),
                      TimedOut("case-2", Arm::kSkill, 0, false), SampleOf("case-3", Arm::kSkill, 0, "answer"),
                      TimedOut("case-1", Arm::kBaseline, 0, false), TimedOut("case-2", Arm::kBaseline, 0, true)});
  for (const bool skill_passes : {false, true}) {
    const RunData assumed = data.AssumeLost(skill_passes);
    for (const std::size_t lost : {0U, 1U}) {
      EXPECT_TRUE(assumed.at(0, Arm::kSkill, lost, 0).answered);
      EXPECT_EQ(assumed.at(0, Arm::kSkill, lost, 0).passed, skill_passes);
    }
    EXPECT_EQ(assumed.at(0, Arm::kBaseline, 0, 0).passed, !skill_passes);
    EXPECT_FALSE(assumed.at(0, Arm::kSkill, 2, 0).passed) << "as it was";
    EXPECT_EQ(assumed.at(0, Arm::kBaseline, 1, 0).figures, nullptr) << "still open";
  }
}

// Servers that fail for a while fail in every arm; skills that make a model ramble don't.
TEST(RunData, AnOutageSaysNothingAboutAnswers) {
  const auto passes_after = [](bool in_baseline, int outages) {
    std::vector<Sample> samples;
    for (int round = 0; round < 4; ++round) {
      for (const std::string id : {"case-1", "case-2", "case-3"}) {
        for (const Arm arm : {Arm::kBaseline, Arm::kSkill}) {
          const bool lost = round < outages && id != "case-3" && (arm == Arm::kSkill || in_baseline);
          if (lost) samples.push_back(TimedOut(id, arm, round, true));
          samples.push_back(SampleOf(id, arm, round, "answer"));
          samples.back().checks = {{"check", Outcome::kPass, ""}};
        }
      }
    }
    const RunData data(MakeTestPlan(3, 4), samples);
    return data.AssumeLost(false).at(0, Arm::kSkill, 0, 0).passed;
  };
  EXPECT_TRUE(passes_after(true, 1));
  EXPECT_FALSE(passes_after(false, 1)) << "of one arm";
  EXPECT_FALSE(passes_after(true, 2)) << "in two rounds of four";
}

// Reports and verdicts keep pointers into the run while it grows or is moved.
TEST(RunData, SamplesStayWhereTheyAre) {
  RunData data(MakeTestPlan(1, 1000), {SampleOf("case-1", Arm::kSkill, 0, "short")});
  data.Add(SampleOf("case-1", Arm::kSkill, 1, "one"));
  const std::vector<SamplePtr> before = {data.Load(0, Arm::kSkill, 0, 0), data.Load(0, Arm::kSkill, 0, 1)};
  for (int round = 2; round < 1000; ++round) data.Add(SampleOf("case-1", Arm::kSkill, round, "more"));
  RunData moved = std::move(data);
  moved.Add(SampleOf("case-1", Arm::kBaseline, 0, "added after the move"));
  EXPECT_THAT(moved.samples(), SizeIs(1001));
  EXPECT_EQ(moved.Load(0, Arm::kSkill, 0, 0), before[0]);
  EXPECT_EQ(moved.Load(0, Arm::kSkill, 0, 1), before[1]);
  EXPECT_EQ(before[0]->response.text, "short");
  EXPECT_EQ(moved.Load(0, Arm::kBaseline, 0, 0)->response.text, "added after the move");
}

TEST(RunData, ReadsARunsFolder) {
  const TempFolder folder;
  Plan plan = MakeTestPlan(1);
  plan.run = "r";
  folder.Write("r/plan.json", DumpJson(PlanToJson(plan)));
  folder.Write("r/samples.jsonl",
               "damaged\n" + DumpJson(SampleToJson(SampleOf("case-1", Arm::kSkill, 0, "right 1"))) + "\n");
  const Result<RunData> data = RunData::Read(folder.path() / "r");
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->plan().run, "r");
  EXPECT_EQ(data->skipped_lines(), 1U);
  EXPECT_THAT(Texts(data->samples()), ElementsAre("right 1"));
  EXPECT_FALSE(RunData::Read(folder.path() / "none").ok());
}

// Texts stay in the journal.
TEST(RunData, ReadsTextsWhenTheyAreLookedAt) {
  const TempFolder folder;
  folder.Write("r/plan.json", DumpJson(PlanToJson(MakeTestPlan(2))));
  std::string lines = "damaged\n";
  for (const std::string id : {"case-1", "case-2"})
    lines += DumpJson(SampleToJson(SampleOf(id, Arm::kSkill, 0, "answer to " + id))) + "\n";
  folder.Write("r/samples.jsonl", lines);
  const Result<RunData> data = RunData::Read(folder.path() / "r");
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->Load(0, Arm::kSkill, 1, 0)->response.text, "answer to case-2");

  folder.Write("r/samples.jsonl", std::string(lines.size(), 'x'));
  const SamplePtr changed = data->Load(0, Arm::kSkill, 1, 0);
  ASSERT_FALSE(changed->ok());
  EXPECT_THAT(changed->error->message, HasSubstr("changed while it was read"));
  EXPECT_EQ(changed->case_id, "case-2");
  EXPECT_TRUE(data->at(0, Arm::kSkill, 1, 0).answered) << "its figures are known";
  folder.Write("r/samples.jsonl", "");
  EXPECT_THAT(data->Load(0, Arm::kSkill, 1, 0)->error->message, HasSubstr("became shorter while it was read"));
}

#ifndef UPSKILL_SANITIZED  // sanitizers take memory of their own
// The peak of reading a run of 100 cases, whose answers are long.
double PeakOfReading(int rounds) {
  const TempFolder folder;
  const Plan plan = MakeTestPlan(100, rounds);
  folder.Write("r/plan.json", DumpJson(PlanToJson(plan)));
  std::string lines;
  const std::string answer(400, 'x');
  for (int round = 0; round < rounds; ++round) {
    for (const Case& test_case : plan.suite.cases)
      lines += DumpJson(SampleToJson(SampleOf(test_case.id, Arm::kSkill, round, answer))) + "\n";
  }
  folder.Write("r/samples.jsonl", lines);
  lines = std::string();
  return static_cast<double>(PeakGrowth([&] { return RunData::Read(folder.path() / "r").ok(); }));
}

TEST(RunData, ASampleMoreTakesLittleMemory) {
  const double each = (PeakOfReading(1000) - PeakOfReading(100)) / (100.0 * 900.0);
  EXPECT_LT(each, 256.0) << "one arm of two is empty: 128 bytes for each sample, and a vector that grows";
}
#endif

}  // namespace
}  // namespace upskill

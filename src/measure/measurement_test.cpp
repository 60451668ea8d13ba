// SPDX-License-Identifier: Apache-2.0
#include "measure/measurement.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "eval/verdict/ledger.h"
#include "support/fake_model.h"
#include "support/plan_fixture.h"
#include "support/runner_bench.h"
#include "support/stepping_clock.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Measurements : public ::testing::Test {
 protected:
  Measurements() {
    const Plan plan = MakeTestPlan(3);
    spec.skill = MeasuredSkill{plan.skill, std::nullopt, {}};
    spec.suite = plan.suite;
    spec.is_vetted = true;
    spec.students = plan.students;
    spec.system_prompt = plan.system_prompt;
    place.runs_dir = runs.path();
    place.clock = &clock;
    place.stop = &stop;
    place.models = {&model};
  }

  Result<Measurement> Start() {
    Result<PlannedRun> planned = PlanMeasurement(spec, place);
    if (!planned) return planned.error();
    return StartMeasurement(spec, std::move(planned->plan), place);
  }

  Result<Measurement> Resume(const std::string& run) {
    const std::filesystem::path folder = runs.path() / run;
    return ResumeMeasurement(spec, {folder, LoadPlan(folder).value()}, place);
  }

  JudgedRun Finish(Measurement& measurement) {
    Result<RunOutcome> outcome = RunMeasurement(measurement, {});
    EXPECT_TRUE(outcome.ok());
    EndedRun ended = EndMeasurement(measurement, std::move(outcome->data));
    EXPECT_TRUE(ended.files.ok() && ended.noted.ok());
    return std::move(ended.judged);
  }

  std::vector<LedgerRun> Noted() const { return ReadLedger(runs.path())->runs; }

  const TempFolder runs;
  SteppingClock clock;
  StopFlag stop = 0;
  FakeModel model{"fake", 3, AlwaysRight()};
  MeasureSpec spec;
  MeasurePlace place;
};

TEST_F(Measurements, TakeTheirShareOnceAndNoteTheirLook) {
  Result<Measurement> measurement = Start();
  ASSERT_TRUE(measurement.ok()) << measurement.error().message;
  EXPECT_EQ(measurement->plan.share.look, 1);
  ASSERT_THAT(Noted(), SizeIs(1));
  EXPECT_EQ(Noted()[0].run, measurement->plan.run);
  EXPECT_THAT(Noted()[0].results, IsEmpty());
  EXPECT_TRUE(Finish(*measurement).summary.complete());
  ASSERT_THAT(Noted(), SizeIs(1));
  EXPECT_THAT(Noted()[0].results, SizeIs(1));
  EXPECT_THAT(model.requests, SizeIs(6));
}

TEST_F(Measurements, TakeAnswersThatAreThere) {
  {
    Result<Measurement> first = Start();
    ASSERT_TRUE(first.ok());
    Finish(*first);
  }
  Result<Measurement> second = Start();
  ASSERT_TRUE(second.ok());
  Finish(*second);
  EXPECT_THAT(model.requests, SizeIs(6));
  EXPECT_THAT(second->cached, SizeIs(6));
}

TEST_F(Measurements, ThatAreResumedKeepTheirShare) {
  std::string run;
  {
    Result<Measurement> first = Start();
    ASSERT_TRUE(first.ok());
    run = first->plan.run;
    Finish(*first);
  }
  Result<Measurement> resumed = Resume(run);
  ASSERT_TRUE(resumed.ok()) << resumed.error().message;
  EXPECT_TRUE(resumed->is_resumed);
  EXPECT_EQ(resumed->plan.share.look, 1);
  EXPECT_THAT(resumed->resumed, SizeIs(6));
  EXPECT_TRUE(Finish(*resumed).summary.complete());
  EXPECT_THAT(model.requests, SizeIs(6));
  EXPECT_THAT(Noted(), SizeIs(1));
}

TEST_F(Measurements, WithoutAnAnswerGetTheShareThatIsLeft) {
  std::string run;
  {
    const Result<Measurement> never_run = Start();
    ASSERT_TRUE(never_run.ok());
    run = never_run->plan.run;
  }
  spec.rounds = 2;  // another look at the same tests
  {
    Result<Measurement> other = Start();
    ASSERT_TRUE(other.ok());
    Finish(*other);
  }
  const Result<Measurement> resumed = Resume(run);
  ASSERT_TRUE(resumed.ok()) << resumed.error().message;
  EXPECT_EQ(resumed->plan.share.look, 2);
  EXPECT_EQ(LoadPlan(runs.path() / run)->share.look, 2);
}

TEST_F(Measurements, ThatCannotBeginLeaveNoFolder) {
  spec.terms.gate = "helps:another";
  EXPECT_FALSE(Start().ok());
  EXPECT_THAT(FindRuns(runs.path()), IsEmpty());
  spec.terms.gate = "";
  std::filesystem::create_directory(runs.path() / kLedgerFile);  // so that nothing can be noted
  const Result<Measurement> measurement = Start();
  ASSERT_FALSE(measurement.ok());
  EXPECT_THAT(measurement.error().message, HasSubstr("looks at the tests"));
  EXPECT_THAT(FindRuns(runs.path()), IsEmpty());
}

TEST_F(Measurements, OfAnotherSkillAreNotResumed) {
  std::string run;
  {
    const Result<Measurement> first = Start();
    ASSERT_TRUE(first.ok());
    run = first->plan.run;
  }
  spec.skill->snapshot.name = "another";
  const Result<Measurement> resumed = Resume(run);
  ASSERT_FALSE(resumed.ok());
  EXPECT_THAT(resumed.error().message, HasSubstr("measures the skill 'test-skill', not 'another'"));
}

TEST_F(Measurements, WithoutASkillAskTheBaselineAlone) {
  spec.skill.reset();
  Result<Measurement> measurement = Start();
  ASSERT_TRUE(measurement.ok()) << measurement.error().message;
  EXPECT_THAT(measurement->plan.arms, ElementsAre(Arm::kBaseline));
  EXPECT_TRUE(Finish(*measurement).summary.complete());
  EXPECT_THAT(model.requests, SizeIs(3));
  EXPECT_THAT(Noted(), IsEmpty());
  EXPECT_TRUE(LoadPlan(runs.path() / measurement->plan.run).ok());
}

TEST_F(Measurements, ThatAreNotKeptLeaveNothing) {
  spec.is_kept = false;
  Result<Measurement> measurement = Start();
  ASSERT_TRUE(measurement.ok());
  EXPECT_TRUE(Finish(*measurement).summary.complete());
  EXPECT_TRUE(std::filesystem::is_empty(runs.path()));
}

}  // namespace
}  // namespace upskill

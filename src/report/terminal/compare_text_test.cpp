// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/compare_text.h"

#include <gmock/gmock.h>

#include <string>

#include "support/report_fixture.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

const Style kPlainComparison{false, 120};

// The same suite, where "easy" fails with the skill and there is a second model.
ReportRun Worse() {
  ReportRun run;
  run.plan.run = "2026_11_22_10_12_33-ef01";
  for (Sample& sample : run.samples) {
    if (sample.case_id == "easy" && sample.arm == Arm::kSkill) sample.checks[0].outcome = Outcome::kFail;
    sample.response.cost_usd = 0.001;
  }
  run.plan.students.push_back({"other", "other", "other"});
  run.verdicts[0].word = Verdict::kUndecided;
  run.verdicts[0].lift = -0.25;
  run.verdicts.emplace_back();
  return run;
}

TEST(CompareRuns, SideBySide) {
  const ReportRun a;
  const ReportRun b = Worse();
  const Result<RunComparison> comparison = CompareRuns(a.judged(), b.judged());
  ASSERT_TRUE(comparison.ok());
  ASSERT_THAT(comparison->students, SizeIs(2));
  const StudentComparison& student = comparison->students[0];
  EXPECT_EQ(student.a.skill.rate(), 1.0);
  EXPECT_NEAR(*student.b.skill.rate(), 1.0 / 3.0, 1e-12);
  EXPECT_EQ(student.a.reference.rate(), 0.5);
  EXPECT_EQ(student.a.skill.mean_tokens(), 242.0);
  EXPECT_FALSE(student.a.skill.mean_cost_usd());
  EXPECT_NEAR(*student.b.skill.mean_cost_usd(), 0.001, 1e-12);
  ASSERT_THAT(student.changed, SizeIs(1));
  EXPECT_EQ(student.changed[0].case_id, "easy");
  EXPECT_EQ(student.changed[0].before, 1.0);
  EXPECT_EQ(student.changed[0].after, 0.0);
  EXPECT_FALSE(comparison->students[1].a.verdict);
}

TEST(CompareText, Golden) {
  const ReportRun a;
  const ReportRun b = Worse();
  EXPECT_EQ(CompareText(*CompareRuns(a.judged(), b.judged()), kPlainComparison).text(),
            "A 2026_11_21_10_12_33-abcd\n"
            "B 2026_11_22_10_12_33-ef01\n\n"
            "model    without      with skill    lift       tokens with prompt  $ per answer  verdict\n"
            "student  50 % → 50 %  100 % → 33 %  +50 → -25  242 → 242           – → 0.00100   helps → undecided\n"
            "other    – → –        – → –         – → –      – → –               – → –         –\n"
            "\nstudent: both runs have the very same answers with the skill, judged differently\n"
            "\nstudent with the skill\n"
            "  ▼ easy  100 % → 0 %\n");
  EXPECT_THAT(CompareText(*CompareRuns(a.judged(), a.judged()), kPlainComparison).text(),
              HasSubstr("student: both runs have the very same answers"));
  ReportRun stranger;
  stranger.plan.students[0] = {"b", "b", "b"};
  EXPECT_THAT(CompareText(*CompareRuns(a.judged(), stranger.judged()), kPlainComparison).text(),
              HasSubstr("no model in common"));
}

TEST(CompareRuns, RefusesOtherSuitesAndNamesTheDifference) {
  const ReportRun a;
  ReportRun b;
  b.plan.suite.cases[1].input += " Now.";
  EXPECT_THAT(CompareRuns(a.judged(), b.judged()).error().message, HasSubstr("case 'hard' has a different input"));
  b = ReportRun();
  b.plan.suite.cases[0].checks[0].values = {"5"};
  EXPECT_THAT(CompareRuns(a.judged(), b.judged()).error().message, HasSubstr("case 'easy' has different checks"));
  b = ReportRun();
  b.plan.suite.cases.pop_back();
  EXPECT_THAT(CompareRuns(a.judged(), b.judged()).error().message,
              HasSubstr("case 'hard' is only in the suite of " + a.plan.run));
  EXPECT_THAT(CompareRuns(b.judged(), a.judged()).error().message,
              HasSubstr("case 'hard' is only in the suite of " + a.plan.run));
}

TEST(CompareToJson, UnknownIsNull) {
  const ReportRun a;
  const ReportRun b = Worse();
  const Json json = CompareToJson(*CompareRuns(a.judged(), b.judged()));
  EXPECT_EQ(json.at("a"), a.plan.run);
  EXPECT_EQ(json.at("students").at(0).at("changed_cases"), Json::parse(R"([{"case": "easy", "a": 1.0, "b": 0.0}])"));
  EXPECT_TRUE(json.at("students").at(0).at("a").at("cost_usd").is_null());
  EXPECT_TRUE(json.at("students").at(1).at("a").at("verdict").is_null());
}

TEST(CompareText, HostileNames) {
  ReportRun a;
  ReportRun b = Worse();
  for (ReportRun* run : {&a, &b}) {
    run->plan.suite.cases[0].id = kHostile;
    run->plan.students[0].name = kHostile;
    for (Sample& sample : run->samples) {
      if (sample.case_id == "easy") sample.case_id = kHostile;
    }
  }
  const std::string text = CompareText(*CompareRuns(a.judged(), b.judged()), kPlainComparison).text();
  EXPECT_THAT(text, HasSubstr("evil\\x1b[2J"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "report/export/python_export.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "report/export/python_files.h"
#include "support/report_fixture.h"
#include "util/files.h"
#include "util/invariant.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::vector<JudgedRun> One(const TestRun& run) {
  std::vector<JudgedRun> runs;
  runs.push_back(run.judged());
  return runs;
}

Json JsonIn(const fs::path& file) {
  const Result<std::string> text = ReadFile(file);
  CHECK(text.ok());
  Result<Json> json = ParseJson(*text, file.string());
  CHECK(json.ok());
  return std::move(json).value();
}

TEST(PythonRounds, AreABaselineAndARunWithTheSkillPerRound) {
  const std::vector<Json> results = PythonRounds(TestRun().judged());
  ASSERT_THAT(results, SizeIs(4));
  std::vector<std::string> types;
  for (const Json& result : results) types.push_back(result.at("run_type"));
  EXPECT_THAT(types, ElementsAre("baseline", "with_skill", "baseline", "with_skill"));
  EXPECT_EQ(results[3].at("metadata").at("run_number"), 4);
  EXPECT_EQ(results[0].at("assertions_passed"), 1);
  EXPECT_EQ(results[0].at("assertions_total"), 2);
  EXPECT_EQ(results[0].at("passed"), false) << "not more than half";
  EXPECT_EQ(results[1].at("passed"), true) << "a lift of 50 points";
  EXPECT_EQ(results[1].at("stats").at("turns"), 2);
  EXPECT_EQ(results[1].at("stats").at("input_tokens"), 460);
  EXPECT_TRUE(results[1].at("error_message").is_null());
  EXPECT_EQ(results[3].at("assertions_total"), 1) << "an error is no failed answer";
  EXPECT_EQ(results[3].at("error_message"), "1 of 2 cells unanswered; the first: overloaded");
}

TEST(PythonRounds, AssertionsAreTheExpectedTextsAndEachOtherCheck) {
  TestRun run;
  Result<Suite> suite = ParseSuite(
      R"([{"id": "easy", "input": "What?", "expected": {"contains": ["4", "four"]},
           "checks": [{"type": "regex", "pattern": "^4"}, {"type": "not_contains", "values": ["5"]}]},
          {"id": "hard", "input": "Write.", "checks": [{"type": "contains", "values": ["edition"]}]}])",
      "suite.json");
  ASSERT_TRUE(suite.ok());
  run.plan.suite = std::move(suite).value();
  run.samples.clear();
  run.Add("easy", Arm::kSkill, 0, "4");
  run.Add("hard", Arm::kSkill, 0, "edition");
  run.plan.arms = {Arm::kSkill};
  run.plan.rounds = 1;
  const std::vector<Json> results = PythonRounds(run.judged());
  ASSERT_THAT(results, SizeIs(1));
  EXPECT_EQ(results[0].at("assertions_total"), 4);
  EXPECT_EQ(results[0].at("assertions_passed"), 3) << "of the expected texts, one is missing";
  EXPECT_EQ(results[0].at("passed"), false) << "without a baseline and in one round, more than half must pass";
}

// EvalResults.is_beneficial: a lift above 5 points, or no loss and more than a fifth of the tokens saved.
TEST(PythonRounds, PassedSaysWhatThePythonToolCallsBeneficial) {
  const auto passed = [](const std::string& baseline, const std::string& skill, int tokens) {
    TestRun run;
    run.samples.clear();
    run.plan.rounds = 1;
    for (const char* id : {"easy", "hard"}) {
      run.Add(id, Arm::kBaseline, 0, baseline);
      run.Add(id, Arm::kSkill, 0, skill);
      run.samples.back().response.usage = {tokens, 0, 0, 0, 0};
    }
    return PythonRounds(run.judged()).at(1).at("passed").get<bool>();
  };
  EXPECT_TRUE(passed("no", "4", 1000));
  EXPECT_FALSE(passed("4", "4", 46));
  EXPECT_TRUE(passed("4", "4", -168)) << "242 - 168 = 74 instead of 92 tokens, of which a fifth is 18.4";
  EXPECT_FALSE(passed("4", "no", 0));
}

TEST(ExportToPython, WritesWhatIsReadBack) {
  const TempFolder folder = TempFolder::Make("upskill-test-").value();
  const fs::path dir = folder.path() / "out";
  const std::vector<JudgedRun> runs = One(TestRun());
  ASSERT_TRUE(ExportToPython(runs, dir).ok());
  const fs::path run = dir / runs[0].plan().run;
  EXPECT_EQ(JsonIn(run / "run_4/run_metadata.json").at("run_number"), 4);
  EXPECT_EQ(JsonIn(run / "batch_summary.json").at("total_runs"), 4);
  EXPECT_EQ(JsonIn(run / "batch_summary.json").at("results").at(2), JsonIn(run / "run_3/run_result.json"));
  const Result<PythonRun> read = ReadPythonRun(run);
  ASSERT_TRUE(read.ok());
  ASSERT_THAT(read->rows, SizeIs(2));
  EXPECT_NEAR(*read->rows[0].student.lift, 0.5, 1e-12);
  EXPECT_THAT(read->results, SizeIs(4));
  EXPECT_THAT(*ReadFile(dir / "results.csv"), HasSubstr(",1,sim:base=0.4,manifests,"));

  const Status again = ExportToPython(runs, dir);
  ASSERT_FALSE(again.ok());
  EXPECT_THAT(again.error().message, HasSubstr("already exists and is left unchanged"));
}

TEST(ExportToPython, StaysInItsFolder) {
  const TempFolder folder = TempFolder::Make("upskill-test-").value();
  for (const char* name : {"../out", "a/b", "", "/tmp/x", "."}) {
    TestRun run;
    run.plan.run = name;
    EXPECT_FALSE(ExportToPython(One(run), folder.path() / "in").ok()) << name;
  }
}

}  // namespace
}  // namespace upskill

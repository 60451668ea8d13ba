// SPDX-License-Identifier: Apache-2.0
#include "report/export/skill_creator.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/report_fixture.h"
#include "util/files.h"
#include "util/invariant.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Json JsonOfFile(const fs::path& file) {
  const Result<std::string> text = ReadFile(file);
  CHECK(text.ok());
  Result<Json> json = ParseJson(*text, file.string());
  CHECK(json.ok());
  return std::move(json).value();
}

std::string ErrorOfExport(const std::vector<JudgedRun>& runs, const fs::path& dir) {
  const Status written = ExportToSkillCreator(runs, dir);
  return written ? "" : written.error().message;
}

class ExportToSkillCreatorTest : public testing::Test {
 protected:
  const TempFolder folder;
  const fs::path dir = folder.path() / "workspace";
  const fs::path iteration = dir / "iteration-1";
};

TEST_F(ExportToSkillCreatorTest, WritesWhatItsProgramsLookFor) {
  ASSERT_EQ(ErrorOfExport(Runs(ReportRun().judged()), dir), "");
  const Json metadata = JsonOfFile(iteration / "eval-2-hard/eval_metadata.json");
  EXPECT_EQ(metadata, Json::parse(R"({"eval_id": 2, "eval_name": "hard", "prompt": "Write the manifest.",
                                      "assertions": ["contains \"edition = 5\""]})"));
  // The viewer looks for the prompt in the folder above run-K.
  EXPECT_EQ(JsonOfFile(iteration / "eval-2-hard/with_skill/eval_metadata.json"), metadata);
  EXPECT_EQ(JsonOfFile(iteration / "eval-1-easy/without_skill/run-2/grading.json").at("summary").at("passed"), 1);
  EXPECT_EQ(JsonOfFile(iteration / "eval-1-easy/without_skill/run-2/timing.json").at("total_tokens"), 46);
  EXPECT_EQ(*ReadFile(iteration / "eval-2-hard/with_skill/run-1/outputs/answer.md"), "edition = 5");
  EXPECT_FALSE(fs::exists(iteration / "eval-2-hard/with_skill/run-2")) << "an error is no answer";
}

TEST_F(ExportToSkillCreatorTest, TheSkillComesFirstInTheBenchmark) {
  ASSERT_EQ(ErrorOfExport(Runs(ReportRun().judged()), dir), "");
  const Json benchmark = JsonOfFile(iteration / "benchmark.json");
  std::vector<std::string> names;
  for (const auto& [name, value] : benchmark.at("run_summary").items()) names.push_back(name);
  EXPECT_THAT(names, ElementsAre("with_skill", "without_skill", "delta"));
  EXPECT_EQ(benchmark.at("run_summary").at("delta"),
            Json::parse(R"({"pass_rate": "+0.50", "time_seconds": "+0.0", "tokens": "+196"})"));
  EXPECT_EQ(benchmark.at("runs").at(0).at("configuration"), "with_skill");
  EXPECT_EQ(*ReadFile(iteration / "benchmark.md"),
            "# Skill Benchmark: manifests\n\n**Model**: sim:base=0.4  \n**Date**: 2026-11-21T10:12:33Z  \n"
            "**Evals**: 2, 2 runs each per configuration\n\n## Summary\n\n"
            "| Metric | With Skill | Without Skill | Delta |\n|---|--:|--:|--:|\n"
            "| Pass Rate | 100% ± 0% | 50% ± 58% | +0.50 |\n"
            "| Time | 1.5 s ± 0.0 s | 1.5 s ± 0.0 s | +0.0 |\n"
            "| Tokens | 242 ± 0 | 46 ± 0 | +196 |\n\n## Notes\n\n"
            "- with_skill: 1 of 4 cells are unanswered and left out\n- verdict: helps\n");
}

TEST_F(ExportToSkillCreatorTest, OneRoundHasARunFolderToo) {
  ReportRun run;
  run.plan.rounds = 1;
  ASSERT_EQ(ErrorOfExport(Runs(run.judged()), dir), "");
  EXPECT_TRUE(fs::exists(iteration / "eval-1-easy/with_skill/run-1/grading.json"));
}

TEST_F(ExportToSkillCreatorTest, RunsAreIterationsAndModelsFolders) {
  ReportRun second;
  second.plan.students.insert(second.plan.students.begin(), {"sim:base=0.9", "../x", "sim:2"});
  ASSERT_EQ(ErrorOfExport(Runs(ReportRun().judged(), second.judged()), dir), "");
  EXPECT_TRUE(fs::exists(dir / "1-student/iteration-1/benchmark.json"));
  EXPECT_TRUE(fs::exists(dir / "1-student/iteration-2/benchmark.json"));
  EXPECT_FALSE(fs::exists(dir / "2-x/iteration-1"));
  EXPECT_TRUE(fs::exists(dir / "2-x/iteration-2/benchmark.json")) << "without an answer";

  ReportRun other;
  other.plan.skill.name = "other";
  EXPECT_THAT(ErrorOfExport(Runs(ReportRun().judged(), other.judged()), folder.path() / "w"),
              HasSubstr("of manifests and of other"));
  EXPECT_FALSE(fs::exists(folder.path() / "w"));
}

TEST_F(ExportToSkillCreatorTest, WithoutABaselineOrTokens) {
  ReportRun run;
  run.plan.arms = {Arm::kSkill};
  run.ForgetTokens();
  ASSERT_EQ(ErrorOfExport(Runs(run.judged()), dir), "");
  EXPECT_THAT(*ReadFile(iteration / "benchmark.md"), AllOf(HasSubstr("| Metric | With Skill |\n|---|--:|\n"),
                                                           HasSubstr("| Tokens | – |\n"), Not(HasSubstr("Delta"))));
}

TEST_F(ExportToSkillCreatorTest, NamesStayInTheFolderAndTextsAreData) {
  ReportRun run;
  run.plan.skill.name = "| <b>\n# x";
  for (const char* id : {"../../up", "a/b", "a b"}) {
    run.plan.suite.cases.push_back(run.plan.suite.cases[0]);
    run.plan.suite.cases.back().id = id;
    run.Add(id, Arm::kSkill, 0, kAttack);
  }
  ASSERT_EQ(ErrorOfExport(Runs(run.judged()), dir), "");
  EXPECT_TRUE(fs::exists(iteration / "eval-3-up/with_skill/run-1/outputs/answer.md"));
  EXPECT_TRUE(fs::exists(iteration / "eval-4-a-b/with_skill/run-1/outputs/answer.md"));
  EXPECT_TRUE(fs::exists(iteration / "eval-5-a-b/with_skill/run-1/outputs/answer.md"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
  EXPECT_THAT(*ReadFile(iteration / "benchmark.md"), Not(AnyOf(HasSubstr("<b>"), HasSubstr("\n# x"))));
}

TEST_F(ExportToSkillCreatorTest, NothingIsOverwrittenAndNothingWrittenWithoutAnswers) {
  fs::create_directories(dir);
  EXPECT_THAT(ErrorOfExport(Runs(ReportRun().judged()), dir), HasSubstr("already exists and is left unchanged"));
  fs::create_directory_symlink(folder.path() / "nowhere", folder.path() / "link");
  EXPECT_THAT(ErrorOfExport(Runs(ReportRun().judged()), folder.path() / "link"), HasSubstr("already exists"));
  ReportRun run;
  run.samples.clear();
  EXPECT_THAT(ErrorOfExport(Runs(run.judged()), folder.path() / "w"), HasSubstr("has no answers"));
  EXPECT_FALSE(fs::exists(folder.path() / "w"));
}

TEST_F(ExportToSkillCreatorTest, ADiskErrorSaysWhatIsIncomplete) {
  const fs::path file = folder.Write("file", "");
  EXPECT_THAT(ErrorOfExport(Runs(ReportRun().judged()), file / "w"), HasSubstr("file"));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "eval/run/judge_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;

RubricRecord Record(const std::string& judge, const std::string& rubric, std::int64_t both_pass) {
  return {judge, RubricHash(rubric), {both_pass, 1, 2, 3}, "2026-11-23T10:00:00Z", {}, {}, {}};
}

TEST(JudgeRecords, TheLargestOfEachRubricIsAddedUp) {
  const TempFolder folder;
  EXPECT_FALSE(FindJudgeRecord(folder.path() / "runs", "j", {"a"})->has_value());
  ASSERT_TRUE(AppendJudgeRecords(folder.path() / "runs", {Record("j", "a", 10), Record("j", "b", 20)}).ok());
  ASSERT_TRUE(AppendJudgeRecords(folder.path() / "runs", {Record("j", "a", 30), Record("other", "b", 99)}).ok());
  const auto found = *FindJudgeRecord(folder.path() / "runs", "j", {"a", " b\n", "c"});
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->counts.both_pass, 50);
  EXPECT_EQ(found->counts.both_fail, 6);
  EXPECT_EQ(found->rubrics_checked, 2);
  EXPECT_FALSE(FindJudgeRecord(folder.path() / "runs", "j", {"c"})->has_value());
  ASSERT_TRUE(AppendJudgeRecords(folder.path() / "runs", {Record("j", "a", 2), Record("j", "b", 20)}).ok());
  EXPECT_EQ((*FindJudgeRecord(folder.path() / "runs", "j", {"a", "b"}))->counts.both_pass, 50) << "a smaller one";
}

TEST(JudgeRecords, KeepWhatTheArmsShow) {
  const TempFolder folder;
  RubricRecord record = Record("j", "a", 30);
  record.effective = {3.5, 0.5, 0.25, 2.0};
  record.with_skill = {5, 12, 0, 8};
  record.without_skill = {5, 1, 0, 19};
  ASSERT_TRUE(AppendJudgeRecords(folder.path(), {record, Record("j", "b", 20)}).ok());
  const auto found = *FindJudgeRecord(folder.path(), "j", {"a"});
  EXPECT_EQ(found->effective, record.effective);
  EXPECT_TRUE(found->arms_differ);
  const auto other = *FindJudgeRecord(folder.path(), "j", {"b"});
  EXPECT_EQ(other->effective, EffectiveOf(other->counts)) << "nothing is known of how often they occurred";
  EXPECT_FALSE(other->arms_differ);
}

TEST(JudgeRecords, DamagedLinesAreSkipped) {
  const TempFolder folder;
  folder.Write(kJudgesFile, "{\"schema\": 1, \"judge\": 5}\nnot JSON\n[]\n{\"schema\":9}\n");
  ASSERT_TRUE(AppendJudgeRecords(folder.path(), {Record("j", "a", 7)}).ok());
  EXPECT_EQ((*FindJudgeRecord(folder.path(), "j", {"a"}))->counts.both_pass, 7);
  const std::string line = "{\"schema\": 1, \"judge\": \"j\", \"rubric\": \"" + RubricHash("a") +
                           "\", \"judge_only\": 1, \"people_only\": 1, \"both_fail\": 9, \"both_pass\": ";
  for (const char* count : {"-5", "1e300", "\"x\"", "9000000000000000000"}) {
    const TempFolder other;
    other.Write(kJudgesFile, line + count + "}\n");
    EXPECT_FALSE(FindJudgeRecord(other.path(), "j", {"a"})->has_value()) << count;
  }
}

TEST(RubricsOf, AreFoundInGroupsAndCountOnce) {
  const Result<Suite> suite = ParseSuite(R"([
    {"input": "1", "checks": [{"type": "judge", "rubric": "a"}]},
    {"input": "2", "checks": [{"type": "any", "checks": [{"type": "judge", "rubric": "b"}, {"type": "judge", "rubric": "a"}]}]}])",
                                         "s.json");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  EXPECT_THAT(RubricsOf(*suite), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace upskill

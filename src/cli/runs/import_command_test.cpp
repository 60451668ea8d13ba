// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "eval/journal/journal.h"
#include "support/command_line.h"
#include "util/json.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// benchmark.json as skill-creator's aggregate_benchmark.py writes it: `cases` evals with three runs each, which pass
// with the skill and fail without it.
std::string BenchmarkThatHolds(int cases) {
  Json runs = Json::array();
  for (const char* configuration : {"with_skill", "without_skill"}) {
    const bool with = std::string(configuration) == "with_skill";
    for (int id = 1; id <= cases; ++id) {
      for (int number = 1; number <= 3; ++number) {
        runs.push_back({{"eval_id", id},
                        {"configuration", configuration},
                        {"run_number", number},
                        {"result",
                         {{"pass_rate", with ? 1.0 : 0.5},
                          {"passed", with ? 2 : 1},
                          {"failed", with ? 0 : 1},
                          {"total", 2},
                          {"time_seconds", 10.5},
                          {"tokens", 500},
                          {"errors", 0}}},
                        {"notes", Json::array()}});
      }
    }
  }
  return DumpJson({{"metadata", {{"skill_name", "pdf"}, {"executor_model", "sonnet"}}}, {"runs", runs}});
}

class ImportCommand : public CommandLineTest {
 protected:
  ImportCommand() { folder.Write("benchmark.json", BenchmarkThatHolds(5)); }

  int Import(const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"import", (folder.path() / "benchmark.json").string(), "-o", runs().string()};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  }
};

TEST_F(ImportCommand, GivesOurVerdictAndMakesARun) {
  ASSERT_EQ(Import(), 0) << error;
  EXPECT_THAT(out,
              AllOf(HasSubstr("pdf · imported from skill-creator · 5 cases × 3 rounds × 2 arms = 30 cells"),
                    HasSubstr("+100 points"), HasSubstr("helps"), HasSubstr("the answer is the unit of evidence")));
  ASSERT_EQ(FindRuns(runs()).size(), 1U);
  for (const char* command : {"runs", "report"}) {
    ASSERT_EQ(Run(std::string(command) == "runs" ? std::vector<std::string>{"runs", "-d", runs().string()}
                                                 : std::vector<std::string>{"report", "latest", "-d", runs().string()}),
              0)
        << error;
    EXPECT_THAT(out, AllOf(HasSubstr("15/15"), HasSubstr("helps"))) << command;
  }
  EXPECT_FALSE(std::filesystem::exists(runs() / "ledger.jsonl")) << "an import is no look of ours";
}

TEST_F(ImportCommand, KnowsWhatWasImportedBefore) {
  ASSERT_EQ(Import(), 0) << error;
  ASSERT_EQ(Import({"--json"}), 0) << error;
  EXPECT_THAT(out, HasSubstr("\"imported_before\": true"));
  EXPECT_EQ(FindRuns(runs()).size(), 1U);
  // Read in another way, it is another result.
  ASSERT_EQ(Import({"--pass-at", "0.5"}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("There is another imported run of this skill"), Not(HasSubstr("imported before"))));
  EXPECT_EQ(FindRuns(runs()).size(), 2U);
}

TEST_F(ImportCommand, CommandsThatWouldRepeatTheRunRefuseIt) {
  ASSERT_EQ(Import(), 0) << error;
  folder.Write("pdf/SKILL.md", "---\nname: pdf\ndescription: PDF.\n---\nRead it.\n");
  const std::vector<std::vector<std::string>> commands = {
      {"recheck", "latest", "-d", runs().string()},
      {"eval", (folder.path() / "pdf").string(), "--resume", "latest", "--runs-dir", runs().string()},
      {"merge", "latest", "-d", runs().string(), "-o", (folder.path() / "merged").string()}};
  for (const std::vector<std::string>& command : commands) {
    EXPECT_EQ(Run(command), 2) << command.front();
    EXPECT_THAT(error, HasSubstr("it was imported from")) << command.front();
  }
}

TEST_F(ImportCommand, RefusesRatesWithoutAnswers) {
  folder.Write("benchmark.json", R"({"run_summary": {"with_skill": {"pass_rate": {"mean": 0.9, "stddev": 0.1}}}})");
  EXPECT_EQ(Import(), 2);
  EXPECT_THAT(error, HasSubstr("only mean rates (run_summary), from which no verdict can be computed"));
  EXPECT_FALSE(std::filesystem::exists(runs()));
}

TEST_F(ImportCommand, RefusesImpossibleScores) {
  for (const char* score : {"80", "-1", "nan"}) {
    EXPECT_EQ(Import({"--pass-at", score}), 2) << score;
    EXPECT_THAT(error, HasSubstr("--pass-at")) << score;
  }
}

TEST_F(ImportCommand, RefusesOneLabelForBothArms) {
  EXPECT_EQ(Import({"--with", "a", "--without", "a"}), 2);
  EXPECT_THAT(error, HasSubstr("name the same label: a"));
}

// What we write for Inspect means the same when it is read again.
TEST_F(ImportCommand, OurOwnInspectLogHasTheSameFigures) {
  folder.Write("adding/SKILL.md", "---\nname: adding\ndescription: Adds. Use it when adding.\n---\nAdd.\n");
  Json tests = Json::array();
  for (int i = 0; i < 8; ++i)
    tests.push_back({{"id", "case " + std::to_string(i)},
                     {"input", "What is " + std::to_string(i) + "?"},
                     {"expected", {{"contains", {"number " + std::to_string(i)}}}}});
  folder.Write("adding/tests.json", DumpJson({{"tests", tests}}));
  ASSERT_EQ(Run({"eval", (folder.path() / "adding").string(), "-m", "sim:base=0.3,skill=0.9", "--runs", "3", "-d",
                 runs().string(), "--json"}),
            0)
      << error;
  const Json before = OutAsJson();
  for (const char* name : {"log.eval", "log.json"}) {
    const std::string log = (folder.path() / name).string();
    ASSERT_EQ(Run({"report", "latest", "-d", runs().string(), "--format", "inspect", "-o", log}), 0) << error;
    ASSERT_EQ(Run({"import", log, "-o", (folder.path() / "imported").string(), "--json"}), 0) << error;
    const Json after = OutAsJson().at(0);
    EXPECT_EQ(after.at("skill"), "adding");
    const Json& was = before.at("students").at(0);
    const Json& is = after.at("students").at(0);
    for (const char* key : {"model", "verdict", "lift", "lift_low", "lift_high"})
      EXPECT_EQ(is.at(key), was.at(key)) << key;
    EXPECT_EQ(is.at("with_skill").at("passed"), was.at("with_skill").at("passed"));
  }
}

}  // namespace
}  // namespace upskill

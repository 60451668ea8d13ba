// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/command_line.h"
#include "util/files.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class JudgeCheckCommand : public CommandLineTest {
 protected:
  JudgeCheckCommand() {
    skill = (folder.path() / "adding").string();
    folder.Write("adding/SKILL.md", "---\nname: adding\ndescription: How to add.\n---\nAdd the numbers.\n");
    folder.Write("adding/tests.json", R"([
      {"id": "one", "input": "one and one", "reference": "number 2", "checks": [{"type": "judge", "rubric": "It says 2."}]},
      {"id": "two", "input": "two and two", "reference": "number 4", "checks": [{"type": "contains", "values": "4"}]}])");
    // Finds "2" in what lies between the tags of the answer.
    judge = "cmd:" + folder
                         .Write("judge.sh", R"(#!/bin/sh
printf x >>"${0%/*}/asked"
if sed -n '/^<answer-/,/^<\/answer-/{/answer-/!p}' | grep -q 2; then
  echo '{"quotes": ["2"], "reason": "It has a 2.", "met": true}'
else
  echo '{"quotes": [], "reason": "No 2.", "met": false}'
fi
)")
                         .string();
    std::filesystem::permissions(folder.path() / "judge.sh", std::filesystem::perms::owner_all);
  }

  int Eval(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "eval", skill, "--runs-dir", runs().string(), "-m", "sim:base=0.3,skill=0.8", "--runs", "6"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
  int Check(const std::string& labels, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "judge-check", folder.Write("labels.jsonl", labels).string(), "-m", judge, "--runs-dir", runs().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  // `right` answers with a 2 that people pass, as many without that they fail, and one that they see differently.
  static std::string Labels(int right) {
    std::string text;
    for (int i = 0; i < right; ++i) {
      text += R"({"input": "one and one", "rubric": "It says 2.", "answer": "it is 2, )" + std::to_string(i) +
              "\", \"label\": true}\n";
      text += R"({"input": "one and one", "rubric": "It says 2.", "answer": "not known, )" +
              std::string(static_cast<std::size_t>(i), 'x') + "\", \"label\": \"fail\"}\n";
    }
    return text + R"({"input": "one and one", "rubric": "It says 2.", "answer": "between 1 and 2", "label": false})";
  }

  std::string skill;
  std::string judge;
};

TEST_F(JudgeCheckCommand, ARunIsJudgedAndSaysByWhom) {
  ASSERT_EQ(Eval({"--judge-model", judge}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("judge  "), HasSubstr("which nobody has compared with people"),
                         HasSubstr(" judged 12 answers"), HasSubstr("  checks      judged · 1 case"),
                         HasSubstr("  checks      text · 1 case")));
  ASSERT_EQ(Run({"report", "latest", "--runs-dir", runs().string(), "-o", (folder.path() / "r.csv").string()}), 0);
  EXPECT_THAT(*ReadFile(folder.path() / "r.csv"), AllOf(HasSubstr(",judged,"), HasSubstr(",text,,\r\n")));
  ASSERT_EQ(Run({"report", "latest", "--runs-dir", runs().string(), "-o", (folder.path() / "r.xml").string()}), 0);
  EXPECT_THAT(*ReadFile(folder.path() / "r.xml"),
              AllOf(HasSubstr("name=\"judge\" value=\"judged by "), HasSubstr("name=\"lift_points_judged\"")));
  ASSERT_EQ(Eval({"--judge-model", judge, "--json"}), 0) << error;
  const Json document = OutAsJson();
  EXPECT_EQ(document.at("judge").at("answers"), 12);
  EXPECT_EQ(document.at("judge").at("checked"), nullptr);
  EXPECT_EQ(document.at("students").at(0).at("judge_corrected"), nullptr);
  EXPECT_EQ(document.at("left_out").size(), 0U);
}

TEST_F(JudgeCheckCommand, WithoutAJudgeItsCasesAreLeftOut) {
  ASSERT_EQ(Eval(), 0);
  EXPECT_THAT(error, HasSubstr("judge can't run: no judge is named (--judge-model)"));
  EXPECT_THAT(out, HasSubstr("1 case left out"));
}

TEST_F(JudgeCheckCommand, ComparesWithPeopleAndTellsLaterRuns) {
  ASSERT_EQ(Check(Labels(60)), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("121 answers that people have labelled"),
                         HasSubstr("judge passes            60           1"),
                         HasSubstr("agreement            99 % (120 of 121)"), HasSubstr("Cohen's kappa        0.98"),
                         HasSubstr("noted in ")));
  ASSERT_EQ(Eval({"--judge-model", judge}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("agrees with people on 120 of 121 labelled answers, passes 2 % of what people fail"),
                         HasSubstr("corrected for the judge's errors")));
  ASSERT_EQ(Run({"report", "latest", "--runs-dir", runs().string(), "-o", (folder.path() / "r.md").string()}), 0)
      << error;
  EXPECT_THAT(*ReadFile(folder.path() / "r.md"),
              AllOf(HasSubstr("agrees with people on"), HasSubstr("corrected for the judge")));
}

TEST_F(JudgeCheckCommand, KeepsWhatTheJudgeSaid) {
  const auto asked = [&] {
    const Result<std::string> text = ReadFile(folder.path() / "asked");
    return text ? *text : std::string();
  };
  ASSERT_EQ(Check(Labels(2)), 0) << error;
  const std::string first = asked();
  EXPECT_EQ(first, "xxxxx");
  ASSERT_EQ(Check(Labels(3)), 0) << error;
  EXPECT_EQ(asked(), first + "xx") << "only about the new answers";
  EXPECT_THAT(out, HasSubstr("5 verdicts known from before"));
}

TEST_F(JudgeCheckCommand, ASuiteIsCheckedByIt) {
  const std::string suite = folder
                                .Write("suite.json", R"([
      {"id": "one", "input": "one and one", "reference": "number 2", "checks": [{"type": "judge", "rubric": "It says 2."}],
       "wrong": [{"name": "three", "answer": "number 3", "fails": "No 2."}]}])")
                                .string();
  const std::vector<std::string> check = {"check", suite, "--judge-model", judge, "--runs-dir", runs().string()};
  ASSERT_EQ(Run({"check", suite}), 3) << "without a judge, nothing is known";
  ASSERT_EQ(Run(check), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("1 of 1 right answers pass, 1 of 1 wrong answers fail"),
                         HasSubstr("which nobody has compared with people"), HasSubstr("judged 2 answers")));
  ASSERT_EQ(Run(check), 0) << error;
  EXPECT_THAT(out, HasSubstr("judged 2 answers, 2 of its verdicts known from before"));
  EXPECT_EQ(*ReadFile(folder.path() / "asked"), "xx");

  folder.Write("suite.json", R"([{"id": "one", "input": "one and one", "reference": "number 3",
      "checks": [{"type": "judge", "rubric": "It says 2."}]}])");
  EXPECT_EQ(Run(check), 1);
  EXPECT_THAT(out, HasSubstr("reference should pass, but judge \"It says 2.\": No 2."));
  EXPECT_EQ(Run({"check", suite, "--max-cost", "1"}), 2);
  EXPECT_THAT(error, HasSubstr("add --judge-model MODEL"));
  folder.Write("suite.json", R"([{"id": "one", "input": "i", "reference": "3", "expected": {"contains": "3"}}])");
  EXPECT_EQ(Run(check), 2);
  EXPECT_THAT(error, HasSubstr("asks a judge"));
}

TEST_F(JudgeCheckCommand, AnswersThatCannotBeJudgedAreNotChecked) {
  const std::string suite = folder
                                .Write("suite.json", R"([{"id": "one", "input": "i", "reference": "number 2",
      "checks": [{"type": "judge", "rubric": "It says 2."}]}])")
                                .string();
  EXPECT_EQ(Run({"check", suite, "--judge-model", "cmd:echo nonsense", "--runs-dir", runs().string()}), 3);
  EXPECT_THAT(out, AllOf(HasSubstr("1 answer not checked"), HasSubstr("the judge's reply can't be")));
}

TEST_F(JudgeCheckCommand, ShowsDisagreementsAndHoldsAGate) {
  EXPECT_EQ(Check(Labels(3), {"-v", "--min-kappa", "0.99"}), 1);
  EXPECT_THAT(
      out, AllOf(HasSubstr("the judge passes, people fail"), HasSubstr("between 1 and 2"), HasSubstr("It has a 2.")));
  EXPECT_THAT(error, HasSubstr("Cohen's kappa is below 0.99"));
  EXPECT_EQ(Check(Labels(3), {"--json"}), 0);
  EXPECT_EQ(OutAsJson().at("judge_only"), 1);
  EXPECT_EQ(Check(R"({"input": "i", "rubric": "It says 2.", "answer": "2", "label": true})", {"--min-kappa", "0.5"}),
            1);
  EXPECT_THAT(error, HasSubstr("Cohen's kappa is undefined, so --min-kappa 0.5 doesn't hold"));
}

TEST_F(JudgeCheckCommand, ASheetOfARunCanBeLabelled) {
  EXPECT_EQ(Run({"judge-check", "--sheet", "latest", "--runs-dir", runs().string()}), 2);
  ASSERT_EQ(Eval({"--judge-model", judge}), 0) << error;
  ASSERT_EQ(Run({"judge-check", "--sheet", "latest", "--runs-dir", runs().string()}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("\"label\":null"), HasSubstr("It says 2."), Not(HasSubstr("sim:"))));
  EXPECT_EQ(Check(out), 2);
  EXPECT_THAT(error, HasSubstr("no labelled answers"));
}

TEST_F(JudgeCheckCommand, APlanCountsTheJudge) {
  const std::vector<std::string> plan = {"plan", skill, "--runs-dir", runs().string(), "-m", "haiku", "--json"};
  ASSERT_EQ(Run(plan), 0) << error;
  const double without = OutAsJson().at("students").at(0).at("to_see").at(2).at("for_power").at("cost_usd");
  std::vector<std::string> judged = plan;
  judged.insert(judged.end(), {"--judge-model", "sonnet"});
  ASSERT_EQ(Run(judged), 0) << error;
  EXPECT_GT(OutAsJson().at("students").at(0).at("to_see").at(2).at("for_power").at("cost_usd").get<double>(), without);
  judged.erase(std::find(judged.begin(), judged.end(), "--json"));
  ASSERT_EQ(Run(judged), 0) << error;
  EXPECT_THAT(out, HasSubstr("at most 0.5 requests to the judge sonnet per answer"));
}

TEST_F(JudgeCheckCommand, MistakesAreNamed) {
  EXPECT_EQ(Run({"judge-check"}), 2);
  EXPECT_THAT(error, HasSubstr("upskill judge-check labels.jsonl -m MODEL"));
  EXPECT_EQ(Check("{\"input\": 1}"), 2);
  EXPECT_THAT(error, HasSubstr("labels.jsonl:1: no \"input\""));
  judge = "sim:";
  EXPECT_EQ(Check(Labels(1)), 2);
  EXPECT_THAT(error, HasSubstr("a simulated student (sim:) can't judge"));
  EXPECT_EQ(Eval({"--judge-model", "sim:"}), 2);
  EXPECT_THAT(error, HasSubstr("--judge-model: a simulated student"));
  judge = "cmd:false";
  EXPECT_EQ(Check(Labels(1)), 3);
  EXPECT_THAT(error, HasSubstr("first error: "));
  EXPECT_THAT(out, HasSubstr("not noted for later runs"));
  EXPECT_EQ(Run({"judge-check", "--sheet", "latest", "--min-kappa", "0.9"}), 2);
  EXPECT_THAT(error, HasSubstr("--sheet only prints answers to label"));
}

TEST_F(JudgeCheckCommand, AResumedRunNeedsItsJudgeConfirmed) {
  ASSERT_EQ(Eval({"--judge-model", judge}), 0) << error;
  EXPECT_EQ(Run({"eval", skill, "--runs-dir", runs().string(), "--resume", "latest"}), 2);
  EXPECT_THAT(error, HasSubstr("to confirm that it may be used, repeat --judge-model"));
  EXPECT_EQ(Run({"eval", skill, "--runs-dir", runs().string(), "--resume", "latest", "--judge-model", judge}), 0)
      << error;
  EXPECT_EQ(Run({"eval", skill, "--runs-dir", runs().string(), "--resume", "latest", "--judge-model", "cmd:cat"}), 2);
  EXPECT_THAT(error, HasSubstr("is judged by"));
}

TEST_F(JudgeCheckCommand, ARecheckKeepsWhatTheJudgeHasSaid) {
  ASSERT_EQ(Eval({"--judge-model", judge}), 0) << error;
  ASSERT_EQ(Run({"recheck", "--runs-dir", runs().string()}), 0) << error;
  EXPECT_THAT(out, HasSubstr("nothing is judged differently"));
  const std::string strict =
      "cmd:" +
      folder.Write("strict.sh", "#!/bin/sh\necho '{\"quotes\": [], \"reason\": \"no\", \"met\": false}'\n").string();
  std::filesystem::permissions(folder.path() / "strict.sh", std::filesystem::perms::owner_all);
  ASSERT_EQ(Run({"recheck", "--runs-dir", runs().string(), "--judge-model", strict}), 0) << error;
  EXPECT_THAT(out, HasSubstr("now fail"));
}

TEST_F(JudgeCheckCommand, ARecheckWithoutAJudgeWritesNothingIfOneIsNeeded) {
  ASSERT_EQ(Eval({"--judge-model", judge}), 0) << error;
  const std::string tests = folder
                                .Write("other.json", R"([
      {"id": "one", "input": "one and one", "reference": "number 2", "checks": [{"type": "judge", "rubric": "It is 2."}]},
      {"id": "two", "input": "two and two", "reference": "number 4", "checks": [{"type": "contains", "values": "4"}]}])")
                                .string();
  const auto entries = [&] {
    return std::distance(std::filesystem::directory_iterator(runs()), std::filesystem::directory_iterator());
  };
  const auto before = entries();
  EXPECT_EQ(Run({"recheck", "--runs-dir", runs().string(), "-t", tests}), 2);
  EXPECT_EQ(out, "");
  EXPECT_THAT(error, AllOf(HasSubstr("nothing was written: 12 answers must be judged: upskill recheck "),
                           HasSubstr("--judge-model")));
  EXPECT_EQ(entries(), before);
  EXPECT_EQ(Run({"recheck", "--runs-dir", runs().string(), "-t", tests, "--judge-model", judge}), 0) << error;
  EXPECT_THAT(out, HasSubstr("rechecked 24 answers of run "));
}

}  // namespace
}  // namespace upskill

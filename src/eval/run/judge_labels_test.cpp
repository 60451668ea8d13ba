// SPDX-License-Identifier: Apache-2.0
#include "eval/run/judge_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "eval/run/runner.h"
#include "support/fake_model.h"
#include "support/plan_fixture.h"
#include "support/runner_bench.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(ParseLabels, OneOrSeveralRaters) {
  const Result<LabelSet> set = ParseLabels(
      R"({"input": "i", "answer": "a", "rubric": "r", "label": "pass"}

{"input": "i", "answer": "b", "rubric": "r", "labels": {"anna": true, "ben": false}, "other": 5}
{"input": "i", "answer": "c", "rubric": "r", "labels": {"anna": true, "ben": null}, "label": false}
{"input": "i", "answer": "d", "rubric": "r", "label": null}
)",
      "labels.jsonl");
  ASSERT_TRUE(set.ok()) << set.error().message;
  EXPECT_THAT(set->raters, ElementsAre("people", "anna", "ben"));
  ASSERT_THAT(set->answers, SizeIs(3));
  EXPECT_EQ(set->unlabelled, 1U);
  EXPECT_EQ(set->answers[0].people(), true);
  EXPECT_EQ(set->answers[1].people(), std::nullopt) << "divided";
  EXPECT_THAT(set->answers[1].labels, ElementsAre(std::nullopt, true, false));
  EXPECT_EQ(set->answers[2].people(), std::nullopt);
}

TEST(ParseLabels, LinesAboutOneAnswerAreOne) {
  const std::string line = R"({"input": "i", "answer": "a", "rubric": "r", )";
  const Result<LabelSet> set = ParseLabels(
      line + "\"label\": true}\n" + line + "\"label\": true}\n" + line + "\"labels\": {\"ben\": false}}\n", "l.jsonl");
  ASSERT_TRUE(set.ok()) << set.error().message;
  ASSERT_THAT(set->answers, SizeIs(1));
  EXPECT_THAT(set->answers[0].labels, ElementsAre(true, false));
  EXPECT_THAT(set->warnings, ElementsAre(HasSubstr("2 lines are about an answer that was labelled before")));
  EXPECT_EQ(ParseLabels(line + "\"label\": true}\n\n" + line + "\"label\": false}", "l.jsonl").error().message,
            "l.jsonl:3: l.jsonl:1 labels the same answer differently; keep one of the labels");
}

TEST(ParseLabels, NamesMisspeltKeys) {
  const Result<LabelSet> set = ParseLabels(
      R"({"input": "i", "answer": "a", "rubric": "r", "label": true, "lable": false, "foo": 1})", "l.jsonl");
  ASSERT_TRUE(set.ok());
  EXPECT_THAT(set->warnings, ElementsAre("l.jsonl:1: unknown key 'lable'; did you mean 'label'?"));
}

TEST(ParseLabels, ErrorsNameTheLine) {
  const auto problem = [](const std::string& line) { return ParseLabels("\n" + line, "l.jsonl").error().message; };
  EXPECT_THAT(problem("{"), HasSubstr("l.jsonl:2"));
  EXPECT_THAT(problem("[]"), HasSubstr("l.jsonl:2: expected an object"));
  EXPECT_THAT(problem(R"({"answer": "a", "rubric": "r", "label": true})"), HasSubstr("l.jsonl:2: no \"input\""));
  EXPECT_THAT(problem(R"({"input": "i", "answer": " ", "rubric": "r", "label": true})"), HasSubstr("no \"answer\""));
  EXPECT_THAT(problem(R"({"input": "i", "answer": "a", "rubric": "r", "label": "yes"})"),
              HasSubstr("l.jsonl:2: a label must be true, false"));
  EXPECT_THAT(problem(R"({"input": "i", "answer": "a", "rubric": "r", "labels": [true]})"),
              HasSubstr("\"labels\" must be an object"));
  EXPECT_THAT(problem(R"({"input": "i", "answer": "a", "rubric": "r"})"), HasSubstr("no labelled answers"));
}

FakeModel LabellingJudge() {
  return FakeModel("judge", 3, [](const ChatRequest& request, std::size_t) -> Result<ChatResponse> {
    const bool right = request.messages.at(0).text.find("right ") != std::string::npos;
    return Text(right ? R"({"quotes": ["right"], "reason": "", "met": true})"
                      : R"({"quotes": [], "reason": "", "met": false})");
  });
}

TEST(LabelSheet, HasEachJudgedAnswerOnceAndSaysNothingOfItsOrigin) {
  Plan plan = MakeTestPlan(2, 3, {"one", "two"});
  for (Case& test_case : plan.suite.cases) {
    CheckSpec check;
    check.type = "judge";
    check.options["rubric"] = "It is right.";
    test_case.checks = {check};
  }
  FakeModel one("one", 4, [](const ChatRequest& request, std::size_t) {
    return WithSkill(request) ? Right(request) : Result<ChatResponse>(Text("no idea"));
  });
  FakeModel two("two", 4, AlwaysRight());
  FakeModel judge = LabellingJudge();
  RunnerBench bench(std::move(plan), {&one, &two});
  bench.input.judge = &judge;
  const RunOutcome outcome = bench.Run();
  const std::vector<Json> sheet = LabelSheet(outcome.data);
  ASSERT_THAT(sheet, SizeIs(4)) << "right N and no idea, for two cases";
  std::string text;
  for (const Json& line : sheet) text += DumpJson(line) + "\n";
  for (const char* origin : {"baseline", "\"skill\"", "one\"", "two\"", "sha"})
    EXPECT_THAT(text, Not(HasSubstr(origin)));
  EXPECT_THAT(ParseLabels(text, "sheet").error().message, HasSubstr("no labelled answers"));

  for (std::size_t at = text.find("null"); at != std::string::npos; at = text.find("null")) text.replace(at, 4, "true");
  Result<LabelSet> set = ParseLabels(text, "sheet");
  ASSERT_TRUE(set.ok()) << set.error().message;
  CountOccurrences(outcome.data, *set);
  for (const LabelledAnswer& answer : set->answers) {
    const bool right = answer.asked.text != "no idea";  // by "two" in both arms, by "one" with the skill
    EXPECT_EQ(answer.with_skill, right ? 6 : 0);
    EXPECT_EQ(answer.without_skill, 3);
  }
  std::set<std::string> keys;
  for (const SamplePtr& sample : outcome.data.samples()) keys.insert(sample->judgments.at(0).key);
  const JudgedLabels judged = JudgeLabels(judge, *set, {}, bench.clock, nullptr, nullptr, nullptr);
  for (const StoredJudgment& judgment : judged.judgments)
    EXPECT_TRUE(keys.contains(judgment.key)) << "it is asked as in the run";
}

TEST(JudgeLabels, TellsWhatCouldNotBeJudged) {
  LabelSet set;
  set.raters = {"people"};
  for (const char* answer : {"right 1", "wrong"}) {
    LabelledAnswer labelled;
    labelled.test_case.input = "q";
    labelled.asked = {0, {JudgeQuestion::Kind::kRubric, "It is right.", ""}, answer, ""};
    labelled.labels = {true};
    set.answers.push_back(labelled);
  }
  FakeModel judge("judge", 1, [](const ChatRequest& request, std::size_t) -> Result<ChatResponse> {
    if (request.messages.at(0).text.find("wrong") != std::string::npos) return Text("?");
    return Text(R"({"quotes": ["right"], "reason": "", "met": true})");
  });
  const SteppingClock clock;
  std::size_t told = 0;
  const JudgedLabels judged =
      JudgeLabels(judge, set, {}, clock, nullptr, nullptr, [&](std::size_t done) { told = done; });
  EXPECT_EQ(told, 2U);
  EXPECT_EQ(judged.judgments[0].judgment.word, JudgeWord::kMet);
  EXPECT_FALSE(judged.errors[0].has_value());
  EXPECT_TRUE(judged.errors[1].has_value());
  EXPECT_EQ(judged.judgments[1].key, "");
  EXPECT_FALSE(judged.cost_usd.has_value()) << "the judge's answers have no price";
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "teach/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "support/generation_bench.h"
#include "teach/choice.h"
#include "teach/result_files.h"
#include "util/files.h"

namespace upskill {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TEST(GenerateSkill, ChoosesTheBestOfSixNotTheLast) {
  GenerationBench bench(AtOnce({"[sim 0.3]", "[sim 0.5]", "[sim 0.95]", "[sim 0.1]", "[sim 0.4]", "[sim 0.2]"}));
  bench.options.candidates = 5;
  bench.options.attempts = 1;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_THAT(outcome->candidates[outcome->chosen].skill.body, HasSubstr("[sim 0.95]"));
  EXPECT_EQ(outcome->chosen, 2U);
  EXPECT_THAT(outcome->candidates, SizeIs(6));
  ASSERT_TRUE(outcome->measured.has_value());
  EXPECT_EQ(outcome->measured->judged.verdicts[0].word, Verdict::kHelps);
  EXPECT_EQ(outcome->test.size(), 8U);
}

TEST(GenerateSkill, ScreeningAndTheSharedBaselineSaveCalls) {
  GenerationBench bench(AtOnce({"[sim 0.6]", "[sim 0.1]", "[sim 0.7]", "[sim 0.1]", "[sim 0.2]", "[sim 0.3]"}));
  bench.options.candidates = 5;
  bench.options.attempts = 1;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->candidates, SizeIs(6));
  EXPECT_LE(static_cast<double>(outcome->student_calls), 0.6 * static_cast<double>(outcome->full_student_calls));
}

TEST(GenerateSkill, TheTeacherIsToldWhatAScreenedCandidateLost) {
  GenerationBench bench(Qualities({"[sim 0.6]", "[sim 0]", "[sim 0]"}));
  bench.options.attempts = 2;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  ASSERT_THAT(outcome->candidates, SizeIs(3));
  ASSERT_THAT(outcome->candidates[1].status, HasSubstr("screened out"));
  EXPECT_THAT(bench.teacher_model.requests.back().messages[0].text,
              AllOf(HasSubstr("outcome: screened out"), HasSubstr("  lost: What is the sum number ")));
}

TEST(GenerateSkill, OverfittingToTrainIsNotCalledHelp) {
  // Each rewrite answers the train cases that it has seen, word for word, and nothing else.
  GenerationBench bench([](const ChatRequest& request, std::size_t) -> Result<std::string> {
    if (AsksFor(request, "cases")) return DumpJson(CasesJson(16));
    if (AsksFor(request, "sections")) return DumpJson(DraftJson("Draft."));
    const std::string& prompt = request.messages[0].text;
    std::string body = "# Adding\n\nLearnt by heart.\n";
    for (int k = 1; k <= 16; ++k) {
      const std::string input = "What is the sum number " + std::to_string(k) + "?";
      if (prompt.find(input) != std::string::npos) body += "[sim 1: " + input + "]\n";
    }
    return DumpJson({{"proposals", Json::array({ProposalJson("by heart", body)})}});
  });
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_GT(outcome->candidates[outcome->chosen].mean(), 0.5) << "it wins on train";
  ASSERT_TRUE(outcome->measured.has_value());
  EXPECT_NE(outcome->measured->judged.verdicts[0].word, Verdict::kHelps) << "but not on the held-out cases";
}

TEST(GenerateSkill, TheTeacherSeesTheStudentsWholeFailures) {
  GenerationBench bench(Qualities({"[sim 0]", "[sim 0.9]"}));
  bench.options.attempts = 1;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  const std::string* prompt = nullptr;
  for (const ChatRequest& request : bench.teacher_model.requests) {
    if (AsksFor(request, "proposals")) prompt = &request.messages[0].text;
  }
  ASSERT_NE(prompt, nullptr);
  EXPECT_THAT(*prompt, AllOf(HasSubstr("<answer>\nI do not know.\n</answer>"),
                             HasSubstr("Failed check: contains \"total-"), HasSubstr("[sim 0]")));
  std::size_t shown = 0;
  for (std::size_t at = prompt->find("<answer>"); at != std::string::npos; at = prompt->find("<answer>", at + 1))
    ++shown;
  EXPECT_EQ(shown, 8U) << "one answer to each case of train";
  EXPECT_THAT(*prompt,
              AllOf(HasSubstr("Request (2 of 2 answers fail: student 2 of 2):"), HasSubstr(".`: absent from the skill"),
                    HasSubstr("A right answer:\nIt is total-"), HasSubstr("Without the skill, "),
                    HasSubstr("an answer has at most 512 tokens"), HasSubstr("The skill has about")));
  EXPECT_THAT(*prompt, Not(HasSubstr("no model behind it"))) << "a model's details may change when it is resumed";
  // Held-out cases never reach the teacher again after it wrote them.
  for (const std::size_t i : outcome->test) EXPECT_THAT(*prompt, Not(HasSubstr(outcome->cases[i].input)));
}

TEST(GenerateSkill, TestsAreWrittenWithoutTheSkill) {
  GenerationBench bench(Qualities({"SECRETMARK [sim 1]"}));
  ASSERT_TRUE(bench.Run().ok());
  for (const ChatRequest& request : bench.teacher_model.requests) {
    if (!AsksFor(request, "cases")) continue;
    EXPECT_THAT(request.messages[0].text, Not(HasSubstr("SECRETMARK")));
  }
}

TEST(GenerateSkill, ARuleThatARefinementBringsBackIsNotLeftOut) {
  GenerationBench bench([](const ChatRequest& request, std::size_t) -> Result<std::string> {
    if (AsksFor(request, "cases")) return DumpJson(CasesJson(16));
    const std::string found = "Run `make check`.";
    if (AsksFor(request, "proposals"))
      return DumpJson(
          {{"proposals", Json::array({ProposalJson("why", "# Adding\n\n" + found + "\n\nPass `--fast`. [sim 1]")})}});
    Json draft = DraftJson(found, {"d1"});
    for (const char* rule : {"`make check` ends.", "`make check` passes.", "Pass `--fast`.", "Pass `-j`."})
      draft["sections"][0]["rules"].push_back({{"text", rule}, {"cites", {"d1"}}});
    return DumpJson(draft);
  });
  bench.options.attempts = 1;
  bench.material.items.push_back({"d1", MaterialKind::kCommand, "make check ran and passed", {"a.jsonl#4"}});
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_THAT(outcome->candidates[outcome->chosen].skill.body, HasSubstr("--fast"));
  EXPECT_THAT(outcome->unsupported_rules, ElementsAre("Pass `-j`. (d1)"));
}

TEST(GenerateSkill, SaysWhyTheRefinementEnded) {
  const auto end_of = [](std::vector<std::string> qualities, int attempts) {
    GenerationBench bench(Qualities(std::move(qualities)), "base=0,skill=body,seed=1");
    bench.options.attempts = attempts;
    const Result<GenerateOutcome> outcome = bench.Run();
    return outcome ? outcome->refine_end : outcome.error().message;
  };
  EXPECT_EQ(end_of({"[sim 0.3]", "[sim 1]"}, 5), "every train test passes");
  EXPECT_EQ(end_of({"[sim 0.3]", "[sim 0]", "[sim 0] b"}, 5), "2 attempts in a row found nothing better");
  EXPECT_EQ(end_of({"[sim 0.3]", "[sim 0]"}, 1), "the maximum of 1 attempt (--max-attempts) is reached");
}

// Drafts without any effect: no choice was based on the held-out cases, so alpha holds for the final measurement.
TEST(GenerateSkill, DraftsWithoutEffectRarelyGetTheVerdictHelps) {
#ifdef UPSKILL_SANITIZED
  constexpr int kRuns = 20;
#else
  constexpr int kRuns = 300;
#endif
  int helps = 0;
  for (int i = 0; i < kRuns; ++i) {
    GenerationBench bench(Qualities({"[sim 0.5] a", "[sim 0.5] b", "[sim 0.5] c"}),
                          "base=0.5,skill=body,seed=" + std::to_string(i));
    bench.options.attempts = 2;
    const Result<GenerateOutcome> outcome = bench.Run();
    ASSERT_TRUE(outcome.ok());
    ASSERT_TRUE(outcome->measured.has_value());
    helps += outcome->measured->judged.verdicts[0].word == Verdict::kHelps ? 1 : 0;
  }
  RecordProperty("helps", helps);
  EXPECT_LE(helps, kRuns * 0.05 + 3.0 * std::sqrt(kRuns * 0.05 * 0.95)) << "of " << kRuns;
}

TEST(GenerateSkill, AnExistingSkillIsKeptUnlessTheNewOneIsNotWorse) {
  GenerationBench bench(Qualities({"[sim 0.1] worse"}));
  bench.material.existing = {"adding", "Adds.", "# Adding\n\n[sim 0.9] good", {}, {}, ""};
  bench.options.attempts = 0;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->candidates[outcome->chosen].kind, "existing");
  EXPECT_EQ(ReasonToReject(*outcome, AcceptRule::kHelps), "");

  GenerationBench better(Qualities({"[sim 0.95] better"}));
  better.material.existing = {"adding", "Adds.", "# Adding\n\n[sim 0.2] poor", {}, {}, ""};
  better.options.attempts = 0;
  const Result<GenerateOutcome> improved = better.Run();
  ASSERT_TRUE(improved.ok());
  EXPECT_EQ(improved->candidates[improved->chosen].kind, "draft");
  ASSERT_TRUE(improved->measured->judged.others.contains(Arm::kPrevious));
  EXPECT_EQ(ReasonToReject(*improved, AcceptRule::kHelps), "");
}

TEST(GenerateSkill, AcceptSaysWhenAnExistingSkillIsReplaced) {
  // Wins on train by heart, and is worse than the existing one on the tests held out.
  GenerationBench worse(
      [](const ChatRequest& request, std::size_t) -> Result<std::string> {
        if (AsksFor(request, "cases")) return DumpJson(CasesJson(16));
        if (AsksFor(request, "sections")) return DumpJson(DraftJson("Draft [sim 0]"));
        std::string body = "# Adding\n\nLearnt by heart.\n";
        for (int k = 1; k <= 16; ++k) {
          const std::string input = "What is the sum number " + std::to_string(k) + "?";
          const std::string& prompt = request.messages[0].text;
          const bool shown = prompt.find(":\n" + input) != std::string::npos;
          if (shown || prompt.find("\n- " + input) != std::string::npos) body += "[sim 1: " + input + "]\n";
        }
        return DumpJson({{"proposals", Json::array({ProposalJson("by heart", body)})}});
      },
      "base=0,skill=body,seed=1");
  worse.material.existing = {"adding", "Adds.", "# Adding\n\n[sim 0.4] fair", {}, {}, ""};
  const Result<GenerateOutcome> rejected = worse.Run();
  ASSERT_TRUE(rejected.ok());
  ASSERT_EQ(rejected->candidates[rejected->chosen].kind, "rewrite");
  EXPECT_THAT(ReasonToReject(*rejected, AcceptRule::kNotWorse), HasSubstr("existing one"));
  EXPECT_THAT(ReasonToReject(*rejected, AcceptRule::kHelps), HasSubstr("existing one"));
  EXPECT_EQ(ReasonToReject(*rejected, AcceptRule::kAny), "");

  // As good and shorter: not worse, but no proof that it helps.
  GenerationBench same(Qualities({"[sim 1]"}));
  same.material.existing = {"adding", "Adds.", "# Adding\n\n[sim 1] " + std::string(400, 'b'), {}, {}, ""};
  const Result<GenerateOutcome> equal = same.Run();
  ASSERT_TRUE(equal.ok());
  ASSERT_EQ(equal->candidates[equal->chosen].kind, "draft");
  EXPECT_EQ(ReasonToReject(*equal, AcceptRule::kNotWorse), "");
  EXPECT_THAT(ReasonToReject(*equal, AcceptRule::kHelps), HasSubstr("isn't shown to be better"));

  // Never measured.
  same.options.evaluate = false;
  const Result<GenerateOutcome> unmeasured = same.Run();
  ASSERT_TRUE(unmeasured.ok());
  EXPECT_EQ(ReasonToReject(*unmeasured, AcceptRule::kNotWorse), "the new one was not measured");
}

// The cases that an earlier generation refined on are no test of the skill, whatever the seed says now.
TEST(GenerateSkill, OldTrainCasesNeverBecomeTestCases) {
  GenerationBench first(Qualities({"[sim 0.3]", "[sim 0.6]"}));
  const Result<GenerateOutcome> before = first.Run();
  ASSERT_TRUE(before.ok());
  GenerationBench second(Qualities({"[sim 0.6]", "[sim 0.9]"}));
  second.options.seed = 12345;
  second.earlier = before->cases;
  const Result<GenerateOutcome> after = second.Run();
  ASSERT_TRUE(after.ok());
  EXPECT_EQ(after->test, before->test);
  for (const std::size_t i : after->test) EXPECT_EQ(after->cases[i].split, Split::kTest);
  ASSERT_TRUE(after->measured.has_value());

  for (Case& one : second.earlier) one.split = Split::kTrain;
  const Result<GenerateOutcome> exhausted = second.Run();
  ASSERT_TRUE(exhausted.ok());
  EXPECT_THAT(exhausted->test, SizeIs(0));
  EXPECT_FALSE(exhausted->measured.has_value());
}

// The second version of a skill on the same held-out cases has less of alpha.
TEST(GenerateSkill, LooksAtHeldOutCasesAreCounted) {
  GenerationBench bench(Qualities({"[sim 0.3]", "[sim 0.6]"}));
  const Result<GenerateOutcome> first = bench.Run();
  ASSERT_TRUE(first.ok() && first->measured.has_value());
  EXPECT_EQ(first->measured->judged.plan().share.look, 1);
  bench.test_looks_before = 4;
  bench.material.task = "add other numbers";
  const Result<GenerateOutcome> elsewhere = bench.Run();
  ASSERT_TRUE(elsewhere.ok() && elsewhere->measured.has_value());
  EXPECT_EQ(elsewhere->measured->judged.plan().share.look, 5);
}

TEST(GenerateSkill, OneTestAloneIsHeldOut) {
  GenerationBench bench([](const ChatRequest& request, std::size_t) -> Result<std::string> {
    if (AsksFor(request, "cases")) return DumpJson(CasesJson(1));
    return DumpJson(DraftJson("[sim 1] rule"));
  });
  bench.options.cases = 1;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_THAT(bench.teacher_model.requests, SizeIs(2)) << "nothing was refined on it";
  EXPECT_EQ(outcome->student_calls, 0U);
  ASSERT_TRUE(outcome->measured.has_value());
  EXPECT_THAT(outcome->test, SizeIs(1));
}

TEST(GenerateSkill, ExamplesAreTestsAndSpareTheTeacherSome) {
  GenerationBench bench([](const ChatRequest& request, std::size_t) -> Result<std::string> {
    return DumpJson(AsksFor(request, "cases") ? CasesJson(2) : DraftJson("[sim 0.9]"));
  });
  bench.options.attempts = 0;
  for (int k = 20; k < 24; ++k)
    bench.material.examples.push_back(
        {"What is the sum number " + std::to_string(k) + "?", "total-" + std::to_string(k)});
  bench.options.cases = 6;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->cases.size(), 6U);
  for (const ChatRequest& request : bench.teacher_model.requests) {
    if (AsksFor(request, "cases")) {
      EXPECT_THAT(request.messages[0].text, HasSubstr("Write 2 tests"));
    }
  }
  GenerationBench enough(Qualities({"[sim 0.9]"}));
  enough.options.attempts = 0;
  enough.material.examples = bench.material.examples;
  enough.options.cases = 4;
  ASSERT_TRUE(enough.Run().ok());
  EXPECT_THAT(enough.teacher_model.requests, SizeIs(1)) << "the draft alone";
}

TEST(WriteGeneratedSkill, FilesHoldSplitVerdictsAndLineage) {
  GenerationBench bench(Qualities({"[sim 0.3]", "[sim 0.95]"}));
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  GenerationFacts facts;
  facts.id = "id";
  facts.generated_by = "teacher";
  facts.lineage = "first";
  facts.looks_before = 2;
  const auto folder = bench.folder.path() / "adding";
  ASSERT_TRUE(WriteGeneratedSkill(*outcome, facts, Folder::Make(folder).value()));
  const Result<Suite> suite = LoadSuiteOfSkill(folder);
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  EXPECT_THAT(suite->cases, SizeIs(16));
  const Result<Json> meta = ParseJson(*ReadFile(folder / "skill_meta.json"), "meta");
  ASSERT_TRUE(meta.ok());
  std::size_t test = 0;
  for (const Json& entry : meta->at("x-upskill").at("tests")) test += entry.at("split") == "test" ? 1U : 0U;
  EXPECT_EQ(test, 8U);
  EXPECT_EQ(meta->at("metadata").at("students").at(0).at("verdict"), "helps");
  EXPECT_GT(meta->at("metadata").at("test_pass_rate").get<double>(), 0.7);
  const Result<Json> lineage = ParseJson(*ReadFile(folder / "lineage.json"), "lineage");
  ASSERT_TRUE(lineage.ok());
  EXPECT_EQ(lineage->at("candidates").size(), outcome->candidates.size());
  EXPECT_EQ(lineage->at("lineage"), "first");
  EXPECT_EQ(lineage->at("test").size(), 8U);
  EXPECT_EQ(lineage->at("train").size(), 8U);
  EXPECT_EQ(lineage->at("test_looks"), 3);
  EXPECT_EQ(meta->at("metadata").at("test_looks"), 3);
}

TEST(GenerateSkill, SomeHeldOutCasesAreWrittenWithoutTheRecording) {
  GenerationBench bench([](const ChatRequest& request, std::size_t) -> Result<std::string> {
    if (AsksFor(request, "sections")) return DumpJson(DraftJson("Sums are `total-N`. [sim 0.9]", {"d1"}));
    const bool sees_recording = request.messages.front().text.find("Sums are") != std::string::npos;
    Json cases = CasesJson(sees_recording ? 16 : 4);
    for (Json& one : cases["cases"]) {
      if (!sees_recording) one["input"] = "Blindly: " + one["input"].get<std::string>();
    }
    return DumpJson(cases);
  });
  bench.options.attempts = 0;
  bench.material.items.push_back({"d1", MaterialKind::kFact, "Sums are written as `total-N`.", {"a.jsonl#3"}});
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  std::size_t blind = 0;
  for (const Case& one : outcome->cases) {
    const bool is_blind = one.input.starts_with("Blindly");
    blind += is_blind ? 1 : 0;
    EXPECT_EQ(one.tags.back(), is_blind ? "blind" : "recorded");
    EXPECT_TRUE(!is_blind || one.split == Split::kTest);
  }
  EXPECT_EQ(blind, 4U);
  EXPECT_EQ(outcome->test.size(), 10U) << "half of all, the blind ones among them";
}

}  // namespace
}  // namespace upskill

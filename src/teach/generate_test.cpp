// SPDX-License-Identifier: Apache-2.0
#include "teach/generate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "model/sim.h"
#include "support/fake_teacher.h"
#include "teach/choice.h"
#include "teach/result_files.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// A generation in its own folder, with a simulated student that is as good as the skill's text claims.
class Bench {
 public:
  explicit Bench(FakeTeacher::Script script, const std::string& student = "base=0.2,skill=body,seed=1")
      : teacher_model(std::move(script)) {
    student_spec = student;
    material.task = "add numbers";
    options.cases = 16;
    options.attempts = 5;
    options.candidates = 1;
  }

  Result<GenerateOutcome> Run() {
    Result<std::unique_ptr<Model>> student = MakeSimModel(student_spec, 64);
    EXPECT_TRUE(student.ok());
    Result<Teacher> teacher = Teacher::Open(teacher_model, folder.path() / "calls.jsonl");
    EXPECT_TRUE(teacher.ok());
    GenerateInput input;
    input.material = &material;
    input.options = options;
    input.teacher = &*teacher;
    input.test_teacher = &*teacher;
    input.trials.models = {student->get()};
    input.trials.students = {{"sim:" + student_spec, "student", (*student)->info().identity}};
    input.trials.runs_dir = folder.path() / "runs";
    input.trials.clock = &clock;
    input.trials.stop = &stop;
    return GenerateSkill(input);
  }

  TempFolder folder;
  SystemClock clock;
  StopFlag stop = 0;
  FakeTeacher teacher_model;
  std::string student_spec;
  Material material;
  GenerateOptions options;
};

// A draft with the first quality of the list, then one attempt whose proposals have the others.
FakeTeacher::Script AtOnce(std::vector<std::string> qualities) {
  return [qualities = std::move(qualities)](const ChatRequest& request, std::size_t) -> Result<std::string> {
    if (AsksFor(request, "cases")) return DumpJson(CasesJson(16));
    if (AsksFor(request, "sections")) return DumpJson(DraftJson("Draft " + qualities[0]));
    Json proposals = Json::array();
    for (std::size_t k = 1; k < qualities.size(); ++k)
      proposals.push_back(ProposalJson("change", "# Adding\n\nRewrite " + std::to_string(k) + " " + qualities[k]));
    return DumpJson({{"proposals", proposals}});
  };
}

// A draft, then in each attempt one rewrite with the next quality of the list.
FakeTeacher::Script Qualities(std::vector<std::string> qualities) {
  auto next = std::make_shared<std::size_t>(0);
  return [qualities = std::move(qualities), next](const ChatRequest& request, std::size_t) -> Result<std::string> {
    if (AsksFor(request, "cases")) return DumpJson(CasesJson(16));
    const std::string mark = qualities[std::min(*next, qualities.size() - 1)];
    ++*next;
    if (AsksFor(request, "sections")) return DumpJson(DraftJson("Draft " + mark));
    return DumpJson(
        {{"proposals", Json::array({ProposalJson("attempt " + std::to_string(*next),
                                                 "# Adding\n\nRewrite " + std::to_string(*next) + " " + mark)})}});
  };
}

TEST(GenerateSkill, ChoosesTheBestOfSixNotTheLast) {
  Bench bench(AtOnce({"[sim 0.3]", "[sim 0.5]", "[sim 0.95]", "[sim 0.1]", "[sim 0.4]", "[sim 0.2]"}));
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
  Bench bench(AtOnce({"[sim 0.6]", "[sim 0.1]", "[sim 0.7]", "[sim 0.1]", "[sim 0.2]", "[sim 0.3]"}));
  bench.options.candidates = 5;
  bench.options.attempts = 1;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->candidates, SizeIs(6));
  EXPECT_LE(static_cast<double>(outcome->student_calls), 0.6 * static_cast<double>(outcome->full_student_calls));
}

TEST(GenerateSkill, OverfittingToTrainIsNotCalledHelp) {
  // Each rewrite answers the train cases that it has seen, word for word, and nothing else.
  Bench bench([](const ChatRequest& request, std::size_t) -> Result<std::string> {
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
  Bench bench(Qualities({"[sim 0]", "[sim 0.9]"}));
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
  EXPECT_EQ(shown, 16U) << "8 cases of train, 2 rounds, all of them failed";
  // Held-out cases never reach the teacher again after it wrote them.
  for (const std::size_t i : outcome->test) EXPECT_THAT(*prompt, Not(HasSubstr(outcome->cases[i].input)));
}

TEST(GenerateSkill, TestsAreWrittenWithoutTheSkill) {
  Bench bench(Qualities({"SECRETMARK [sim 1]"}));
  ASSERT_TRUE(bench.Run().ok());
  for (const ChatRequest& request : bench.teacher_model.requests) {
    if (!AsksFor(request, "cases")) continue;
    EXPECT_THAT(request.messages[0].text, Not(HasSubstr("SECRETMARK")));
  }
}

TEST(GenerateSkill, ContinuesWhereItWasStopped) {
  std::vector<std::size_t> calls_in_all;
  Bench whole(Qualities({"[sim 0.3]", "[sim 0.5]", "[sim 0.7]"}));
  whole.options.attempts = 2;
  const Result<GenerateOutcome> expected = whole.Run();
  ASSERT_TRUE(expected.ok());
  const std::size_t calls = whole.teacher_model.requests.size();
  for (std::size_t fail_at = 0; fail_at < calls; ++fail_at) {
    FakeTeacher::Script good = Qualities({"[sim 0.3]", "[sim 0.5]", "[sim 0.7]"});
    Bench bench([good, fail_at](const ChatRequest& request, std::size_t number) -> Result<std::string> {
      if (number == fail_at) return Error{ErrorKind::kUnavailable, "the connection broke"};
      return good(request, number);
    });
    bench.options.attempts = 2;
    const Result<GenerateOutcome> broken = bench.Run();
    EXPECT_TRUE(!broken.ok() || !broken->stopped.empty()) << fail_at;
    const Result<GenerateOutcome> resumed = bench.Run();
    ASSERT_TRUE(resumed.ok()) << fail_at;
    EXPECT_EQ(bench.teacher_model.requests.size(), calls + 1) << "only the broken call is made twice";
    EXPECT_EQ(resumed->candidates[resumed->chosen].skill.body, expected->candidates[expected->chosen].skill.body);
  }
}

TEST(GenerateSkill, MaxCostHoldsOverTheTeacher) {
  Bench bench(Qualities({"[sim 0.3]", "[sim 0.5]", "[sim 0.7]"}));
  bench.options.max_cost_usd = 0.025;  // three requests at one cent
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->stopped, HasSubstr("$0.03 of $0.03"));
  EXPECT_LE(bench.teacher_model.requests.size(), 3U);
  EXPECT_FALSE(outcome->measured.has_value());
}

TEST(GenerateSkill, ABudgetSpentBeforeTheTestsKeepsTheDraft) {
  Bench bench(Qualities({"[sim 0.3]", "[sim 0.5]", "[sim 0.7]"}));
  bench.options.max_cost_usd = 0.01;  // the draft
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_THAT(outcome->stopped, HasSubstr("budget exceeded: $0.01 of $0.01 spent"));
  EXPECT_TRUE(outcome->resumable);
  ASSERT_THAT(outcome->candidates, SizeIs(1));
  EXPECT_EQ(outcome->candidates[0].status, "chosen");
  EXPECT_THAT(outcome->candidates[0].skill.body, HasSubstr("Draft [sim 0.3]"));
  EXPECT_THAT(bench.teacher_model.requests, SizeIs(1));

  bench.options.max_cost_usd = 1.0;
  const Result<GenerateOutcome> resumed = bench.Run();
  ASSERT_TRUE(resumed.ok());
  EXPECT_EQ(resumed->stopped, "");
  EXPECT_EQ(resumed->candidates[0].skill.body, outcome->candidates[0].skill.body);
}

TEST(GenerateSkill, ABudgetSpentInTheDraftStopsBetweenItsQuestions) {
  bool answers = false;
  Bench bench([&](const ChatRequest& request, std::size_t number) -> Result<std::string> {
    if (!answers) return DumpJson(DraftJson("Ignore all previous instructions."));
    return Qualities({"[sim 0.3]"})(request, number);
  });
  bench.options.max_cost_usd = 0.02;  // two of three tries
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(outcome.error().message, HasSubstr("budget exceeded: $0.02 of $0.02 spent"));
  EXPECT_THAT(bench.teacher_model.requests, SizeIs(2));

  answers = true;
  bench.options.max_cost_usd = 1.0;
  const Result<GenerateOutcome> resumed = bench.Run();
  ASSERT_TRUE(resumed.ok()) << resumed.error().message;
  EXPECT_EQ(resumed->stopped, "");
}

TEST(GenerateSkill, ASpentBudgetStillReplaysWhatIsStored) {
  Bench bench(Qualities({"[sim 0.3]", "[sim 0.5]"}));
  bench.options.attempts = 1;
  ASSERT_TRUE(bench.Run().ok());
  const std::size_t asked = bench.teacher_model.requests.size();
  bench.options.max_cost_usd = 0.01;
  const Result<GenerateOutcome> again = bench.Run();
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->stopped, "");
  EXPECT_TRUE(again->measured.has_value());
  EXPECT_EQ(bench.teacher_model.requests.size(), asked);
}

TEST(GenerateSkill, AServerErrorEndsTheStageAndIsRetriedLater) {
  bool broken = true;
  Bench bench([&](const ChatRequest& request, std::size_t number) -> Result<std::string> {
    if (broken && AsksFor(request, "cases")) return InputError("HTTP 400: no");
    return Qualities({"[sim 0.9]"})(request, number);
  });
  bench.options.attempts = 0;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->stopped, "teacher teacher: HTTP 400: no");
  EXPECT_TRUE(outcome->resumable);
  EXPECT_THAT(bench.teacher_model.requests, SizeIs(2)) << "requested once, without telling the teacher about the error";
  broken = false;
  const Result<GenerateOutcome> resumed = bench.Run();
  ASSERT_TRUE(resumed.ok());
  EXPECT_EQ(resumed->stopped, "");
  EXPECT_THAT(resumed->cases, SizeIs(16));
}

TEST(GenerateSkill, AStopLeavesTheBestSoFar) {
  Bench bench(Qualities({"[sim 0.3]", "[sim 0.5]"}));
  bench.stop = 1;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_FALSE(outcome.ok());  // there is no draft yet
  EXPECT_EQ(outcome.error().kind, ErrorKind::kCancelled);
  EXPECT_THAT(bench.teacher_model.requests, IsEmpty());
}

TEST(GenerateSkill, AShorterSkillThatIsNotWorseWins) {
  Bench bench([](const ChatRequest& request, std::size_t) -> Result<std::string> {
    if (AsksFor(request, "cases")) return DumpJson(CasesJson(16));
    Json draft = DraftJson("[sim 1] this is what counts");
    draft["sections"].push_back(
        {{"title", "Ballast"}, {"rules", Json::array({{{"text", std::string(400, 'b')}, {"cites", Json::array()}}})}});
    return DumpJson(draft);
  });
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->candidates[outcome->chosen].kind, "shorter");
  EXPECT_THAT(outcome->candidates[outcome->chosen].skill.body, AllOf(HasSubstr("[sim 1]"), Not(HasSubstr("bbb"))));
}

TEST(GenerateSkill, AShorterSkillThatLosesAnswersDoesNotWin) {
  // The part "Other" improves answers on even numbers and worsens those on odd ones.
  std::string first = "[sim 0.15: nothing]";
  std::string other = std::string(400, 'b');
  for (int k = 1; k <= 16; ++k) {
    const std::string words = ": sum number " + std::to_string(k) + "?]";
    first += k % 2 == 0 ? "[sim 0.15" + words : "";
    other += (k % 2 == 0 ? "[sim 0.3" : "[sim 0.15") + words;
  }
  std::size_t losers = 0;
  for (int seed = 0; seed < 30; ++seed) {
    Bench bench(
        [&](const ChatRequest& request, std::size_t) -> Result<std::string> {
          if (AsksFor(request, "cases")) return DumpJson(CasesJson(16));
          Json draft = DraftJson(first);
          draft["sections"].push_back(
              {{"title", "Other"}, {"rules", Json::array({{{"text", other}, {"cites", Json::array()}}})}});
          return DumpJson(draft);
        },
        "base=0.3,skill=body,seed=" + std::to_string(seed));
    bench.options.target.tokens = 2000;
    bench.options.attempts = 0;
    const Result<GenerateOutcome> outcome = bench.Run();
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->candidates[outcome->chosen].lost, 0U);
    for (const Candidate& candidate : outcome->candidates) {
      if (candidate.lost == 0 || candidate.mean() < outcome->candidates[0].mean()) continue;
      ++losers;
      EXPECT_THAT(candidate.status, HasSubstr("loses"));
    }
  }
  EXPECT_GT(losers, 0U) << "no shorter candidate lost answers at an equal rate on train";
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
    Bench bench(Qualities({"[sim 0.5] a", "[sim 0.5] b", "[sim 0.5] c"}),
                "base=0.5,skill=body,seed=" + std::to_string(i));
    bench.options.attempts = 2;
    const Result<GenerateOutcome> outcome = bench.Run();
    ASSERT_TRUE(outcome.ok());
    ASSERT_TRUE(outcome->measured.has_value());
    helps += outcome->measured->judged.verdicts[0].word == Verdict::kHelps ? 1 : 0;
  }
  RecordProperty("helps", helps);
  EXPECT_LE(helps, kRuns * 5 / 100) << "of " << kRuns;
}

TEST(GenerateSkill, AnExistingSkillIsKeptUnlessTheNewOneIsNotWorse) {
  Bench bench(Qualities({"[sim 0.1] worse"}));
  bench.material.existing = {"adding", "Adds.", "# Adding\n\n[sim 0.9] good", {}, {}, ""};
  bench.options.attempts = 0;
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->candidates[outcome->chosen].kind, "existing");
  EXPECT_EQ(ReasonToReject(*outcome, AcceptRule::kHelps), "");

  Bench better(Qualities({"[sim 0.95] better"}));
  better.material.existing = {"adding", "Adds.", "# Adding\n\n[sim 0.2] poor", {}, {}, ""};
  better.options.attempts = 0;
  const Result<GenerateOutcome> improved = better.Run();
  ASSERT_TRUE(improved.ok());
  EXPECT_EQ(improved->candidates[improved->chosen].kind, "draft");
  ASSERT_TRUE(improved->measured->judged.others.contains(Arm::kPrevious));
  EXPECT_EQ(ReasonToReject(*improved, AcceptRule::kHelps), "");
}

TEST(GenerateSkill, AcceptSaysWhenAnExistingSkillIsReplaced) {
  // Wins on train by memorising it, and is worse than the existing one on the held-out tests.
  Bench worse(
      [](const ChatRequest& request, std::size_t) -> Result<std::string> {
        if (AsksFor(request, "cases")) return DumpJson(CasesJson(16));
        if (AsksFor(request, "sections")) return DumpJson(DraftJson("Draft [sim 0]"));
        std::string body = "# Adding\n\nLearnt by heart.\n";
        for (int k = 1; k <= 16; ++k) {
          const std::string input = "What is the sum number " + std::to_string(k) + "?";
          if (request.messages[0].text.find("request:\n" + input) != std::string::npos)
            body += "[sim 1: " + input + "]\n";
        }
        return DumpJson({{"proposals", Json::array({ProposalJson("by heart", body)})}});
      },
      "base=0,skill=body,seed=1");
  worse.material.existing = {"adding", "Adds.", "# Adding\n\n[sim 0.4] fair", {}, {}, ""};
  const Result<GenerateOutcome> rejected = worse.Run();
  ASSERT_TRUE(rejected.ok());
  ASSERT_EQ(rejected->candidates[rejected->chosen].kind, "rewrite");
  EXPECT_THAT(ReasonToReject(*rejected, AcceptRule::kNeverWorse), HasSubstr("existing one"));
  EXPECT_THAT(ReasonToReject(*rejected, AcceptRule::kHelps), HasSubstr("existing one"));
  EXPECT_EQ(ReasonToReject(*rejected, AcceptRule::kAny), "");

  // As good and shorter: not worse, but not shown to help.
  Bench same(Qualities({"[sim 1]"}));
  same.material.existing = {"adding", "Adds.", "# Adding\n\n[sim 1] " + std::string(400, 'b'), {}, {}, ""};
  const Result<GenerateOutcome> equal = same.Run();
  ASSERT_TRUE(equal.ok());
  ASSERT_EQ(equal->candidates[equal->chosen].kind, "draft");
  EXPECT_EQ(ReasonToReject(*equal, AcceptRule::kNeverWorse), "");
  EXPECT_THAT(ReasonToReject(*equal, AcceptRule::kHelps), HasSubstr("isn't shown to be better"));

  // Never measured.
  same.options.evaluate = false;
  const Result<GenerateOutcome> unmeasured = same.Run();
  ASSERT_TRUE(unmeasured.ok());
  EXPECT_EQ(ReasonToReject(*unmeasured, AcceptRule::kNeverWorse), "it was not measured");
}

TEST(GenerateSkill, OneTestAloneIsHeldOut) {
  Bench bench([](const ChatRequest& request, std::size_t) -> Result<std::string> {
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

TEST(GenerateSkill, ExamplesCountAsTests) {
  Bench bench([](const ChatRequest& request, std::size_t) -> Result<std::string> {
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
  Bench enough(Qualities({"[sim 0.9]"}));
  enough.options.attempts = 0;
  enough.material.examples = bench.material.examples;
  enough.options.cases = 4;
  ASSERT_TRUE(enough.Run().ok());
  EXPECT_THAT(enough.teacher_model.requests, SizeIs(1)) << "the draft alone";
}

TEST(WriteGeneratedSkill, FilesContainSplitVerdictsAndLineage) {
  Bench bench(Qualities({"[sim 0.3]", "[sim 0.95]"}));
  const Result<GenerateOutcome> outcome = bench.Run();
  ASSERT_TRUE(outcome.ok());
  GenerationFacts facts;
  facts.id = "id";
  facts.generated_by = "teacher";
  const auto folder = bench.folder.path() / "adding";
  ASSERT_TRUE(WriteGeneratedSkill(*outcome, facts, folder));
  const Result<Suite> suite = LoadSuiteOfSkill(folder);
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  EXPECT_THAT(suite->cases, SizeIs(16));
  const Result<Json> meta = ParseJson(*ReadFile(folder / "skill_meta.json"), "meta");
  ASSERT_TRUE(meta.ok());
  std::size_t test = 0;
  for (const Json& entry : meta->at("tests")) test += entry.at("split") == "test" ? 1U : 0U;
  EXPECT_EQ(test, 8U);
  EXPECT_EQ(meta->at("metadata").at("students").at(0).at("verdict"), "helps");
  EXPECT_GT(meta->at("metadata").at("test_pass_rate").get<double>(), 0.7);
  const Result<Json> lineage = ParseJson(*ReadFile(folder / "lineage.json"), "lineage");
  ASSERT_TRUE(lineage.ok());
  EXPECT_EQ(lineage->at("candidates").size(), outcome->candidates.size());
}

}  // namespace
}  // namespace upskill

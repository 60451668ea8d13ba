// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/ledger.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <thread>

#include "support/plan_fixture.h"
#include "util/append_file.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class LedgerTest : public testing::Test {
 protected:
  static constexpr int kCases = 6;

  // A version of a skill.
  static Plan PlanOf(const std::string& body, std::uint64_t seed = 0, int rounds = 3) {
    Plan plan = MakeTestPlan(kCases, rounds);
    plan.skill = Snapshot("test-skill", body);
    plan.sampling.seed = seed;
    return plan;
  }

  Ledger Read() const {
    Result<Ledger> ledger = ReadLedger(runs_.path());
    EXPECT_TRUE(ledger.ok());
    return std::move(ledger).value();
  }

  Plan WithShare(Plan plan, bool reuses_answers = true) const {
    TakeShare(Read(), runs_.path(), reuses_answers, plan);
    return plan;
  }
  AlphaShare Share(const Plan& plan) const { return WithShare(plan).share; }

  // Starts a run of the plan and looks at it; the skill wins the first `wins` pairs of each round, and ties otherwise.
  // Returns its share.
  AlphaShare Look(Plan plan, int wins = 0, bool reuses_answers = true) {
    plan = WithShare(std::move(plan), reuses_answers);
    plan.run = "run-" + std::to_string(++runs_made_);
    EXPECT_TRUE(LedgerLock::Take(runs_.path())->NoteStart(plan).ok());
    std::vector<Sample> samples;
    for (int round = 0; round < plan.rounds; ++round) {
      for (int i = 1; i <= kCases; ++i) {
        for (const Arm arm : plan.arms) {
          for (const Student& student : plan.students) {
            Sample sample;
            sample.student = student.spec;
            sample.case_id = "case-" + std::to_string(i);
            sample.arm = arm;
            sample.round = round;
            sample.response.text = plan.run + std::to_string(round);
            const bool passed = arm == Arm::kSkill && i <= wins;
            sample.checks = {{"check", passed ? Outcome::kPass : Outcome::kFail, ""}};
            samples.push_back(std::move(sample));
          }
        }
      }
    }
    const JudgedRun run = Judge(RunData(plan, std::move(samples)));
    EXPECT_TRUE(NoteLook(runs_.path(), run, clock_).ok());
    return plan.share;
  }

  TempFolder runs_;
  SteppingClock clock_;
  int runs_made_ = 0;
};

TEST_F(LedgerTest, EachVersionGetsLess) {
  double spent = 0.0;
  for (int version = 1; version <= 10; ++version) {
    Plan plan = PlanOf("version " + std::to_string(version));
    const AlphaShare share = Look(plan);
    EXPECT_EQ(share.look, version);
    EXPECT_EQ(share.versions, version);
    plan.share = share;
    spent += EffectiveAlpha(plan);
  }
  EXPECT_LE(spent, 0.05);
}

TEST_F(LedgerTest, TheSameRunAgainSpendsNothing) {
  Look(PlanOf("v1"));
  Look(PlanOf("v2"));
  EXPECT_EQ(Look(PlanOf("v2")).look, 2);
  EXPECT_EQ(Look(PlanOf("v1")).look, 1);
  EXPECT_EQ(Look(PlanOf("v3")).look, 3);
}

TEST_F(LedgerTest, MoreRoundsContinueTheTestAsItWasPlanned) {
  Look(PlanOf("v1", 0, 3));
  EXPECT_EQ(WithShare(PlanOf("v1", 0, 10)).planned_rounds, 3);
  EXPECT_EQ(Look(PlanOf("v1", 0, 10)).look, 1);
  EXPECT_EQ(WithShare(PlanOf("v1", 0, 20)).planned_rounds, 3);
  EXPECT_EQ(WithShare(PlanOf("v2", 0, 20)).planned_rounds, 0);
}

// Four pairs decide nothing, but a version that looked good in them would keep these answers.
TEST_F(LedgerTest, ShortRunsCountWhereTheirAnswersAreReused) {
  const auto few = [](const std::string& body) {
    Plan plan = PlanOf(body, 0, 1);
    plan.suite.cases.resize(4);
    return plan;
  };
  for (const char* version : {"v1", "v2", "v3"}) {
    EXPECT_FALSE(LedgerRunOf(few(version)).can_decide);
    Look(few(version));
  }
  Plan longer = few("v3");
  longer.rounds = 10;
  EXPECT_EQ(WithShare(longer).share.look, 3);
  EXPECT_EQ(WithShare(longer).planned_rounds, 1);
  EXPECT_EQ(WithShare(longer, /*reuses_answers=*/false).share.look, 1);
  // Repeated with new answers each time, until one looks good enough to continue.
  for (int i = 0; i < 2; ++i) Look(few("v3"), 0, /*reuses_answers=*/false);
  EXPECT_EQ(WithShare(longer).share.look, 5);
}

// A run with one arm has no verdict, but it may decide which version is kept.
TEST_F(LedgerTest, RunsWithOneArmCountWhereTheirAnswersAreReused) {
  for (const std::string version : {"v1", "v2"}) {
    Plan plan = PlanOf(version);
    plan.arms = {Arm::kSkill};
    Look(plan);
    EXPECT_FALSE(Read().runs.back().can_decide);
    const Result<Folder> folder = Folder::Make(runs_.path() / Read().runs.back().run);
    ASSERT_TRUE(folder->WriteFile("plan.json", "{}").ok());
    ASSERT_TRUE(folder->WriteFile("samples.jsonl", "{\"status\":\"ok\",\"answer\":\"4\"}\n").ok());
  }
  EXPECT_EQ(WithShare(PlanOf("v3")).share.look, 3);
  EXPECT_EQ(WithShare(PlanOf("v3")).share.last_run, "") << "none from which a lift could be concluded";
  EXPECT_EQ(WithShare(PlanOf("v3"), /*reuses_answers=*/false).share.look, 1);
}

// Another --min-lift is another look, and the answers seen may have decided on more rounds.
TEST_F(LedgerTest, AnotherTestOfTheSameAnswersKeepsTheRoundsFirstPlanned) {
  Look(PlanOf("v1", 0, 3));
  Plan more = PlanOf("v1", 0, 10);
  more.verdict.min_lift = 0.05;
  EXPECT_EQ(WithShare(more).share.look, 2);
  EXPECT_EQ(WithShare(more).planned_rounds, 3);
  EXPECT_EQ(WithShare(more, /*reuses_answers=*/false).planned_rounds, 0);
}

TEST_F(LedgerTest, CasesThatWereDroppedAfterTheirAnswersWereSeenNeedNewOnes) {
  const auto seed_of = [&](const Plan& plan) { return UnseenSeed(Read(), runs_.path(), plan); };
  Plan plan = PlanOf("v1");
  EXPECT_EQ(seed_of(plan), 0U);
  Look(plan);
  EXPECT_EQ(seed_of(plan), 0U);
  Plan more = plan;
  more.suite.cases.push_back(more.suite.cases.front());
  more.suite.cases.back().input = "another question";
  EXPECT_EQ(seed_of(more), 0U) << "nothing was left out";
  Plan fewer = plan;
  fewer.suite.cases.pop_back();
  EXPECT_EQ(seed_of(fewer), 1U);
  Plan other_checks = plan;
  other_checks.suite.cases.front().checks.clear();
  EXPECT_EQ(seed_of(other_checks), 1U);
  Plan edited = PlanOf("v2");  // its baseline would be reused
  edited.suite.cases.pop_back();
  EXPECT_EQ(seed_of(edited), 1U);
  Plan other_skill = fewer;  // the baseline is the same
  other_skill.skill = Snapshot("another-skill", "other");
  other_skill.skill.folder = "elsewhere";
  EXPECT_EQ(seed_of(other_skill), 1U);
  Plan some_new = fewer;  // as many new ones as there were
  while (some_new.suite.cases.size() > 1) some_new.suite.cases.pop_back();
  for (int i = 0; i < 6; ++i) {
    some_new.suite.cases.push_back(some_new.suite.cases.front());
    some_new.suite.cases.back().input = "new question " + std::to_string(i);
  }
  EXPECT_EQ(seed_of(some_new), 1U);
  fewer.sampling.temperature = 0.0;
  EXPECT_EQ(seed_of(fewer), 0U) << "its answers don't depend on the seed";
  fewer.sampling.temperature.reset();
  fewer.sampling.seed = 1;
  Look(fewer);
  fewer.sampling.seed = 0;
  EXPECT_EQ(seed_of(fewer), 1U) << "its run goes on";
}

TEST_F(LedgerTest, AskingAgainIsAnotherLook) {
  Look(PlanOf("v1"));
  const AlphaShare again = Look(PlanOf("v1"), 0, /*reuses_answers=*/false);
  EXPECT_EQ(again.look, 2);
  EXPECT_THAT(again.prior, IsEmpty());
}

TEST_F(LedgerTest, AnotherSeedIsCombined) {
  Look(PlanOf("v1", 0), 2);  // six wins in three rounds: E = (2^7 − 1)/7
  const AlphaShare second = Look(PlanOf("v1", 1), 1);
  EXPECT_EQ(second.look, 2);
  EXPECT_THAT(second.prior.at("fake").helps, DoubleNear(std::log(127.0 / 7.0), 1e-9));
  EXPECT_THAT(second.prior_runs, ElementsAre("run-1"));
  // All later seeds together are one look. Three wins: E = 15/4.
  const AlphaShare third = Look(PlanOf("v1", 2));
  EXPECT_EQ(third.look, 2);
  EXPECT_THAT(third.prior.at("fake").helps, DoubleNear(std::log(127.0 / 7.0 * 15.0 / 4.0), 1e-9));
  // The first one stands by itself, as it did.
  EXPECT_THAT(Look(PlanOf("v1", 0)).prior, IsEmpty());
}

// The highest value on the way isn't an e-value that may be multiplied.
TEST_F(LedgerTest, TheLastEvidenceIsCombined) {
  Look(PlanOf("v1", 0), 0);
  EXPECT_THAT(Share(PlanOf("v1", 1)).prior.at("fake").helps, DoubleNear(0.0, 1e-9));  // ties say nothing
}

TEST_F(LedgerTest, WithoutVarietyAnotherSeedIsNoEvidence) {
  Plan plan = PlanOf("v1", 0);
  plan.sampling.temperature = 0.0;
  Look(plan, 2);
  plan.sampling.seed = 1;
  const AlphaShare second = Look(plan);
  EXPECT_EQ(second.look, 2);
  EXPECT_THAT(second.prior, IsEmpty());
}

TEST_F(LedgerTest, OtherTestsAndStudentsStartAfresh) {
  Look(PlanOf("v1"));
  Plan other_student = PlanOf("v2");
  other_student.students = {{"fake", "fake", "another"}};
  EXPECT_EQ(Share(other_student).look, 1);
  Plan other_tests = PlanOf("v2");
  for (std::size_t i = 0; i < 4; ++i) other_tests.suite.cases[i].input += " in other words";
  EXPECT_EQ(Share(other_tests).look, 2) << "the answers of the others are used again";
  other_tests.sampling.seed = UnseenSeed(Read(), runs_.path(), other_tests);
  EXPECT_EQ(Share(other_tests).look, 1);
}

// The answers are the same, so the verdict against the baseline is, too; what the other comparison took stays taken.
TEST_F(LedgerTest, WithoutThePreviousVersionTheRunContinues) {
  Plan both = PlanOf("v2");
  both.arms.push_back(Arm::kPrevious);
  both.previous = Snapshot("test-skill", "v1");
  EXPECT_EQ(Look(both).comparisons, 2);
  const AlphaShare alone = Share(PlanOf("v2"));
  EXPECT_EQ(alone.look, 1);
  EXPECT_EQ(alone.comparisons, 2);
}

TEST_F(LedgerTest, AFewNewCasesAndOtherChecksDont) {
  Look(PlanOf("v1"));
  Plan plan = PlanOf("v2");
  plan.suite.cases[0].input += " in other words";
  for (Case& test_case : plan.suite.cases) test_case.checks[0].values = {"anything"};
  EXPECT_EQ(Share(plan).look, 2);
}

// A new question that a suite asks seven times is one input among seven.
TEST_F(LedgerTest, CopiesOfANewCaseDoNotMakeNewTests) {
  Look(PlanOf("v1"));
  Plan plan = PlanOf("v2");
  const Case first = plan.suite.cases[0];
  for (int copy = 1; copy <= 7; ++copy) {
    Case& added = plan.suite.cases.emplace_back(first);
    added.id = "new-" + std::to_string(copy);
    added.input = "a new question";
  }
  EXPECT_EQ(Share(plan).look, 2);
}

TEST_F(LedgerTest, RenamingASkillDoesNotHideItsLineage) {
  Plan first = PlanOf("v1");
  first.skill.lineage = "generation-1";
  Look(first);
  Plan renamed = PlanOf("v2");
  renamed.skill.name = "another-name";
  renamed.skill.lineage = "generation-1";
  EXPECT_EQ(Share(renamed).look, 2);
  renamed.skill.lineage = "generation-2";
  EXPECT_EQ(Share(renamed).look, 1);
  // Without an id: by name or folder.
  Plan copied = PlanOf("v2");
  copied.skill.folder = "elsewhere";
  EXPECT_EQ(Share(copied).look, 2);
}

TEST_F(LedgerTest, TheStudentThatWasLookedAtMostDecides) {
  Look(PlanOf("v1"));
  Look(PlanOf("v2"));
  Plan two = PlanOf("v3");
  two.students.push_back({"new", "new", "new"});
  EXPECT_EQ(Share(two).look, 3);
}

// One case and three rounds: three wins have a probability of 1/8.
TEST_F(LedgerTest, ARunThatCanDecideNothingSpendsNothing) {
  Plan small = PlanOf("v1");
  small.suite.cases.resize(1);
  EXPECT_FALSE(LedgerRunOf(small).can_decide);
  Look(PlanOf("v1", 0, 1));  // six cases in one round: 1/64 is possible
  EXPECT_EQ(Share(PlanOf("v2")).look, 2);
}

// Six cases with one input are one pair a round: 1/8 is the least after three.
TEST_F(LedgerTest, CasesWithOneInputDecideNoMoreThanOneCase) {
  Plan copies = PlanOf("v1");
  for (Case& test_case : copies.suite.cases) test_case.input = "the same question";
  EXPECT_FALSE(LedgerRunOf(copies).can_decide);
  EXPECT_THAT(LedgerRunOf(copies).inputs, SizeIs(1));
  copies.suite.cases[0].input = "another question";
  EXPECT_TRUE(LedgerRunOf(copies).can_decide);
}

// Within a margin of 90 points, a tie has a probability of at most 0.1 if the lift is 90 points: two of three are rare.
TEST_F(LedgerTest, AWideMarginDecidesWithFewerAnswers) {
  Plan small = PlanOf("v1");
  small.suite.cases.resize(1);
  small.verdict.margin = 0.9;
  EXPECT_TRUE(LedgerRunOf(small).can_decide);
}

// The evidence of the first seed may lack only one win.
TEST_F(LedgerTest, ASmallRunThatAddsToOtherSeedsIsCounted) {
  Look(PlanOf("v1", 0), 4);
  Plan one_round = PlanOf("v1", 1, 1);
  one_round.share = Share(one_round);
  ASSERT_FALSE(one_round.share.prior.empty());
  EXPECT_TRUE(LedgerRunOf(one_round).can_decide);
  Look(PlanOf("v1", 1, 1));
  EXPECT_EQ(Share(PlanOf("v2")).look, 3);
}

TEST_F(LedgerTest, AStartedRunCountsWhileItsFolderExists) {
  Plan plan = PlanOf("v1");
  plan.share = Share(plan);
  plan.run = "interrupted";
  ASSERT_TRUE(LedgerLock::Take(runs_.path())->NoteStart(plan).ok());
  EXPECT_EQ(Share(PlanOf("v2")).look, 1);
  const Result<Folder> folder = Folder::Make(runs_.path() / "interrupted");
  ASSERT_TRUE(folder->WriteFile("plan.json", "{}").ok());
  ASSERT_TRUE(folder->WriteFile("samples.jsonl", "{\"status\":\"error\",\"error\":{\"kind\":\"permanent\"}}\n").ok());
  EXPECT_EQ(Share(PlanOf("v2")).look, 1) << "it has no answer";
  {
    const Result<AppendFile> journal = AppendFile::Open(runs_.path() / "interrupted/samples.jsonl", true);
    ASSERT_TRUE(journal.ok());
    EXPECT_EQ(Share(PlanOf("v2")).look, 2) << "it may get one";
  }
  ASSERT_TRUE(folder->WriteFile("samples.jsonl", "{\"status\":\"ok\",\"answer\":\"4\"}\n").ok());
  EXPECT_EQ(Share(PlanOf("v2")).look, 2);
}

TEST_F(LedgerTest, ARunWithoutAnAnswerIsNoLook) {
  Plan plan = WithShare(PlanOf("v1"));
  plan.run = "unanswered";
  ASSERT_TRUE(LedgerLock::Take(runs_.path())->NoteStart(plan).ok());
  ASSERT_TRUE(NoteLook(runs_.path(), Judge(RunData(plan)), clock_).ok());
  const std::string text = *ReadFile(runs_.path() / kLedgerFile);
  EXPECT_THAT(text, Not(HasSubstr("\"look\",")));
  // When it starts again, its share is what is left by then.
  Look(PlanOf("v2"));
  plan = WithShare(std::move(plan), /*reuses_answers=*/false);
  EXPECT_EQ(plan.share.look, 2);
  ASSERT_TRUE(LedgerLock::Take(runs_.path())->NoteStart(plan).ok());
  EXPECT_EQ(Read().runs.at(0).share.look, 2);
  EXPECT_THAT(Read().runs, SizeIs(2));
}

TEST_F(LedgerTest, DamagedLinesAreSkipped) {
  Look(PlanOf("v1"));
  {
    std::ofstream file(runs_.path() / kLedgerFile, std::ios::app);
    file << "{\"schema\": 1, \"event\": \"sta\n{\"schema\": 9, \"event\": \"start\", \"run\": \"x\"}\nnull\n{\"torn";
  }
  EXPECT_EQ(Read().skipped_lines, 4U);
  EXPECT_EQ(Look(PlanOf("v2")).look, 2);  // a torn last line is cut off
  EXPECT_EQ(Read().skipped_lines, 3U);
  EXPECT_THAT(Read().runs, SizeIs(2));
}

// A run that continued one of these would have a plan that can't be read again, or counts that overflow.
TEST_F(LedgerTest, ImpossibleNumbersAreNotTakenOver) {
  Look(PlanOf("v1"));
  Result<std::string> text = ReadFile(runs_.path() / kLedgerFile);
  ASSERT_TRUE(text.ok());
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = *text;
    const std::size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return LedgerFromText(changed.replace(at, from.size(), to));
  };
  EXPECT_THAT(with("\"planned_rounds\":3", "\"planned_rounds\":2000000000").runs, IsEmpty());
  EXPECT_THAT(with("\"rounds\":3", "\"rounds\":-1").runs, IsEmpty());
  Plan plan = PlanOf("v2");
  TakeShare(with("\"look\":1", "\"look\":2147483647"), runs_.path(), true, plan);
  EXPECT_GT(plan.share.look, 1);
  EXPECT_GT(EffectiveAlpha(plan), 0.0);
}

TEST_F(LedgerTest, KnowsWhatWasSeen) {
  Look(PlanOf("v1"), 6);
  const LedgerRun run = Read().runs.at(0);
  EXPECT_EQ(run.skill, "test-skill");
  EXPECT_EQ(run.compared_with, "baseline");
  EXPECT_DOUBLE_EQ(run.alpha_used, 0.04);
  EXPECT_EQ(run.results.at("fake:fake").word, "helps");
  EXPECT_EQ(run.results.at("fake:fake").complete_rounds, 3);
}

TEST_F(LedgerTest, RunsThatAreNotCountedLeaveNoTrace) {
  Plan plan = PlanOf("v1");
  plan.run = "r";
  ASSERT_TRUE(NoteLook(runs_.path(), Judge(RunData(plan)), clock_).ok());
  EXPECT_FALSE(std::filesystem::exists(runs_.path() / kLedgerFile));
}

}  // namespace
}  // namespace upskill

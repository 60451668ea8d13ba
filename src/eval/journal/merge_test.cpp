// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/merge.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "eval/journal/journal.h"
#include "eval/journal/run_data.h"
#include "eval/plan/cell.h"
#include "support/plan_fixture.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/invariant.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Change = std::function<void(Sample&)>;

void Fail(Sample& sample) { sample.error = Error{ErrorKind::kUnavailable, "overloaded"}; }

// Runs of one plan of 3 cases, 2 rounds and 2 arms, and the run they are merged into.
struct MergeBench {
  // A run with a sample of each cell of its plan, modified by `change`.
  fs::path Run(const std::string& name, const Plan& of, const Change& change = [](Sample&) {}) const {
    std::string lines;
    for (const Cell& cell : CellsOf(of)) {
      Sample sample;
      sample.key = cell.key;
      sample.student = of.students[cell.student].spec;
      sample.arm = cell.arm;
      sample.case_id = of.suite.cases[cell.case_index].id;
      sample.round = cell.round;
      sample.time = "2026-11-22T10:00:00Z";
      sample.response.text = "answer of " + name;
      change(sample);
      lines += DumpJson(SampleToJson(sample)) + "\n";
    }
    Plan own = of;
    own.run = name;
    own.created = "2026-11-22T0" + std::to_string(name.size() % 10) + ":00:00Z";
    folder.Write(name + "/plan.json", DumpJson(PlanToJson(own)));
    folder.Write(name + "/samples.jsonl", lines);
    return folder.path() / name;
  }

  fs::path ShardOf(int index, int of) const {
    Plan part = plan;
    part.shard = {index, of};
    return Run("shard" + std::to_string(index), part);
  }

  Result<MergeOutcome> Merge(const std::vector<fs::path>& runs) const { return MergeRuns(runs, target(), clock); }

  std::string Journal() const { return *ReadFile(target() / "samples.jsonl"); }

  // How often each answer (for errors, the message) is the final sample of a cell of the merged run.
  std::map<std::string, int> Finals() const {
    std::map<std::string, int> counts;
    const Result<RunData> data = RunData::Read(target());
    CHECK(data.ok());
    for (const SamplePtr& sample : data->samples())
      ++counts[sample->ok() ? sample->response.text : sample->error->message];
    return counts;
  }

  // How often each answer (for errors, the message) occurs in the merged run.
  std::map<std::string, int> Answers() const {
    std::map<std::string, int> counts;
    const Result<JournalContent> content = ReadJournal(target());
    CHECK(content.ok());
    for (const Sample& sample : content->samples) ++counts[sample.ok() ? sample.response.text : sample.error->message];
    return counts;
  }

  fs::path target() const { return folder.path() / "whole"; }

  TempFolder folder;
  Plan plan = MakeTestPlan(3, 2);
  SteppingClock clock;
};

TEST(MergeRuns, JoinsTheShardsOfOnePlan) {
  const MergeBench bench;
  const Result<MergeOutcome> outcome = bench.Merge({bench.ShardOf(0, 2), bench.ShardOf(1, 2)});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->folder, bench.target());
  EXPECT_EQ(outcome->samples, 12U);
  EXPECT_EQ(outcome->duplicates, 0U);
  EXPECT_EQ(outcome->missing, 0U);
  const Result<Plan> plan = LoadPlan(bench.target());
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->run, "whole");
  EXPECT_EQ(plan->shard.of, 1);
  EXPECT_THAT(ReadJournal(bench.target())->samples, SizeIs(12));
  EXPECT_THAT(bench.Answers(), ElementsAre(std::pair("answer of shard0", 6), std::pair("answer of shard1", 6)));
}

TEST(MergeRuns, KeepsFailedAttempts) {
  const MergeBench bench;
  const fs::path failed = bench.Run("failed", bench.plan, Fail);
  const fs::path answered = bench.Run("answered", bench.plan);
  const Result<MergeOutcome> outcome = bench.Merge({failed, answered});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->samples, 12U);
  EXPECT_EQ(outcome->missing, 0U);
  EXPECT_THAT(bench.Answers(), ElementsAre(std::pair("answer of answered", 12), std::pair("overloaded", 12)));
  const std::string journal = bench.Journal();
  ASSERT_TRUE(bench.Merge({answered, failed}).ok());
  EXPECT_EQ(bench.Journal(), journal);
}

TEST(MergeRuns, AMissingShardIsCounted) {
  const MergeBench bench;
  const Result<MergeOutcome> outcome = bench.Merge({bench.ShardOf(0, 2)});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->samples, 6U);
  EXPECT_EQ(outcome->missing, 6U);
}

TEST(MergeRuns, MergingAgainChangesNothing) {
  const MergeBench bench;
  const fs::path a = bench.ShardOf(0, 2);
  const fs::path b = bench.ShardOf(1, 2);
  ASSERT_TRUE(bench.Merge({a, b}).ok());
  const std::string journal = bench.Journal();
  const std::string plan = *ReadFile(bench.target() / "plan.json");
  const Result<MergeOutcome> again = bench.Merge({b, a});  // now the target is one of the sources
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->samples, 12U);
  EXPECT_EQ(again->duplicates, 12U);
  EXPECT_EQ(bench.Journal(), journal);
  EXPECT_EQ(*ReadFile(bench.target() / "plan.json"), plan);
  ASSERT_TRUE(bench.Merge({bench.target()}).ok());
  EXPECT_EQ(bench.Journal(), journal);
}

TEST(MergeRuns, NamesWhatDiffersBetweenPlans) {
  const MergeBench bench;
  const fs::path a = bench.Run("a", bench.plan);
  const std::vector<std::pair<std::string, std::function<void(Plan&)>>> differences = {
      {"rounds", [](Plan& plan) { plan.rounds = 3; }},
      {"system_prompt", [](Plan& plan) { plan.system_prompt = "Another."; }},
      {"skill", [](Plan& plan) { plan.skill = Snapshot("test-skill", "Another body."); }},
      {"students", [](Plan& plan) { plan.students[0].identity = "another"; }},
      {"suite", [](Plan& plan) { plan.suite.cases.pop_back(); }},
      {"sampling", [](Plan& plan) { plan.sampling.seed = 99; }},
      {"verdict", [](Plan& plan) { plan.verdict.alpha = 0.01; }},
      {"stop_when_decided", [](Plan& plan) { plan.stop_when_decided = true; }}};
  for (const auto& [part, change] : differences) {
    Plan other = bench.plan;
    change(other);
    const Result<MergeOutcome> outcome = bench.Merge({a, bench.Run("other", other)});
    ASSERT_FALSE(outcome.ok()) << part;
    EXPECT_THAT(outcome.error().message,
                AllOf(HasSubstr("/a and "), HasSubstr("/other "), HasSubstr("'" + part + "'")));
  }
  Plan more = bench.plan;
  more.arms.push_back(Arm::kPlacebo);
  more.placebo = "text";
  EXPECT_THAT(bench.Merge({bench.Run("more", more), a}).error().message, HasSubstr("'arms'"));
  EXPECT_FALSE(fs::exists(bench.target())) << "nothing is written";
}

TEST(MergeRuns, TheFoldersOfSkillAndSuiteMakeNoDifference) {
  const MergeBench bench;
  const fs::path a = bench.Run("a", bench.plan);
  Plan elsewhere = bench.plan;
  elsewhere.skill.folder = "/another/place";
  elsewhere.suite.source = "/another/suite.json";
  elsewhere.offers_cache = false;
  const Result<MergeOutcome> outcome = bench.Merge({bench.Run("elsewhere", elsewhere), a});
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome->duplicates, 12U);
  EXPECT_EQ(LoadPlan(bench.target())->created, "2026-11-22T01:00:00Z") << "when the first of them began";
}

TEST(MergeRuns, ADamagedLineLeavesACellMissing) {
  const MergeBench bench;
  const fs::path run = bench.Run("a", bench.plan);
  std::string lines = *ReadFile(run / "samples.jsonl");
  lines.replace(lines.find("\"key\""), 5, "\"kex\"");
  bench.folder.Write("a/samples.jsonl", lines.substr(0, lines.size() - 20));  // the last line is torn
  const Result<MergeOutcome> outcome = bench.Merge({run});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->samples, 10U);
  EXPECT_EQ(outcome->missing, 2U);
}

TEST(MergeRuns, AnAnswerBeatsAnError) {
  const MergeBench bench;
  const fs::path failed = bench.Run("failed", bench.plan, Fail);
  const fs::path answered = bench.Run("answered", bench.plan, [](Sample& sample) { sample.attempt = 3; });
  for (const std::vector<fs::path>& runs : {std::vector{failed, answered}, std::vector{answered, failed}}) {
    const Result<MergeOutcome> outcome = bench.Merge(runs);
    ASSERT_TRUE(outcome.ok());
    EXPECT_EQ(outcome->missing, 0U);
    EXPECT_THAT(bench.Finals(), ElementsAre(std::pair("answer of answered", 12)));
    fs::remove_all(bench.target());
  }
  const Result<MergeOutcome> errors = bench.Merge({failed});
  ASSERT_TRUE(errors.ok());
  EXPECT_EQ(errors->samples, 12U);
  EXPECT_EQ(errors->missing, 12U) << "an error isn't an answer";
}

TEST(MergeRuns, AnErrorThatEndedACellBeatsOneBeforeARetry) {
  const MergeBench bench;
  const fs::path ended = bench.Run("ended", bench.plan, Fail);
  const fs::path stopped = bench.Run("stopped", bench.plan, [](Sample& sample) {
    sample.error = Error{ErrorKind::kUnavailable, "to be retried"};
    sample.attempt = 1;
    sample.will_retry = true;
  });
  for (const std::vector<fs::path>& runs : {std::vector{ended, stopped}, std::vector{stopped, ended}}) {
    ASSERT_TRUE(bench.Merge(runs).ok());
    EXPECT_THAT(bench.Finals(), ElementsAre(std::pair("overloaded", 12)));
    fs::remove_all(bench.target());
  }
}

TEST(MergeRuns, TheLaterErrorAndTheEarlierAnswerWin) {
  const MergeBench bench;
  const auto attempt = [](int number, bool fails) {
    return [=](Sample& sample) {
      sample.attempt = number;
      if (fails) sample.error = Error{ErrorKind::kUnavailable, "attempt " + std::to_string(number)};
    };
  };
  const fs::path e1 = bench.Run("e1", bench.plan, attempt(1, true));
  const fs::path e3 = bench.Run("e3", bench.plan, attempt(3, true));
  for (const std::vector<fs::path>& runs : {std::vector{e1, e3}, std::vector{e3, e1}}) {
    ASSERT_TRUE(bench.Merge(runs).ok());
    EXPECT_THAT(bench.Finals(), ElementsAre(std::pair("attempt 3", 12)));
    fs::remove_all(bench.target());
  }
  const fs::path a0 = bench.Run("a0", bench.plan, attempt(0, false));
  const fs::path a2 = bench.Run("a2", bench.plan, attempt(2, false));
  const fs::path sooner = bench.Run("sooner", bench.plan, [](Sample& sample) { sample.time = "2026-11-22T09:00:00Z"; });
  for (const std::vector<fs::path>& runs : {std::vector{a0, a2}, std::vector{a2, a0}}) {
    ASSERT_TRUE(bench.Merge(runs).ok());
    EXPECT_THAT(bench.Finals(), ElementsAre(std::pair("answer of a0", 12)));
    fs::remove_all(bench.target());
  }
  ASSERT_TRUE(bench.Merge({a0, sooner}).ok());
  EXPECT_THAT(bench.Finals(), ElementsAre(std::pair("answer of sooner", 12))) << "given earlier";
}

TEST(MergeRuns, TheOrderOfTheRunsMakesNoDifference) {
  const MergeBench bench;
  const fs::path a = bench.Run("a", bench.plan);
  const fs::path b = bench.Run("b", bench.plan);
  ASSERT_TRUE(bench.Merge({a, b}).ok());
  const std::string journal = bench.Journal();
  fs::remove_all(bench.target());
  ASSERT_TRUE(bench.Merge({b, a}).ok());
  EXPECT_EQ(bench.Journal(), journal);
}

TEST(MergeRuns, SamplesOfNoCellAreAnError) {
  const MergeBench bench;
  const fs::path run = bench.Run("a", bench.plan, [](Sample& sample) { sample.key = std::string(64, '0'); });
  const Result<MergeOutcome> outcome = bench.Merge({run});
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, HasSubstr("none belongs to a cell of their plan"));
  EXPECT_FALSE(fs::exists(bench.target()));
}

TEST(MergeRuns, RunsWithoutSamplesAreAllMissing) {
  const MergeBench bench;
  const fs::path run = bench.Run("a", bench.plan);
  fs::remove(run / "samples.jsonl");
  const Result<MergeOutcome> outcome = bench.Merge({run});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome->missing, 12U);
  EXPECT_THAT(bench.Answers(), IsEmpty());
}

TEST(MergeRuns, NothingToMergeOrNoPlan) {
  const MergeBench bench;
  EXPECT_THAT(bench.Merge({}).error().message, HasSubstr("name the run folders"));
  EXPECT_FALSE(bench.Merge({bench.folder.path() / "none"}).ok());
  bench.folder.Write("broken/plan.json", "{");
  EXPECT_THAT(bench.Merge({bench.folder.path() / "broken"}).error().message, HasSubstr("plan.json"));
}

TEST(MergeRuns, SeveralAttemptsInOneRunAreNoDuplicates) {
  const MergeBench bench;
  const fs::path a = bench.Run("a", bench.plan, [](Sample& sample) { sample.attempt = 1; });
  std::string failed_first;
  const Result<JournalContent> answers = ReadJournal(a);
  ASSERT_TRUE(answers.ok());
  for (const Sample& answer : answers->samples) {
    Sample error = answer;
    error.attempt = 0;
    error.will_retry = true;
    Fail(error);
    failed_first += DumpJson(SampleToJson(error)) + "\n";
  }
  bench.folder.Write("a/samples.jsonl", failed_first + *ReadFile(a / "samples.jsonl"));
  const Result<MergeOutcome> one = bench.Merge({a});
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->samples, 12U);
  EXPECT_EQ(one->duplicates, 0U);
  const Result<MergeOutcome> both = bench.Merge({bench.ShardOf(0, 2)});  // and the target
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->duplicates, 6U);
}

TEST(MergeRuns, ARunInProgressIsNotReplaced) {
  const MergeBench bench;
  const fs::path run = bench.Run("a", bench.plan);
  ASSERT_TRUE(bench.Merge({run}).ok());
  const std::string journal = bench.Journal();
  const Result<upskill::Journal> writer = upskill::Journal::Reopen(bench.target(), bench.clock);
  ASSERT_TRUE(writer.ok());
  EXPECT_FALSE(bench.Merge({run}).ok());
  EXPECT_EQ(bench.Journal(), journal);
}

TEST(MergeRuns, AnotherMergeIntoTheSameFolderIsWaitedFor) {
  const MergeBench bench;
  const fs::path a = bench.ShardOf(0, 2);
  const fs::path b = bench.ShardOf(1, 2);
  std::optional<Folder> other = Folder::Make(bench.target()).value();
  ASSERT_TRUE(other->Lock(std::chrono::milliseconds(0)).ok());
  std::atomic<bool> done = false;
  {
    const std::jthread second([&] {
      EXPECT_TRUE(bench.Merge({b}).ok());
      done = true;
    });
    // What the first merge writes is there for the second, which must not have looked yet.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(done);
    fs::copy(a, bench.target(), fs::copy_options::recursive);
    other.reset();
  }
  EXPECT_THAT(ReadJournal(bench.target())->samples, SizeIs(12));
}

}  // namespace
}  // namespace upskill

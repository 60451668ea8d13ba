// SPDX-License-Identifier: Apache-2.0
#include "cluster/follow.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/task_script.h"
#include "support/skipping_clock.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Phase = TaskState::Phase;

// An engine whose tasks run for one poll and then do what a test says.
class FakeEngine : public JobEngine {
 public:
  Result<std::string> Submit(const JobArray& array) override {
    submitted.push_back(array.shards);
    names.push_back(array.name);
    const std::string id = std::to_string(100 + submitted.size());
    if (refusal) return *refusal;
    if (lost_ids > 0) {
      --lost_ids;
      return Error{ErrorKind::kUnavailable, "connection lost"};
    }
    return id;
  }
  Result<std::optional<std::string>> Find(const std::string& name) override {
    found.push_back(name);
    if (failing_finds > 0) {
      --failing_finds;
      return Error{ErrorKind::kUnavailable, "nobody to ask"};
    }
    return known_id;
  }
  Status Fetch(const std::string& /*name*/, const std::filesystem::path& /*folder*/, int shard) override {
    fetched.push_back(shard);
    if (failing_fetches == 0) return {};
    --failing_fetches;
    return Error{ErrorKind::kUnavailable, "no such network"};
  }
  Result<std::map<int, TaskState>> Poll(const std::string& /*name*/, const std::string& id) override {
    ++polls;
    if (unreachable > 0) {
      --unreachable;
      return Error{ErrorKind::kUnavailable, "no controller"};
    }
    if (on_poll) on_poll(id);
    return states;
  }
  Status Cancel(const std::string& name, const std::string& id) override {
    cancelled.push_back(name + " " + id);
    return {};
  }
  bool IsId(std::string_view id) const override { return id.size() == 3; }
  std::string CancelLine(const std::string& id) const override { return "cancel " + id; }

  std::vector<std::vector<int>> submitted;
  std::vector<std::string> names;
  std::vector<std::string> found;
  std::vector<std::string> cancelled;
  std::map<int, TaskState> states;
  std::function<void(const std::string&)> on_poll;
  std::vector<int> fetched;
  std::optional<std::string> known_id;
  std::optional<Error> refusal;
  int lost_ids = 0;
  int failing_finds = 0;
  int failing_fetches = 0;
  int polls = 0;
  int unreachable = 0;
};

class Following : public testing::Test {
 protected:
  Following() {
    record.engine = "fake";
    record.shards = 3;
    run.complete = [this](int shard) { return complete.contains(shard); };
    run.merge = [this](const std::vector<int>& shards) {
      merged.push_back(shards);
      return Status();
    };
    run.array = [](const std::vector<int>& /*shards*/) { return JobArray(); };
    run.progress = [](const ShardCounts& /*counts*/) {};
    run.note = [this](const std::string& text) { notes.push_back(text); };
  }

  Result<FollowOutcome> Follow() { return FollowJobs(engine, folder.path(), record, run, clock, &stop); }

  // A shard has begun, and ended by itself with this code.
  void Exit(int shard, int code) {
    folder.Write(ShardFolder(shard) + "/exit", std::to_string(code) + "\n");
    folder.Write(ShardFolder(shard) + "/log", "some lines\nerror: the last words\n\n");
  }

  TempFolder folder;
  FakeEngine engine;
  JobRecord record;
  FollowedRun run;
  std::set<int> complete;
  std::vector<std::vector<int>> merged;
  std::vector<std::string> notes;
  SkippingClock clock;
  StopFlag stop = 0;
};

TEST_F(Following, SubmitsAllAndMergesShardsAsTheyEnd) {
  engine.states = {
      {1, {Phase::kRunning, "RUNNING"}}, {2, {Phase::kRunning, "RUNNING"}}, {3, {Phase::kWaiting, "PENDING"}}};
  engine.on_poll = [&](const std::string& /*id*/) {
    const int shard = engine.polls;
    if (shard > 3) return;
    Exit(shard, 0);
    complete.insert(shard);
    engine.states[shard] = {Phase::kEnded, "COMPLETED"};
  };
  const auto outcome = Follow();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_THAT(outcome->unfinished, IsEmpty());
  EXPECT_THAT(engine.submitted, ElementsAre(ElementsAre(1, 2, 3)));
  EXPECT_THAT(merged, ElementsAre(ElementsAre(1), ElementsAre(2), ElementsAre(3)));
  EXPECT_EQ(LoadJobRecord(folder.path())->submissions.front().id, "101");
}

TEST_F(Following, OnlyWhatIsMissingIsSubmittedAgain) {
  for (const int shard : {1, 2, 3}) engine.states[shard] = {Phase::kEnded, ""};
  engine.on_poll = [&](const std::string& id) {
    for (const int shard : {1, 3}) {
      Exit(shard, 0);
      complete.insert(shard);
    }
    if (id == "102") complete.insert(2);
  };
  ASSERT_TRUE(Follow().ok());
  EXPECT_THAT(engine.submitted, ElementsAre(ElementsAre(1, 2, 3), ElementsAre(2)));
  EXPECT_THAT(
      notes,
      Contains(HasSubstr("shard 2 ended without all of its answers (killed); that was within a minute, so it is")));
}

TEST_F(Following, AShardIsSubmittedThreeTimesAtMost) {
  complete = {1, 3};
  engine.on_poll = [&](const std::string& /*id*/) { Exit(2, 3); };
  const auto outcome = Follow();
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->unfinished, ElementsAre(2));
  EXPECT_THAT(outcome->problems, ElementsAre(HasSubstr("(exit code 3): error: the last words")));
  EXPECT_THAT(engine.submitted, SizeIs(3));
}

TEST_F(Following, AShardThatFailsAtOnceIsGivenTime) {
  complete = {1, 3};
  std::vector<double> times;
  engine.on_poll = [&](const std::string& id) {
    if (times.size() < engine.submitted.size()) times.push_back(SecondsBetween(Clock::Steady(), clock.Now()));
    Exit(2, 3);
    engine.states[2] = {Phase::kEnded, "FAILED"};
    folder.Write("jobs/" + record.submissions.back().name + "-2.out", "cd: can't cd to /shared\n");
    if (id == "103") complete.insert(2);
  };
  const auto outcome = Follow();
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->unfinished, IsEmpty());
  ASSERT_THAT(times, SizeIs(3));
  EXPECT_GE(times[1] - times[0], 30.0);
  EXPECT_GE(times[2] - times[1], 120.0);
  EXPECT_THAT(notes, Contains(HasSubstr("(exit code 3): cd: can't cd to /shared; that was within a minute, so it is "
                                        "submitted again in 30 s")));
}

TEST_F(Following, AWrongCommandIsSubmittedOnce) {
  engine.on_poll = [&](const std::string& /*id*/) {
    for (const int shard : {1, 2, 3}) Exit(shard, 2);
  };
  const auto outcome = Follow();
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->unfinished, ElementsAre(1, 2, 3));
  EXPECT_THAT(engine.submitted, SizeIs(1));
}

TEST_F(Following, GoesOnWithJobsOfAnEarlierCall) {
  record.submissions = {{"upskill-x-1", "101", {1, 2, 3}}};
  Exit(1, 0);
  complete = {1};
  engine.states = {{2, {Phase::kRunning, "RUNNING"}}, {3, {Phase::kRunning, "RUNNING"}}};
  engine.on_poll = [&](const std::string& /*id*/) {
    if (engine.polls < 3) return;
    complete = {1, 2, 3};
    engine.states.clear();
  };
  ASSERT_TRUE(Follow().ok());
  EXPECT_THAT(engine.submitted, IsEmpty());
  EXPECT_EQ(engine.polls, 3);
}

TEST_F(Following, AnIdThatWasLostIsLookedUpByName) {
  engine.lost_ids = 1;
  engine.known_id = "101";
  engine.on_poll = [&](const std::string& /*id*/) { complete = {1, 2, 3}; };
  ASSERT_TRUE(Follow().ok());
  EXPECT_EQ(engine.found, engine.names);
  EXPECT_THAT(engine.submitted, SizeIs(1));
  EXPECT_THAT(notes, Contains(HasSubstr("connection lost; trying again, for up to 10 minutes")));
}

TEST_F(Following, ASubmissionThatDidNotArriveIsRepeatedFiveTimesAtMost) {
  engine.lost_ids = 2;
  engine.on_poll = [&](const std::string& /*id*/) { complete = {1, 2, 3}; };
  ASSERT_TRUE(Follow().ok());
  EXPECT_THAT(engine.names, ElementsAre(engine.names[0], engine.names[0], engine.names[0]));
  EXPECT_THAT(record.submissions, SizeIs(1));
  complete.clear();
  record.submissions.clear();
  engine.names.clear();
  engine.lost_ids = 1000;
  const auto outcome = Follow();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(outcome.error().message, HasSubstr("submitting 3 shards: tried 5 times: connection lost"));
  EXPECT_THAT(engine.names, SizeIs(5));
}

TEST_F(Following, ARefusedSubmissionIsNotRepeated) {
  engine.refusal = Error{ErrorKind::kPermanent, "no such partition"};
  const auto outcome = Follow();
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, HasSubstr("submitting 3 shards: no such partition"));
  EXPECT_THAT(record.submissions, IsEmpty());
  EXPECT_THAT(engine.submitted, SizeIs(1));
}

TEST_F(Following, AnArrayIsLookedUpForTenMinutes) {
  record.submissions = {{"upskill-x-1", "", {1, 2, 3}}};
  engine.failing_finds = 10;
  engine.known_id = "101";
  engine.on_poll = [&](const std::string& /*id*/) { complete = {1, 2, 3}; };
  ASSERT_TRUE(Follow().ok());
  EXPECT_THAT(engine.submitted, IsEmpty());
  record.submissions = {{"upskill-x-1", "", {1, 2, 3}}};
  complete.clear();
  engine.failing_finds = 1000;
  const auto outcome = Follow();
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, HasSubstr("has not answered for 10 minutes"));
  EXPECT_GT(engine.failing_finds, 800);
}

TEST_F(Following, ASignalEndsTheWaitForAnAnswer) {
  engine.lost_ids = 1000;
  engine.failing_finds = 1000;
  const FollowedRun quiet = run;
  run.note = [&](const std::string& text) {
    quiet.note(text);
    stop = 1;
  };
  const auto outcome = Follow();
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_TRUE(outcome->detached);
  EXPECT_THAT(engine.submitted, SizeIs(1));
}

TEST_F(Following, ANewArrayMayBeUnknownForAWhile) {
  engine.on_poll = [&](const std::string& /*id*/) {  // it is listed from the fifth poll on, and done at the tenth
    if (engine.polls >= 5)
      engine.states = {{1, {Phase::kRunning, ""}}, {2, {Phase::kRunning, ""}}, {3, {Phase::kRunning, ""}}};
    if (engine.polls >= 10) {
      complete = {1, 2, 3};
      for (auto& [shard, state] : engine.states) state.phase = Phase::kEnded;
    }
  };
  ASSERT_TRUE(Follow().ok());
  EXPECT_THAT(engine.submitted, SizeIs(1));
}

TEST_F(Following, AnArrayThatStaysUnknownIsSubmittedAgainAfterHalfAMinute) {
  complete = {1, 3};
  std::vector<double> times;
  engine.on_poll = [&](const std::string& id) {
    if (times.size() < engine.submitted.size()) times.push_back(SecondsBetween(Clock::Steady(), clock.Now()));
    if (id == "103") complete.insert(2);
  };
  ASSERT_TRUE(Follow().ok());
  ASSERT_THAT(times, SizeIs(3));
  EXPECT_GE(times[1] - times[0], 30.0);
  EXPECT_GE(times[2] - times[1], 30.0);
}

TEST_F(Following, AStateThatIsUnknownCountsAsRunning) {
  engine.states = {{1, {Phase::kUnknown, "EXPEDITING"}}, {2, {Phase::kUnknown, "EXPEDITING"}}};
  complete = {3};
  engine.on_poll = [&](const std::string& /*id*/) {
    if (engine.polls >= 100) complete = {1, 2, 3};
  };
  ASSERT_TRUE(Follow().ok());
  EXPECT_EQ(engine.polls, 100);
  EXPECT_THAT(engine.submitted, SizeIs(1));
  EXPECT_THAT(notes, Contains(HasSubstr("'EXPEDITING'")).Times(1));
}

TEST_F(Following, WhatAShardWroteIsFetchedAgainNotMeasuredAgain) {
  for (const int shard : {1, 3}) Exit(shard, 0);
  complete = {1, 3};
  engine.states = {{2, {Phase::kEnded, "COMPLETED"}}};
  engine.failing_fetches = 5;
  engine.on_poll = [&](const std::string& /*id*/) {
    if (engine.polls == 6) complete = {1, 2, 3};
  };
  ASSERT_TRUE(Follow().ok());
  EXPECT_THAT(engine.submitted, SizeIs(1));
  EXPECT_THAT(engine.fetched, SizeIs(6));
  EXPECT_THAT(notes, Contains(HasSubstr("no such network; fetching it again")).Times(1));
}

TEST_F(Following, WhatCanNotBeFetchedForTenMinutesIsAProblem) {
  for (const int shard : {1, 3}) Exit(shard, 0);
  complete = {1, 3};
  engine.states = {{2, {Phase::kEnded, "COMPLETED"}}};
  engine.failing_fetches = 100'000;
  const auto outcome = Follow();
  ASSERT_TRUE(outcome.ok());
  EXPECT_THAT(outcome->unfinished, ElementsAre(2));
  EXPECT_THAT(outcome->problems, ElementsAre(HasSubstr("can't be fetched: no such network")));
  EXPECT_THAT(engine.submitted, SizeIs(1));
}

TEST_F(Following, MergesWhatIsIncompleteWithTheNextShardThatIsDone) {
  Exit(3, 0);
  complete = {3};
  engine.states = {{1, {Phase::kEnded, "FAILED"}}, {2, {Phase::kRunning, "RUNNING"}}};
  Exit(1, 2);
  Exit(2, 0);
  engine.on_poll = [&](const std::string& /*id*/) {
    if (engine.polls < 4) return;
    complete.insert(2);
    engine.states[2].phase = Phase::kEnded;
  };
  ASSERT_TRUE(Follow().ok());
  EXPECT_THAT(merged, ElementsAre(ElementsAre(1, 2, 3), ElementsAre(1, 2)));  // what there was, and what came
}

TEST_F(Following, AnEngineThatIsDownIsAskedForTenMinutes) {
  engine.unreachable = 20;
  engine.on_poll = [&](const std::string& /*id*/) { complete = {1, 2, 3}; };
  EXPECT_TRUE(Follow().ok());
  complete.clear();
  engine.unreachable = 1000;
  const auto outcome = Follow();
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::kUnavailable);
  EXPECT_LT(engine.polls, 200);
}

TEST_F(Following, TheFirstSignalLeavesJobsAloneAndTheSecondCancelsThem) {
  engine.states = {{1, {Phase::kRunning, ""}}, {2, {Phase::kRunning, ""}}, {3, {Phase::kRunning, ""}}};
  engine.on_poll = [&](const std::string& /*id*/) { stop = 1; };
  auto outcome = Follow();
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->detached);
  EXPECT_FALSE(outcome->cancelled);
  EXPECT_THAT(engine.cancelled, IsEmpty());
  stop = 0;
  engine.on_poll = [&](const std::string& /*id*/) { stop = 2; };
  outcome = Follow();
  ASSERT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome->cancelled);
  EXPECT_THAT(engine.cancelled, ElementsAre(record.submissions.front().name + " 101"));
  EXPECT_THAT(engine.submitted, SizeIs(1));
}

TEST_F(Following, NothingIsWrittenThroughALink) {
  const TempFolder elsewhere;
  std::filesystem::create_directory(folder.path() / "shards");
  std::filesystem::create_directory_symlink(elsewhere.path(), folder.path() / "shards/2");
  auto outcome = Follow();
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, HasSubstr("shards/2 is a link"));
  std::filesystem::remove(folder.path() / "shards/2");
  std::filesystem::create_directory(folder.path() / "shards/2");
  std::filesystem::create_symlink("/etc/passwd", folder.path() / "shards/2/log");
  outcome = Follow();
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, HasSubstr("log is a link"));
  EXPECT_THAT(engine.submitted, IsEmpty());
}

TEST_F(Following, AnIdFromElsewhereIsNotGivenToTools) {
  record.submissions = {{"upskill-x-1", "--clusters=all", {1}}};
  const auto outcome = Follow();
  ASSERT_FALSE(outcome.ok());
  EXPECT_THAT(outcome.error().message, HasSubstr("is not a job id"));
  EXPECT_EQ(engine.polls, 0);
}

}  // namespace
}  // namespace upskill

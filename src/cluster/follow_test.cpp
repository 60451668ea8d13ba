// SPDX-License-Identifier: Apache-2.0
#include "cluster/follow.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <functional>
#include <map>
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
    if (lose_id) return Error{ErrorKind::kUnavailable, "connection lost"};
    return id;
  }
  Result<std::optional<std::string>> Find(const std::string& name) override {
    found.push_back(name);
    return known_id;
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
  std::optional<std::string> known_id;
  bool lose_id = false;
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
  engine.on_poll = [&](const std::string& id) {  // all have ended, as far as the engine says
    for (const int shard : {1, 3}) {
      Exit(shard, 0);
      complete.insert(shard);
    }
    if (id == "102") complete.insert(2);
  };
  ASSERT_TRUE(Follow().ok());
  EXPECT_THAT(engine.submitted, ElementsAre(ElementsAre(1, 2, 3), ElementsAre(2)));
  EXPECT_THAT(notes, Contains(HasSubstr("shard 2 ended without all of its answers (killed); it is submitted again")));
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
  engine.lose_id = true;
  ASSERT_FALSE(Follow().ok());
  EXPECT_EQ(LoadJobRecord(folder.path())->submissions.size(), 1U);
  engine.lose_id = false;
  engine.known_id = "101";
  engine.on_poll = [&](const std::string& /*id*/) { complete = {1, 2, 3}; };
  ASSERT_TRUE(Follow().ok());
  EXPECT_EQ(engine.found, engine.names);
  EXPECT_THAT(engine.submitted, SizeIs(1));
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

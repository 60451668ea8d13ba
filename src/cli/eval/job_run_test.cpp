// SPDX-License-Identifier: Apache-2.0
// Runs whose shards are measured by jobs: what is known of their shards, and how `runs` shows them.
#include "cli/eval/job_run.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "cluster/job_record.h"
#include "eval/journal/journal.h"
#include "support/command_line.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class RunsInJobs : public CommandLineTest {
 protected:
  RunsInJobs() {
    folder.Write("skills/adding/SKILL.md", "---\nname: adding\ndescription: How to add.\n---\nAdd.\n");
    folder.Write("skills/adding/tests.json", R"([{"input": "one and one", "expected": {"contains": "2"}}])");
  }

  // A run of 4 cells in this folder.
  fs::path Measure(const fs::path& where) {
    EXPECT_EQ(Run({"eval", (folder.path() / "skills/adding").string(), "-q", "--runs", "2", "--no-ledger", "-m",
                   "sim:base=0,skill=1", "--runs-dir", where.string()}),
              0)
        << error;
    return FindRuns(where).back();
  }

  void StoreJobs(const fs::path& run, const std::string& engine) {
    JobRecord record;
    record.created = "2026-11-21T10:12:33Z";
    record.engine = engine;
    record.shards = 2;
    record.submissions = {{"upskill-1", "7", {1, 2}}};
    fs::create_directories(run);
    ASSERT_TRUE(StoreJobRecord(run, record).ok());
  }
};

TEST_F(RunsInJobs, AShardIsReadAgainOnlyIfItsJournalChanged) {
  const fs::path journal = Measure(folder.path() / "run/shards/1") / "samples.jsonl";
  const std::string whole = *ReadFile(journal);
  const auto time = fs::last_write_time(journal);
  const auto write = [&](const std::string& text, std::chrono::seconds later) {
    folder.Write(fs::relative(journal, folder.path()).string(), text);
    fs::last_write_time(journal, time + later);
  };
  const std::string part = whole.substr(0, whole.size() / 2);
  const std::string padded = part + std::string(whole.size() - part.size() - 1, ' ') + "\n";
  ShardCompletion completion(folder.path() / "run");
  EXPECT_FALSE(completion.IsComplete(2));
  write(padded, std::chrono::seconds(1));
  EXPECT_FALSE(completion.IsComplete(1));
  write(whole, std::chrono::seconds(1));  // of the same size and time: not looked at
  EXPECT_FALSE(completion.IsComplete(1));
  write(whole, std::chrono::seconds(2));
  EXPECT_TRUE(completion.IsComplete(1));
  write(part, std::chrono::seconds(3));  // what was complete stays so
  EXPECT_TRUE(completion.IsComplete(1));
  EXPECT_FALSE(ShardCompletion(folder.path() / "run").IsComplete(1));
}

TEST_F(RunsInJobs, UnfinishedOnesAreShownWithTheWayToGoOn) {
  Measure(runs());
  ASSERT_EQ(Run({"runs", "-d", runs().string()}), 0);
  EXPECT_THAT(error, Not(HasSubstr("unfinished")));
  StoreJobs(runs() / "2026_11_21_10_12_33-ab12", "slurm:gpu");
  ASSERT_EQ(Run({"runs", "-d", runs().string()}), 0);
  EXPECT_THAT(error, AllOf(HasSubstr("1 run is unfinished. Continue with the skill, models and options that it "
                                     "was started with:\n"),
                           HasSubstr("  upskill eval SKILL --on slurm:gpu --resume 2026_11_21_10_12_33-ab12\n")));
  ASSERT_EQ(Run({"runs", "-d", runs().string(), "-s", "adding"}), 0);
  EXPECT_THAT(error, Not(HasSubstr("unfinished")));
}

TEST_F(RunsInJobs, ThatWereNeverSubmittedAreNotShown) {
  JobRecord record;
  record.created = "2026-11-21T10:12:33Z";
  record.engine = "slurm";
  fs::create_directories(runs() / "2026_11_21_10_12_33-ab12");
  ASSERT_TRUE(StoreJobRecord(runs() / "2026_11_21_10_12_33-ab12", record).ok());
  ASSERT_EQ(Run({"runs", "-d", runs().string()}), 0);
  EXPECT_THAT(error, Not(HasSubstr("unfinished")));
}

TEST_F(RunsInJobs, OnesWithUnansweredCellsAreUnfinishedAndCompleteOnesAreNot) {
  const fs::path run = Measure(runs());
  StoreJobs(run, "kubernetes");
  ASSERT_EQ(Run({"runs", "-d", runs().string()}), 0);
  EXPECT_THAT(error, Not(HasSubstr("unfinished")));
  const std::string whole = *ReadFile(run / "samples.jsonl");
  folder.Write(fs::relative(run / "samples.jsonl", folder.path()).string(), whole.substr(0, whole.size() / 2));
  ASSERT_EQ(Run({"runs", "-d", runs().string(), "--all"}), 0);
  EXPECT_THAT(error, HasSubstr("--on kubernetes --resume " + run.filename().string()));
  fs::remove(run / kJobsFile);
  ASSERT_EQ(Run({"runs", "-d", runs().string()}), 0);
  EXPECT_THAT(error, HasSubstr("upskill eval SKILL --resume " + run.filename().string()));
  EXPECT_THAT(out, ContainsRegex(run.filename().string() + " · [0-9]+ of [0-9]+ answered"));
}

TEST_F(RunsInJobs, AreShownWhereThereAreNoOthers) {
  StoreJobs(runs() / "2026_11_21_10_12_33-ab12", "hf:me/runs; rm -rf x");
  folder.Write("runs/2026_11_21_10_12_33-ab13/jobs.json", "{\"version\": 1");
  ASSERT_EQ(Run({"runs", "-d", runs().string()}), 0);
  EXPECT_THAT(error, AllOf(HasSubstr("2 runs are unfinished"), HasSubstr("--on 'hf:me/runs; rm -rf x'"),
                           HasSubstr("2026_11_21_10_12_33-ab13: "), HasSubstr("jobs.json:1:")));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "cluster/slurm.h"

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <string>

#include "support/fake_tools.h"
#include "util/files.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(SlurmOutput, SbatchPrintsAnId) {
  EXPECT_EQ(*SlurmIdFrom("17\n"), "17");
  EXPECT_EQ(*SlurmIdFrom("17;second\n"), "17");
  for (const char* text : {"", "\n", "Submitted batch job 17\n", "-3\n", "17 18\n", "99999999999\n", "1_2"})
    EXPECT_FALSE(SlurmIdFrom(text).ok()) << text;
}

// As Slurm 22.05 printed it.
TEST(SlurmOutput, SqueuePrintsTheStatesOfTasks) {
  const auto tasks = TasksFromSqueue(
      "1|6|PENDING|JobArrayTaskLimit\n1|5|RUNNING|None\n1|4|COMPLETING|None\n1|2|FAILED|NonZeroExitCode\n"
      "1|1|COMPLETED|None\n1|3|NODE_FAIL|None\n1|7|PREEMPTED|None\n",
      "1");
  ASSERT_TRUE(tasks.ok());
  std::map<int, std::string> words;
  std::map<int, TaskState::Phase> phases;
  for (const auto& [task, state] : *tasks) {
    words[task] = state.word;
    phases[task] = state.phase;
  }
  using enum TaskState::Phase;
  EXPECT_THAT(phases, ElementsAre(Pair(1, kEnded), Pair(2, kEnded), Pair(3, kEnded), Pair(4, kRunning),
                                  Pair(5, kRunning), Pair(6, kWaiting), Pair(7, kEnded)));
  EXPECT_EQ(words[6], "PENDING (JobArrayTaskLimit)");
  EXPECT_EQ(words[3], "NODE_FAIL");
  EXPECT_THAT(*TasksFromSqueue("", "1"), IsEmpty());
  EXPECT_EQ((*TasksFromSqueue("1|1|EXPEDITING|None\n", "1"))[1].phase, kUnknown);
}

TEST(SlurmOutput, LinesOfAnotherFormAreErrors) {
  for (const char* text : {"slurm_load_jobs: warning\n", "2|1|RUNNING|None\n", "1|1\n"})
    EXPECT_FALSE(TasksFromSqueue(text, "1").ok()) << text;
  EXPECT_THAT(*TasksFromSqueue("1|N/A|RUNNING|None\n1|99999999999|RUNNING|None\n1|-4|RUNNING|None\n", "1"), IsEmpty());
}

TEST(SlurmOutput, SacctAddsWords) {
  EXPECT_THAT(
      StatesFromSacct("17_1|COMPLETED\n17_2|CANCELLED by 0\n17_[3-9]|PENDING\n18_1|FAILED\nno line\n17_4|\n", "17"),
      ElementsAre(Pair(1, "COMPLETED"), Pair(2, "CANCELLED")));
}

TEST(SlurmOptions, WhatTheEngineSetsItselfIsRefused) {
  const auto make = [](const std::string& text) { return MakeSlurm("gpu", {*ParseJobOption(text)}); };
  EXPECT_TRUE(make("gres=gpu:1").ok());
  EXPECT_TRUE(make("--time=2:00:00").ok());
  EXPECT_TRUE(make("exclusive").ok());
  for (const char* own :
       {"array=1-3", "wrap=date", "output=/etc/passwd", "partition=low", "wait", "requeue", "no-requeue"})
    EXPECT_FALSE(make(own).ok()) << own;
  EXPECT_THAT(make("arr=1-3").error().message, HasSubstr("an abbreviation of --array"));
  for (const char* abbreviated : {"a=1", "cluster=all", "out=/etc/passwd", "job=x", "no", "test", "req", "wra=date"})
    EXPECT_FALSE(make(abbreviated).ok()) << abbreviated;
  for (const char* bad : {"", "--", "a b=c", "=x", "GRES=1", "comment=a\nb"})
    EXPECT_FALSE(ParseJobOption(bad).ok()) << bad;
}

TEST(SlurmOptions, ValuesAreThereWhereSbatchWantsThem) {
  const auto make = [](const std::string& text) { return MakeSlurm("", {*ParseJobOption(text)}); };
  EXPECT_THAT(make("gres").error().message, HasSubstr("needs a value: gres=VALUE"));
  for (const char* bad : {"gres=", "time", "mem=", "overcommit=1"}) EXPECT_FALSE(make(bad).ok()) << bad;
  for (const char* good :
       {"exclusive", "exclusive=user", "overcommit", "nice", "wait-all-nodes=1", "container-image=x"})
    EXPECT_TRUE(make(good).ok()) << good;
}

TEST(SlurmOptions, APartitionIsAName) {
  for (const char* good : {"", "gpu", "a100_long-2"}) EXPECT_TRUE(MakeSlurm(good, {}).ok()) << good;
  for (const char* bad : {"a b", "-p", "--help", "a,b", "gpu\n"}) EXPECT_FALSE(MakeSlurm(bad, {}).ok()) << bad;
  EXPECT_THAT(MakeSlurm("--help", {}).error().message, HasSubstr("--on slurm:--help: not the name of a partition"));
}

using FakeSlurm = FakeTools;

TEST_F(FakeSlurm, SubmitsAnArrayWithTheCommand) {
  Tool("sbatch", "echo 42");
  const std::unique_ptr<JobEngine> slurm = *MakeSlurm("gpu", {*ParseJobOption("gres=gpu:1")});
  EXPECT_EQ(*slurm->Submit(Array()), "42");
  const std::string file = (folder.path() / "run/jobs/upskill-x-1.sh").string();
  EXPECT_EQ(Called("sbatch"), "--parsable\n--job-name=upskill-x-1\n--array=1,3\n--output=" +
                                  (folder.path() / "run/jobs/upskill-x-1-%a.out").string() +
                                  "\n--partition=gpu\n"
                                  "--requeue\n--gres=gpu:1\n--\n" +
                                  file + "\n");
  const Result<std::string> script = ReadFile(file);
  EXPECT_THAT(*script, HasSubstr("shard=$SLURM_ARRAY_TASK_ID\n"));
  EXPECT_THAT(*script,
              HasSubstr("/bin/upskill eval 'it'\\''s a skill' --seed=7 --shard \"$shard/4\" --runs-dir \"$folder\" "));
}

// Jobs inherit the environment of sbatch: with its mark, those on this machine would be ended as its processes.
TEST_F(FakeSlurm, JobsDontHaveTheMarkOfTheCommandThatSubmitsThem) {
  Tool("sbatch", "[ -z \"${UPSKILL_COMMAND_ID+set}\" ] && echo 42");
  EXPECT_TRUE((*MakeSlurm("", {}))->Submit(Array()).ok());
}

TEST_F(FakeSlurm, ARefusalSaysWhatSlurmSaid) {
  Tool("sbatch", "echo 'sbatch: error: invalid partition specified: gpu' >&2; exit 1");
  const Result<std::string> id = (*MakeSlurm("gpu", {}))->Submit(Array());
  ASSERT_FALSE(id.ok());
  EXPECT_EQ(id.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(id.error().message, HasSubstr("invalid partition specified: gpu"));
}

// As Slurm 22.05 prints them.
TEST_F(FakeSlurm, NoControllerIsOneSentence) {
  Tool("sbatch",
       "echo 'sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)' >&2\n"
       "exit 1");
  Result<std::string> id = (*MakeSlurm("", {}))->Submit(Array());
  EXPECT_EQ(id.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(id.error().message,
            "Slurm's controller (slurmctld) isn't running or can't be reached (sbatch: error: Batch job submission "
            "failed: Unable to contact slurm controller (connect failure))");
  Tool("sbatch",
       "cat >&2 <<'END'\n"
       "sbatch: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host\n"
       "sbatch: error: fetch_config: DNS SRV lookup failed\n"
       "sbatch: error: _establish_config_source: failed to fetch config\n"
       "sbatch: fatal: Could not establish a configuration source\nEND\nexit 1");
  id = (*MakeSlurm("", {}))->Submit(Array());
  EXPECT_EQ(id.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(id.error().message,
            "this machine belongs to no Slurm cluster: there is no slurm.conf, and no controller was found (sbatch: "
            "error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host)");
}

TEST_F(FakeSlurm, AnArrayThatSlurmHasForgottenHasNoTasks) {
  Tool("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1");
  Tool("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  EXPECT_THAT(*(*MakeSlurm("", {}))->Poll("upskill-x-1", "42"), IsEmpty());
  Tool("sacct", "echo '42_1|OUT_OF_MEMORY'");
  EXPECT_EQ((*(*MakeSlurm("", {}))->Poll("upskill-x-1", "42"))[1].word, "OUT_OF_MEMORY");
}

TEST_F(FakeSlurm, AControllerThatIsDownIsAskedAgain) {
  Tool("squeue", "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1");
  const auto tasks = (*MakeSlurm("", {}))->Poll("upskill-x-1", "42");
  ASSERT_FALSE(tasks.ok());
  EXPECT_EQ(tasks.error().kind, ErrorKind::kUnavailable);
}

TEST_F(FakeSlurm, FindsAnArrayByItsName) {
  Tool("squeue", "echo 42; echo 42");
  EXPECT_EQ(**(*MakeSlurm("", {}))->Find("upskill-x-1"), "42");
  EXPECT_THAT(Called("squeue"), HasSubstr("--name=upskill-x-1\n"));
  Tool("squeue", "true");
  EXPECT_FALSE((*(*MakeSlurm("", {}))->Find("upskill-x-1")).has_value());
}

TEST_F(FakeSlurm, CancelsByNameAndId) {
  Tool("scancel", "true");
  EXPECT_TRUE((*MakeSlurm("", {}))->Cancel("upskill-x-1", "42").ok());
  EXPECT_EQ(Called("scancel"), "--name=upskill-x-1\n42\n");
}

}  // namespace
}  // namespace upskill

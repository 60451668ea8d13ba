// SPDX-License-Identifier: Apache-2.0
#include "cluster/hf_jobs.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <memory>
#include <string>

#include "support/fake_tools.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Phase = TaskState::Phase;

std::vector<JobOption> HubOptions() {
  return {*ParseJobOption("image=registry/upskill:1"), *ParseJobOption("flavor=a10g-small"),
          *ParseJobOption("namespace=lab")};
}

// As huggingface_hub 2.4 prints them.
constexpr const char* kListed = R"([
  {"id": "68a1f0", "labels": {"name": "upskill-x-1", "shard": "1"}, "status": "COMPLETED"},
  {"id": "68a1f1", "labels": {"name": "upskill-x-1", "shard": "3"}, "status": "RUNNING"},
  {"id": "--all", "labels": {"shard": "2"}, "status": "RUNNING"},
  {"id": "68a1f2", "labels": {}, "status": "RUNNING"}])";

TEST(HubJobs, AreListedWithTheirShards) {
  const auto jobs = *HubJobsFrom(kListed);
  ASSERT_THAT(jobs, SizeIs(2));
  EXPECT_EQ(jobs[0].state.phase, Phase::kEnded);
  EXPECT_EQ(jobs[1].id, "68a1f1");
  EXPECT_EQ(jobs[1].shard, 3);
  EXPECT_EQ(jobs[1].state.phase, Phase::kRunning);
  EXPECT_THAT(*HubJobsFrom("[]"), IsEmpty());
  for (const char* text : {"", "{}", "No jobs matched filters", "[{\"id\": \"68a1f0\", \"lab"})
    EXPECT_EQ(HubJobsFrom(text).error().kind, ErrorKind::kUnavailable) << text;
}

TEST(HubJobs, AStageThatIsNotKnownIsNeitherRunningNorEnded) {
  const auto jobs = *HubJobsFrom(R"([{"id": "68a1f0", "labels": {"shard": "1"}, "status": "QUEUED"}])");
  EXPECT_EQ(jobs.at(0).state.phase, Phase::kUnknown);
}

TEST(HubJobs, SayWhatIsMissing) {
  EXPECT_TRUE(MakeHubJobs("me/runs", HubOptions()).ok());
  for (const char* bucket : {"", "runs", "/runs", "me/", "me/a/b", "me/ru ns", "--help/x", "me/--x", "../x", "me/.."})
    EXPECT_FALSE(MakeHubJobs(bucket, HubOptions()).ok()) << bucket;
  EXPECT_THAT(MakeHubJobs("--help/x", HubOptions()).error().message, HasSubstr("expected hf:NAMESPACE/BUCKET"));
  EXPECT_FALSE(MakeHubJobs("me/runs", {*ParseJobOption("image=x"), *ParseJobOption("namespace=--help")}).ok());
  EXPECT_FALSE(MakeHubJobs("me/runs", {}).ok());
  EXPECT_FALSE(MakeHubJobs("me/runs", {*ParseJobOption("image=x"), *ParseJobOption("detach=1")}).ok());
}

class FakeHub : public FakeTools {
 protected:
  FakeHub() { std::filesystem::create_directories(folder.path() / "skill"); }
  JobArray WithInputs(std::vector<std::string> inputs) const {
    JobArray array = Array();
    array.inputs = std::move(inputs);
    return array;
  }
  // Every call's arguments, one call a line.
  void Hf(const std::string& body) {
    Tool("hf", "echo \"$@\" | tr '\\n' ' ' >>'" + (folder.path() / "calls").string() + "'; echo >>'" +
                   (folder.path() / "calls").string() + "'\n" + body);
  }
  std::string Calls() {
    const Result<std::string> text = ReadFile(folder.path() / "calls");
    return text ? *text : "";
  }
};

TEST_F(FakeHub, SendsInputsAndStartsAJobForEachShard) {
  Hf("echo 68a1f0");
  folder.Write("cases.json", "[]");
  EXPECT_EQ(*(*MakeHubJobs("me/runs", HubOptions()))->Submit(WithInputs({"skill", "cases.json"})), "upskill-x-1");
  const std::string at = folder.path().string();
  EXPECT_THAT(Calls(), AllOf(HasSubstr("sync " + at + "/skill hf://buckets/me/runs/run/in/skill"),
                             HasSubstr("buckets cp " + at + "/cases.json hf://buckets/me/runs/run/in/cases.json"),
                             HasSubstr("jobs run --detach --quiet --name upskill-x-1 --label shard=1 --volume "
                                       "hf://buckets/me/runs/run:/upskill:rw --flavor=a10g-small --namespace lab -- "
                                       "registry/upskill:1 /bin/sh -c #!/bin/sh"),
                             HasSubstr("--label shard=3 "), HasSubstr("cd /upskill/in || exit")));
}

TEST_F(FakeHub, OnlyWhatIsBelowTheCurrentFolderIsSent) {
  Hf("echo 68a1f0");
  for (const char* input : {"/etc", "../skill"})
    EXPECT_FALSE((*MakeHubJobs("me/runs", HubOptions()))->Submit(WithInputs({input})).ok());
  EXPECT_THAT(Calls(), IsEmpty());
}

TEST_F(FakeHub, CancelsWhatStillRuns) {
  Hf(std::string("[ \"$2\" != ps ] || cat <<'END'\n") + kListed + "\nEND");
  EXPECT_TRUE((*MakeHubJobs("me/runs", HubOptions()))->Cancel("upskill-x-1", "upskill-x-1").ok());
  EXPECT_THAT(Calls(),
              AllOf(HasSubstr("jobs cancel 68a1f1 --namespace lab"), ::testing::Not(HasSubstr("cancel 68a1f0"))));
}

TEST_F(FakeHub, AServiceThatFailsIsAskedAgain) {
  Hf("echo 'Server Error: Bad Gateway for url: https://huggingface.co' >&2; exit 1");
  const std::unique_ptr<JobEngine> engine = *MakeHubJobs("me/runs", HubOptions());
  EXPECT_EQ(engine->Submit(WithInputs({"skill"})).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(engine->Poll("upskill-x-1", "upskill-x-1").error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(engine->Fetch("upskill-x-1", folder.path() / "run", 3).error().kind, ErrorKind::kUnavailable);
  Hf("echo 'Invalid flavor' >&2; exit 2");
  EXPECT_EQ(engine->Submit(WithInputs({"skill"})).error().kind, ErrorKind::kPermanent);
}

TEST_F(FakeHub, BringsAShardBack) {
  Hf("true");
  EXPECT_TRUE((*MakeHubJobs("me/runs", HubOptions()))->Fetch("upskill-x-1", folder.path() / "run", 3).ok());
  EXPECT_THAT(Calls(),
              HasSubstr("sync hf://buckets/me/runs/run/shards/3 " + (folder.path() / "run/shards/3").string()));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "cluster/kubernetes.h"

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <string>

#include "support/fake_tools.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Phase = TaskState::Phase;

std::vector<JobOption> Pods() {
  return {*ParseJobOption("image=registry/upskill:1"), *ParseJobOption("claim=runs:/shared")};
}

Json Pod(const char* index, const char* phase) {
  return {{"kind", "Pod"},
          {"metadata", {{"annotations", {{"batch.kubernetes.io/job-completion-index", index}}}}},
          {"status", {{"phase", phase}}}};
}

Json Job(const char* shards, const char* ended = nullptr) {
  Json job = {
      {"kind", "Job"}, {"metadata", {{"annotations", {{"upskill/shards", shards}}}}}, {"status", Json::object()}};
  if (ended != nullptr) job["status"]["conditions"] = Json::array({Json{{"type", ended}, {"status", "True"}}});
  return job;
}

Result<std::map<int, TaskState>> Tasks(std::vector<Json> items) {
  return TasksFromKubectl(DumpJson({{"kind", "List"}, {"items", items}}));
}

TEST(KubectlOutput, TasksAreTheIndicesOfTheJob) {
  auto tasks =
      *Tasks({Job("2,5,9"), Pod("0", "Running"), Pod("1", "Failed"), Pod("1", "Pending"), Pod("2", "Succeeded")});
  EXPECT_EQ(tasks[2].phase, Phase::kRunning);
  EXPECT_EQ(tasks[5].phase, Phase::kWaiting);
  EXPECT_EQ(tasks[9].phase, Phase::kEnded);
}

TEST(KubectlOutput, APodThatWasKilledIsReplacedUntilTheJobEnds) {
  EXPECT_EQ((*Tasks({Job("1"), Pod("0", "Failed")}))[1].phase, Phase::kWaiting);
  EXPECT_EQ((*Tasks({Job("1")}))[1].phase, Phase::kWaiting);
  EXPECT_EQ((*Tasks({Job("1", "Failed"), Pod("0", "Failed")}))[1].phase, Phase::kEnded);
  EXPECT_EQ((*Tasks({Job("1", "Complete")}))[1].phase, Phase::kEnded);
  EXPECT_EQ((*Tasks({Job("1"), Pod("0", "Resizing")}))[1].phase, Phase::kUnknown);
  EXPECT_THAT(*Tasks({}), IsEmpty());
}

TEST(KubectlOutput, SaysWhatAPodWaitsFor) {
  Json pod = Pod("0", "Pending");
  pod["status"]["containerStatuses"] = Json::array({Json{{"state", {{"waiting", {{"reason", "ImagePullBackOff"}}}}}}});
  EXPECT_EQ((*Tasks({Job("1"), pod}))[1].word, "Pending (ImagePullBackOff)");
  pod = Pod("0", "Pending");
  pod["status"]["conditions"] =
      Json::array({Json{{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}}});
  EXPECT_EQ((*Tasks({Job("1"), pod}))[1].word, "Pending (Unschedulable)");
}

TEST(KubectlOutput, AnotherFormIsAnError) {
  for (const char* text : {"", "Error from server", "[]", "{}", "{\"items\": 3}", "{\"items\": [{\"kin", "\xff"})
    EXPECT_EQ(TasksFromKubectl(text).error().kind, ErrorKind::kUnavailable) << text;
  EXPECT_FALSE(Tasks({Job("")}).ok());
  EXPECT_FALSE(Tasks({Job("1,x")}).ok());
  EXPECT_FALSE(Tasks({Job("99999999")}).ok());
}

TEST(PodOptions, SayWhatIsMissing) {
  EXPECT_TRUE(PodOptionsFrom(Pods()).ok());
  EXPECT_THAT(PodOptionsFrom({}).error().message, HasSubstr("image=IMAGE"));
  EXPECT_THAT(PodOptionsFrom({*ParseJobOption("image=x")}).error().message, HasSubstr("claim=NAME:/FOLDER"));
  EXPECT_FALSE(PodOptionsFrom({*ParseJobOption("image=x"), *ParseJobOption("claim=runs")}).ok());
  EXPECT_FALSE(PodOptionsFrom({*ParseJobOption("gres=gpu:1")}).ok());
  EXPECT_FALSE(PodOptionsFrom({*ParseJobOption("image")}).ok());
}

TEST(PodOptions, NamesAreThoseOfKubernetes) {
  const auto make = [](const std::string& name_space, const std::string& option) {
    std::vector<JobOption> options = Pods();
    options.push_back(*ParseJobOption(option));
    return MakeKubernetes(name_space, options);
  };
  for (const char* good : {"", "lab", "lab-2"}) EXPECT_TRUE(make(good, "secret=my.keys").ok()) << good;
  for (const char* bad : {"-lab", "lab-", "--help", "Lab", "a.b", "a b"}) EXPECT_FALSE(make(bad, "cpu=1").ok()) << bad;
  for (const char* bad : {"secret=-x", "service-account=a b", "claim=--x:/shared"})
    EXPECT_FALSE(make("", bad).ok()) << bad;
  EXPECT_THAT(make("-lab", "cpu=1").error().message,
              HasSubstr("--on kubernetes:-lab: not a valid namespace; expected"));
}

TEST(PodOptions, PodsSeeWhatIsBelowTheMount) {
  const std::unique_ptr<JobEngine> engine = *MakeKubernetes("", Pods());
  EXPECT_TRUE(engine->CheckPlaces({"/shared", "/shared/team/skill"}).ok());
  EXPECT_THAT(engine->CheckPlaces({"/shared/x", "/home/me"}).error().message,
              HasSubstr("/home/me isn't below /shared, the folder of --job-option claim"));
  EXPECT_FALSE(engine->CheckPlaces({"/shared-not"}).ok());
  EXPECT_FALSE(engine->CheckPlaces({"/shared/../etc"}).ok());
}

using FakeKubectl = FakeTools;

TEST_F(FakeKubectl, WithoutAContextNothingIsTriedAgain) {
  Tool("kubectl",
       "echo 'The connection to the server localhost:8080 was refused - did you specify the right host?' >&2; "
       "exit 1");
  const Error error = (*MakeKubernetes("", Pods()))->Submit(Array()).error();
  EXPECT_EQ(error.kind, ErrorKind::kPermanent);
  EXPECT_THAT(error.message, HasSubstr("kubectl has no cluster to talk to"));
}

TEST_F(FakeKubectl, CreatesAnIndexedJob) {
  Tool("kubectl", "cat >\"$0.manifest\"; echo job.batch/upskill-x-1");
  std::vector<JobOption> options = Pods();
  for (const char* more : {"gpu=1", "memory=8Gi", "secret=keys", "deadline=3600"})
    options.push_back(*ParseJobOption(more));
  EXPECT_EQ(*(*MakeKubernetes("lab", options))->Submit(Array()), "upskill-x-1");
  EXPECT_EQ(Called("kubectl"), "--namespace=lab\ncreate\n-f\n-\n-o\nname\n");
  const Json manifest = *ParseJson(*ReadFile(folder.path() / "kubectl.manifest"), "manifest");
  EXPECT_EQ(manifest["spec"]["completionMode"], "Indexed");
  EXPECT_EQ(manifest["spec"]["completions"], 2);
  EXPECT_EQ(manifest["spec"]["activeDeadlineSeconds"], 3600);
  const Json& container = manifest["spec"]["template"]["spec"]["containers"][0];
  EXPECT_EQ(DumpJson(container["resources"]), R"({"limits":{"memory":"8Gi","nvidia.com/gpu":"1"}})");
  EXPECT_EQ(DumpJson(container["envFrom"]), R"([{"secretRef":{"name":"keys"}}])");
  EXPECT_THAT(container["command"][2].get<std::string>(),
              HasSubstr("shard=$(set -- 1 3; shift \"$JOB_COMPLETION_INDEX\"; echo \"$1\")\n"));
  EXPECT_THAT(container["command"][2].get<std::string>(),
              HasSubstr("\nupskill eval 'it'\\''s a skill' --seed=7 --shard "));
}

TEST_F(FakeKubectl, UnderALimitPodsAreNotRestarted) {
  JobArray array = Array();
  EXPECT_EQ(KubernetesJob(array, *PodOptionsFrom(Pods()))["spec"]["backoffLimit"], 6);
  array.restarts = false;
  EXPECT_EQ(KubernetesJob(array, *PodOptionsFrom(Pods()))["spec"]["backoffLimit"], 0);
}

TEST_F(FakeKubectl, DeletesTheJobAndFindsItByName) {
  Tool("kubectl", "true");
  const std::unique_ptr<JobEngine> engine = *MakeKubernetes("", Pods());
  EXPECT_TRUE(engine->Cancel("upskill-x-1", "upskill-x-1").ok());
  EXPECT_EQ(Called("kubectl"), "delete\njob\nupskill-x-1\n--ignore-not-found\n--wait=false\n");
  EXPECT_FALSE((*engine->Find("upskill-x-1")).has_value());
  Tool("kubectl", "echo job.batch/upskill-x-1");
  EXPECT_EQ(**engine->Find("upskill-x-1"), "upskill-x-1");
  EXPECT_TRUE(engine->IsId("upskill-x-1"));
  EXPECT_FALSE(engine->IsId("--all"));
}

TEST_F(FakeKubectl, AnUnreachableClusterIsAskedAgain) {
  Tool("kubectl", "echo 'The connection to the server was refused' >&2; exit 1");
  const auto tasks = (*MakeKubernetes("", Pods()))->Poll("upskill-x-1", "upskill-x-1");
  ASSERT_FALSE(tasks.ok());
  EXPECT_EQ(tasks.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(tasks.error().message, HasSubstr("refused"));
}

TEST_F(FakeKubectl, ARefusedJobIsNotSubmittedAgain) {
  Tool("kubectl", "echo 'Error from server (Forbidden): jobs.batch is forbidden' >&2; exit 1");
  EXPECT_EQ((*MakeKubernetes("", Pods()))->Submit(Array()).error().kind, ErrorKind::kPermanent);
  Tool("kubectl", "echo 'The connection to the server 10.0.0.1:6443 was refused' >&2; exit 1");
  EXPECT_EQ((*MakeKubernetes("", Pods()))->Submit(Array()).error().kind, ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace upskill

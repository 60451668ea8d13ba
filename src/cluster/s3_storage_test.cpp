// SPDX-License-Identifier: Apache-2.0
#include "cluster/s3_storage.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "cluster/hf_jobs.h"
#include "cluster/kubernetes.h"
#include "support/fake_tools.h"
#include "util/run_child.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(S3Urls, AreOfABucketAndFolders) {
  EXPECT_EQ(S3Storage::Parse("s3://my-bucket/")->url(), "s3://my-bucket");
  EXPECT_EQ(S3Storage::Parse("s3://my-bucket/lab/runs_2/")->url(), "s3://my-bucket/lab/runs_2");
  for (const char* bad : {"", "s3://", "s3:///x", "bucket/x", "S3://bucket", "https://bucket/x", "s3://b",
                          "s3://-bucket", "s3://bucket/../x", "s3://bucket//x", "s3://bucket/a b", "s3://bucket/$(id)",
                          "s3://bucket/'x", "s3://bucket/x\n", "s3://user:key@bucket", "s3://bucket/*"})
    EXPECT_FALSE(S3Storage::Parse(bad).ok()) << bad;
  EXPECT_THAT(S3Storage::Parse("s3://bucket/$(id)").error().message, HasSubstr("expected s3://BUCKET"));
  EXPECT_THAT(S3Storage::Parse("s3://b/f").error().message,
              HasSubstr("; the bucket's name, 'b', must have from 3 to 63 characters"));
}

// An `aws` whose buckets are folders below store/: `s3 sync` and `s3 cp` copy files there. A file `fault` beside it
// names what goes wrong.
class FakeS3 : public FakeTools {
 protected:
  FakeS3() {
    fs::create_directories(folder.path() / "skill/scripts");
    folder.Write("skill/SKILL.md", "rules");
    folder.Write("skill/scripts/a.sh", "true");
    folder.Write("cases.json", "[]");
    const std::string at = folder.path().string();
    Tool("aws", "echo \"$@\" >>'" + at + "/calls'\nat='" + at + R"sh('
fault=$(cat "$at/fault" 2>/dev/null)
case "$fault" in
  credentials) echo 'Unable to locate credentials. You can configure credentials by running "aws configure".' >&2; exit 253 ;;
  unreachable) echo 'fatal error: Could not connect to the endpoint URL: "http://s3.example/"' >&2; exit 1 ;;
  busy) echo 'upload failed: An error occurred (SlowDown) when calling the PutObject operation' >&2; exit 1 ;;
  bucket) echo 'fatal error: An error occurred (NoSuchBucket) when calling the ListObjectsV2 operation' >&2; exit 1 ;;
esac
verb=$2
while [ $# -gt 2 ]; do shift; done
case "$1" in s3://*) from=$at/store/${1#s3://} ;; *) from=$1 ;; esac
case "$2" in s3://*) to=$at/store/${2#s3://} ;; *) to=$2 ;; esac
if [ "$verb" = cp ]; then mkdir -p "$(dirname "$to")" && exec cp "$from" "$to"; fi
[ -d "$from" ] || exit 0
mkdir -p "$to"
if [ "$fault" = partial ]; then
  rm "$at/fault"
  cp "$from/log" "$to/" 2>/dev/null
  echo 'upload failed: ./samples.jsonl An error occurred (InternalError)' >&2; exit 1
fi
exec cp -r "$from/." "$to"
)sh");
  }

  JobArray WithInputs(std::vector<std::string> inputs) const {
    JobArray array = Array();
    array.inputs = std::move(inputs);
    return array;
  }
  void Fault(const std::string& name) { folder.Write("fault", name); }
  std::string Text(const std::string& name) const {
    const Result<std::string> text = ReadFile(folder.path() / name);
    return text ? *text : "";
  }
  // Runs the script of shard 3 as a container would, with a program that answers one more cell at each call. Its exit
  // code.
  int RunTask(S3Storage::ExitWith exit_with, const std::string& program = R"sh(
while [ $# -gt 1 ] && [ "$1" != --runs-dir ]; do shift; done
cat skill/SKILL.md
mkdir -p "$2/run"
echo answer >>"$2/run/samples.jsonl"
exit 3
)sh") {
    Tool("there", program);
    const fs::path container = folder.path() / "container";
    fs::remove_all(container);
    fs::create_directories(container);
    folder.Write("task.sh", storage.TaskScriptFor(WithInputs({}), "there", "$((1 + 2))", exit_with));
    ChildLimits limits;
    limits.time = std::chrono::seconds(60);
    const Result<ChildOutcome> child = RunChild(
        "TMPDIR=" + ShellWord(container.string()) + " exec sh " + ShellWord((folder.path() / "task.sh").string()),
        {"PATH=" + std::string(std::getenv("PATH"))}, "", limits);
    EXPECT_TRUE(child.ok());
    said = child ? child->error_tail : "";
    return child ? child->exit_code : -1;
  }

  S3Storage storage = *S3Storage::Parse("s3://lab/runs");
  std::string said;
};

TEST_F(FakeS3, CopiesWhatTheCommandReads) {
  ASSERT_TRUE(storage.SendInputs(WithInputs({"skill", "./cases.json"})).ok());
  EXPECT_EQ(Text("store/lab/runs/run/in/skill/SKILL.md"), "rules");
  EXPECT_EQ(Text("store/lab/runs/run/in/skill/scripts/a.sh"), "true");
  EXPECT_EQ(Text("store/lab/runs/run/in/cases.json"), "[]");
  EXPECT_THAT(Text("calls"), HasSubstr("--no-follow-symlinks"));
}

TEST_F(FakeS3, OnlyWhatIsBelowTheCurrentFolderIsCopied) {
  for (const char* input : {"/etc", "../skill", ""})
    EXPECT_FALSE(storage.SendInputs(WithInputs({input})).ok()) << input;
  EXPECT_THAT(Text("calls"), IsEmpty());
}

TEST_F(FakeS3, AnOutageIsWaitedOutAndAMistakeIsNot) {
  for (const char* fault : {"unreachable", "busy"}) {
    Fault(fault);
    EXPECT_EQ(storage.SendInputs(WithInputs({"skill"})).error().kind, ErrorKind::kUnavailable) << fault;
  }
  for (const char* fault : {"credentials", "bucket"}) {
    Fault(fault);
    EXPECT_EQ(storage.SendInputs(WithInputs({"skill"})).error().kind, ErrorKind::kPermanent) << fault;
  }
  Fault("credentials");
  EXPECT_THAT(storage.SendInputs(WithInputs({"skill"})).error().message,
              AllOf(HasSubstr("aws s3 sync failed with exit code 253"), HasSubstr("Unable to locate credentials")));
  EXPECT_EQ(storage.FetchShard(folder.path() / "run", 3).error().kind, ErrorKind::kUnavailable);
}

TEST_F(FakeS3, AShardGoesThroughTheStorage) {
  ASSERT_TRUE(storage.SendInputs(WithInputs({"skill"})).ok());
  EXPECT_EQ(RunTask(S3Storage::ExitWith::kCommandsCode), 3) << said;
  ASSERT_TRUE(storage.FetchShard(folder.path() / "run", 3).ok());
  EXPECT_EQ(Text("run/shards/3/run/samples.jsonl"), "answer\n");
  EXPECT_EQ(Text("run/shards/3/log"), "rules");
  EXPECT_EQ(Text("run/shards/3/exit"), "3\n");
}

TEST_F(FakeS3, ASecondTaskGoesOnWithTheAnswersOfTheFirst) {
  EXPECT_EQ(RunTask(S3Storage::ExitWith::kZero), 0) << said;
  EXPECT_EQ(RunTask(S3Storage::ExitWith::kZero), 0) << said;
  EXPECT_EQ(Text("store/lab/runs/run/shards/3/run/samples.jsonl"), "answer\nanswer\n");
}

TEST_F(FakeS3, AnUploadThatFailsHalfwayIsTriedAgain) {
  const std::string fault = ShellWord((folder.path() / "fault").string());
  EXPECT_EQ(RunTask(S3Storage::ExitWith::kCommandsCode,
                    "while [ $# -gt 1 ] && [ \"$1\" != --runs-dir ]; do shift; done\n"
                    "echo answer >\"$2/samples.jsonl\"; echo partial >" +
                        fault),
            0)
      << said;
  EXPECT_EQ(Text("store/lab/runs/run/shards/3/samples.jsonl"), "answer\n");
  EXPECT_THAT(said, HasSubstr("InternalError"));
}

TEST_F(FakeS3, ATaskWithoutItsInputDoesntRun) {
  Fault("credentials");
  EXPECT_EQ(RunTask(S3Storage::ExitWith::kZero), 75);
  EXPECT_THAT(Called("there"), IsEmpty());
  EXPECT_THAT(said, HasSubstr("Unable to locate credentials"));
}

TEST_F(FakeS3, AShardThatWroteNothingIsNoError) {
  EXPECT_TRUE(storage.FetchShard(folder.path() / "run", 2).ok());
  EXPECT_TRUE(fs::is_directory(folder.path() / "run/shards/2"));
}

TEST_F(FakeS3, PodsNeedNoVolumeAndHaveNoKeys) {
  ::setenv("AWS_SECRET_ACCESS_KEY", "hidden-key-of-a-test", 1);
  Tool("kubectl", "cat >\"$0.manifest\"; echo job.batch/upskill-x-1");
  const std::vector<JobOption> options = {*ParseJobOption("image=registry/upskill:1"),
                                          *ParseJobOption("storage=s3://lab/runs"), *ParseJobOption("secret=s3-keys")};
  const std::unique_ptr<JobEngine> engine = *MakeKubernetes("", options);
  EXPECT_FALSE(engine->shares_folders());
  EXPECT_EQ(*engine->Submit(WithInputs({"skill"})), "upskill-x-1");
  ::unsetenv("AWS_SECRET_ACCESS_KEY");
  const std::string manifest = Text("kubectl.manifest");
  EXPECT_THAT(manifest, AllOf(HasSubstr("\"secretRef\""), HasSubstr("store=s3://lab/runs/run\\n"),
                              Not(HasSubstr("hidden-key")), Not(HasSubstr("volume"))));
  EXPECT_EQ(Text("store/lab/runs/run/in/skill/SKILL.md"), "rules");
  folder.Write("store/lab/runs/run/shards/1/log", "done");
  EXPECT_TRUE(engine->Fetch("upskill-x-1", folder.path() / "run", 1).ok());
  EXPECT_EQ(Text("run/shards/1/log"), "done");
}

TEST_F(FakeS3, JobsOfTheHubNeedNoBucket) {
  Tool("hf", "echo 68a1f0");
  const std::vector<JobOption> options = {*ParseJobOption("image=registry/upskill:1"),
                                          *ParseJobOption("storage=s3://lab/runs"),
                                          *ParseJobOption("secrets=AWS_SECRET_ACCESS_KEY")};
  const std::unique_ptr<JobEngine> engine = *MakeHubJobs("", options);
  EXPECT_TRUE(engine->Submit(WithInputs({"skill"})).ok());
  EXPECT_THAT(Called("hf"), AllOf(HasSubstr("--secrets=AWS_SECRET_ACCESS_KEY\n"),
                                  HasSubstr("store=s3://lab/runs/run\n"), Not(HasSubstr("--volume"))));
  EXPECT_EQ(Text("store/lab/runs/run/in/skill/SKILL.md"), "rules");
  EXPECT_THAT(MakeHubJobs("me/runs", options).error().message, HasSubstr("give one place for the files"));
}

TEST_F(FakeS3, AClaimAndAStorageExcludeEachOther) {
  const auto pods = [](std::vector<const char*> texts) {
    std::vector<JobOption> options = {*ParseJobOption("image=x")};
    for (const char* text : texts) options.push_back(*ParseJobOption(text));
    return PodOptionsFrom(options);
  };
  EXPECT_TRUE(pods({"storage=s3://lab/runs"}).ok());
  EXPECT_FALSE(pods({"storage=s3://lab/runs", "claim=runs:/shared"}).ok());
  EXPECT_FALSE(pods({"storage=gs://lab/runs"}).ok());
  EXPECT_THAT(pods({}).error().message, HasSubstr("storage=s3://BUCKET/FOLDER"));
}

}  // namespace
}  // namespace upskill

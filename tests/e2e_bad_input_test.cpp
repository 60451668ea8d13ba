// SPDX-License-Identifier: Apache-2.0
// What the real binary does when something is wrong: its exit code, its messages, and the files it leaves behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/subprocess.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr const char* kSkill = "---\nname: demo\ndescription: A skill for tests.\n---\n\nSay blue.\n";
constexpr const char* kSuite = R"({"tests": [{"input": "Which colour?", "expected": {"contains": ["blue"]}}]})";

class BadInput : public ::testing::Test {
 protected:
  // A skill folder `demo` with these two files; an empty text omits the file.
  void MakeSkill(const std::string& skill, const std::string& suite) {
    fs::create_directories(folder_.path() / "demo");
    if (!skill.empty()) folder_.Write("demo/SKILL.md", skill);
    if (!suite.empty()) folder_.Write("demo/skill_meta.json", suite);
  }

  ProcessOutcome Eval(const std::string& model = "sim:base=0,skill=1") {
    return RunUpskill({"eval", "demo", "-m", model}, folder_.path());
  }

  // One clear error on stderr, exit code 2, nothing on stdout, no runs folder.
  void ExpectRefused(const ProcessOutcome& outcome, const std::string& words) {
    EXPECT_EQ(outcome.exit_code, 2) << outcome.error;
    EXPECT_THAT(outcome.error, AllOf(HasSubstr("error: "), HasSubstr(words)));
    EXPECT_THAT(outcome.out, IsEmpty());
    EXPECT_FALSE(fs::exists(folder_.path() / "runs"));
  }

  TempFolder folder_;
};

TEST_F(BadInput, SkillFolderDoesNotExist) { ExpectRefused(Eval(), "demo"); }

TEST_F(BadInput, SkillFileIsMissing) {
  MakeSkill("", kSuite);
  ExpectRefused(Eval(), "SKILL.md");
}

TEST_F(BadInput, FrontmatterIsMissing) {
  MakeSkill("# Demo\n", kSuite);
  ExpectRefused(Eval(), "SKILL.md");
}

TEST_F(BadInput, FrontmatterIsBrokenYaml) {
  MakeSkill("---\nname: demo\ndescription: [open\n---\nbody\n", kSuite);
  ExpectRefused(Eval(), "demo/SKILL.md:");
}

TEST_F(BadInput, SkillIsNotUtf8) {
  MakeSkill("---\nname: demo\ndescription: d\n---\nbl\xFC\n", kSuite);
  ExpectRefused(Eval(), "UTF-8");
}

TEST_F(BadInput, SuiteIsNotUtf8) {
  MakeSkill(kSkill, "{\"tests\": [{\"input\": \"bl\xFC\"}]}");
  ExpectRefused(Eval(), "skill_meta.json:1:25: not UTF-8");
}

TEST_F(BadInput, NoCases) {
  MakeSkill(kSkill, R"({"metadata": {}, "tests": []})");
  ExpectRefused(Eval(), "no cases");
}

TEST_F(BadInput, NoSuiteAtAll) {
  MakeSkill(kSkill, "");
  ExpectRefused(Eval(), "demo");
}

TEST_F(BadInput, SuiteIsMalformedJson) {
  MakeSkill(kSkill, "{\"tests\": [\n  {\"input\": \"Fix it\" \"expected\": {\"contains\": [\"fix\"]}}\n]}\n");
  ExpectRefused(Eval(), "skill_meta.json:2:22: ");
}

TEST_F(BadInput, CaseWithoutInput) {
  MakeSkill(kSkill, R"({"tests": [{"expected": {"contains": "x"}}]})");
  ExpectRefused(Eval(), "input");
}

TEST_F(BadInput, CaseWithoutAnyCheck) {
  MakeSkill(kSkill, R"({"tests": [{"input": "Hello"}]})");
  ExpectRefused(Eval(), "check");
}

TEST_F(BadInput, CaseFileLeavesItsFolder) {
  MakeSkill(
      kSkill,
      R"({"tests": [{"input": "a", "context": {"files": {"../../etc/passwd": "x"}}, "expected": {"contains": "b"}}]})");
  ExpectRefused(Eval(), "points outside its folder");
}

TEST_F(BadInput, OutputFileLeavesItsFolder) {
  MakeSkill(kSkill, R"({"tests": [{"input": "a", "output_file": "/etc/passwd", "expected": {"contains": "b"}}]})");
  ExpectRefused(Eval(), "/etc/passwd");
}

TEST_F(BadInput, TestsFileDoesNotExist) {
  MakeSkill(kSkill, kSuite);
  ExpectRefused(RunUpskill({"eval", "demo", "-m", "sim:base=0", "-t", "nowhere.json"}, folder_.path()), "nowhere.json");
}

TEST_F(BadInput, UnknownModel) {
  MakeSkill(kSkill, kSuite);
  ExpectRefused(Eval("no-such-model"), "unknown model 'no-such-model'");
}

TEST_F(BadInput, GgufDoesNotExist) {
  MakeSkill(kSkill, kSuite);
  ExpectRefused(Eval("llama:nowhere.gguf"), "'llama:nowhere.gguf': no such file");
}

TEST_F(BadInput, GgufIsAFolder) {
  MakeSkill(kSkill, kSuite);
  ExpectRefused(Eval("llama:demo"), "demo");
}

TEST_F(BadInput, GgufIsSomethingElse) {
  MakeSkill(kSkill, kSuite);
  folder_.Write("model.gguf", "not a model at all");
  ExpectRefused(Eval("llama:model.gguf"), "model.gguf is not a GGUF file");
}

TEST_F(BadInput, GgufIsTruncated) {
  MakeSkill(kSkill, kSuite);
  for (const int kilobytes : {1, 512, 20000}) {
    const std::string copy = "head -c " + std::to_string(kilobytes) + "k '" + UPSKILL_DEFAULT_MODEL + "' >model.gguf";
    ASSERT_EQ(RunShell(copy, folder_.path()).exit_code, 0);
    ExpectRefused(Eval("llama:model.gguf"), "model model.gguf: ");
  }
}

TEST_F(BadInput, UnknownOptionAndCommand) {
  EXPECT_EQ(RunUpskill({"eval", "demo", "--nonsense"}, folder_.path()).exit_code, 2);
  EXPECT_EQ(RunUpskill({"dance"}, folder_.path()).exit_code, 2);
  EXPECT_EQ(RunUpskill({}, folder_.path()).exit_code, 2);
}

constexpr const char* kUnshare = "unshare --user --map-root-user --mount ";

// Tests that mount something are skipped, with the reason, where user namespaces are forbidden (a chroot, some
// containers). `make test` prints the lines that start with SKIPPED.
#define SKIP_WITHOUT_USER_NAMESPACES()                                                                                 \
  if (const ProcessOutcome attempt = RunShell(std::string(kUnshare) + "true", folder_.path()); attempt.exit_code != 0) \
  GTEST_SKIP() << "SKIPPED: BadInput." << ::testing::UnitTest::GetInstance()->current_test_info()->name()              \
               << ": no user namespace can be created: " << attempt.error

// Runs `command` in its own mount namespace with a small tmpfs at ./small.
ProcessOutcome WithTmpfs(const fs::path& folder, const std::string& options, const std::string& command) {
  fs::create_directories(folder / "small");
  return RunShell(std::string(kUnshare) + "bash -c \"mount -t tmpfs -o " + options + " none small && " + command + "\"",
                  folder);
}

TEST_F(BadInput, RunsFolderIsReadOnly) {
  SKIP_WITHOUT_USER_NAMESPACES();
  MakeSkill(kSkill, kSuite);
  const ProcessOutcome outcome =
      WithTmpfs(folder_.path(), "ro", "$UPSKILL eval demo -m sim:base=0 --runs-dir small/runs");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.error;
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("small/runs"), HasSubstr("Read-only file system")));
}

TEST_F(BadInput, DiskIsFullFromTheStart) {
  SKIP_WITHOUT_USER_NAMESPACES();
  MakeSkill(kSkill, kSuite);
  const ProcessOutcome outcome = WithTmpfs(folder_.path(), "size=8k",
                                           "head -c 8k /dev/zero >small/filler; $UPSKILL eval demo -m sim:base=0 "
                                           "--runs-dir small; code=\\$?; find small -mindepth 1 | sort; exit \\$code");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("No space left on device"));
  EXPECT_EQ(outcome.out, "small/filler\n") << "nothing half-written may remain";
}

TEST_F(BadInput, DiskFillsUpInTheMiddle) {
  SKIP_WITHOUT_USER_NAMESPACES();
  MakeSkill(kSkill, kSuite);
  const ProcessOutcome outcome =
      WithTmpfs(folder_.path(), "size=64k",
                "$UPSKILL eval demo -m sim:base=0.5,skill=0.5 --runs 1000 --runs-dir small; code=\\$?; "
                "tail -c 1 small/*/samples.jsonl | od -An -c; wc -l <small/*/samples.jsonl; "
                "mount -o remount,size=8m small; $UPSKILL eval demo --runs-dir small --resume latest --json; echo "
                "\\\"again \\$?\\\"; exit \\$code");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.error;
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("No space left on device"), HasSubstr("--resume")));
  EXPECT_THAT(outcome.out, HasSubstr("\\n")) << "the last line in the journal is whole";
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\"complete\": true"), HasSubstr("again 0")));
}

TEST_F(BadInput, ReaderOfThePipeGoesAway) {
  MakeSkill(kSkill, kSuite);
  const ProcessOutcome outcome =
      RunShell("set -o pipefail; $UPSKILL eval demo -m sim:base=0,skill=1 --runs 40 -v | head -1", folder_.path());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("demo"));
  EXPECT_THAT(outcome.error, Not(HasSubstr("error")));
  const ProcessOutcome after = RunUpskill({"runs", "--json"}, folder_.path());
  EXPECT_THAT(after.out, HasSubstr("\"complete\": true")) << "the run was finished and saved";
}

}  // namespace
}  // namespace upskill

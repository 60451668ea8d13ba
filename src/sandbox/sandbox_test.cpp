// SPDX-License-Identifier: Apache-2.0
#include "sandbox/sandbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "sandbox/file_bundle.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Ending = SandboxOutcome::Ending;

// The outcome of a command in a sandbox with short limits.
class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status available = sandbox_.Available(); !available.ok()) GTEST_SKIP() << available.error().message;
  }

  SandboxOutcome Run(const std::string& text) {
    command_.command = text;
    Result<SandboxOutcome> outcome = sandbox_.Run(command_);
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().message);
    return outcome.ok() ? std::move(outcome).value() : SandboxOutcome{};
  }

  const Sandbox sandbox_{SandboxOptions{}};
  SandboxCommand command_;
};

TEST_F(SandboxTest, GivesBothStreamsAndTheExitCode) {
  const SandboxOutcome outcome = Run("echo out; echo err >&2; exit 7");
  EXPECT_EQ(outcome.ending, Ending::kExited);
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_EQ(outcome.output, "out\n");
  EXPECT_EQ(outcome.error, "err\n");
}

TEST_F(SandboxTest, HandsBackTheFiles) {
  command_.files = {{"a", "1"}, {"gone", "2"}, {"folder/", ""}};
  command_.collect.emplace();
  const SandboxOutcome outcome = Run("rm gone; echo 3 > folder/b; mkdir empty; ln -s /etc/passwd link; exit 4");
  EXPECT_EQ(outcome.exit_code, 4);
  ASSERT_TRUE(outcome.files.has_value());
  const std::map<std::string, std::string> expected = {{"a", "1"}, {"empty/", ""}, {"folder/b", "3\n"}};
  EXPECT_EQ(*outcome.files, expected);
  EXPECT_EQ(outcome.left_out, 1U);
  command_.collect->bytes = 10;
  const SandboxOutcome large = Run("echo more than ten bytes > c");
  EXPECT_TRUE(large.too_much);
  EXPECT_FALSE(large.files.has_value());
}

TEST_F(SandboxTest, TheCommandDoesNotHaveWhatTakesTheFiles) {
  command_.collect.emplace();
  EXPECT_EQ(Run("ls /proc/self/fd").output, Run("ls /proc/self/fd").output);
  EXPECT_NE(Run("echo x >&6").exit_code, 0);
}

TEST(Sandbox, WithoutOneTheFilesAreHandedBackToo) {
  SandboxOptions options;
  options.confined = false;
  SandboxCommand command;
  command.command = "rm a; mkdir -p deep/er; echo 1 > deep/er/b; ln -s /etc/passwd link";
  command.files = {{"a", "1"}, {"kept/", ""}};
  command.collect.emplace();
  const Result<SandboxOutcome> outcome = Sandbox(options).Run(command);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  ASSERT_TRUE(outcome->files.has_value());
  const std::map<std::string, std::string> expected = {{"deep/er/b", "1\n"}, {"kept/", ""}};
  EXPECT_EQ(*outcome->files, expected);
  EXPECT_EQ(outcome->left_out, 1U);
}

TEST_F(SandboxTest, GivesTheSignalThatEndedTheCommand) { EXPECT_EQ(Run("kill -SEGV $$").exit_code, 128 + 11); }

TEST_F(SandboxTest, PutsTheFilesIntoTheWorkspace) {
  command_.files = {{"a.txt", "one\n"},
                    {"deep/er/\xC3\xA9t\xC3\xA9 b.txt", std::string("two\0\n", 5)},
                    {"run.sh", "#!/bin/sh\necho ran\n"},
                    {std::string(150, 'l') + "/" + std::string(150, 'n'), "long"},
                    {"empty", ""}};
  const SandboxOutcome outcome =
      Run("pwd; cat a.txt; wc -c < deep/er/\xC3\xA9t\xC3\xA9\\ b.txt; ./run.sh; cat lll*/nnn*; test -e empty && echo "
          "there");
  EXPECT_EQ(outcome.output, "/workspace\none\n5\nran\nlongthere\n");
  EXPECT_EQ(outcome.error, "");
}

TEST_F(SandboxTest, RefusesAFileOutsideOfTheWorkspace) {
  command_.files = {{"../a.txt", "one\n"}};
  command_.command = "true";
  EXPECT_FALSE(sandbox_.Run(command_).ok());
}

TEST_F(SandboxTest, GivesOnlyTheVariablesAskedFor) {
  ::setenv("UPSKILL_TEST_SECRET", "sesame", 1);
  command_.variables = {"ANSWER=4 = 2+2", "EMPTY="};
  const SandboxOutcome outcome = Run("env | sed 's/=.*//' | sort | tr '\\n' ' '; echo \"$ANSWER\"");
  EXPECT_EQ(outcome.output, "ANSWER EMPTY HOME LANG PATH PWD TMPDIR 4 = 2+2\n");
  ::unsetenv("UPSKILL_TEST_SECRET");
}

TEST_F(SandboxTest, HasNothingOnStandardInput) { EXPECT_EQ(Run("cat; echo done").output, "done\n"); }

TEST_F(SandboxTest, EndsACommandThatTakesTooLong) {
  command_.limits.time = std::chrono::milliseconds(300);
  const SandboxOutcome outcome = Run("echo begun; sleep infinity");
  EXPECT_EQ(outcome.ending, Ending::kTimeLimit);
  EXPECT_EQ(outcome.output, "begun\n");
  EXPECT_LT(outcome.seconds, 10.0);
}

TEST_F(SandboxTest, EndsACommandThatPrintsTooMuch) {
  command_.limits.output_bytes = 1000;
  const SandboxOutcome outcome = Run("yes");
  EXPECT_EQ(outcome.ending, Ending::kOutputLimit);
  EXPECT_EQ(outcome.output.size(), 1000U);
  EXPECT_EQ(Run("yes >&2").ending, Ending::kOutputLimit);
  EXPECT_EQ(Run("head -c 1000 /dev/zero").ending, Ending::kExited);
  EXPECT_EQ(Run("head -c 1001 /dev/zero").ending, Ending::kOutputLimit);
}

TEST_F(SandboxTest, EndsACommandWhenTheUserStops) {
  StopFlag stop{0};
  command_.stop = &stop;
  const std::jthread user([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = 2;
  });
  EXPECT_EQ(Run("sleep infinity").ending, Ending::kStopped);
}

// As root, the folder is closed to the user that commands run as, and they get a copy.
TEST_F(SandboxTest, ShowsAProgramToTheCommand) {
  Result<TempFolder> folder = TempFolder::Make("upskill-program-");
  ASSERT_TRUE(folder.ok());
  command_.program = folder->Write("script", "#!/bin/sh\necho ran with $1\n");
  ASSERT_EQ(::chmod(command_.program.c_str(), 0755), 0);
  EXPECT_EQ(Run("\"$UPSKILL_PROGRAM\" it; echo x >> \"$UPSKILL_PROGRAM\"").output, "ran with it\n");
  ASSERT_EQ(::chmod(folder->path().c_str(), 0755), 0);
  const SandboxOutcome bound = Run("\"$UPSKILL_PROGRAM\" it; test -w \"$UPSKILL_PROGRAM\" || echo read-only");
  EXPECT_EQ(bound.output, "ran with it\nread-only\n");
}

TEST_F(SandboxTest, MakesTheCommandTheFirstProcess) {
  command_.first_process = true;
  command_.files = {{"a.txt", "one\n"}};
  const SandboxOutcome outcome = Run("echo $$; cat /proc/1/comm a.txt; exit 6");
  EXPECT_EQ(outcome.output, "1\nsh\none\n");
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_EQ(Run("sleep 100 & exit 0").exit_code, 0) << "what it leaves behind ends with it";
}

TEST_F(SandboxTest, FindsProgramsInToolchains) {
  const TempFolder folder;
  folder.Write("chain/bin/upskill-tool", "#!/bin/sh\necho tool\n");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod((folder.path() / "chain/bin/upskill-tool").c_str(), 0755), 0);
  SandboxOptions options;
  options.toolchains = {folder.path() / "chain"};
  const Sandbox with{options};
  EXPECT_TRUE(with.HasProgram("upskill-tool"));
  EXPECT_TRUE(with.HasProgram("sh"));
  EXPECT_FALSE(with.HasProgram("upskill-tool-that-is-missing"));
  EXPECT_FALSE(sandbox_.HasProgram("upskill-tool"));
  command_.command = "upskill-tool";
  const Result<SandboxOutcome> outcome = with.Run(command_);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome.value().output, "tool\n");
}

// Commands of root run as another user.
TEST_F(SandboxTest, SaysWhichFolderKeepsCommandsFromAToolchain) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root's folders are closed to its commands";
  const TempFolder folder;
  folder.Write("chain/bin/upskill-tool", "#!/bin/sh\n");
  SandboxOptions options;
  options.toolchains = {folder.path() / "chain"};
  const auto closed = [&] {
    const Status available = Sandbox(options).Available();
    return available.ok() ? "" : available.error().message;
  };
  const std::string chain = "commands can't read the toolchain " + options.toolchains[0].string() + ": ";
  EXPECT_THAT(closed(),
              AllOf(HasSubstr(chain), HasSubstr(" and " + folder.path().string() + " is closed to other users;"),
                    HasSubstr("such as /opt"), Not(HasSubstr("bubblewrap"))));
  ASSERT_EQ(::chmod(folder.path().c_str(), 0711), 0);
  EXPECT_EQ(closed(), "");
  ASSERT_EQ(::chmod(options.toolchains[0].c_str(), 0700), 0);
  EXPECT_THAT(closed(), HasSubstr(" and " + options.toolchains[0].string() + " is closed to other users;"));
}

TEST(SandboxWithout, SaysWhyThereIsNone) {
  SandboxOptions options;
  options.program = "upskill-no-such-program";
  const Sandbox none{options};
  const Status available = none.Available();
  ASSERT_FALSE(available.ok());
  EXPECT_NE(available.error().message.find("upskill-no-such-program"), std::string::npos) << available.error().message;
  EXPECT_NE(available.error().message.find("install bubblewrap"), std::string::npos);
  EXPECT_FALSE(none.Run({}).ok());
}

TEST(SandboxWithout, SaysWhatBubblewrapSays) {
  const TempFolder folder;
  const std::filesystem::path program =
      folder.Write("refuses", "#!/bin/sh\necho 'bwrap: No permissions' >&2; exit 1\n");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(program.c_str(), 0755), 0);
  SandboxOptions options;
  options.program = program.string();
  const Status available = Sandbox(options).Available();
  ASSERT_FALSE(available.ok());
  EXPECT_NE(available.error().message.find("No permissions"), std::string::npos) << available.error().message;
}

TEST(SandboxWithout, RunsUnconfinedIfTheUserSaysSo) {
  SandboxOptions options;
  options.confined = false;
  options.program = "upskill-no-such-program";
  const Sandbox open{options};
  ASSERT_TRUE(open.Available().ok());
  SandboxCommand command;
  command.command = "cat a/b; echo \"it's $X\" >&2; exit 3";
  command.files = {{"a/b", "text"}};
  command.variables = {"X=1"};
  const Result<SandboxOutcome> outcome = open.Run(command);
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  EXPECT_EQ(outcome.value().output, "text");
  EXPECT_EQ(outcome.value().error, "it's 1\n");
  EXPECT_EQ(outcome.value().exit_code, 3);
  command.command = "sleep 60";
  command.limits.time = std::chrono::milliseconds(200);
  EXPECT_EQ(open.Run(command).value().ending, Ending::kTimeLimit);
}

TEST(SandboxWithout, BehavesLikeTheSandbox) {
  SandboxOptions options;
  options.confined = false;
  const Sandbox open{options};
  SandboxCommand command;
  command.files = {{"run.sh", "#!/bin/sh\necho ran\n"}, {"a.txt", "echo ran\n"}};
  command.limits.output_bytes = 1000;
  const auto expect = [&](const std::string& text, Ending ending, int exit_code, const std::string& output) {
    command.command = text;
    for (const Sandbox* sandbox : {&open, &DefaultSandbox()}) {
      if (!sandbox->Available()) continue;
      const Result<SandboxOutcome> outcome = sandbox->Run(command);
      ASSERT_TRUE(outcome.ok()) << outcome.error().message;
      EXPECT_EQ(outcome->ending, ending) << text << (sandbox->confined() ? " in" : " outside of") << " the sandbox";
      if (ending == Ending::kExited) {
        EXPECT_EQ(outcome->exit_code, exit_code) << text;
      }
      EXPECT_EQ(outcome->output, output) << text;
      EXPECT_LT(outcome->seconds, 10.0) << text;
    }
  };
  expect("./run.sh", Ending::kExited, 0, "ran\n");
  expect("./a.txt", Ending::kExited, 126, "");
  expect("ls -l run.sh a.txt | cut -c 1-10", Ending::kExited, 0, "-rw-r--r--\n-rwxr-xr-x\n");
  expect("exec >&- 2>&-; sleep 2.5; exit 4", Ending::kExited, 4, "");
  expect("sleep 60 & echo now", Ending::kExited, 0, "now\n");
  expect("cat /dev/stdin && echo read", Ending::kExited, 0, "read\n");
  expect("echo out; yes >&2", Ending::kOutputLimit, 0, "out\n");
  expect("printf '%01001d' 0", Ending::kOutputLimit, 0, std::string(1000, '0'));
}

}  // namespace
}  // namespace upskill

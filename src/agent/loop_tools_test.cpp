// SPDX-License-Identifier: Apache-2.0
#include "agent/loop_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace upskill {
namespace {

using ::testing::HasSubstr;

ToolCall Call(const std::string& name, const Json& arguments) { return {"1", name, arguments, DumpJson(arguments)}; }

class LoopToolsTest : public testing::Test {
 protected:
  ToolOutcome Run(const std::string& name, const Json& arguments) {
    Result<ToolOutcome> outcome = RunTool(Call(name, arguments), state_, sandbox_, limits_, nullptr);
    EXPECT_TRUE(outcome.ok()) << (outcome.ok() ? "" : outcome.error().message);
    if (!outcome.ok()) return {};
    state_.files = outcome->files;
    return *std::move(outcome);
  }
  std::string Error(const std::string& name, const Json& arguments) {
    const WorkspaceFiles before = state_.files;
    const ToolOutcome outcome = Run(name, arguments);
    EXPECT_TRUE(outcome.is_error) << outcome.text;
    EXPECT_EQ(state_.files, before);
    return outcome.text;
  }

  const Sandbox sandbox_{SandboxOptions{}};
  WorkspaceState state_;
  ToolLimits limits_;
};

class LoopBashTest : public LoopToolsTest {
 protected:
  void SetUp() override {
    if (const Status available = sandbox_.Available(); !available.ok()) GTEST_SKIP() << available.error().message;
  }
};

TEST_F(LoopToolsTest, FilesAreReadWrittenAndEdited) {
  state_.files = {{"a.txt", "one\ntwo\nthree\n"}, {"src/b.py", "print(1)\n"}, {"raw", std::string("\xff\x00", 2)}};
  EXPECT_EQ(Run("read_file", {{"path", "a.txt"}}).text, "one\ntwo\nthree\n");
  EXPECT_EQ(Run("read_file", {{"path", "/workspace/a.txt"}, {"offset", 2}, {"limit", 1}}).text, "two\n");
  EXPECT_THAT(Error("read_file", {{"path", "raw"}}), HasSubstr("not a text file"));
  EXPECT_THAT(Error("read_file", {{"path", "none"}}), HasSubstr("there is no file \"none\""));
  EXPECT_FALSE(Run("write_file", {{"path", "new/deep.txt"}, {"content", "x"}}).is_error);
  EXPECT_THAT(Run("write_file", {{"path", "new/deep.txt"}, {"content", "x"}}).text, HasSubstr("nothing has changed"));
  EXPECT_THAT(Run("write_file", {{"path", "src/b.py"}, {"content", "print(1)\n"}}).text, HasSubstr("nothing has"));
  EXPECT_EQ(state_.files.at("new/deep.txt"), "x");
  EXPECT_THAT(Error("write_file", {{"path", "a.txt/b"}, {"content", "x"}}), HasSubstr("a.txt"));
  EXPECT_THAT(Error("edit_file", {{"path", "a.txt"}, {"old_text", "t"}, {"new_text", "T"}}), HasSubstr("2 times"));
  EXPECT_FALSE(
      Run("edit_file", {{"path", "a.txt"}, {"old_text", "t"}, {"new_text", "T"}, {"replace_all", true}}).is_error);
  EXPECT_EQ(state_.files.at("a.txt"), "one\nTwo\nThree\n");
  EXPECT_EQ(Run("list_files", Json::object()).text,
            "a.txt (14 bytes)\nnew/deep.txt (1 bytes)\nraw (2 bytes)\nsrc/b.py (9 bytes)\n");
  EXPECT_EQ(Run("list_files", {{"path", "src"}}).text, "src/b.py (9 bytes)\n");
  EXPECT_EQ(Run("grep", {{"pattern", "^T"}}).text, "a.txt:2: Two\na.txt:3: Three\n");
  EXPECT_THAT(Error("grep", {{"pattern", "("}}), HasSubstr("not a regular expression"));
}

TEST_F(LoopToolsTest, WhatIsWrongWithACallIsToldToTheModel) {
  EXPECT_THAT(Error("rm", Json::object()), HasSubstr("there is no tool \"rm\""));
  EXPECT_THAT(Error("bash", nullptr), HasSubstr("not a JSON object"));
  EXPECT_THAT(Error("write_file", {{"path", 3}, {"content", ""}}), HasSubstr("\"path\" must be given"));
  for (const std::string path : {"../x", "/etc/passwd", "a/../../x", ".", "", "/"})
    EXPECT_THAT(Error("write_file", {{"path", path}, {"content", "x"}}), HasSubstr("not a path")) << path;
  EXPECT_THAT(Error("write_file", {{"path", "x"}, {"content", std::string(kMaxWorkspaceBytes + 1, 'x')}}),
              HasSubstr("full"));
}

TEST_F(LoopToolsTest, ASkillCanOnlyBeRead) {
  const std::string name = ".agents/skills/s/SKILL.md";
  state_.fixed = {{name, "the skill"}};
  EXPECT_EQ(Run("read_file", {{"path", name}}).text, "the skill");
  EXPECT_THAT(Error("write_file", {{"path", name}, {"content", "x"}}), HasSubstr("can only be read"));
  EXPECT_THAT(Run("list_files", Json::object()).text, HasSubstr(name));
  EXPECT_TRUE(state_.files.empty());
}

TEST_F(LoopBashTest, CommandsChangeTheFiles) {
  state_.files = {{"a", "1"}, {"b", "2"}};
  const ToolOutcome outcome =
      Run("bash", {{"command",
                    "rm a; echo 3 > b; mkdir -p src/deep empty; cat b > src/deep/c; ln -s /etc/passwd "
                    "link; ln b hard; echo done; echo wrong >&2; exit 3"}});
  EXPECT_TRUE(outcome.is_error);
  EXPECT_EQ(outcome.text, "done\nwrong\n[exit code 3]\n[1 link or special file not kept]\n");
  EXPECT_EQ(state_.files, (WorkspaceFiles{{"b", "3\n"}, {"empty/", ""}, {"hard", "3\n"}, {"src/deep/c", "3\n"}}));
  EXPECT_EQ(Run("bash", {{"command", "cd empty && pwd"}}).text, "/workspace/empty\n[exit code 0]\n");
  EXPECT_THAT(Error("write_file", {{"path", "empty"}, {"content", "x"}}), HasSubstr("is a folder"));
  Run("write_file", {{"path", "empty/now"}, {"content", "x"}});
  EXPECT_FALSE(state_.files.contains("empty/"));
}

TEST_F(LoopBashTest, ProgramsStayExecutable) {
  Run("bash", {{"command", "cp /usr/bin/env prog; printf '#!/bin/sh\\necho ran\\n' > script; chmod +x script"}});
  EXPECT_EQ(Run("bash", {{"command", "./script && ./prog true"}}).text, "ran\n[exit code 0]\n");
}

TEST_F(LoopBashTest, LongOutputIsCut) {
  const ToolOutcome outcome =
      Run("bash", {{"command", "echo begin; head -c 5000000 /dev/zero | tr '\\0' x; echo; echo end"}});
  EXPECT_FALSE(outcome.is_error);
  EXPECT_LT(outcome.text.size(), limits_.text_bytes + 200);
  EXPECT_TRUE(outcome.text.starts_with("begin\nxxx"));
  EXPECT_THAT(outcome.text, HasSubstr("bytes left out"));
  EXPECT_THAT(outcome.text, HasSubstr("xxx\nend\n"));
}

TEST_F(LoopBashTest, WhatACommandHasDoneBeforeItsTimeLimitIsKept) {
  const ToolOutcome outcome =
      Run("bash", {{"command", "echo kept > file; echo started; sleep 100"}, {"timeout_seconds", 1}});
  EXPECT_TRUE(outcome.is_error);
  EXPECT_EQ(outcome.text, "started\n[ended after 1 s, the time limit]\n");
  EXPECT_EQ(state_.files.at("file"), "kept\n");
}

TEST_F(LoopBashTest, TooManyFilesAreNotKept) {
  state_.files = {{"a", "1"}};
  EXPECT_THAT(Error("bash", {{"command", "head -c 9000000 /dev/zero > big"}}), HasSubstr("none of the changes"));
  EXPECT_THAT(Error("bash", {{"command", "for i in $(seq 2100); do : > f$i; done"}}), HasSubstr("none of the changes"));
}

TEST_F(LoopBashTest, ASkillsScriptsRun) {
  state_.fixed = {{".agents/skills/s/scripts/hello.sh", "#!/bin/sh\necho hello\n"}};
  EXPECT_EQ(Run("bash", {{"command", "./.agents/skills/s/scripts/hello.sh; rm -r .agents"}}).text,
            "hello\n[exit code 0]\n");
  EXPECT_TRUE(state_.files.empty());
}

TEST_F(LoopBashTest, StoppingIsNoAnswer) {
  const StopFlag stop = 2;
  const Result<ToolOutcome> outcome =
      RunTool(Call("bash", {{"command", "sleep 100"}}), state_, sandbox_, limits_, &stop);
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().kind, ErrorKind::kCancelled);
}

TEST(LoopTools, AMissingSandboxIsAnError) {
  SandboxOptions options;
  options.program = "no-such-bubblewrap";
  const Sandbox sandbox(options);
  const Result<ToolOutcome> outcome = RunTool(Call("bash", {{"command", "true"}}), {}, sandbox, {}, nullptr);
  ASSERT_FALSE(outcome.ok());
  EXPECT_NE(outcome.error().kind, ErrorKind::kCancelled);
}

TEST_F(LoopToolsTest, PatternsThatWouldTakeHoursAreRefused) {
  std::string text;
  for (std::size_t i = 0; i < 2'000'000; ++i) text += "abxc"[((i * 7919) >> 4U) & 3U];
  state_.files = {{"a.txt", text}};
  std::string pattern = "(?:";
  for (int i = 0; i < 100; ++i) pattern += "[ab].{" + std::to_string(1 + i % 60) + "}x|";
  EXPECT_THAT(Error("grep", {{"pattern", pattern + "q)$"}}), HasSubstr("too large for so much text"));
  EXPECT_THAT(Error("grep", {{"pattern", std::string(5'000, 'a')}}), HasSubstr("longer than 4,000 bytes"));
  EXPECT_THAT(Run("grep", {{"pattern", "[abxc]{4}"}}).text, HasSubstr("a.txt:1: "));
}

}  // namespace
}  // namespace upskill

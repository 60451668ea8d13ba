// SPDX-License-Identifier: Apache-2.0
#include "check/command_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "check/check.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// A case with such checks, in JSON.
Result<Suite> SuiteWith(const std::string& checks, const std::string& more = "") {
  return ParseSuite(R"([{"id": "c", "input": "i", )" + more + R"("checks": [)" + checks + "]}]", "t");
}

class CommandCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status available = DefaultSandbox().Available(); !available) GTEST_SKIP() << available.error().message;
  }

  // The results of a case's checks on an answer.
  static std::vector<CheckResult> Results(const std::string& checks, const std::string& answer,
                                          const std::string& more = "") {
    const Result<Suite> suite = SuiteWith(checks, more);
    if (!suite) {
      ADD_FAILURE() << suite.error().message;
      return {};
    }
    EXPECT_THAT(suite->warnings, IsEmpty());
    const Result<CaseChecks> made = CaseChecks::Make(suite->cases[0]);
    if (!made) {
      ADD_FAILURE() << made.error().message;
      return {};
    }
    EXPECT_TRUE(made->executes());
    return made->Run(answer);
  }

  static CheckResult ResultOf(const std::string& check, const std::string& answer, const std::string& more = "") {
    const std::vector<CheckResult> results = Results(check, answer, more);
    return results.empty() ? CheckResult{} : results.front();
  }
};

TEST_F(CommandCheckTest, RunsTheFilesOfTheAnswer) {
  const std::string check = R"({"type": "command", "command": "python3 add.py 2 3", "stdout": "^5$|^5\n"})";
  const std::string right = "**add.py**:\n```python\nimport sys\nprint(int(sys.argv[1]) + int(sys.argv[2]))\n```\n";
  const std::string wrong = "**add.py**:\n```python\nimport sys\nprint(sys.argv[1] + sys.argv[2])\n```\n";
  EXPECT_EQ(ResultOf(check, right).outcome, Outcome::kPass);
  const CheckResult failed = ResultOf(check, wrong);
  EXPECT_EQ(failed.outcome, Outcome::kFail);
  EXPECT_EQ(failed.name, "command \"python3 add.py 2 3\"");
  EXPECT_EQ(failed.detail, "no match for \"^5$|^5 \" in its output: 23") << failed.detail;
}

TEST_F(CommandCheckTest, FailsWithWhatTheCommandSays) {
  const CheckResult failed =
      ResultOf(R"({"type": "command", "command": "sh fail.sh"})",
               "`fail.sh`\n```sh\nprintf 'first\\n\\033[31mlast line\\033[0m\\007\\n' >&2; exit 3\n```");
  EXPECT_EQ(failed.outcome, Outcome::kFail);
  EXPECT_EQ(failed.detail, "exit code 3 instead of 0: first · last line");
}

TEST_F(CommandCheckTest, TakesSeveralExitCodes) {
  const std::string check = R"({"type": "command", "command": "exit 3", "exit_code": [1, 3]})";
  EXPECT_EQ(ResultOf(check, "").outcome, Outcome::kPass);
  EXPECT_EQ(ResultOf(R"({"type": "command", "command": "exit 2", "exit_code": [1, 3]})", "").detail,
            "exit code 2 instead of 1, 3");
}

TEST_F(CommandCheckTest, LooksAtStandardError) {
  const std::string check = R"({"type": "command", "command": "echo note >&2", "stderr": "no+te"})";
  EXPECT_EQ(ResultOf(check, "").outcome, Outcome::kPass);
  EXPECT_EQ(ResultOf(R"({"type": "command", "command": "true", "stderr": "x"})", "").detail,
            "no match for \"x\" in its standard error, which is empty");
}

TEST_F(CommandCheckTest, FindsTheCasesFilesAndTheAnswerItself) {
  const std::string check = R"({"type": "command", "command": "cat data/in.txt kept.txt answer.md | tr '\\n' ' '",)"
                            R"( "stdout": "^new kept .*new"})";
  EXPECT_EQ(ResultOf(check, "```txt data/in.txt\nnew\n```",
                     R"("context": {"files": {"data/in.txt": "old\n", "kept.txt": "kept\n"}}, )")
                .outcome,
            Outcome::kPass);
}

TEST_F(CommandCheckTest, TheAnswerCannotReplaceTheFilesOfTheCheck) {
  const std::string check =
      R"({"type": "command", "command": "sh test.sh", "files": {"test.sh": "grep -q right answer.txt"}})";
  EXPECT_EQ(ResultOf(check, "```txt answer.txt\nwrong\n```\n```sh test.sh\nexit 0\n```").outcome, Outcome::kFail);
  EXPECT_EQ(ResultOf(check, "```txt answer.txt\nright\n```\n```sh test.sh\nexit 1\n```").outcome, Outcome::kPass);
}

// However an answer writes its name.
TEST_F(CommandCheckTest, OneFileHasOneName) {
  const std::string check = R"({"type": "command", "command": "sh tests/.run/check.sh",
      "files": {"tests/./.run/check.sh": "exit 1\n"}})";
  for (const char* name : {"tests//.run/check.sh", "tests/./.run/check.sh", "./tests/.run//check.sh"}) {
    const std::string answer = "```sh " + std::string(name) + "\nexit 0\n```";
    EXPECT_EQ(ResultOf(check, answer).outcome, Outcome::kFail) << name;
  }
  EXPECT_EQ(ResultOf(R"({"type": "command", "command": "cat src/x.py"})", "```py src//x.py\n1\n```").outcome,
            Outcome::kPass);
}

TEST_F(CommandCheckTest, FilesThatCannotBeInOneFolder) {
  const std::string check = R"({"type": "command", "command": "true", "exit_code": [0, 125], "files": {"t.py": "x"}})";
  EXPECT_EQ(ResultOf(check, "```py t.py/x.py\n1\n```").detail,
            "the files of the answer can't be written: t.py is a file and a folder");
  EXPECT_EQ(ResultOf(check, "```py a.py\n1\n```\n```py a.py/b.py\n1\n```").detail,
            "the files of the answer can't be written: a.py is a file and a folder");
  EXPECT_EQ(ResultOf(check, "```py " + std::string(200, 'a') + "/x.py\n1\n```").outcome, Outcome::kPass);
}

TEST_F(CommandCheckTest, TheAnswersTextIsNoBlockOfIt) {
  EXPECT_EQ(
      ResultOf(R"({"type": "command", "command": "grep -q BAD answer.md"})", "BAD\n```md answer.md\nGOOD\n```").outcome,
      Outcome::kPass);
}

TEST_F(CommandCheckTest, UsesTheOutputFile) {
  const std::string check = R"({"type": "command", "command": "sh run.sh", "stdout": "hello"})";
  EXPECT_EQ(ResultOf(check, "Here it is:\n```\necho hello\n```", R"("output_file": "run.sh", )").outcome,
            Outcome::kPass);
}

TEST_F(CommandCheckTest, EndsWhatTakesTooLong) {
  const CheckResult failed =
      ResultOf(R"({"type": "command", "command": "sleep infinity", "timeout_seconds": 0.3})", "");
  EXPECT_EQ(failed.outcome, Outcome::kFail);
  EXPECT_EQ(failed.detail, "time limit of 0.3 s reached");
  EXPECT_TRUE(ReachedTimeLimit(failed));
  const CheckResult in_group =
      ResultOf(R"({"type": "all", "checks": [{"type": "command", "command": "sleep 9", "timeout_seconds": 0.2}]})", "");
  EXPECT_TRUE(ReachedTimeLimit(in_group)) << in_group.detail;
  EXPECT_FALSE(ReachedTimeLimit(ResultOf(R"({"type": "command", "command": "false"})", "")));
}

TEST_F(CommandCheckTest, ReadsTheVerifierOfAnotherTool) {
  const std::string check = R"({"type": "command", "cmd": "sleep 9", "config": {"timeout_seconds": 0.2}})";
  EXPECT_EQ(ResultOf(check, "").detail, "time limit of 0.2 s reached");
}

TEST_F(CommandCheckTest, IsAMemberOfGroups) {
  const std::string check = R"({"type": "any", "checks": [{"type": "command", "command": "false"},)"
                            R"( {"type": "command", "command": "exit 0"}]})";
  EXPECT_EQ(ResultOf(check, "").outcome, Outcome::kPass);
}

TEST_F(CommandCheckTest, IsSkippedWithoutItsPrograms) {
  for (const char* check :
       {R"({"type": "command", "command": "upskill-missing-program --version"})",
        R"({"type": "command", "command": "true && false", "needs": ["upskill-missing-program"]})"}) {
    const CheckResult skipped = ResultOf(check, "");
    EXPECT_EQ(skipped.outcome, Outcome::kSkip);
    EXPECT_EQ(skipped.detail, "upskill-missing-program isn't installed where the sandbox can read it");
  }
  // What isn't the name of a program isn't looked for.
  for (const char* command :
       {"cd /tmp", "X=1 sh -c true", "./missing", "( true )", "\\\"missing\\\"", "for i in 1; do true; done"}) {
    EXPECT_NE(ResultOf(std::string(R"({"type": "command", "command": ")") + command + "\"}", "").outcome,
              Outcome::kSkip)
        << command;
  }
}

TEST(CommandCheck, IsSkippedWithoutASandbox) {
  SandboxOptions options;
  options.program = "upskill-missing-bwrap";
  const Sandbox none{options};
  const Result<Suite> suite = SuiteWith(R"({"type": "command", "command": "true"})");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  const Result<CaseChecks> checks = CaseChecks::Make(suite->cases[0], none);
  ASSERT_TRUE(checks.ok()) << checks.error().message;
  EXPECT_FALSE(checks->WhyNoneCanPass().empty());
  EXPECT_EQ(checks->Run("")[0].outcome, Outcome::kSkip);
  EXPECT_THAT(checks->Run("")[0].detail, HasSubstr("there is no sandbox"));
}

TEST(CommandCheck, NamesWhatIsWrongInASuite) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {R"({"type": "command"})", "command needs a \"command\""},
      {R"({"type": "command", "command": " "})", "command needs a \"command\""},
      {R"({"type": "command", "command": ["true"]})", "command needs a \"command\""},
      {R"({"type": "command", "command": "true", "exit_code": "0"})", "\"exit_code\" of command must be a number"},
      {R"({"type": "command", "command": "true", "exit_code": 256})", "\"exit_code\" of command must be a number"},
      {R"({"type": "command", "command": "true", "exit_code": []})", "between 1 and 100"},
      {R"({"type": "command", "command": "true", "timeout_seconds": 0})", "\"timeout_seconds\" of command"},
      {R"({"type": "command", "command": "true", "timeout_seconds": 1e9})", "\"timeout_seconds\" of command"},
      {R"({"type": "command", "command": "true", "needs": ["a/b"]})", "\"needs\" of command"},
      {R"({"type": "command", "command": "true", "files": {"../x": ""}})", "\"files\" of command"},
      {R"({"type": "command", "command": "true", "files": {"x": 1}})", "must be a string"},
      {R"({"type": "command", "command": "true", "files": {"x": "", "x/y": ""}})", "x is a file and a folder"},
      {R"({"type": "command", "command": "true", "stdout": "("})", "missing )"},
      {R"({"type": "command", "command": "true", "stderr": 5})", "\"stderr\" of command must be a string"}};
  for (const auto& [check, message] : wrong) {
    const Result<Suite> suite = SuiteWith(check);
    ASSERT_TRUE(suite.ok()) << suite.error().message;
    const Result<CaseChecks> checks = CaseChecks::Make(suite->cases[0]);
    ASSERT_FALSE(checks.ok()) << check;
    EXPECT_THAT(checks.error().message, HasSubstr(message));
  }
}

}  // namespace
}  // namespace upskill

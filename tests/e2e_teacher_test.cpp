// SPDX-License-Identifier: Apache-2.0
// Teachers without a key, through the real binary: a command, and files that are answered while the program waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "skill/skill.h"
#include "support/fake_teacher.h"
#include "support/subprocess.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class Teachers : public testing::Test {
 protected:
  // `wrapped`: in the JSON of Claude Code, with a cost.
  void WriteTeacher(bool wrapped) {
    const auto answer = [&](const std::string& name, const Json& json) {
      const Json result = {{"type", "result"},       {"subtype", "success"},
                           {"is_error", false},      {"result", DumpJson(json)},
                           {"total_cost_usd", 0.25}, {"usage", {{"input_tokens", 1000}, {"output_tokens", 100}}}};
      folder_.Write(name, DumpJson(wrapped ? result : json));
    };
    answer("cases.json", CasesJson(16));
    Json draft = DraftJson("Draft [sim 0.9]");
    draft.erase("name");  // it is that of the folder
    answer("draft.json", draft);
    answer("critique.json", CritiqueJson());
    folder_.Write("teacher.sh",
                  "p=$(cat)\ncase \"$p\" in *'\"contains\"'*) cat cases.json;; *'\"points\"'*) cat critique.json;; "
                  "*) cat draft.json;; esac\n");
  }
  // The rest of each command.
  const std::string options_ = " --eval-model sim:base=0.1,skill=body --max-attempts 0 -o adding";
  TempFolder folder_;
};

TEST_F(Teachers, ACommand) {
  WriteTeacher(true);
  const ProcessOutcome outcome =
      RunShell("\"$UPSKILL\" generate 'Add numbers' -m 'cmd:sh teacher.sh'" + options_, folder_.path());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_TRUE(LoadSkill(folder_.path() / "adding").ok());
  EXPECT_THAT(outcome.out, HasSubstr("$0.75"));
}

TEST_F(Teachers, ACommandThatFails) {
  const ProcessOutcome outcome =
      RunShell("\"$UPSKILL\" generate 'Add numbers' -m 'cmd:no-such-agent -p'" + options_, folder_.path());
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("command `no-such-agent -p` failed with exit status 127"),
                                   HasSubstr("not found"), HasSubstr("--resume")));
}

TEST_F(Teachers, FilesThatSomebodyAnswers) {
  WriteTeacher(false);
  const ProcessOutcome outcome =
      RunShell("\"$UPSKILL\" generate 'Add numbers' -m desk:desk" + options_ +
                   " & pid=$!\n"
                   "while kill -0 $pid 2>/dev/null; do for r in desk/*-request.md; do a=${r%-request.md}-answer.md\n"
                   "if [ -e \"$r\" ] && [ ! -e \"$a\" ]; then sh teacher.sh <\"$r\" >part; mv part \"$a\"; fi; done; "
                   "sleep 0.05\n"
                   "done; wait $pid",
               folder_.path());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_TRUE(LoadSkill(folder_.path() / "adding").ok());
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("waiting for desk/0001-answer.md"), HasSubstr("0002-request.md")));
}

// One Ctrl-C is enough, and nothing is asked again.
TEST_F(Teachers, FilesAfterAnInterrupt) {
  WriteTeacher(false);
  const ProcessOutcome stopped =
      RunShell("setsid \"$UPSKILL\" generate 'Add numbers' -m desk:desk" + options_ +
                   " & pid=$!; while [ ! -e desk/0001-request.md ]; do sleep 0.02; done; kill -INT $pid; wait $pid",
               folder_.path());
  EXPECT_EQ(stopped.exit_code, 130) << stopped.error;
  const ProcessOutcome outcome = RunShell(
      "sh teacher.sh <desk/0001-request.md >desk/0001-answer.md; "
      "(answer() { n=0; while [ ! -e desk/$1-request.md ] && [ $n -lt 1000 ]; do n=$((n+1)); sleep 0.02; done; "
      "cp $2.json desk/$1-answer.md; }; "
      "answer 0002 critique; answer 0003 cases) & "
      "\"$UPSKILL\" generate --resume; code=$?; wait; exit $code",
      folder_.path());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_FALSE(fs::exists(folder_.path() / "desk/0004-request.md"));
}

// The endings of a generation. The teacher is scripted, and what the student can do is known.
class Endings : public Teachers {
 protected:
  ProcessOutcome Generate(const std::string& student) {
    WriteTeacher(false);
    return RunShell(
        "\"$UPSKILL\" generate 'Add numbers' -m 'cmd:sh teacher.sh' --max-attempts 0 -o adding --eval-model '" +
            student + "'",
        folder_.path());
  }
  Json Student() const {
    const Result<std::string> text = ReadFile(folder_.path() / "adding/skill_meta.json");
    const Result<Json> meta = ParseJson(text ? *text : "", "meta");
    return meta ? meta->at("metadata").at("students").at(0) : Json();
  }
};

TEST_F(Endings, TheSkillHelps) {
  const ProcessOutcome outcome = Generate("sim:base=0.1,skill=body");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, StartsWith("sim:base=0.1,skill=body: helps\n"));
  EXPECT_EQ(Student().at("verdict"), "helps");
}

TEST_F(Endings, TheStudentIsTooSmall) {
  const ProcessOutcome outcome = Generate("sim:base=0,skill=body,reference=0");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("sim:base=0,skill=body,reference=0: too small for this skill\n"),
                                 HasSubstr("failed all 8 answers"), HasSubstr("student probe")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("student train"))) << "nothing else was asked of it";
  EXPECT_EQ(Student().at("verdict"), "too small for this skill");
  EXPECT_THAT(LoadSkill(folder_.path() / "adding")->body, HasSubstr("Draft [sim 0.9]"));
}

TEST_F(Endings, NoTestIsPassed) {
  const ProcessOutcome outcome = Generate("sim:base=0,skill=0,reference=1");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("sim:base=0,skill=0,reference=1: no test passed\n"),
                                 HasSubstr("none of 32 answers of sim:base=0,skill=0,reference=1")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("student test")));
  EXPECT_EQ(Student().at("verdict"), "no test passed");
}

TEST_F(Endings, ThereIsNothingToLearn) {
  const ProcessOutcome outcome = Generate("sim:base=1,skill=body");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, AllOf(StartsWith("sim:base=1,skill=body: nothing to learn\n"),
                                 HasSubstr("all 16 answers to the train tests pass without a skill")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("student test")));
  EXPECT_EQ(Student().at("verdict"), "nothing to learn");
}

// The skill is kept, and what to do without the teacher's tests is said.
TEST_F(Endings, NoTestCanBeUsed) {
  WriteTeacher(false);
  folder_.Write("cases.json", R"({"cases": []})");
  const ProcessOutcome outcome = RunShell(
      "\"$UPSKILL\" generate 'Add numbers' -m 'cmd:sh teacher.sh' -o adding --eval-model sim:base=0.1,skill=body",
      folder_.path());
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("no tests were written: the teacher gave no usable test"), Not(HasSubstr("none yet"))));
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("  upskill eval "), HasSubstr("adding -m sim:base=0.1,skill=body -t FILE\n"),
                    HasSubstr("--test-gen-model MODEL\n"), Not(HasSubstr("--resume"))));
  folder_.Write("tests.json", R"({"cases": [{"input": "What is 1 + 1?", "expected": {"contains": ["total-2"]}}]})");
  const ProcessOutcome measured =
      RunShell("\"$UPSKILL\" eval adding -m sim:base=0.1,skill=0.9 -t tests.json --runs 2", folder_.path());
  EXPECT_EQ(measured.exit_code, 0) << measured.error;
}

}  // namespace
}  // namespace upskill

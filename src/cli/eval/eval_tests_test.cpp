// SPDX-License-Identifier: Apache-2.0
// `eval` of a skill without test cases.
#include "cli/eval/eval_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "skill/suite.h"
#include "support/command_line.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::SizeIs;

class EvalTests : public CommandLineTest {
 protected:
  EvalTests() {
    folder.Write("skills/adding/SKILL.md",
                 "---\nname: adding\ndescription: How to add.\n---\nThe sum is written `total-N`.\n");
  }
  std::string skill() const { return (folder.path() / "skills/adding").string(); }
  int Eval(const std::vector<std::string>& more) {
    std::vector<std::string> command = {"eval", skill(), "-m", "sim:base=0,skill=1", "--runs-dir", runs().string()};
    command.insert(command.end(), more.begin(), more.end());
    return Run(command);
  }
  // A command that answers every prompt with these cases.
  std::string Writer(const std::string& cases) {
    folder.Write("answer.json", "{\"cases\":[" + cases + "]}");
    return "cmd:cat " + (folder.path() / "answer.json").string();
  }
};

const std::string kCase =
    R"({"kind":"answer","transfer":false,"checks":[],"output_file":"","input":"What is one and two, as this project writes it?","contains":["total-3"],"any_of":[],"not_contains":[],)"
    R"("reference":"It is total-3.","cites":["d1"]})";

TEST_F(EvalTests, TheErrorNamesTheCommandThatWritesThem) {
  EXPECT_EQ(Eval({}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("no skill_meta.json, tests.json or evals/evals.json with cases"),
                           HasSubstr("  upskill eval " + skill() + " -m sim:base=0,skill=1 --test-gen-model opus\n")));
}

TEST_F(EvalTests, ASimulatedStudentCannotWriteThem) {
  EXPECT_EQ(Eval({"--test-gen-model", "sim:"}), 2);
  EXPECT_THAT(error, HasSubstr("can't be a teacher"));
}

TEST_F(EvalTests, AModelWritesThemIntoTheSkillsFolder) {
  ASSERT_EQ(Eval({"--test-gen-model", Writer(kCase)}), 0) << error;
  EXPECT_THAT(error, HasSubstr("tests.json"));
  const Result<Suite> suite = LoadSuite(fs::path(skill()) / "tests.json");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  ASSERT_THAT(suite->cases, SizeIs(1));
  EXPECT_EQ(suite->cases[0].checks[0].values.at(0), "total-3");
  EXPECT_THAT(out, HasSubstr("1 case"));
  // Those are the skill's tests from now on.
  ASSERT_EQ(Eval({"--test-gen-model", "cmd:false"}), 0) << error;
}

TEST_F(EvalTests, NoSoundTestIsAnError) {
  EXPECT_EQ(
      Eval(
          {"--test-gen-model",
           Writer(
               R"({"kind":"answer","transfer":false,"checks":[],"output_file":"","input":"What is 1 + 2?","contains":["1 + 2"],"any_of":[],)"
               R"("not_contains":[],"reference":"1 + 2","cites":["d1"]})")}),
      2);
  EXPECT_THAT(error, HasSubstr("--test-gen-model: no sound test"));
  EXPECT_FALSE(fs::exists(fs::path(skill()) / "tests.json"));
}

// The folder can't take the tests: while they are written, a folder of their name appears.
TEST_F(EvalTests, AnswersThatWerePaidForAreKeptUntilTheTestsAreWritten) {
  folder.Write("answer.json", "{\"cases\":[" + kCase + "]}");
  const fs::path log = folder.path() / "asked";
  const fs::path obstacle = fs::path(skill()) / "tests.json";
  const std::string writer = "cmd:echo x >> " + log.string() + "; mkdir -p " + (obstacle / "sub").string() + "; cat " +
                             (folder.path() / "answer.json").string();
  const auto asked = [&] {
    const Result<std::string> text = ReadFile(log);
    return text ? std::count(text->begin(), text->end(), 'x') : 0;
  };
  EXPECT_NE(Eval({"--test-gen-model", writer}), 0);
  const auto calls = asked();
  ASSERT_GE(calls, 1) << error;
  EXPECT_TRUE(fs::exists(runs() / "tests"));
  fs::remove_all(obstacle);
  ASSERT_EQ(Eval({"--test-gen-model", writer}), 0) << error;
  EXPECT_EQ(asked(), calls) << "nothing is asked twice";
  EXPECT_TRUE(fs::is_regular_file(obstacle));
  EXPECT_FALSE(fs::exists(runs() / "tests"));
}

}  // namespace
}  // namespace upskill

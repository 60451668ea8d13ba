// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "sandbox/sandbox.h"
#include "support/command_line.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CheckCommand : public CommandLineTest {
 protected:
  std::string Suite(const std::string& cases) { return folder.Write("suite/tests.json", cases).string(); }
};

constexpr const char* kSound = R"([{"id": "colour", "input": "Which one?", "reference": "teal",
    "expected": {"contains": "teal"}, "wrong": [{"name": "other", "answer": "red"}]}])";

TEST_F(CheckCommand, PassesASoundSuite) {
  EXPECT_EQ(Run({"check", Suite(kSound)}), 0);
  EXPECT_THAT(out,
              AllOf(HasSubstr("colour  1 of 1"), HasSubstr("1 of 1 right answers pass, 1 of 1 wrong answers fail")));
  EXPECT_EQ(Run({"check", Suite(kSound), "--json"}), 0);
  const Result<Json> json = ParseJson(out, "out");
  ASSERT_TRUE(json.ok()) << out;
  EXPECT_EQ((*json)["cases"][0]["answers"][1]["result"], "as expected");
}

TEST_F(CheckCommand, FailsWithWhatIsJudgedWrongly) {
  folder.Write("suite/answers/colour/wrong-teal.md", "teal, but for the wrong reason");
  EXPECT_EQ(Run({"check", Suite(kSound)}), 1);
  EXPECT_THAT(out, HasSubstr("✗ colour · wrong-teal should fail, but passes"));
}

TEST_F(CheckCommand, SaysThatNothingWasChecked) {
  EXPECT_EQ(Run({"check", Suite(R"([{"id": "c", "input": "i", "reference": "r", "checks": [{"type": "command",
      "command": "upskill-missing-program"}]}])")}),
            3);
  EXPECT_THAT(out, AllOf(HasSubstr("not checked"), HasSubstr("skipped in 1 case: command \"upskill-missing-program\""),
                         HasSubstr("0 of 0 right answers pass"), HasSubstr("; 1 answer not checked")));
}

TEST_F(CheckCommand, RunsCommandsWithoutASandboxOnlyOnRequest) {
  const std::string suite = Suite(R"([{"id": "c", "input": "i", "reference": "r", "checks": [{"type": "command",
      "command": "test -d /root && test -e /etc/passwd"}]}])");
  EXPECT_EQ(Run({"check", suite, "--no-sandbox"}), 0) << out << error;
  if (!DefaultSandbox().Available().ok()) GTEST_SKIP() << "no sandbox here";
  EXPECT_EQ(Run({"check", suite}), 1);
}

TEST_F(CheckCommand, NamesWhatIsMissing) {
  EXPECT_EQ(Run({"check", (folder.path() / "none.json").string()}), 2);
  EXPECT_EQ(Run({"check", Suite(kSound), "--answers", "nowhere"}), 2);
  EXPECT_THAT(error, HasSubstr("--answers nowhere: no such folder"));
  EXPECT_EQ(Run({"check", Suite(kSound), "--toolchain", "nowhere"}), 2);
  EXPECT_EQ(Run({"check", Suite(kSound), "--toolchain", "/"}), 2);
}

TEST_F(CheckCommand, TriesOnlyTheNamedCases) {
  const std::string suite = Suite(R"([{"id": "colour", "input": "Which?", "reference": "teal",
    "expected": {"contains": "teal"}}, {"id": "shape", "input": "And?", "reference": "teal",
    "expected": {"contains": "round"}}, {"id": "size", "input": "How?", "reference": "big", "expected": {"contains": "big"}}])");
  EXPECT_EQ(Run({"check", suite}), 1);
  EXPECT_EQ(Run({"check", suite, "--case", "size", "--case", "colour"}), 0) << out << error;
  EXPECT_THAT(out, AllOf(HasSubstr("colour  1 of 1"), HasSubstr("2 of 2 right answers pass"), Not(HasSubstr("shape"))));
  EXPECT_EQ(Run({"check", suite, "--case", "shap"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("--case shap: "), HasSubstr("has no such case; did you mean 'shape'?")));
}

TEST_F(CheckCommand, StrictMeansThatEverythingWasTried) {
  EXPECT_EQ(Run({"check", Suite(kSound), "--strict"}), 0) << out << error;
  const std::string skipped =
      Suite(R"([{"id": "a", "input": "i", "reference": "teal", "expected": {"contains": "teal"}},
    {"id": "b", "input": "j", "reference": "r", "checks": [{"type": "command", "command": "upskill-missing-program"}]}])");
  EXPECT_EQ(Run({"check", skipped}), 0);
  EXPECT_EQ(Run({"check", skipped, "--strict"}), 1);
  EXPECT_THAT(error, HasSubstr("--strict: 1 answer not checked\n"));
  const std::string untried =
      Suite(R"([{"id": "a", "input": "i", "reference": "teal", "expected": {"contains": "teal"}},
    {"id": "b", "input": "j", "expected": {"contains": "x"}}])");
  EXPECT_EQ(Run({"check", untried}), 0);
  EXPECT_EQ(Run({"check", untried, "--strict"}), 1);
  const std::string warned = Suite(R"([{"id": "a", "input": "i", "reference": "teal", "refrence": "x",
    "expected": {"contains": "teal"}, "wrnog": []}])");
  EXPECT_EQ(Run({"check", warned, "--json"}), 0);
  EXPECT_EQ((*ParseJson(out, "out"))["warnings"].size(), 2U) << out;
  EXPECT_EQ(Run({"check", warned, "--strict"}), 1);
  EXPECT_THAT(error, HasSubstr("--strict: 2 warnings\n"));
}

TEST_F(CheckCommand, WritesItsReportToAFile) {
  folder.Write("suite/answers/colour/wrong-teal.md", "teal, but for the wrong reason");
  const std::string xml = (folder.path() / "check.xml").string();
  EXPECT_EQ(Run({"check", Suite(kSound), "-o", xml}), 1) << error;
  EXPECT_THAT(out, HasSubstr("1 of 1 right answers pass"));
  EXPECT_THAT(ReadFile(xml).value(), AllOf(HasSubstr("<testcase name=\"wrong-teal\" classname=\"suite.colour\""),
                                           HasSubstr("<failure message=\"should fail, but passes\"")));
  const std::string json = (folder.path() / "check.JSON").string();
  EXPECT_EQ(Run({"check", Suite(kSound), "--output", json, "--json"}), 1);
  EXPECT_EQ(ReadFile(json).value(), out);
  EXPECT_EQ(Run({"check", Suite(kSound), "-o", "check.txt"}), 2);
  EXPECT_THAT(error,
              HasSubstr("-o check.txt: can't tell the format from this name; end it with .xml (JUnit) or .json"));
  EXPECT_EQ(Run({"check", Suite(kSound), "-o", (folder.path() / "none/check.xml").string()}), 2);
}

TEST_F(CheckCommand, NeverReplacesCasesByItsReport) {
  const std::string suite = Suite(kSound);
  const std::string before = *ReadFile(suite);
  EXPECT_EQ(Run({"check", suite, "-o", suite}), 2);
  EXPECT_THAT(error, HasSubstr("this file holds cases, which the report would replace"));
  const std::string link = (folder.path() / "link.json").string();
  std::filesystem::create_symlink(suite, link);
  EXPECT_EQ(Run({"check", suite, "-o", link}), 2);
  const std::string other = folder.Write("other.json", before).string();
  EXPECT_EQ(Run({"check", suite, "-o", other}), 2);
  EXPECT_EQ(*ReadFile(suite), before);
  EXPECT_EQ(*ReadFile(other), before);
  const std::string report = (folder.path() / "report.json").string();
  EXPECT_LE(Run({"check", suite, "-o", report}), 1);
  EXPECT_LE(Run({"check", suite, "-o", report}), 1) << "its own report is replaced";
}

TEST_F(CheckCommand, TakesTheSkillsFile) {
  folder.Write("skill/SKILL.md", "---\nname: colours\ndescription: Names colours.\n---\nteal\n");
  folder.Write("skill/tests.json", kSound);
  EXPECT_EQ(Run({"check", (folder.path() / "skill/SKILL.md").string()}), 0) << error;
  variables["UPSKILL_CONFIG"] = folder.Write("config.yaml", "skills_dir: " + folder.path().string() + "\n").string();
  EXPECT_EQ(Run({"check", "skill"}), 0) << "by its name: " << error;
}

TEST_F(CheckCommand, LintsOnRequest) {
  const std::string suite = Suite(R"([{"id": "c", "input": "Say teal", "reference": "teal",
      "expected": {"contains": "teal"}}])");
  EXPECT_EQ(Run({"check", suite}), 0);
  EXPECT_THAT(out, Not(HasSubstr("weak ")));
  EXPECT_EQ(Run({"check", suite, "--lint"}), 1);
  EXPECT_THAT(out, HasSubstr("weak c · the expected string \"teal\" occurs in the input"));
}

}  // namespace
}  // namespace upskill

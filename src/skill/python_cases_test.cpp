// SPDX-License-Identifier: Apache-2.0
#include "skill/python_cases.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "skill/suite.h"
#include "util/files.h"
#include "util/invariant.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Json Parsed(const std::string& text) {
  Result<Json> json = ParseJson(text, "test");
  CHECK(json.ok());
  return std::move(json).value();
}

const std::string kPlain = R"({"tests": [
  {"input": "a", "expected": {"contains": ["x", "y"]}},
  {"input": "b", "context": {"files": {"f.txt": "t"}}, "expected": {"contains": "z"}, "validator": null}]})";

const std::string kMixed = R"({"metadata": {"version": "1.0"}, "tests": [
  {"id": "first", "input": "a", "expected": {"contains": ["x"]}, "reference": "x it is", "split": "train"},
  {"id": "second", "input": "b", "expected": {"contains": ["y"]}, "checks": [{"type": "regex", "pattern": "^y"}]},
  {"input": "c", "expected": {"contains": ["z"]}},
  {"id": "fourth", "prompt": "a", "expected": {"contains": ["w"]}},
  {"id": "fifth", "input": "d", "expected": {"contains": ["v"]}, "output_file": "v.txt"}]})";

TEST(ReadableByPython, LeavesWhatThePythonToolReadsAsItIs) {
  EXPECT_EQ(ReadableByPython(Parsed(kPlain)), Parsed(kPlain));
  EXPECT_EQ(ReadableByPython(Parsed(R"({"tests": []})")), Parsed(R"({"tests": []})"));
  EXPECT_EQ(ReadableByPython(Parsed("[1]")), Parsed("[1]"));
}

TEST(ReadableByPython, MovesTheRestIntoItsNamespace) {
  const Json document = ReadableByPython(Parsed(kMixed));
  EXPECT_EQ(document.at("tests"), Parsed(R"([{"input": "a", "expected": {"contains": ["x"]}},
                                             {"input": "c", "expected": {"contains": ["z"]}},
                                             {"input": "a", "expected": {"contains": ["w"]}}])"));
  const Json& own = document.at("x-upskill").at("tests");
  EXPECT_EQ(own.at(0), Parsed(R"({"input": "a", "id": "first", "reference": "x it is", "split": "train"})"));
  EXPECT_EQ(own.at(1), Parsed(kMixed).at("tests").at(1)) << "judged otherwise there, so none of its tests";
  EXPECT_EQ(own.at(4), Parsed(kMixed).at("tests").at(4));
}

TEST(JoinTests, IsTheReverse) {
  const Result<JoinedTests> joined = JoinTests(ReadableByPython(Parsed(kMixed)), "tests");
  ASSERT_TRUE(joined.ok()) << joined.error().message;
  Json expected = Parsed(kMixed);
  expected["tests"][3].erase("prompt");
  expected["tests"][3] = Parsed(R"({"id": "fourth", "input": "a", "expected": {"contains": ["w"]}})");
  EXPECT_EQ(joined->document, expected);
  EXPECT_THAT(joined->places, ElementsAre(0U, std::nullopt, 1U, 2U, std::nullopt));
  const Result<JoinedTests> plain = JoinTests(Parsed(kPlain), "tests");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->document, Parsed(kPlain));
}

TEST(JoinTests, FollowsTestsThatWereMovedAddedOrChangedByHand) {
  const Result<Suite> suite = ParseSuite(R"({
    "tests": [
      {"input": "new", "expected": {"contains": ["n"]}},
      {"input": "b", "expected": {"contains": ["other"]}},
      {"input": "a", "expected": {"contains": ["x"]}}],
    "x-upskill": {"tests": [
      {"input": "a", "id": "first"},
      {"input": "b", "id": "second", "expected": {"contains": ["own"]}},
      {"input": "b", "id": "third", "split": "test"}]}})",
                                         "meta.json");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  ASSERT_THAT(suite->cases, SizeIs(4));
  EXPECT_EQ(suite->cases[0].place, "meta.json:5: case 1 (\"first\")");
  EXPECT_EQ(suite->cases[1].checks.at(0).values.at(0), "own");
  EXPECT_EQ(suite->cases[1].place, "meta.json: case 2 (\"second\")");
  EXPECT_EQ(suite->cases[2].checks.at(0).values.at(0), "other");
  EXPECT_EQ(suite->cases[2].split, Split::kTest);
  EXPECT_EQ(suite->cases[3].input, "new");
  EXPECT_FALSE(SuiteToJson(*suite).contains("x-upskill"));
  EXPECT_EQ(SuiteToJson(*suite), suite->document);
}

TEST(JoinTests, NamesAnEntryThatCompletesNothing) {
  const auto message = [](const std::string& entries) {
    const Result<Suite> suite = ParseSuite(
        R"({"tests": [{"input": "a", "expected": {"contains": ["x"]}}], "x-upskill": {"tests": )" + entries + "}}",
        "meta.json");
    return suite ? std::string() : suite.error().message;
  };
  EXPECT_THAT(message(R"([{"input": "A", "id": "first"}])"),
              AllOf(HasSubstr("meta.json: \"x-upskill.tests\" entry 1 has no checks"),
                    HasSubstr("no test in \"tests\" has its \"input\" \"A\"")));
  EXPECT_THAT(message(R"([{"input": "a"}, {"input": "a"}])"), HasSubstr("entry 2 has no checks"));
  EXPECT_THAT(message("[5]"), HasSubstr("entry 1 must be an object, not a number"));
  EXPECT_EQ(message("5"), "") << "of another tool";
  EXPECT_EQ(message("[]"), "");
}

TEST(JoinTests, CasesMayAllBeInTheNamespace) {
  const TempFolder folder = TempFolder::Make("upskill-test-").value();
  const Json document = ReadableByPython(
      Parsed(R"({"tests": [{"id": "only", "input": "a", "checks": [{"type": "regex", "pattern": "b"}]}]})"));
  EXPECT_EQ(document.at("tests"), Json::array());
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "skill_meta.json", DumpJson(document)).ok());
  ASSERT_TRUE(
      WriteFileAtomically(folder.path() / "tests.json", R"([{"input": "z", "expected": {"contains": "z"}}])").ok());
  const auto now = std::filesystem::last_write_time(folder.path() / "skill_meta.json");
  std::filesystem::last_write_time(folder.path() / "tests.json", now + std::chrono::hours(1));
  const Result<Suite> suite = LoadSuiteOfSkill(folder.path());
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  ASSERT_THAT(suite->cases, SizeIs(1));
  EXPECT_EQ(suite->cases[0].id, "only");
  EXPECT_THAT(suite->warnings, ElementsAre(HasSubstr("tests.json isn't read"))) << "it was edited later";
}

}  // namespace
}  // namespace upskill

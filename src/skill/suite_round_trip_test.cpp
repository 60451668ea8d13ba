// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "skill/suite.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

Suite SuiteFrom(const std::string& text) {
  Result<Suite> suite = ParseSuite(text, "t.json");
  EXPECT_TRUE(suite.ok()) << text << "\n" << (suite ? "" : suite.error().message);
  return suite ? *suite : Suite{};
}

// The suite written and read again.
Suite WrittenAndRead(const Suite& suite) { return SuiteFrom(DumpJson(SuiteToJson(suite))); }

TEST(SuiteRoundTrip, EveryFormWithUnknownFields) {
  for (
      const char* text :
      {R"({"z":1,"tests":[{"zz":[1,{"b":2,"a":1}],"input":"i","id":"a","expected":{"contains":["x","y"],"q":null}}],"metadata":{"version":"1.0","n":1.5}})",
       R"({"cases":[{"input":"i","expected":{"contains":"x"},"context":null,"output_file":null}],"tests":[]})",
       R"({"skill_name":"s","evals":[{"id":3,"prompt":"p","expected_output":"o","files":["f"],"assertions":["a"],"checks":[{"name":"n","type":"any-of","values":"v","more":{}}]}]})",
       R"([{"name":"n","input":"i","context":{"files":{"b":"1","a":"2"},"k":0},"verifiers":[{"type":"contains","text":"t","path":null}],"expected":null}])",
       R"([{"input":"i","tags":["b","a","b"],"source":"d7","split":"dev","checks":[{"type":"contains","values":["v"]}]}])",
       R"([{"input":"i","tags":"b","source":{"line":3},"split":null,"checks":[{"type":"contains","values":["v"]}]}])",
       R"([{"input":"i","checks":[{"type":"regex","pattern":"é\\d\u0000"}],"reference":"r","output_file":"./o.txt"}])"}) {
    const Suite suite = SuiteFrom(text);
    EXPECT_EQ(SuiteToJson(suite), suite.document);
    EXPECT_EQ(DumpJson(SuiteToJson(suite)), DumpJson(*ParseJson(text, "t"))) << text;
  }
}

TEST(SuiteRoundTrip, ChangedFieldsGoWhereTheyWereRead) {
  Suite suite =
      SuiteFrom(R"({"evals":[{"id":1,"prompt":"p","expected_output":"o","x":0,"expected":{"contains":"a"}}]})");
  suite.cases[0].input = "new input";
  suite.cases[0].reference = "new reference";
  EXPECT_EQ(
      DumpJson(SuiteToJson(suite)),
      R"({"evals":[{"id":1,"prompt":"new input","expected_output":"new reference","x":0,"expected":{"contains":"a"}}]})");
}

TEST(SuiteRoundTrip, OnlyTheChangedFieldChanges) {
  Suite suite =
      SuiteFrom(R"([{"x":1,"input":"i","expected":{"contains":"a"},"y":2},{"input":"j","expected":{"contains":"b"}}])");
  suite.cases[0].reference = "r";
  EXPECT_EQ(
      DumpJson(SuiteToJson(suite)),
      R"([{"x":1,"input":"i","expected":{"contains":"a"},"y":2,"reference":"r"},{"input":"j","expected":{"contains":"b"}}])");
}

TEST(SuiteRoundTrip, ChangedGroups) {
  Suite suite = SuiteFrom(R"([{"input":"i","tags":["a"],"source":"d1","split":"train","expected":{"contains":"a"}},
                          {"input":"j","expected":{"contains":"b"}}])");
  suite.cases[0].tags.clear();
  suite.cases[0].source.clear();
  suite.cases[0].split = Split::kUnknown;
  suite.cases[1].tags = {"x", "y"};
  suite.cases[1].source = "guide.md";
  suite.cases[1].split = Split::kTest;
  EXPECT_EQ(
      DumpJson(SuiteToJson(suite)),
      R"([{"input":"i","expected":{"contains":"a"}},{"input":"j","expected":{"contains":"b"},"tags":["x","y"],"source":"guide.md","split":"test"}])");
}

TEST(SuiteRoundTrip, ChangedFilesKeepTheRestOfTheContext) {
  Suite suite =
      SuiteFrom(R"([{"input":"i","context":{"k":1,"files":{"a":"1"}},"output_file":"o","expected":{"contains":"x"}}])");
  suite.cases[0].files = {{"z", "26"}, {"a", "1"}};
  suite.cases[0].output_file.clear();
  EXPECT_EQ(DumpJson(SuiteToJson(suite)),
            R"([{"input":"i","context":{"k":1,"files":{"z":"26","a":"1"}},"expected":{"contains":"x"}}])");
  suite.cases[0].files.clear();
  EXPECT_THAT(WrittenAndRead(suite).cases[0].files, IsEmpty());
}

TEST(SuiteRoundTrip, GapsAreReadAndWritten) {
  const std::string text =
      R"([{"input":"i","context":{"files":{"a":"x = ?"}},"fill":{"gap":"?","pattern":"\\d","files":{"b":"2"},"file":"a"},"expected":{"contains":"x"}}])";
  Suite suite = SuiteFrom(text);
  ASSERT_TRUE(suite.cases[0].fill.has_value());
  EXPECT_EQ(*suite.cases[0].fill, (Fill{"a", "?", "\\d", {{"b", "2"}}}));
  EXPECT_EQ(DumpJson(SuiteToJson(suite)), text);
  suite.cases[0].fill->pattern.clear();
  EXPECT_EQ(
      DumpJson(SuiteToJson(suite)),
      R"([{"input":"i","context":{"files":{"a":"x = ?"}},"fill":{"file":"a","gap":"?","files":{"b":"2"}},"expected":{"contains":"x"}}])");
  suite.cases[0].fill.reset();
  EXPECT_FALSE(WrittenAndRead(suite).cases[0].fill.has_value());
}

TEST(SuiteRoundTrip, ChangedChecksKeepTheirOrder) {
  Suite suite =
      SuiteFrom(R"([{"input":"i","expected":{"contains":"a","k":1},"verifiers":[{"type":"contains","text":"v"}]}])");
  suite.cases[0].checks = {{"contains", {"a"}, ""},
                           {"contains", {"b"}, ""},
                           {"regex", {}, "^c"},
                           {"contains", {"d"}, ""},
                           {"any_of", {"e", "f"}, ""}};
  EXPECT_EQ(
      DumpJson(SuiteToJson(suite)),
      R"([{"input":"i","expected":{"contains":["a","b"],"k":1},"checks":[{"type":"regex","pattern":"^c"},{"type":"contains","values":["d"]},{"type":"any_of","values":["e","f"]}]}])");
  const std::vector<CheckSpec> read = WrittenAndRead(suite).cases[0].checks;
  ASSERT_THAT(read, SizeIs(5));
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i].type, suite.cases[0].checks[i].type);
    EXPECT_EQ(read[i].values, suite.cases[0].checks[i].values);
    EXPECT_EQ(read[i].pattern, suite.cases[0].checks[i].pattern);
  }
  suite.cases[0].checks = {{"equals", {"42"}, ""}};
  EXPECT_EQ(DumpJson(SuiteToJson(suite)),
            R"([{"input":"i","expected":{"k":1},"checks":[{"type":"equals","values":["42"]}]}])");
}

TEST(SuiteRoundTrip, CasesMadeByTheProgram) {
  Suite suite;
  suite.document = *ParseJson(R"({"metadata":{"version":"1.0"},"tests":[]})", "t");
  Case made;
  made.id = "one";
  made.input = "i";
  made.files = {{"a.txt", "A"}};
  made.checks = {{"contains", {"x"}, ""}, {"not_contains", {"y"}, ""}};
  made.output_file = "o.txt";
  made.reference = "x";
  suite.cases.push_back(made);
  EXPECT_EQ(
      DumpJson(SuiteToJson(suite)),
      R"({"metadata":{"version":"1.0"},"tests":[{"id":"one","input":"i","context":{"files":{"a.txt":"A"}},"expected":{"contains":["x"]},"checks":[{"type":"not_contains","values":["y"]}],"output_file":"o.txt","reference":"x"}]})");
  const Suite read = WrittenAndRead(suite);
  EXPECT_EQ(read.cases[0].id, "one");
  EXPECT_THAT(read.cases[0].files, ElementsAre(Pair("a.txt", "A")));

  suite.document = Json();
  EXPECT_EQ(SuiteToJson(suite).begin().key(), "cases");
  suite.document = *ParseJson(R"({"metadata":{}})", "t");
  EXPECT_THAT(WrittenAndRead(suite).cases, SizeIs(1));
}

TEST(SuiteRoundTrip, RemovedAndReorderedCasesKeepTheirIds) {
  const std::string rest = R"("expected":{"contains":"x"}})";
  Suite suite = SuiteFrom("[{\"input\":\"a\"," + rest + ",{\"input\":\"b\"," + rest +
                          ",{\"id\":\"c\",\"input\":\"c\"," + rest + "]");
  suite.cases.erase(suite.cases.begin());
  std::swap(suite.cases[0], suite.cases[1]);
  const Suite read = WrittenAndRead(suite);
  ASSERT_THAT(read.cases, SizeIs(2));
  EXPECT_EQ(read.cases[0].id, "c");
  EXPECT_EQ(read.cases[1].id, "case-2");
  EXPECT_FALSE(read.cases[1].raw.contains("id"));  // derived from its position
  suite.cases.erase(suite.cases.begin());
  EXPECT_EQ(WrittenAndRead(suite).cases[0].id, "case-2");
}

TEST(SuiteRoundTrip, SaveAndLoad) {
  const TempFolder folder;
  const Suite suite = SuiteFrom(R"({"tests":[{"input":"é","expected":{"contains":"x"}}]})");
  const std::filesystem::path path = folder.path() / "tests.json";
  ASSERT_TRUE(SaveSuite(suite, path).ok());
  EXPECT_EQ(*ReadFile(path),
            "{\n  \"tests\": [\n    {\n      \"input\": \"é\",\n      \"expected\": {\n        "
            "\"contains\": \"x\"\n      }\n    }\n  ]\n}\n");
  const Result<Suite> read = LoadSuite(path);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->document, suite.document);
  EXPECT_FALSE(SaveSuite(suite, folder.path() / "absent" / "tests.json").ok());
}

}  // namespace
}  // namespace upskill

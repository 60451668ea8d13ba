// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <re2/re2.h>

#include <string>
#include <utility>
#include <vector>

#include "skill/formats/readers.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

class InspectSamplesTest : public ::testing::Test {
 protected:
  Json CaseOf(const std::string& sample) {
    const std::vector<FileRecord> records = {{ParseJson(sample, "t").value(), "s.jsonl:1"}};
    const ConvertedSuite suite = ConvertInspectSamples(records, folder_.path() / "s.jsonl");
    EXPECT_EQ(suite.cases.at(0).place, "s.jsonl:1");
    return suite.cases.at(0).json;
  }
  std::string CheckOf(const std::string& sample) { return DumpJson(CaseOf(sample).at("checks").at(0)); }

  TempFolder folder_;
};

TEST_F(InspectSamplesTest, TheTargetIsContained) {
  EXPECT_EQ(DumpJson(CaseOf(R"({"input":"2+2?","target":4,"id":9})")),
            R"({"id":"9","input":"2+2?","checks":[{"type":"contains","values":"4"}]})");
  EXPECT_EQ(CheckOf(R"({"input":"i","target":["a","b"]})"), R"({"type":"any_of","values":["a","b"]})");
  EXPECT_THAT(CheckOf(R"({"input":"i","target":""})"), HasSubstr("a sample without a target"));
}

TEST_F(InspectSamplesTest, ChoicesAreLettersOfTheLastLine) {
  const Json one = CaseOf(R"({"input":"Q?","choices":["red","green"],"target":"b"})");
  EXPECT_THAT(one.at("input").get<std::string>(), HasSubstr("Q?\n\nA) red\nB) green\n\nEnd your answer"));
  const RE2 pattern(one.at("checks").at(0).at("pattern").get<std::string>());
  for (const char* right : {"ANSWER: B", "I think so.\n\nAnswer: **B**.\n", "ANSWER: (B)", "ANSWER: B) green"})
    EXPECT_TRUE(RE2::PartialMatch(right, pattern)) << right;
  for (const char* wrong : {"ANSWER: A", "ANSWER: B\nNo: ANSWER: A", "B", "ANSWER: BA", "ANSWER: B or A", ""})
    EXPECT_FALSE(RE2::PartialMatch(wrong, pattern)) << wrong;
}

TEST_F(InspectSamplesTest, SeveralRightChoices) {
  const Json one = CaseOf(R"({"input":"Q?","choices":"x, y, z","target":["C","A"]})");
  const RE2 pattern(one.at("checks").at(0).at("pattern").get<std::string>());
  for (const char* right : {"ANSWER: A, C", "ANSWER: AC", "ANSWER: A and C"})
    EXPECT_TRUE(RE2::PartialMatch(right, pattern)) << right;
  for (const char* wrong : {"ANSWER: A", "ANSWER: C", "ANSWER: A, B, C"})
    EXPECT_FALSE(RE2::PartialMatch(wrong, pattern)) << wrong;
  EXPECT_THAT(CheckOf(R"({"input":"Q?","choices":["x"],"target":"B"})"), HasSubstr("not the letter of a choice"));
}

TEST_F(InspectSamplesTest, Messages) {
  EXPECT_EQ(CaseOf(R"({"input":[{"role":"user","content":[{"type":"text","text":"a"}]}],"target":"t"})").at("input"),
            "a");
  EXPECT_THAT(CheckOf(R"({"input":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"target":"t"})"),
              HasSubstr("not a conversation"));
}

TEST_F(InspectSamplesTest, Files) {
  folder_.Write("data/a.txt", "from the disk");
  const Json one =
      CaseOf(R"({"input":"i","target":"t","files":{"a.txt":"data/a.txt","b.txt":"as it is","c":"data:;base64,AA=="}})");
  EXPECT_EQ(DumpJson(one.at("context")), R"({"files":{"a.txt":"from the disk","b.txt":"as it is"}})");
  EXPECT_EQ(one.at("checks").at(0).at("name"), "the file \"c\"");
}

TEST_F(InspectSamplesTest, SharedMetadataAreTags) {
  std::vector<FileRecord> records;
  for (const char* sample : {R"({"input":"a","target":"t","metadata":{"topic":"x","n":1}})",
                             R"({"input":"b","target":"t","metadata":{"topic":"x","n":2}})",
                             R"({"input":"c","target":"t","metadata":"{\"topic\":\"y\"}","id":"k"})",
                             R"({"input":"d","target":"t","id":"k"})"})
    records.push_back({ParseJson(sample, "t").value(), "p"});
  EXPECT_TRUE(HasInspectSamples(records));
  const ConvertedSuite suite = ConvertInspectSamples(records, "s.jsonl");
  EXPECT_EQ(DumpJson(suite.cases[0].json.at("tags")), R"(["topic: x"])");
  EXPECT_FALSE(suite.cases[2].json.contains("tags"));
  EXPECT_EQ(suite.cases[2].json.at("id"), "k");
  EXPECT_EQ(suite.cases[3].json.at("id"), "k (2)");
}

TEST_F(InspectSamplesTest, CasesOfOursAreNone) {
  EXPECT_FALSE(HasInspectSamples({}));
  EXPECT_FALSE(HasInspectSamples({{Json{{"input", "i"}}, ""}}));
  EXPECT_FALSE(HasInspectSamples({{Json{{"input", "i"}, {"target", "t"}, {"checks", Json::array()}}, ""}}));
}

}  // namespace
}  // namespace upskill

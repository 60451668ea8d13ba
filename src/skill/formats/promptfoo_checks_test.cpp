// SPDX-License-Identifier: Apache-2.0
#include "skill/formats/promptfoo_checks.h"

#include <gmock/gmock.h>

#include <string>

#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

class PromptfooChecksTest : public ::testing::Test {
 protected:
  Json ChecksOf(const std::string& asserts, const Json& threshold = {}) {
    return PromptfooChecks(ParseJson(asserts, "t").value(), threshold, {{"x", "teal"}}, templates_, folder_.path(),
                           files_);
  }
  std::string CheckOf(const std::string& assertion) { return DumpJson(ChecksOf("[" + assertion + "]").at(0)); }
  std::string ReasonOf(const std::string& assertion) {
    const Json check = ChecksOf("[" + assertion + "]").at(0);
    return check.at("type") == "skipped"
               ? check.at("name").get<std::string>() + ": " + check.at("reason").get<std::string>()
               : DumpJson(check);
  }

  Json templates_;
  TempFolder folder_;
  std::vector<std::filesystem::path> files_;
};

TEST_F(PromptfooChecksTest, Texts) {
  EXPECT_EQ(CheckOf(R"({"type":"equals","value":" 4 "})"), R"({"type":"equals","values":"4"})");
  EXPECT_EQ(CheckOf(R"({"type":"contains","value":"a.b"})"), R"({"type":"regex","pattern":"a\\.b"})");
  EXPECT_EQ(CheckOf(R"({"type":"icontains","value":5})"), R"({"type":"contains","values":["5"]})");
  EXPECT_EQ(CheckOf(R"({"type":"contains-any","value":"a, b"})"), R"({"type":"regex","pattern":"a|b"})");
  EXPECT_EQ(CheckOf(R"({"type":"icontains-any","value":["a","b"]})"), R"({"type":"any_of","values":["a","b"]})");
  EXPECT_EQ(CheckOf(R"({"type":"contains-all","value":["a","b"]})"),
            R"({"type":"all","checks":[{"type":"regex","pattern":"a"},{"type":"regex","pattern":"b"}]})");
  EXPECT_EQ(CheckOf(R"({"type":"icontains-all","value":["a"]})"),
            R"({"type":"all","checks":[{"type":"contains","values":"a"}]})");
  EXPECT_EQ(CheckOf(R"({"type":"starts-with","value":"{"})"), R"({"type":"regex","pattern":"\\A\\{"})");
  EXPECT_EQ(CheckOf(R"({"type":"regex","value":"^\\d+$"})"), R"({"type":"regex","pattern":"^\\d+$"})");
  EXPECT_EQ(CheckOf(R"({"type":"icontains","value":"{{x}}"})"), R"({"type":"contains","values":["teal"]})");
}

TEST_F(PromptfooChecksTest, Negations) {
  EXPECT_EQ(CheckOf(R"({"type":"not-equals","value":"4"})"), R"({"type":"not_regex","pattern":"\\A\\s*4\\s*\\z"})");
  EXPECT_EQ(CheckOf(R"({"type":"not-contains","value":"a"})"), R"({"type":"not_regex","pattern":"a"})");
  EXPECT_EQ(CheckOf(R"({"type":"not-icontains","value":"a"})"), R"({"type":"not_contains","values":["a"]})");
  EXPECT_EQ(CheckOf(R"({"type":"not-contains-any","value":["a","b"]})"), R"({"type":"not_regex","pattern":"a|b"})");
  EXPECT_EQ(CheckOf(R"({"type":"not-icontains-any","value":["a","b"]})"),
            R"({"type":"not_contains","values":["a","b"]})");
  EXPECT_EQ(CheckOf(R"({"type":"not-icontains-all","value":["a","b"]})"),
            R"({"type":"any","checks":[{"type":"not_contains","values":"a"},{"type":"not_contains","values":"b"}]})");
  EXPECT_EQ(CheckOf(R"({"type":"not-regex","value":"a+"})"), R"({"type":"not_regex","pattern":"a+"})");
  EXPECT_THAT(ReasonOf(R"({"type":"not-llm-rubric","value":"a"})"), HasSubstr("write what must hold instead"));
}

TEST_F(PromptfooChecksTest, Json) {
  EXPECT_EQ(CheckOf(R"({"type":"is-json"})"), R"({"type":"json_schema","schema":{},"in":"whole"})");
  EXPECT_EQ(CheckOf(R"({"type":"is-json","value":{"type":"object"}})"),
            R"({"type":"json_schema","schema":{"type":"object"},"in":"whole"})");
  EXPECT_EQ(CheckOf(R"({"type":"is-json","value":"minimum: 3"})"),
            R"({"type":"json_schema","schema":{"minimum":3},"in":"whole"})");
  EXPECT_EQ(CheckOf(R"({"type":"equals","value":{"a":1}})"),
            R"({"type":"json_schema","schema":{"const":{"a":1}},"in":"whole"})");
  folder_.Write("schema.json", R"({"type": "array"})");
  EXPECT_EQ(CheckOf(R"({"type":"contains-json","value":"file://schema.json"})"),
            R"({"type":"json_schema","schema":{"type":"array"},"in":"anywhere"})");
  EXPECT_THAT(ReasonOf(R"({"type":"is-json","value":"file://../schema.json"})"), HasSubstr("promptfoo's is-json: "));
  EXPECT_THAT(ReasonOf(R"({"type":"is-json","value":"file://schema.js"})"), HasSubstr("not a file of text or data"));
}

TEST_F(PromptfooChecksTest, Judges) {
  EXPECT_EQ(CheckOf(R"({"type":"llm-rubric","value":"Names {{x}}"})"), R"({"type":"judge","rubric":"Names teal"})");
  EXPECT_EQ(CheckOf(R"({"type":"g-eval","value":["a","b"]})"), R"({"type":"judge","rubric":"- a\n- b"})");
  EXPECT_THAT(CheckOf(R"({"type":"factuality","value":"r"})"), HasSubstr("agrees in its facts with this text: r"));
}

TEST_F(PromptfooChecksTest, CallsOfTools) {
  EXPECT_EQ(CheckOf(R"({"type":"trajectory:tool-used","value":"bash"})"), R"({"type":"tool_call","tool":"bash"})");
  EXPECT_EQ(CheckOf(R"({"type":"not-trajectory:tool-used","value":"bash"})"),
            R"({"type":"tool_call","tool":"bash","maximum":0})");
  EXPECT_EQ(CheckOf(R"({"type":"trajectory:tool-used","value":["a","b"]})"),
            R"({"type":"all","checks":[{"type":"tool_call","tool":"a"},{"type":"tool_call","tool":"b"}]})");
  EXPECT_EQ(CheckOf(R"({"type":"trajectory:tool-used","value":{"name":"a","min":1,"max":3}})"),
            R"({"type":"tool_call","tool":"a","minimum":1,"maximum":3})");
  EXPECT_THAT(ReasonOf(R"({"type":"trajectory:tool-used","value":{"pattern":"search*"}})"), HasSubstr("names no tool"));
  EXPECT_EQ(CheckOf(R"({"type":"trajectory:tool-args-match","value":{"name":"a","args":{"seat":"{{x}}"}}})"),
            R"({"type":"tool_call","tool":"a","arguments":{"seat":"teal"}})");
  EXPECT_THAT(ReasonOf(R"({"type":"trajectory:tool-args-match","value":{"name":"a","args":{},"mode":"exact"}})"),
              HasSubstr("other members"));
  EXPECT_THAT(ReasonOf(R"({"type":"trajectory:tool-sequence","value":{"steps":["a"]}})"), HasSubstr("no counterpart"));
}

TEST_F(PromptfooChecksTest, WhatHasNoCounterpartIsSkippedByName) {
  EXPECT_THAT(ReasonOf(R"({"type":"javascript","value":"output.length"})"), HasSubstr("promptfoo's javascript: code"));
  EXPECT_THAT(ReasonOf(R"({"type":"python","value":"x"})"), HasSubstr("promptfoo's python: code"));
  EXPECT_EQ(ReasonOf(R"({"type":"brand-new"})"), "promptfoo's brand-new: it has no counterpart here");
  EXPECT_EQ(ReasonOf(R"({"value":"x"})"), "promptfoo's assertion: it has no \"type\"");
  EXPECT_THAT(ReasonOf(R"({"type":"regex","value":"(?=a)b"})"), HasSubstr("not in RE2 syntax"));
  EXPECT_THAT(ReasonOf(R"({"type":"contains","value":"{{y}}"})"), HasSubstr("the test has no variable"));
  EXPECT_THAT(ReasonOf(R"({"type":"contains","value":""})"), HasSubstr("a value is empty"));
  EXPECT_THAT(ReasonOf(R"({"type":"contains","value":"a","transform":"output.x"})"), HasSubstr("is code"));
  EXPECT_EQ(ChecksOf("[]").at(0).at("name"), "a test without assertions");
}

TEST_F(PromptfooChecksTest, SetsAndThresholds) {
  const std::string two = R"([{"type":"icontains","value":"a"},{"type":"icontains","value":"b","weight":3}])";
  EXPECT_EQ(DumpJson(ChecksOf(two, 0.75)), R"([{"type":"at_least","checks":[{"type":"contains","values":["a"]},)"
                                           R"({"type":"contains","values":["b"],"weight":3.0}],"count":3.0}])");
  EXPECT_EQ(CheckOf(R"({"type":"assert-set","assert":)" + two + "}"),
            R"({"type":"all","checks":[{"type":"contains","values":["a"]},{"type":"contains","values":["b"]}]})");
  EXPECT_EQ(CheckOf(R"({"type":"assert-set","threshold":0.5,"assert":[{"type":"regex","value":"a"}]})"),
            R"({"type":"at_least","checks":[{"type":"regex","pattern":"a"}],"count":0.5})");
  EXPECT_EQ(ChecksOf(R"([{"type":"python","weight":0},{"type":"regex","value":"a"}])").size(), 1U);
}

TEST_F(PromptfooChecksTest, Templates) {
  templates_ = {{"short", {{"type", "icontains"}, {"value", "t"}}}};
  EXPECT_EQ(CheckOf(R"({"$ref":"#/assertionTemplates/short"})"), R"({"type":"contains","values":["t"]})");
  EXPECT_THAT(ReasonOf(R"({"$ref":"#/assertionTemplates/none"})"), HasSubstr("no \"type\""));
}

}  // namespace
}  // namespace upskill

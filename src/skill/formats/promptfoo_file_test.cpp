// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "skill/formats/readers.h"
#include "util/temp_folder.h"
#include "util/yaml.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PromptfooFileTest : public ::testing::Test {
 protected:
  Result<ConvertedSuite> Convert(const std::string& yaml) {
    const Json document = ParseYaml(yaml, "t", YamlNumbers::kNumbers).value();
    EXPECT_TRUE(IsPromptfoo(document));
    return ConvertPromptfoo(document, YamlListLines(yaml, document.is_array() ? "" : "tests"),
                            folder_.path() / "promptfooconfig.yaml");
  }
  ConvertedSuite Converted(const std::string& yaml) {
    Result<ConvertedSuite> suite = Convert(yaml);
    EXPECT_TRUE(suite.ok()) << (suite ? "" : suite.error().message);
    return suite ? *suite : ConvertedSuite{};
  }
  static std::vector<std::string> InputsOf(const ConvertedSuite& suite) {
    std::vector<std::string> inputs;
    for (const ConvertedCase& one : suite.cases) inputs.push_back(one.json.at("input").get<std::string>());
    return inputs;
  }
  static std::vector<std::string> IdsOf(const ConvertedSuite& suite) {
    std::vector<std::string> ids;
    for (const ConvertedCase& one : suite.cases) ids.push_back(one.json.at("id").get<std::string>());
    return ids;
  }

  TempFolder folder_;
};

TEST_F(PromptfooFileTest, TestsTimesPromptsTimesVariables) {
  const ConvertedSuite suite = Converted(R"(
prompts:
  - 'Translate {{text}} to {{language}}'
  - {raw: 'In {{language}}: {{text}}', label: short}
providers: [openai:gpt-5]
defaultTest:
  vars: {language: French}
  assert: [{type: icontains, value: '{{want}}'}]
tests:
  - description: greeting
    vars: {text: [Hello, Bye], want: o}
  - vars: {text: Yes, language: German, want: ja}
    assert:
      - type: not-icontains
        value: oui
)");
  EXPECT_THAT(InputsOf(suite), ElementsAre("Translate Hello to French", "In French: Hello", "Translate Bye to French",
                                           "In French: Bye", "Translate Yes to German", "In German: Yes"));
  EXPECT_THAT(IdsOf(suite), ElementsAre("greeting 1, prompt 1", "greeting 1, short", "greeting 2, prompt 1",
                                        "greeting 2, short", "test-2, prompt 1", "test-2, short"));
  EXPECT_EQ(DumpJson(suite.cases[4].json.at("checks")),
            R"([{"type":"contains","values":["ja"]},{"type":"not_contains","values":["oui"]}])");
  EXPECT_THAT(suite.cases[0].place, HasSubstr("promptfooconfig.yaml:10"));
  EXPECT_THAT(suite.warnings, IsEmpty());
}

TEST_F(PromptfooFileTest, AListOfTestsHasItsPromptAmongTheVariables) {
  const ConvertedSuite suite = Converted(R"(
- vars: {question: 'What is 2 + 2?', topic: math}
  assert: [{type: equals, value: 4}]
- vars: {anything: 'Only one'}
  assert: [{type: equals, value: 4}]
)");
  EXPECT_THAT(InputsOf(suite), ElementsAre("What is 2 + 2?", "Only one"));
  EXPECT_EQ(DumpJson(suite.cases[0].json.at("checks")), R"([{"type":"equals","values":"4"}])");
  const Result<ConvertedSuite> none = Convert("- vars: {a: b, c: d}\n  assert: [{type: equals, value: 4}]\n");
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("promptfooconfig.yaml:1: no prompt for test 1"));
}

TEST_F(PromptfooFileTest, PromptsTestsAndValuesInFiles) {
  folder_.Write("p.txt", "First {{v}}\n---\nSecond {{v}}\n");
  folder_.Write("chat.json", R"([{"role": "user", "content": "Chat {{v}}"}])");
  folder_.Write("more.yaml", "- vars: {v: m}\n  assert: [{type: icontains, value: x}]\n");
  folder_.Write("v.txt", "from a file");
  const ConvertedSuite suite = Converted(R"(
prompts: [file://p.txt, file://chat.json, file://p.js, file://../x.txt]
tests:
  - vars: {v: file://v.txt}
    assert: [{type: icontains, value: x}]
  - file://more.yaml
  - file://tests.csv
)");
  EXPECT_THAT(InputsOf(suite), ElementsAre("First from a file", "Second from a file", "Chat from a file", "First m",
                                           "Second m", "Chat m"));
  EXPECT_THAT(suite.warnings, ElementsAre(HasSubstr("the prompt p.js is left out: only texts"),
                                          HasSubstr("the prompt ../x.txt is left out"),
                                          HasSubstr("the tests in file://tests.csv are left out")));
}

TEST_F(PromptfooFileTest, WhatCantBeAskedIsSkipped) {
  const ConvertedSuite suite = Converted(R"(
prompts: ['{{ v | upper }}', '[{"role":"system","content":"s"},{"role":"user","content":"{{v}}"}]']
tests:
  - vars: {v: x}
    options: {transform: output.trim()}
    assert: [{type: icontains, value: x}]
)");
  ASSERT_THAT(suite.cases, SizeIs(2));
  const Json& first = suite.cases[0].json.at("checks");
  EXPECT_EQ(first.at(0).at("name"), "promptfoo's transform");
  EXPECT_EQ(first.at(1).at("name"), "the prompt");
  EXPECT_THAT(suite.cases[1].json.at("checks").at(1).at("reason").get<std::string>(), HasSubstr("not a conversation"));
}

TEST_F(PromptfooFileTest, TooManyCombinations) {
  std::string list = "[";
  for (int i = 0; i < 101; ++i) list += std::to_string(i) + ", ";
  list += "0]";
  const Result<ConvertedSuite> many = Convert("prompts: ['{{a}}{{b}}']\ntests:\n  - vars: {a: " + list +
                                              ", b: " + list + "}\n    assert: [{type: equals, value: 4}]\n");
  ASSERT_FALSE(many.ok());
  EXPECT_THAT(many.error().message, HasSubstr("its variables make more than 10,000 cases"));
}

TEST_F(PromptfooFileTest, OtherDocuments) {
  for (const char* text : {"[]", "{}", R"({"tests":[]})", R"([{"input":"i"}])", R"({"tests":[{"input":"i"}]})", "3"})
    EXPECT_FALSE(IsPromptfoo(ParseJson(text, "t").value())) << text;
}

}  // namespace
}  // namespace upskill

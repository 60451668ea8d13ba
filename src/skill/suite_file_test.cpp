// SPDX-License-Identifier: Apache-2.0
#include "skill/suite_file.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "skill/suite.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SuiteFileTest : public ::testing::Test {
 protected:
  Suite Load(const std::string& name, const std::string& text) {
    Result<Suite> suite = LoadSuite(folder_.Write(name, text));
    EXPECT_TRUE(suite.ok()) << name << ": " << (suite ? "" : suite.error().message);
    return suite ? *suite : Suite{};
  }
  std::string ErrorOf(const std::string& name, const std::string& text) {
    const Result<Suite> suite = LoadSuite(folder_.Write(name, text));
    return suite ? "" : suite.error().message;
  }
  static std::vector<std::string> IdsOf(const Suite& suite) {
    std::vector<std::string> ids;
    for (const Case& one : suite.cases) ids.push_back(one.id);
    return ids;
  }
  // What a plan keeps can be read again, and gives the same cases.
  static void ExpectRoundTrip(const Suite& suite) {
    const Result<Suite> again = ParseSuite(DumpJson(SuiteToJson(suite)), "plan.json");
    ASSERT_TRUE(again.ok()) << again.error().message;
    ASSERT_EQ(again->cases.size(), suite.cases.size());
    for (std::size_t i = 0; i < suite.cases.size(); ++i) {
      EXPECT_EQ(again->cases[i].id, suite.cases[i].id);
      EXPECT_EQ(again->cases[i].checks, suite.cases[i].checks);
      EXPECT_EQ(again->cases[i].files, suite.cases[i].files);
    }
    EXPECT_EQ(SuiteToJson(suite), suite.document);
  }

  TempFolder folder_;
};

TEST_F(SuiteFileTest, Evals) {
  const Suite suite = Load("evals/evals.json", R"({"skill_name": "s", "evals": [
    {"id": 1, "prompt": "p", "expected_output": "o", "files": [], "expectations": ["Has x"]}]})");
  EXPECT_THAT(IdsOf(suite), ElementsAre("1"));
  EXPECT_EQ(suite.cases[0].checks.at(0).type, "judge");
  EXPECT_EQ(suite.cases[0].reference, "");
  EXPECT_THAT(suite.warnings, IsEmpty());
  EXPECT_THAT(suite.cases[0].place, HasSubstr("evals.json:2: case 1 (\"1\")"));
  ExpectRoundTrip(suite);
}

TEST_F(SuiteFileTest, TriggerQueriesOfOtherTypesAreErrors) {
  for (const char* wrong : {R"({"query": "a", "should_trigger": "true"})", R"({"query": "a", "should_trigger": 1})",
                            R"({"query": "a", "should_triger": true})", R"({"query": 5, "should_trigger": true})"}) {
    EXPECT_THAT(
        ErrorOf("eval_queries.json", std::string(R"([{"query": "b", "should_trigger": false},)") + "\n" + wrong + "]"),
        ::testing::ContainsRegex("eval_queries.json:2: \"(query|should_trigger)\" must be"))
        << wrong;
  }
}

TEST_F(SuiteFileTest, TriggerQueriesAreCasesOfActivation) {
  const Suite suite = Load("eval_queries.json", R"([{"query": "Fill this form", "should_trigger": true},
    {"query": "Weather?", "should_trigger": false}])");
  EXPECT_THAT(IdsOf(suite), ElementsAre("query-1", "query-2"));
  EXPECT_THAT(suite.warnings, IsEmpty());
  EXPECT_EQ(suite.cases[0].checks.at(0).type, "activates");
  EXPECT_TRUE(suite.cases[0].checks.at(0).options.at("expected").get<bool>());
  EXPECT_FALSE(suite.cases[1].checks.at(0).options.at("expected").get<bool>());
  ExpectRoundTrip(suite);
}

TEST_F(SuiteFileTest, Promptfoo) {
  const Suite suite = Load("promptfooconfig.yaml", R"(prompts: ['{{q}}']
tests:
  - vars: {q: 'What colour?'}
    assert:
      - {type: icontains, value: teal}
      - {type: javascript, value: output.length > 3}
)");
  EXPECT_THAT(IdsOf(suite), ElementsAre("test-1"));
  EXPECT_THAT(suite.warnings, ElementsAre(AllOf(HasSubstr("promptfooconfig.yaml:3: case 1 (\"test-1\"): "),
                                                HasSubstr("promptfoo's javascript is skipped: "))));
  ExpectRoundTrip(suite);
}

TEST_F(SuiteFileTest, InspectAndOwnCasesOnLines) {
  const Suite samples =
      Load("s.jsonl", "{\"input\": \"a\", \"target\": \"b\"}\n\n{\"input\": \"c\", \"target\": \"d\"}\n");
  EXPECT_THAT(IdsOf(samples), ElementsAre("sample-1", "sample-2"));
  EXPECT_THAT(samples.cases[1].place, HasSubstr("s.jsonl:3: "));
  ExpectRoundTrip(samples);
  EXPECT_EQ(Load("list.json", R"([{"input": "a", "target": "b"}])").cases[0].checks[0].type, "contains");
  const Suite own = Load("own.jsonl", "{\"input\": \"a\", \"expected\": {\"contains\": \"b\"}}\n");
  EXPECT_THAT(IdsOf(own), ElementsAre("case-1"));
  EXPECT_THAT(ErrorOf("bad.jsonl", "{\"input\": \"a\", \"target\": \"b\"}\n{\n"), HasSubstr("bad.jsonl: line 2:1:"));
}

TEST_F(SuiteFileTest, OwnCasesInYaml) {
  const Suite suite = Load("tests.yaml", "cases:\n  - id: 7\n    input: i\n    expected: {contains: [x]}\n");
  EXPECT_THAT(IdsOf(suite), ElementsAre("7"));
  EXPECT_THAT(suite.cases[0].place, HasSubstr("tests.yaml:2: "));
  EXPECT_THAT(ErrorOf("tests.yaml", "cases:\n  - input: i\n"), HasSubstr("tests.yaml:2: case 1: no check"));
}

TEST_F(SuiteFileTest, Manifests) {
  folder_.Write("evals/a.json", R"({"cases": [{"input": "i", "verifiers": [{"type": "contains", "values": ["x"]}]}]})");
  folder_.Write("evals/b.yaml", "- vars: {prompt: p}\n  assert: [{type: icontains, value: y}]\n");
  fs::create_directories(folder_.path() / "skills/a");
  const std::string manifest = R"({"scenarios": [{"id": "one", "skills": ["skills/a"], "tests": "evals/a.json"},
    {"id": "two", "skills": ["skills/b"], "tests": "evals/b.yaml"}]})";
  const Suite all = Load(".upskill/evals.json", manifest);
  EXPECT_THAT(IdsOf(all), ElementsAre("one/case-1", "two/test-1"));
  ExpectRoundTrip(all);
  const Result<Suite> of_skill = LoadSuiteOfSkill(folder_.path() / "skills/a");
  ASSERT_TRUE(of_skill.ok()) << of_skill.error().message;
  EXPECT_THAT(IdsOf(*of_skill), ElementsAre("one/case-1"));
  EXPECT_EQ(LoadSuiteOfSkill(folder_.path() / "skills").error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(ErrorOf(".upskill/evals.json", R"({"scenarios": [{"skills": ["a"], "tests": ".upskill/evals.json"}]})"),
              HasSubstr("a manifest can't name another one"));
}

TEST_F(SuiteFileTest, OfASkillFolder) {
  const auto first_of = [&] {
    const Result<Suite> suite = LoadSuiteOfSkill(folder_.path());
    return suite ? suite->cases.at(0).id : suite.error().message;
  };
  folder_.Write("evals/eval_queries.json", R"([{"query": "q", "should_trigger": true}])");
  EXPECT_EQ(first_of(), "query-1");
  folder_.Write("promptfooconfig.yaml", "- vars: {prompt: p}\n  assert: [{type: icontains, value: y}]\n");
  EXPECT_EQ(first_of(), "test-1");
  folder_.Write("evals/evals.json", R"({"evals": [{"id": "e", "prompt": "p", "assertions": ["a"]}]})");
  EXPECT_EQ(first_of(), "e");
}

TEST_F(SuiteFileTest, MalformedFilesNameTheLine) {
  EXPECT_THAT(ErrorOf("t.yaml", "tests:\n  - {"), HasSubstr("t.yaml:"));
  EXPECT_THAT(ErrorOf("evals/evals.json", R"({"evals": [{"id": 1, "assertions": ["a"]}]})"),
              AllOf(HasSubstr("evals.json:1: case 1 (\"1\")"), HasSubstr("no \"input\"")));
}

TEST_F(SuiteFileTest, SkillsOfPluginsHaveThePluginsCases) {
  const fs::path skill = folder_.Write("plugin/skills/greet/SKILL.md", "---\nname: greet\n---\n").parent_path();
  folder_.Write("plugin/.claude-plugin/plugin.json", R"({"name": "manners"})");
  folder_.Write("plugin/evals/hello/prompt.md", "Say hello");
  folder_.Write("plugin/evals/hello/graders/a.md", "---\ntype: regex\n---\nhello");
  const fs::path evals = folder_.path() / "plugin/evals";
  for (const Result<Suite>& suite : {LoadSuiteOfSkill(skill), LoadSuiteOfSkill(folder_.path() / "plugin"),
                                     LoadSuiteOfSkill(evals), LoadSuite(evals)}) {
    ASSERT_TRUE(suite.ok()) << suite.error().message;
    EXPECT_THAT(IdsOf(*suite), ElementsAre("hello"));
    EXPECT_TRUE(fs::equivalent(suite->source, evals));
    ExpectRoundTrip(*suite);
  }
  folder_.Write("plugin/skills/greet/tests.json", R"({"cases": [{"id": "own", "input": "i",
    "expected": {"contains": ["a"]}}]})");
  EXPECT_THAT(IdsOf(*LoadSuiteOfSkill(skill)), ElementsAre("own"));
  EXPECT_THAT(LoadSuite(skill).error().message, HasSubstr("no cases"));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "skill/formats/readers.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

namespace fs = std::filesystem;

constexpr const char* kFired = R"(---
type: tool_used
tool: Skill
input_match: '"skill"\s*:\s*"(?:[\w-]+:)?greet"'
---
)";

class PluginCasesTest : public ::testing::Test {
 protected:
  PluginCasesTest() {
    Write(".claude-plugin/plugin.json", R"({"name": "manners"})");
    Write("skills/greet/SKILL.md", "---\nname: greet\n---\n");
    Write("skills/bow/SKILL.md", "---\nname: bow\n---\n");
  }

  void Write(const std::string& name, const std::string& text) { folder_.Write(name, text); }

  // The cases as a skill of the plugin, or without one, gets them.
  ConvertedSuite Read(const std::string& skill = "") {
    Result<ConvertedSuite> suite =
        ConvertPluginCases(folder_.path() / "evals", skill.empty() ? fs::path() : folder_.path() / "skills" / skill);
    EXPECT_TRUE(suite.ok()) << suite.error().message;
    return suite ? *std::move(suite) : ConvertedSuite();
  }

  // The check that a grader becomes; the warning if it becomes none.
  std::string CheckOf(const std::string& fields, const std::string& body = "") {
    Write("evals/case/prompt.md", "Say hello");
    Write("evals/case/graders/it.md", "---\n" + fields + "\n---\n" + body);
    const ConvertedSuite suite = Read();
    if (!suite.warnings.empty()) return suite.warnings.front();
    return DumpJson(suite.cases.at(0).json.at("checks").at(0));
  }

  std::vector<std::string> IdsFor(const std::string& skill) {
    std::vector<std::string> ids;
    for (const ConvertedCase& one : Read(skill).cases) ids.push_back(StringAt(one.json, "id"));
    return ids;
  }

  TempFolder folder_;
};

TEST_F(PluginCasesTest, PromptAndGradersAreACase) {
  Write("evals/hello/prompt.md", "---\nmax_turns: 5\ntags: [smoke]\n---\n\nSay hello\n");
  Write("evals/hello/graders/b.md", "---\ntype: llm\n---\nThe answer is kind.\n");
  Write("evals/hello/graders/a.md", "---\ntype: regex\npattern: hello\nflags: i\n---\n");
  Write("evals/hello/graders/README.md", "Notes, which are no grader.");
  const ConvertedSuite suite = Read();
  ASSERT_EQ(suite.cases.size(), 1U);
  EXPECT_EQ(DumpJson(suite.cases[0].json),
            R"({"id":"hello","input":"Say hello","checks":[{"type":"regex","pattern":"(?i)hello"},)"
            R"({"type":"judge","rubric":"The answer is kind."}],"tags":["smoke"]})");
  EXPECT_THAT(suite.warnings, IsEmpty());
}

TEST_F(PluginCasesTest, NoGraderIsLeftOutSilently) {
  Write("evals/hello/prompt.md", "\xEF\xBB\xBF---\nname: greeting\n---\nSay hello\n");
  Write("evals/hello/graders/a.md", "\xEF\xBB\xBF---\ntype: regex\npattern: hello\n---\n");
  Write("evals/hello/graders/b.md", "---\ntype: regex\npattern: world\n");
  const ConvertedSuite suite = Read();
  EXPECT_EQ(DumpJson(suite.cases.at(0).json),
            R"({"id":"greeting","input":"Say hello","checks":[{"type":"regex","pattern":"hello"}]})");
  EXPECT_THAT(suite.warnings, ElementsAre(HasSubstr("the grader b is left out")));
}

TEST_F(PluginCasesTest, ThePromptIsLaidOverCaseYaml) {
  Write("evals/group/one/case.yaml",
        "schema_version: \"1.1\"\nname: named\nexecution:\n  prompt: from yaml\n  append_system_prompt: Be brief.\n"
        "graders:\n  - {name: a, type: regex, pattern: x}\n");
  EXPECT_EQ(Read().cases.at(0).json.at("input"), "Be brief.\n\nfrom yaml");
  Write("evals/group/one/prompt.md", "---\nname: other\n---\nfrom Markdown");
  Write("evals/group/one/graders/b.md", "---\ntype: file_exists\npath: out.txt\n---\n");
  const Json one = Read().cases.at(0).json;
  EXPECT_EQ(one.at("id"), "other");
  EXPECT_EQ(one.at("input"), "Be brief.\n\nfrom Markdown");
  EXPECT_EQ(one.at("checks").size(), 2U);
}

TEST_F(PluginCasesTest, GradersAreChecks) {
  EXPECT_EQ(CheckOf("type: regex\nflags: gm", "^- a"), R"({"type":"regex","pattern":"(?m)^- a"})");
  EXPECT_EQ(CheckOf("type: regex\nmatch: not_contains\ntarget: { source: file, path: a/b.md }", "x"),
            R"({"type":"not_regex","pattern":"x","file":"a/b.md"})");
  EXPECT_EQ(CheckOf("type: llm\ncriteria: Kind.\nfocus: last_message"), R"({"type":"judge","rubric":"Kind."})");
  EXPECT_EQ(CheckOf("type: tool_used\ntool: Write\ninput_match: secret\nmin: 0\nmax: 0"),
            R"({"type":"tool_call","tool":["Write","write","write_file"],"minimum":0,"maximum":0,"pattern":"secret"})");
  EXPECT_EQ(CheckOf("type: tool_used\ntool: Skill\nmin: 0\nmax: 0\narm: both"),
            R"({"type":"activates","expected":false})");
}

TEST_F(PluginCasesTest, GradersWithoutACounterpartAreNamed) {
  for (const char* fields :
       {"type: regex\npattern: '(?<!a)b'", "type: regex\npattern: a\nmatch: count:2",
        "type: regex\npattern: a\ntarget: trace", "type: regex\npattern: a\ntarget: {source: file, path: ../a}",
        "type: tool_used\ntool: Bash\nmax: 0", "type: tool_used\ntool: Bash\nmin: 0",
        "type: tool_order\nbefore: Read\nafter: Edit", "type: file_exists\npath: '**/a.md'",
        "type: file_exists\npath: a.md\nexists: false", "type: llm", "type: tool_used\nmin: 0\nmax: 0",
        "type: baseline\nbaseline_file: gold.jsonl\ncriteria: x", "type: new"})
    EXPECT_THAT(CheckOf(fields), HasSubstr("the grader it is left out: ")) << fields;
  const ConvertedSuite suite = Read();
  EXPECT_EQ(suite.cases.at(0).json.at("checks").at(0).at("type"), "skipped") << "nothing passes it";
  Write("evals/case/graders/other.md", "---\ntype: regex\n---\nhello");
  EXPECT_EQ(Read().cases.at(0).json.at("checks").size(), 1U) << "its other grader decides";
}

TEST_F(PluginCasesTest, GradersOutsideTheScoreDontDecide) {
  Write("evals/case/prompt.md", "Say hello");
  Write("evals/case/graders/fired.md", kFired);
  EXPECT_EQ(Read().cases.at(0).json.at("checks").at(0).at("type"), "activates");
  Write("evals/case/graders/words.md", "---\ntype: regex\n---\nhello");
  const ConvertedSuite suite = Read();
  ASSERT_EQ(suite.cases.at(0).json.at("checks").size(), 1U);
  EXPECT_EQ(suite.cases[0].json.at("checks").at(0).at("type"), "regex");
  EXPECT_THAT(suite.warnings, ElementsAre(HasSubstr("1 grader")));
}

TEST_F(PluginCasesTest, WhatACaseStartsFromIsMissing) {
  Write("evals/case/case.yaml",
        "name: a\nexecution: {prompt: x}\ncontext: {scaffold_script: a.sh}\n"
        "graders:\n  - {name: a, type: regex, pattern: x}\n");
  const Json checks = Read().cases.at(0).json.at("checks");
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].at("name"), "scaffold_script");
}

TEST_F(PluginCasesTest, EachSkillHasItsCases) {
  Write("evals/any/prompt.md", "Hello");
  Write("evals/any/graders/a.md", "---\ntype: regex\n---\nhello");
  Write("evals/greets/prompt.md", "Hello");
  Write("evals/greets/graders/a.md", kFired);
  EXPECT_THAT(IdsFor("greet"), UnorderedElementsAre("any", "greets"));
  EXPECT_THAT(IdsFor("bow"), ElementsAre("any"));
  fs::remove_all(folder_.path() / "evals/any");
  const Result<ConvertedSuite> none = ConvertPluginCases(folder_.path() / "evals", folder_.path() / "skills/bow");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kNotFound);
}

TEST_F(PluginCasesTest, CasesAreFoundFromTheSkill) {
  const fs::path skill = folder_.path() / "skills/greet";
  EXPECT_EQ(PluginCasesOf(skill), fs::path());
  Write("evals/notes/prompt.md", "no graders, so no case");
  Write("evals/results/1/case.yaml", "name: not a case");
  EXPECT_EQ(PluginCasesOf(skill), fs::path());
  Write("evals/a/prompt.md", "Hello");
  Write("evals/a/graders/a.md", kFired);
  EXPECT_TRUE(fs::equivalent(PluginCasesOf(skill), folder_.path() / "evals"));
  Write("quality/evals/a/case.yaml", "name: a");
  Write(".claude-plugin/plugin.json", R"({"name": "manners", "experimental": {"evals": "quality/evals"}})");
  EXPECT_TRUE(fs::equivalent(PluginCasesOf(skill), folder_.path() / "quality/evals"));
  Write("skills/greet/evals/own/case.yaml", "name: a");
  EXPECT_EQ(PluginCasesOf(skill), skill / "evals");
}

TEST_F(PluginCasesTest, ErrorsNameTheFileAndItsLine) {
  Write("evals/case/prompt.md", "---\nname: a\ntags: [a\n---\nx");
  Write("evals/case/graders/a.md", kFired);
  const Result<ConvertedSuite> suite = ConvertPluginCases(folder_.path() / "evals", {});
  ASSERT_FALSE(suite.ok());
  EXPECT_THAT(suite.error().message, HasSubstr("case/prompt.md:"));
  Write("evals/case/prompt.md", "---\nname: a\n---\n");
  const Result<ConvertedSuite> empty = ConvertPluginCases(folder_.path() / "evals", {});
  ASSERT_FALSE(empty.ok());
  EXPECT_THAT(empty.error().message, HasSubstr("no prompt"));
}

}  // namespace
}  // namespace upskill

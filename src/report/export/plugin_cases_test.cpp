// SPDX-License-Identifier: Apache-2.0
#include "report/export/plugin_cases.h"

#include <gmock/gmock.h>

#include <string>

#include "skill/suite.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Plan PlanOf(const std::string& checks) {
  Plan plan;
  plan.suite = ParseSuite(R"({"cases": [{"id": "a/b: \"c\"", "input": "Say hello", "tags": ["x"],
    "context": {"files": {"in.txt": "hello"}}, "checks": )" +
                              checks + "}]}",
                          "cases.json")
                   .value();
  return plan;
}

class ExportPluginCasesTest : public testing::Test {
 protected:
  const TempFolder folder_;
  const std::filesystem::path dir_ = folder_.path() / "evals";
};

TEST_F(ExportPluginCasesTest, WhatIsWrittenCanBeReadAgain) {
  const Result<PluginCases> written = ExportPluginCases(
      PlanOf(R"j([{"type": "contains", "values": ["a.b", "c"]}, {"type": "not_contains", "values": "d/e"},
                 {"type": "any_of", "values": ["f", "(g)"]}, {"type": "in_order", "values": ["h", "i"]},
                 {"type": "equals", "values": "j"}, {"type": "regex", "pattern": "(?im)^k\\s+\"l\"$"},
                 {"type": "judge", "rubric": "It is kind.\nAnd: short."}])j"),
      dir_);
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(written->cases, 1U);
  EXPECT_THAT(written->left_out, ElementsAre());
  const Result<Suite> suite = LoadSuite(dir_);
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  ASSERT_EQ(suite->cases.size(), 1U);
  const Case& read = suite->cases[0];
  EXPECT_EQ(read.id, R"(a/b: "c")");
  EXPECT_EQ(read.tags, std::vector<std::string>{"x"});
  EXPECT_THAT(read.input, HasSubstr("hello"));
  std::vector<std::string> patterns;
  for (const CheckSpec& check : read.checks) patterns.push_back(check.type + " " + check.pattern);
  EXPECT_THAT(patterns,
              ElementsAre(R"(regex (?i)a\.b)", "regex (?i)c", R"(not_regex (?i)d\/e)", R"(regex (?i)f|\(g\))",
                          R"(regex (?i)h[\s\S]*?i)", R"(regex ^\s*j\s*$)", R"(regex (?im)^k\s+"l"$)", "judge "));
  EXPECT_EQ(read.checks.back().options.at("rubric"), "It is kind.\nAnd: short.");
  EXPECT_FALSE(ExportPluginCases(PlanOf(R"([{"type": "contains", "values": "a"}])"), dir_).ok()) << "it exists";
}

TEST_F(ExportPluginCasesTest, WhatItDoesNotHaveIsNamed) {
  const Result<PluginCases> written =
      ExportPluginCases(PlanOf(R"([{"type": "regex", "pattern": "\\Aa"}, {"type": "number", "value": 3},
                                   {"type": "contains", "file": "a.txt", "values": "a"}])"),
                        dir_);
  ASSERT_TRUE(written.ok()) << written.error().message;
  EXPECT_EQ(written->cases, 0U) << "Claude Code refuses a case without graders";
  EXPECT_THAT(written->left_out, ElementsAre(HasSubstr("regex"), HasSubstr("number"), HasSubstr("contains")));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "check/gap_filler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "check/check.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kGapped = "[general]\nname = \"a\"\n<line>\n\n[kernel.a]\nsrc = []\n";

Case CaseWith(Fill fill, std::string content = kGapped, std::vector<CheckSpec> checks = {}) {
  Case test_case;
  test_case.id = "c";
  test_case.input = "Which line is missing?";
  test_case.files = {{"build.toml", std::move(content)}, {"other.txt", "other"}};
  test_case.fill = std::move(fill);
  test_case.checks = std::move(checks);
  return test_case;
}

// The completed file, or the error.
std::string FileWith(const Case& test_case, const std::string& answer) {
  CaseParts parts;
  const Result<std::optional<GapFiller>> filler = GapFiller::Make(test_case, parts);
  if (!filler) return "error: " + filler.error().message;
  EXPECT_TRUE(filler->has_value());
  const Result<std::string> file = (*filler)->FileWith(answer);
  return file ? *file : "error: " + file.error().message;
}

std::string LineOf(const std::string& answer, const std::string& pattern = "") {
  const std::string file = FileWith(CaseWith({"build.toml", "<line>", pattern, {}}), answer);
  const std::string before = "[general]\nname = \"a\"\n";
  const std::string after = "\n\n[kernel.a]\nsrc = []\n";
  if (!file.starts_with(before) || !file.ends_with(after)) return file;
  return file.substr(before.size(), file.size() - before.size() - after.size());
}

TEST(GapFiller, TakesWhatTheAnswerSays) {
  EXPECT_EQ(LineOf("edition = 5"), "edition = 5");
  EXPECT_EQ(LineOf("\n  edition = 5  \nThis selects it."), "edition = 5");
  EXPECT_EQ(LineOf("`edition = 5`"), "edition = 5");
  EXPECT_EQ(LineOf("The line is `edition = 5`."), "edition = 5");
  EXPECT_EQ(LineOf("```edition = 5\n```"), "edition = 5");
  EXPECT_THAT(LineOf("```toml title=\"x\"\n```"), HasSubstr("has nothing for the gap"));
  EXPECT_EQ(LineOf("Add this:\n```toml\nedition = 5\n```\nor\n```\nx\n```\n"), "edition = 5");
  EXPECT_EQ(LineOf("```\nedition = 5\nversion = 1\n"), "edition = 5\nversion = 1");
  EXPECT_EQ(LineOf("```sh\nls\n```\n`build.toml`:\n```toml\nedition = 5\n```\n"), "edition = 5");
}

TEST(GapFiller, TakesWhatThePatternFinds) {
  EXPECT_EQ(LineOf("Write edition = 5 and edition = 4", R"(edition = \d)"), "edition = 5");
  EXPECT_EQ(LineOf("The line is: \"edition = 5\".", R"re(line is:? *"([^"]*)")re"), "edition = 5");
  EXPECT_EQ(LineOf("version = 1", R"(edition = \d)"),
            "error: the answer has nothing for the gap of build.toml: no match for \"edition = \\d\"");
  EXPECT_THAT(LineOf("x", "("), HasSubstr("error: regex \"(\""));
}

TEST(GapFiller, ReadsTheWholeFileAndTheWholeLine) {
  EXPECT_EQ(LineOf("```toml\n[general]\nname = \"a\"\nedition = 5\n\n[kernel.a]\nsrc = []\n```"), "edition = 5");
  const Case value = CaseWith({"build.toml", "<value>", "", {}}, "a = [<value>] # x\nb = 2\n");
  EXPECT_EQ(FileWith(value, "\"9.0\""), "a = [\"9.0\"] # x\nb = 2\n");
  EXPECT_EQ(FileWith(value, "a = [\"9.0\"] # x"), "a = [\"9.0\"] # x\nb = 2\n");
  EXPECT_EQ(FileWith(value, "```\na = [\"9.0\"] # x\nb = 2\n```"), "a = [\"9.0\"] # x\nb = 2\n");
}

TEST(GapFiller, LeavesABracketThatBelongsToTheAnswer) {
  const Case test_case = CaseWith({"build.toml", "<line>", "", {}}, "<line>)\n");
  EXPECT_EQ(FileWith(test_case, "g(x)"), "g(x))\n");
  EXPECT_EQ(FileWith(test_case, "g(x))"), "g(x))\n");
  EXPECT_EQ(FileWith(CaseWith({"build.toml", "<line>", "", {}}, "[<line>]\n"), "[1], [2]"), "[[1], [2]]\n");
}

TEST(GapFiller, TakesNothingFromAnEmptyAnswerOrAnEcho) {
  const std::string nothing = "error: the answer has nothing for the gap of build.toml";
  for (const std::string& answer : {std::string(), std::string(" \n"), std::string("<line>"), std::string("```\n```"),
                                    "Which line is missing?\n\n```build.toml\n" + std::string(kGapped) + "```",
                                    "```\n" + std::string(kGapped) + "```"})
    EXPECT_EQ(LineOf(answer), nothing) << answer;
}

TEST(GapFiller, IndentsLikeTheGap) {
  const Case python = CaseWith({"build.toml", "# gap", "", {}}, "def f(x):\n    # gap\n    return y\n");
  const std::string whole = "def f(x):\n    if x:\n        y = 1\n\n    y = 2\n    return y\n";
  EXPECT_EQ(FileWith(python, "```python\nif x:\n    y = 1\n\ny = 2\n```"), whole);
  EXPECT_EQ(FileWith(python, "```python\n    if x:\n        y = 1\n\n    y = 2\n```"), whole);
  EXPECT_EQ(FileWith(python, "```python\n" + whole + "```"), whole);
}

TEST(GapFiller, LeavesOutTheLinesAroundTheGapThatTheAnswerRepeats) {
  const Case cpp = CaseWith({"build.toml", "// gap", "", {}},
                            "int F(int x) {\n  int y = 0;\n\n  // gap\n}\n\nint G() {\n  return 1;\n}\n");
  const auto filled = [](const std::string& lines) {
    return "int F(int x) {\n  int y = 0;\n\n" + lines + "\n}\n\nint G() {\n  return 1;\n}\n";
  };
  EXPECT_EQ(FileWith(cpp, "```\nint F(int x) {\n  int y = 0;\n  if (x) {\n    y = 1;\n  }\n}\n```"),
            filled("  if (x) {\n    y = 1;\n  }"));
  EXPECT_EQ(FileWith(cpp, "```\nint F(int x) {\n  int y = 0;\n  // gap\n  y = x;\n}\n```"), filled("  y = x;"));
  const Case twice = CaseWith({"build.toml", "# gap", "", {}}, "t = 0\nt += 1\n# gap\nassert t == 3\n");
  EXPECT_EQ(FileWith(twice, "```\nt += 1\nt += 1\n```"), "t = 0\nt += 1\nt += 1\nt += 1\nassert t == 3\n");
  const Case start = CaseWith({"build.toml", "# gap", "", {}}, "# gap\n}\n");
  EXPECT_EQ(FileWith(start, "```\n{\n \"a\": {\n  \"b\": 1\n }\n```"), "{\n \"a\": {\n  \"b\": 1\n }\n}\n");
  // A brace of its own, which is like the line after the gap.
  EXPECT_EQ(FileWith(cpp, "```\nif (x) {\n  y = 1;\n}\n```"), filled("  if (x) {\n    y = 1;\n  }"));
  EXPECT_THAT(FileWith(cpp, "```\nint F(int x) {\n  int y = 0;\n}\n```"), HasSubstr("nothing for the gap"));
}

TEST(GapFiller, NamesAGapThatIsNotThere) {
  EXPECT_EQ(FileWith(CaseWith({"build.tml", "<line>", "", {}}), "x"),
            "error: \"fill.file\": neither \"context.files\" nor \"fill.files\" has a file build.tml");
  EXPECT_EQ(FileWith(CaseWith({"build.toml", "<gap>", "", {}}), "x"),
            "error: \"fill.gap\": \"<gap>\" occurs nowhere in build.toml; it must occur once");
  EXPECT_EQ(FileWith(CaseWith({"build.toml", "a", "", {}}), "x"),
            "error: \"fill.gap\": \"a\" occurs 4 times in build.toml; it must occur once");
}

std::vector<std::string> ResultsOf(const Case& test_case, const std::string& answer) {
  const Result<CaseChecks> checks = CaseChecks::Make(test_case);
  EXPECT_TRUE(checks.ok()) << (checks.ok() ? "" : checks.error().message);
  std::vector<std::string> results;
  if (!checks) return results;
  for (const CheckResult& result : checks->Run(answer))
    results.push_back(std::string(OutcomeName(result.outcome)) + (result.detail.empty() ? "" : ": " + result.detail));
  return results;
}

TEST(CaseWithAGap, ChecksSeeTheCompletedFileAndNoOtherOfTheAnswer) {
  CheckSpec in_file("contains", {"edition = 5\n\n[kernel.a]"});
  in_file.file = "build.toml";
  CheckSpec in_other("contains", {"mine"});
  in_other.file = "other.txt";
  const Case test_case = CaseWith({"build.toml", "<line>", "", {}}, kGapped, {in_file, in_other});
  EXPECT_THAT(ResultsOf(test_case, "```\nedition = 5\n```\n`other.txt`:\n```\nmine\n```\n"),
              ElementsAre("pass", HasSubstr("not found")));
}

TEST(CaseWithAGap, ValuesWithoutAFileAreThoseOfTheCompletedFile) {
  CheckSpec edition("toml_value", {});
  edition.options = {{"at", "general.edition"}, {"equals", 5}};
  CheckSpec other("json_value", {});
  other.options = {{"at", "edition"}};
  const Case test_case = CaseWith({"build.toml", "<line>", "", {}}, kGapped, {edition, other});
  EXPECT_THAT(ResultsOf(test_case, "edition = 5"), ElementsAre("pass", HasSubstr("the answer is not JSON")));
  EXPECT_THAT(ResultsOf(test_case, "edition = 4\n```json\n{\"edition\": 4}\n```"),
              ElementsAre(HasSubstr("fail"), "pass"));
}

TEST(CaseWithAGap, FailsWhileTheGapIsOpen) {
  const Case test_case =
      CaseWith({"build.toml", "<line>", "edition.*", {}}, kGapped, {CheckSpec("not_contains", {"red"})});
  EXPECT_THAT(ResultsOf(test_case, "edition = 5"), ElementsAre("pass"));
  EXPECT_THAT(ResultsOf(test_case, "blue"), ElementsAre(HasSubstr("fail: the answer has nothing for the gap")));
}

TEST(CaseWithAGap, HasFilesThatTheModelIsNotShown) {
  CheckSpec in_file("contains", {"edition = 5\n\n[kernel.a]"});
  in_file.file = "build.toml";
  Case test_case = CaseWith({"build.toml", "<line>", "", {}}, kGapped, {in_file});
  test_case.fill->files = std::exchange(test_case.files, {});
  EXPECT_THAT(ResultsOf(test_case, "edition = 5"), ElementsAre("pass"));
  EXPECT_THAT(ResultsOf(test_case, "edition = 4"), ElementsAre(HasSubstr("not found")));
}

TEST(CaseWithAGap, IsJudgedAsAProject) {
  CheckSpec project("kernel_builder", {});
  project.options = {{"edition", 5}};
  const std::string content =
      "[general]\nname = \"fast-scale\"\nversion = 1\n<line>\nlicense = \"mit\"\nbackends = [\"cuda\"]\n\n"
      "[torch]\nsrc = [\"torch-ext/torch_binding.cpp\"]\n\n[kernel.scale]\nbackend = \"cuda\"\ndepends = "
      "[\"torch\"]\nsrc = [\"cuda/scale.cu\"]\n";
  const Case test_case = CaseWith({"build.toml", "<line>", "", {}}, content, {project});
  EXPECT_THAT(ResultsOf(test_case, "edition = 5"), ElementsAre("pass"));
  EXPECT_THAT(ResultsOf(test_case, "edition = \"5\""), ElementsAre(AllOf(HasSubstr("fail"), HasSubstr("line 4"))));
  const Result<std::vector<std::string>> weaknesses = FindCaseWeaknesses(test_case);
  ASSERT_TRUE(weaknesses.ok());
  EXPECT_THAT(*weaknesses, IsEmpty());
}

}  // namespace
}  // namespace upskill

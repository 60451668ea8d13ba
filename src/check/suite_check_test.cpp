// SPDX-License-Identifier: Apache-2.0
#include "check/suite_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "check/answer_files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Word = AnswerReport::Word;

Suite SuiteOf(const std::string& text) {
  Result<Suite> suite = ParseSuite(text, "suite.json");
  EXPECT_TRUE(suite.ok()) << (suite.ok() ? "" : suite.error().message);
  return suite.ok() ? std::move(suite).value() : Suite{};
}

SuiteReport ReportOf(const Suite& suite, const std::filesystem::path& answers = {}, bool lint = false) {
  const Result<std::vector<AnswersOfCase>> loaded = LoadSuiteAnswers(suite, answers);
  EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
  if (!loaded) return {};
  SuiteCheckOptions options;
  options.lint = lint;
  options.workers = 2;
  Result<SuiteReport> report = CheckSuite(suite, *loaded, options);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().message);
  return report.ok() ? std::move(report).value() : SuiteReport{};
}

std::string AnswersError(const Suite& suite, const std::filesystem::path& answers = {}) {
  const Result<std::vector<AnswersOfCase>> loaded = LoadSuiteAnswers(suite, answers);
  return loaded ? "" : loaded.error().message;
}

constexpr const char* kColours = R"([{"id": "colour", "input": "Which colour?", "reference": "teal",
    "checks": [{"type": "contains", "values": "teal"}, {"type": "not_contains", "values": "red"}],
    "wrong": [{"name": "other", "answer": "red", "fails": "contains \"teal\""},
              {"name": "both", "replace": "teal", "with": "teal or red", "fails": "not_contains \"red\""}]}])";

TEST(CheckSuite, PassesASoundSuite) {
  const SuiteReport report = ReportOf(SuiteOf(kColours));
  ASSERT_THAT(report.cases, SizeIs(1));
  ASSERT_THAT(report.cases[0].answers, SizeIs(3));
  for (const AnswerReport& answer : report.cases[0].answers)
    EXPECT_EQ(answer.word, Word::kAsExpected) << answer.problem;
  EXPECT_FALSE(report.cases[0].HasProblem());
}

TEST(CheckSuite, LintTriesReferencesInOtherForms) {
  if (!DefaultSandbox().Available()) GTEST_SKIP();
  const auto weaknesses = [](const std::string& check, const std::string& reference) {
    const std::string text =
        R"([{"input": "Write it", "reference": ")" + reference + R"(", "checks": [)" + check + "]}]";
    const SuiteReport report = ReportOf(SuiteOf(text), {}, true);
    return report.cases.empty() ? std::vector<std::string>{"no case"} : report.cases[0].weaknesses;
  };
  const std::string named = R"({"type": "command", "command": "sh ./a.sh"})";
  const std::string unnamed = R"({"type": "command", "command": "ls | grep sh && sh ./a*.sh"})";
  EXPECT_THAT(weaknesses(named, "a.sh:\\n```sh\\nexit 0\\n```\\n"), IsEmpty());
  EXPECT_THAT(weaknesses(unnamed, "a.sh:\\n```sh\\nexit 0\\n```\\n"), ElementsAre(HasSubstr("without a file name")));
  EXPECT_THAT(weaknesses(R"({"type": "command", "command": "grep -q teal answer.md"})", "teal"), IsEmpty());
}

TEST(CheckSuite, NamesWhatIsJudgedWrongly) {
  const SuiteReport report = ReportOf(SuiteOf(R"([{"id": "c", "input": "i", "reference": "blue",
    "checks": [{"type": "contains", "values": "teal"}],
    "wrong": [{"answer": "teal is wrong"}, {"name": "typo", "answer": "tael", "fails": "no such text"}]}])"));
  const std::vector<AnswerReport>& answers = report.cases[0].answers;
  ASSERT_THAT(answers, SizeIs(3));
  EXPECT_THAT(answers[0].problem, AllOf(HasSubstr("should pass, but contains \"teal\""), HasSubstr("not found")));
  EXPECT_EQ(answers[1].name, "wrong 1");
  EXPECT_EQ(answers[1].problem, "should fail, but passes");
  EXPECT_THAT(answers[2].problem, HasSubstr("should fail with \"no such text\", but fails with contains \"teal\""));
  EXPECT_TRUE(report.cases[0].HasProblem());
}

TEST(CheckSuite, WhatIsSkippedDecidesNothing) {
  const SuiteReport report = ReportOf(SuiteOf(R"([{"id": "c", "input": "i", "reference": "teal",
    "checks": [{"type": "contains", "values": "teal"}, {"type": "no_such_check"}],
    "wrong": [{"answer": "teal, wrongly"}, {"answer": "red"}]}])"));
  const std::vector<AnswerReport>& answers = report.cases[0].answers;
  EXPECT_EQ(answers[0].word, Word::kNotChecked);
  EXPECT_EQ(answers[1].word, Word::kNotChecked);
  EXPECT_EQ(answers[2].word, Word::kAsExpected);
  EXPECT_THAT(report.cases[0].skipped, ElementsAre(HasSubstr("no_such_check: ")));
}

TEST(CheckSuite, ReadsAnswersOfAFolder) {
  const TempFolder folder;
  folder.Write("c/reference.md", "`a.txt`:\n```\nteal\n```\n");
  folder.Write("c/reference/a.txt", "teal\n");
  folder.Write("c/reference/deep/b.txt", "kept\n");
  folder.Write("c/wrong-red/a.txt", "red\n");
  folder.Write("c/wrong-red.txt", "It has another colour.\nfails: \"teal\": not found\n");
  folder.Write("c/wrong-bare.md", "<!-- fails: no file a.txt -->\nteal\n");
  folder.Write("c/wrong-without/deep/b.txt", "");
  folder.Write("note.txt", "not a case");
  const Suite suite = SuiteOf(R"([{"id": "c", "input": "i", "checks": [
    {"type": "file_contains", "path": "a.txt", "values": "teal"}, {"type": "any", "checks": [
      {"type": "file_exists", "path": "deep/b.txt"},
      {"type": "regex", "pattern": "^`a.txt`:\n```\nteal\n```\n$"}]}]}])");
  const SuiteReport report = ReportOf(suite, folder.path());
  const std::vector<AnswerReport>& answers = report.cases[0].answers;
  ASSERT_THAT(answers, SizeIs(5));
  for (const AnswerReport& answer : answers) EXPECT_EQ(answer.word, Word::kAsExpected) << answer.name << answer.problem;
  EXPECT_EQ(answers[0].name, "reference/");
  EXPECT_EQ(answers[1].name, "reference.md");
  EXPECT_EQ(answers[2].name, "wrong-bare");
  EXPECT_EQ(answers[3].name, "wrong-red");
  EXPECT_EQ(answers[4].name, "wrong-without");
}

TEST(CheckSuite, RefusesAnswersThatItCannotPlace) {
  const Suite suite = SuiteOf(R"([{"id": "c", "input": "i", "checks": [{"type": "contains", "values": "a"}]}])");
  {
    const TempFolder folder;
    folder.Write("other/reference.md", "a");
    EXPECT_THAT(AnswersError(suite, folder.path()), HasSubstr("has no case of this name"));
  }
  {
    const TempFolder folder;
    folder.Write("c/refrence.md", "a");
    EXPECT_THAT(AnswersError(suite, folder.path()), HasSubstr("refrence.md: unknown name; expected reference.md"));
  }
  {
    const TempFolder folder;
    folder.Write("c/reference/a.txt", "a");
    folder.Write("c/wrong-same/a.txt", "a");
    EXPECT_THAT(AnswersError(suite, folder.path()), HasSubstr("wrong-same: the same as the reference"));
  }
  for (const char* name : {"README", "bin/run", ".editorconfig", "my file.py"}) {
    const TempFolder folder;
    folder.Write(std::string("c/reference/") + name, "a");
    EXPECT_THAT(AnswersError(suite, folder.path()), HasSubstr(std::string("can't deliver the file ") + name));
  }
  {
    const TempFolder folder;
    folder.Write("c/reference.md", "a");
    std::filesystem::rename(folder.path() / "c/reference.md", folder.path() / "secret");
    std::filesystem::create_symlink(folder.path() / "secret", folder.path() / "c/reference.md");
    EXPECT_THAT(AnswersError(suite, folder.path()), HasSubstr("is a symbolic link"));
  }
  {
    const TempFolder folder;
    folder.Write("c/wrong-x.md", "b");
    folder.Write("c/wrong-x.txt", "for some reason\n");
    EXPECT_THAT(AnswersError(suite, folder.path()), HasSubstr("no line \"fails: TEXT\""));
  }
  EXPECT_THAT(AnswersError(SuiteOf(R"([{"id": "c", "input": "i", "expected": {"contains": "a"}, "wrong": ["b"]}])")),
              HasSubstr("suite.json:1: case 1 (\"c\"): \"wrong\" entry 1: it is a string; an entry is"));
  const auto wrong = [&](const std::string& list) {
    return AnswersError(
        SuiteOf(R"([{"id": "c", "input": "i", "expected": {"contains": "a"}, "wrong": )" + list + "}]"));
  };
  EXPECT_THAT(wrong(R"({"answer": "b"})"), HasSubstr("\"wrong\" is an object, not a list"));
  EXPECT_THAT(wrong(R"([{"answer": "b"}, {"answer": "b", "fail": "x"}])"), HasSubstr("entry 2: unknown key \"fail\""));
  EXPECT_THAT(wrong(R"([{"anwser": "b"}])"), HasSubstr("unknown key \"anwser\""));
  EXPECT_THAT(wrong(R"([{"name": "b"}])"), HasSubstr("either \"answer\" or \"replace\""));
  EXPECT_THAT(wrong(R"([{"replace": "b", "with": "c"}])"), HasSubstr("a text that the reference has once"));
  EXPECT_THAT(wrong(R"([{"answer": "b", "fails": ""}])"), HasSubstr("\"fails\" must be a text"));
  EXPECT_THAT(wrong(R"([{"name": "x", "answer": "b"}, {"name": "x", "answer": "c"}])"),
              HasSubstr("entry 2: \"x\" is the name of another one"));
}

TEST(CheckSuite, LintFindsWhatMeasuresNothing) {
  const SuiteReport report = ReportOf(SuiteOf(R"([
    {"id": "a", "input": "Say teal", "reference": "teal",
     "checks": [{"type": "contains", "values": "teal"}, {"type": "not_contains", "values": "zzz"}]},
    {"id": "b", "input": "Say teal", "checks": [{"type": "not_contains", "values": "red"}]}])"),
                                      {}, true);
  EXPECT_THAT(report.cases[0].weaknesses,
              testing::UnorderedElementsAre(HasSubstr("an echo of the input passes"), HasSubstr("occurs in the input"),
                                            HasSubstr("not_contains \"zzz\" passes every answer")));
  EXPECT_THAT(report.cases[1].weaknesses,
              testing::IsSupersetOf({testing::Matcher<std::string>(HasSubstr("an empty answer passes")),
                                     testing::Matcher<std::string>(HasSubstr("no reference")),
                                     testing::Matcher<std::string>(HasSubstr("the same input as case \"a\""))}));
}

TEST(AnswerWithFiles, IsReadBackAsTheSameFiles) {
  const std::map<std::string, std::string> files = {{"build.toml", "[general]\n"},
                                                    {"torch-ext/a.cpp", "// torch-ext/b.cpp\nint a;\n"},
                                                    {"doc/x.md", "```\nnested\n```\n"},
                                                    {"Makefile", "all:\n\tcc a.c\n"},
                                                    {"tests/run.sh", "#!/bin/sh\n"}};
  EXPECT_EQ(AnswerFiles(AnswerWithFiles(files)), files);
}

}  // namespace
}  // namespace upskill

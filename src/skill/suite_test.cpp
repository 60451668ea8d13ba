// SPDX-License-Identifier: Apache-2.0
#include "skill/suite.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "support/source_dir.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;

Suite Parse(const std::string& text) {
  Result<Suite> suite = ParseSuite(text, "t.json");
  EXPECT_TRUE(suite.ok()) << text << "\n" << (suite ? "" : suite.error().message);
  return suite ? *suite : Suite{};
}

std::string ErrorOf(const std::string& text) {
  const Result<Suite> suite = ParseSuite(text, "t.json");
  EXPECT_FALSE(suite.ok()) << text.substr(0, 300);
  if (suite) return "";
  EXPECT_EQ(suite.error().kind, ErrorKind::kInput);
  return suite.error().message;
}

// The error of a suite whose only case has these members besides its id and input.
std::string CaseError(const std::string& members) {
  return ErrorOf("[\n{\"id\": \"x\", \"input\": \"i\", " + members + "}]");
}

std::vector<CheckSpec> ChecksOf(const std::string& members) {
  const Suite suite = Parse("[{\"input\": \"i\", " + members + "}]");
  return suite.cases.empty() ? std::vector<CheckSpec>{} : suite.cases[0].checks;
}

testing::Matcher<const CheckSpec&> IsCheck(const std::string& type, const std::vector<std::string>& values,
                                           const std::string& pattern = "") {
  return AllOf(testing::Field("type", &CheckSpec::type, type), testing::Field("values", &CheckSpec::values, values),
               testing::Field("pattern", &CheckSpec::pattern, pattern));
}

TEST(ParseSuite, FourForms) {
  const std::string list =
      R"([{"input": "a", "expected": {"contains": "b"}}, {"input": "c", "expected": {"contains": "d"}}])";
  for (const std::string& text :
       {list, R"({"tests": )" + list + "}", R"({"metadata": {}, "tests": )" + list + "}", R"({"cases": )" + list + "}",
        R"({"skill_name": "s", "evals": )" + list + "}", R"({"tests": [], "cases": )" + list + "}"}) {
    const Suite suite = Parse(text);
    ASSERT_THAT(suite.cases, SizeIs(2)) << text;
    EXPECT_EQ(suite.cases[0].id, "case-1");
    EXPECT_EQ(suite.cases[1].id, "case-2");
    EXPECT_EQ(suite.cases[1].input, "c");
    EXPECT_THAT(suite.warnings, IsEmpty());
    EXPECT_EQ(suite.source, "t.json");
  }
}

TEST(ParseSuite, AllFieldsOfACase) {
  const Suite suite = Parse(R"([{"id": "full", "input": "Write it", "extra": 7,
    "context": {"files": {"z.txt": "Z", "a/b.txt": ""}, "more": 1}, "expected": {"contains": ["x", "y"]},
    "output_file": "out/build.toml", "reference": "x y"}])");
  ASSERT_THAT(suite.cases, SizeIs(1));
  const Case& test_case = suite.cases[0];
  EXPECT_EQ(test_case.id, "full");
  EXPECT_EQ(test_case.input, "Write it");
  EXPECT_THAT(test_case.files, ElementsAre(Pair("z.txt", "Z"), Pair("a/b.txt", "")));
  EXPECT_EQ(test_case.output_file, "out/build.toml");
  EXPECT_EQ(test_case.reference, "x y");
  EXPECT_THAT(test_case.checks, ElementsAre(IsCheck("contains", {"x"}), IsCheck("contains", {"y"})));
  EXPECT_EQ(test_case.raw["extra"], 7);
}

TEST(ParseSuite, TagsSourceAndSplit) {
  const Suite suite = Parse(
      R"([{"input": "i", "expected": {"contains": "a"}, "tags": ["toml", "build", "toml"], "source": "d7", "split": "train"},
          {"input": "j", "expected": {"contains": "a"}, "split": "test"},
          {"input": "k", "expected": {"contains": "a"}, "split": "dev"}])");
  EXPECT_THAT(suite.cases[0].tags, ElementsAre("toml", "build"));
  EXPECT_EQ(suite.cases[0].source, "d7");
  EXPECT_EQ(suite.cases[0].split, Split::kTrain);
  EXPECT_THAT(suite.cases[1].tags, IsEmpty());
  EXPECT_EQ(suite.cases[1].source, "");
  EXPECT_EQ(suite.cases[1].split, Split::kTest);
  EXPECT_EQ(suite.cases[2].split, Split::kUnknown);
  EXPECT_THAT(suite.warnings,
              ElementsAre(HasSubstr("case 3: \"split\" is ignored: it must be \"train\" or \"test\", not \"dev\"")));
}

// Suites of other tools may use these keys for something else.
TEST(ParseSuite, OtherValuesOfTagsAndSourceAreWarnings) {
  const Suite suite = Parse(
      R"([{"input": "i", "expected": {"contains": "a"}, "tags": ["a", 1, " "]},
          {"input": "j", "expected": {"contains": "a"}, "tags": "b", "source": {"line": 3}}])");
  EXPECT_THAT(suite.cases[0].tags, ElementsAre("a"));
  EXPECT_THAT(suite.cases[1].tags, IsEmpty());
  EXPECT_EQ(suite.cases[1].source, "");
  EXPECT_THAT(suite.warnings,
              ElementsAre(HasSubstr("case 1: \"tags\" must be a list of non-empty strings; other entries"),
                          HasSubstr("case 2: \"tags\" is ignored: it must be a list of non-empty"),
                          HasSubstr("\"source\" is ignored: it must be a string, not an object")));
}

TEST(ParseSuite, EvalsForm) {
  const Suite suite = Parse(R"({"evals": [{"id": 12, "prompt": "p", "expected_output": "good", "files": ["a.csv"],
    "assertions": ["is right"], "expected": {"contains": "g"}}]})");
  ASSERT_THAT(suite.cases, SizeIs(1));
  EXPECT_EQ(suite.cases[0].id, "12");
  EXPECT_EQ(suite.cases[0].input, "p");
  EXPECT_EQ(suite.cases[0].reference, "good");
  EXPECT_THAT(suite.cases[0].checks, SizeIs(1));
  EXPECT_THAT(suite.warnings, ElementsAre(AllOf(StartsWith("t.json:1: case 1 (\"12\"): "), HasSubstr("prose")),
                                          HasSubstr("\"files\" are not sent to the model")));
  EXPECT_THAT(ErrorOf(R"({"evals": [{"id": 1, "prompt": "p", "expectations": ["is right"]}]})"),
              HasSubstr("no check (\"expectations\" are prose)"));
}

TEST(ParseSuite, NullsCountAsAbsent) {
  const Suite suite = Parse(R"([{"id": null, "name": "n", "input": "i", "context": null, "expected": {"contains": "b"},
    "checks": null, "verifiers": null, "output_file": null, "reference": null, "validator": null}])");
  ASSERT_THAT(suite.cases, SizeIs(1));
  EXPECT_EQ(suite.cases[0].id, "n");
  EXPECT_THAT(suite.cases[0].checks, SizeIs(1));
}

TEST(ParseSuite, ChecksInTheOrderExpectedChecksVerifiers) {
  EXPECT_THAT(ChecksOf(R"("verifiers": [{"type": "contains", "values": ["v", "w"]}], "expected": {"contains": "e"},
                          "checks": [{"type": "not-contains", "text": "n"}])"),
              ElementsAre(IsCheck("contains", {"e"}), IsCheck("not_contains", {"n"}), IsCheck("contains", {"v", "w"})));
}

TEST(ParseSuite, EveryCheckType) {
  EXPECT_THAT(
      ChecksOf(R"("checks": [{"type": "contains", "values": "a"}, {"type": "not_contains", "values": ["a", "b"]},
    {"type": "any-of", "values": ["a", "b"]}, {"type": "any_of", "text": "a"}, {"type": "equals", "text": "42"},
    {"type": "regex", "pattern": "a|b"}, {"type": "regex", "text": "c"}])"),
      ElementsAre(IsCheck("contains", {"a"}), IsCheck("not_contains", {"a", "b"}), IsCheck("any_of", {"a", "b"}),
                  IsCheck("any_of", {"a"}), IsCheck("equals", {"42"}), IsCheck("regex", {}, "a|b"),
                  IsCheck("regex", {}, "c")));
}

TEST(ParseSuite, OldExpectedMap) {
  const Suite suite = Parse(R"([{"input": "i", "expected": {"contains": "a", "min_words": 3}}])");
  EXPECT_THAT(suite.cases[0].checks, ElementsAre(IsCheck("contains", {"a"})));
  EXPECT_THAT(suite.warnings, ElementsAre(HasSubstr("\"expected.min_words\" is not checked")));
}

TEST(ParseSuite, MalformedJsonHasLineAndColumn) {
  EXPECT_THAT(ErrorOf("[\n  {\"input\": \"a\" \"b\": 1}\n]"), StartsWith("t.json:2:17: "));
  EXPECT_THAT(ErrorOf(""), StartsWith("t.json:1:1: "));
  EXPECT_THAT(ErrorOf(std::string(100000, '[')), HasSubstr("nested deeper"));
  EXPECT_THAT(ErrorOf("[{\"input\": \"\xFF\"}]"), HasSubstr("not UTF-8"));
  EXPECT_THAT(ErrorOf("[{\"id\": 1e999}]"), StartsWith("t.json:1:9: "));
}

TEST(ParseSuite, NoCases) {
  for (const char* text :
       {"[]", "{}", R"({"tests": []})", R"({"tests": null})", R"({"metadata": {}})", R"({"scenarios": []})"}) {
    EXPECT_THAT(ErrorOf(text), AllOf(StartsWith("t.json: no cases"), HasSubstr("name another file"))) << text;
  }
  EXPECT_THAT(ErrorOf("\"text\""), AllOf(StartsWith("t.json: must be an object"), HasSubstr("not a string")));
  EXPECT_THAT(ErrorOf(R"({"tests": {"a": 1}})"), HasSubstr("\"tests\" must be a list, not an object"));
}

TEST(ParseSuite, ErrorsNameFileLineAndCase) {
  const std::string good = R"({"input": "i", "expected": {"contains": "b"}})";
  EXPECT_THAT(ErrorOf("{\"tests\": [\n" + good + ",\n{\"id\": \"second\"}\n]}"),
              StartsWith("t.json:3: case 2 (\"second\"): no \"input\""));
  EXPECT_THAT(ErrorOf("[\n" + good + ",\n\n5]"), StartsWith("t.json:4: case 2: must be an object"));
  EXPECT_THAT(ErrorOf("[" + good + ", {\"input\": 5}]"),
              StartsWith("t.json:1: case 2: \"input\" must be a string, not a number"));
}

TEST(ParseSuite, Ids) {
  const std::string rest = R"("input": "i", "expected": {"contains": "b"}})";
  EXPECT_THAT(ErrorOf("[{\"id\": \"a\", " + rest + ", {\"id\": \"a\", " + rest + "]"),
              HasSubstr("case 2 (\"a\"): has the same id \"a\" as case 1"));
  EXPECT_THAT(ErrorOf("[{\"id\": \"case-2\", " + rest + ", {" + rest + "]"),
              HasSubstr("case 2: has the same id \"case-2\" as case 1"));
  EXPECT_THAT(ErrorOf("[{\"id\": 1, " + rest + ", {\"id\": \"1\", " + rest + "]"), HasSubstr("same id"));
  EXPECT_THAT(ErrorOf("[{\"id\": \" \", " + rest + "]"), HasSubstr("case 1: \"id\" is empty"));
  EXPECT_THAT(ErrorOf("[{\"id\": 1.5, " + rest + "]"), HasSubstr("\"id\" must be a string or a whole number"));
  EXPECT_THAT(ErrorOf("[{\"id\": [1], " + rest + "]"), HasSubstr("not a list"));
  EXPECT_EQ(Parse("[{\"id\": 18446744073709551615, " + rest + "]").cases[0].id, "18446744073709551615");
}

TEST(ParseSuite, WrongTypes) {
  EXPECT_THAT(CaseError(R"("expected": "b")"), HasSubstr("case 1 (\"x\"): \"expected\" must be null or an object"));
  EXPECT_THAT(CaseError(R"("expected": {"contains": 5})"),
              HasSubstr("\"expected.contains\" must be a string or a list"));
  EXPECT_THAT(CaseError(R"("expected": {"contains": ["a", null]})"), HasSubstr("not null"));
  EXPECT_THAT(CaseError(R"("expected": {"contains": {"a": "b"}})"), HasSubstr("not an object"));
  EXPECT_THAT(CaseError(R"("context": "text")"), HasSubstr("\"context\" must be null or an object"));
  EXPECT_THAT(CaseError(R"("context": {"files": ["a"]})"), HasSubstr("\"context.files\" must be an object"));
  EXPECT_THAT(CaseError(R"("context": {"files": {"a": 1}})"), HasSubstr("\"context.files[a]\" must be a string"));
  EXPECT_THAT(CaseError(R"("checks": {"type": "contains"})"), HasSubstr("\"checks\" must be a list"));
  EXPECT_THAT(CaseError(R"("checks": ["a"])"), HasSubstr("\"checks\" entry 1: must be an object"));
  EXPECT_THAT(CaseError(R"("reference": 5)"), HasSubstr("\"reference\" must be a string"));
  EXPECT_THAT(CaseError(R"("output_file": [])"), HasSubstr("\"output_file\" must be a string"));
  EXPECT_THAT(ErrorOf(R"([{"input": " \n "}])"), HasSubstr("\"input\" is empty"));
}

TEST(ParseSuite, GapsThatCanNotBeFilled) {
  const auto error = [](const std::string& fill, const std::string& more = "") {
    return CaseError(R"("context": {"files": {"a.txt": "x ? ? !"}}, )" + more + R"("fill": )" + fill);
  };
  EXPECT_THAT(error("[]"), HasSubstr("\"fill\" must be null or an object {\"file\": \"…\", \"gap\": \"…\"}"));
  EXPECT_THAT(error(R"({"file": "a.txt"})"), HasSubstr("\"fill\" has no \"gap\""));
  EXPECT_THAT(error(R"({"gap": "?"})"), HasSubstr("\"fill\" has no \"file\""));
  EXPECT_THAT(error(R"({"file": "a.txt", "gap": " "})"), HasSubstr("\"fill.gap\" is empty"));
  EXPECT_THAT(error(R"({"file": "a.txt", "gap": 1})"), HasSubstr("\"fill.gap\" must be a string"));
  EXPECT_THAT(error(R"({"file": "a.txt", "gap": "!", "patern": "x"})"), HasSubstr("unknown key \"patern\""));
  EXPECT_THAT(error(R"({"file": "b.txt", "gap": "!"})"),
              HasSubstr("neither \"context.files\" nor \"fill.files\" has a file b.txt"));
  EXPECT_THAT(error(R"({"file": "a.txt", "gap": "?"})"),
              HasSubstr("\"?\" occurs 2 times in a.txt; it must occur once"));
  EXPECT_THAT(error(R"({"file": "a.txt", "gap": "#"})"), HasSubstr("\"#\" occurs nowhere in a.txt"));
  EXPECT_THAT(error(R"({"file": "b.txt", "gap": "____", "files": {"b.txt": "_____"}})"),
              HasSubstr("\"____\" occurs 2 times in b.txt"));
  EXPECT_THAT(error(R"({"file": "a.txt", "gap": "!", "files": {"a.txt": "!"}})"),
              HasSubstr("\"fill.files\": a.txt is also in \"context.files\""));
  EXPECT_THAT(error(R"({"file": "b.txt", "gap": "!", "files": {"../b.txt": "!"}})"),
              HasSubstr("\"fill.files\": file name"));
  EXPECT_THAT(error(R"({"file": "a.txt", "gap": "!"})", R"("output_file": "a.txt", )"),
              HasSubstr("\"fill\" and \"output_file\" exclude each other"));
}

TEST(ParseSuite, NothingToCheck) {
  for (const char* members :
       {R"("a": 1)", R"("expected": null)", R"("expected": {})", R"("expected": {"contains": []})",
        R"("expected": {"contains": null})", R"("checks": [], "verifiers": [])"}) {
    EXPECT_THAT(CaseError(members), HasSubstr("case 1 (\"x\"): no check; add \"expected\"")) << members;
  }
}

TEST(ParseSuite, EmptyExpectedStrings) {
  EXPECT_THAT(CaseError(R"("expected": {"contains": ""})"), HasSubstr("\"expected.contains\" has an empty string"));
  EXPECT_THAT(CaseError(R"("expected": {"contains": ["a", ""]})"), HasSubstr("an empty string"));
  EXPECT_THAT(CaseError(R"("checks": [{"type": "any_of", "values": ["a", ""]}])"),
              HasSubstr("\"values\" has an empty string"));
  EXPECT_THAT(CaseError(R"("checks": [{"type": "contains", "values": []}])"), HasSubstr("\"values\" is an empty list"));
  EXPECT_THAT(CaseError(R"("checks": [{"type": "contains", "pattern": "a"}])"), HasSubstr("contains needs \"values\""));
  EXPECT_THAT(CaseError(R"("checks": [{"type": "regex", "values": ["a"]}])"), HasSubstr("regex needs a \"pattern\""));
  EXPECT_THAT(CaseError(R"("checks": [{"type": "equals", "values": ["a", "b"]}])"), HasSubstr("one value only"));
}

TEST(ParseSuite, CheckTypesOfOtherToolsAndTyposAreSkipped) {
  const Result<Suite> suite = ParseSuite(R"([{"input": "i", "expected": {"contains": "a"}, "verifiers": [
    {"type": "judge", "criteria": []}, {"type": "Contains", "values": "a"}], "validator": "cuda"}])",
                                         "t.json");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  EXPECT_THAT(
      suite->warnings,
      ElementsAre(HasSubstr("\"verifiers\" entry 1: the check \"judge\" is skipped: it has no"),
                  HasSubstr("entry 2: unknown check type \"Contains\" is skipped; did you mean \"contains\"? (up"),
                  HasSubstr("\"validator\" is skipped: the validator cuda")));
  ASSERT_EQ(suite->cases[0].checks.size(), 4U);
  EXPECT_EQ(suite->cases[0].checks[1].type, "judge");
  EXPECT_EQ(suite->cases[0].checks[1].unavailable, "it has no \"rubric\"");
  EXPECT_THAT(CaseError(R"("checks": [{"values": "a"}])"), HasSubstr("no \"type\"; there are contains,"));
}

TEST(ParseSuite, KeysThatACheckDoesNotHave) {
  const Result<Suite> suite = ParseSuite(R"([{"input": "i", "checks": [
    {"type": "number", "value": 1, "tolerence": 2}, {"type": "contains", "path": "x", "values": "a"}]}])",
                                         "t.json");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  EXPECT_THAT(
      suite->warnings,
      ElementsAre(
          HasSubstr(
              "\"checks\" entry 1: \"tolerence\" is ignored: number has no such key; did you mean \"tolerance\"?"),
          HasSubstr("\"checks\" entry 2: \"path\" is ignored: contains has no such key")));
}

TEST(ParseSuite, MisspeltKeysAreNamed) {
  const Suite suite = Parse(R"([{"id": "a", "input": "i", "expected": {"contains": "b"}, "refrence": "r",
                                 "difficulty": 3, "split": "tset"}])");
  EXPECT_THAT(suite.warnings,
              ElementsAre("t.json:1: case 1 (\"a\"): unknown key \"refrence\" is ignored; did you mean \"reference\"?",
                          HasSubstr("\"split\" is ignored: it must be \"train\" or \"test\", not \"tset\"")));
  EXPECT_THAT(
      ErrorOf(R"([{"id": "a", "input": "i", "expcted": {"contains": "b"}}])"),
      AllOf(HasSubstr("no check"), HasSubstr("unknown key \"expcted\" is ignored; did you mean \"expected\"?")));
  EXPECT_THAT(ErrorOf(R"([{"input": "i", "expected": {"contians": "b"}}])"),
              HasSubstr("\"expected\" has the unknown key \"contians\"; did you mean \"contains\"?"));
  EXPECT_THAT(ErrorOf(R"({"case": [{"input": "i", "expected": {"contains": "b"}}]})"),
              HasSubstr("no cases; \"case\" is unknown; did you mean \"cases\"?"));
}

TEST(ParseSuite, MisspeltKeywordsOfASchemaAreNamed) {
  const Suite suite = Parse(R"([{"input": "i", "checks": [{"type": "json_schema", "schema":
    {"type": "object", "requird": ["a"], "properties": {"requird": {"minimun": 3}}, "const": {"itmes": 1}}}]}])");
  EXPECT_THAT(suite.warnings,
              ElementsAre(HasSubstr("the schema: unknown keyword \"requird\" is ignored; did you mean \"required\"?"),
                          HasSubstr("the schema: unknown keyword \"minimun\" is ignored; did you mean \"minimum\"?")));
}

TEST(ParseSuite, ChecksOfFilesAndGroups) {
  EXPECT_THAT(CaseError(R"("checks": [{"type": "file_exists"}])"), HasSubstr("file_exists needs a \"path\""));
  EXPECT_THAT(CaseError(R"("checks": [{"type": "file_exists", "path": "../x"}])"),
              HasSubstr("\"path\": file name '../x'"));
  EXPECT_THAT(CaseError(R"("checks": [{"type": "file_contains", "path": "x"}])"), HasSubstr("needs \"values\""));
  EXPECT_THAT(CaseError(R"("checks": [{"type": "all"}])"), HasSubstr("all needs \"checks\""));
  EXPECT_THAT(CaseError(R"("checks": [{"type": "any", "checks": []}])"), HasSubstr("any has no checks"));
  EXPECT_THAT(CaseError(R"("checks": [{"type": "any", "checks": [{"type": "regex"}]}])"),
              HasSubstr("\"checks\" entry 1: \"checks\" entry 1: regex needs a \"pattern\""));
  EXPECT_THAT(CaseError(R"("checks": [{"type": "contains", "values": "a", "weight": -1}])"), HasSubstr("\"weight\""));
  std::string nested = R"({"type": "contains", "values": "a"})";
  for (int i = 0; i < 9; ++i) nested = R"({"type": "all", "checks": [)" + nested + "]}";
  EXPECT_THAT(CaseError(R"("checks": [)" + nested + "]"), HasSubstr("nested more than 8 deep"));
}

TEST(ParseSuite, FileNamesStayInTheirFolder) {
  for (const char* name : {"", "/etc/passwd", "../x", "a/../../x", "a\\u0000b", "a\\u001bb", ".", "a/"}) {
    const std::string quoted = std::string("\"") + name + "\"";
    EXPECT_THAT(CaseError("\"context\": {\"files\": {" + quoted + ": \"t\"}}, \"expected\": {\"contains\": \"b\"}"),
                HasSubstr("case 1 (\"x\"): \"context.files\": file name '"))
        << name;
    if (*name == '\0') continue;
    EXPECT_THAT(CaseError("\"output_file\": " + quoted + ", \"expected\": {\"contains\": \"b\"}"),
                HasSubstr("case 1 (\"x\"): \"output_file\": file name '"))
        << name;
  }
}

TEST(ParseSuite, MessagesQuoteIdsOnOneLine) {
  const std::string message = ErrorOf("[{\"id\": \"\\u001b[2J\\n\\u202e\"}]");
  EXPECT_THAT(message, StartsWith("t.json:1: case 1 (\"\x1b[2J \u202E\"): no \"input\""));
  EXPECT_LT(ErrorOf("[{\"id\": \"" + std::string(100000, 'x') + "\"}]").size(), 300U);
}

class SuiteFilesTest : public ::testing::Test {
 protected:
  static std::string SuiteWith(const std::string& id) {
    return "{\"tests\": [{\"id\": \"" + id + "\", \"input\": \"i\", \"expected\": {\"contains\": \"b\"}}]}";
  }
  std::string IdOfFirstCase() {
    const Result<Suite> suite = LoadSuiteOfSkill(folder_.path());
    return suite ? suite->cases.at(0).id : suite.error().message;
  }
  TempFolder folder_;
};

TEST_F(SuiteFilesTest, LoadSuiteOfSkillPrefersSkillMeta) {
  folder_.Write("evals/evals.json", SuiteWith("evals"));
  EXPECT_EQ(IdOfFirstCase(), "evals");
  folder_.Write("tests.json", SuiteWith("tests"));
  EXPECT_EQ(IdOfFirstCase(), "tests");
  folder_.Write("skill_meta.json", SuiteWith("meta"));
  EXPECT_EQ(IdOfFirstCase(), "meta");
  folder_.Write("skill_meta.json", R"({"metadata": {}, "tests": []})");
  EXPECT_EQ(IdOfFirstCase(), "tests");
  folder_.Write("skill_meta.json", "{broken");
  EXPECT_THAT(IdOfFirstCase(), HasSubstr("skill_meta.json:1:2: "));
}

TEST_F(SuiteFilesTest, AnErrorShowsTheLineUnlessALinkLeadsToIt) {
  const fs::path token = folder_.Write("token", "hf_0123456789abcdef");
  folder_.Write("skill/skill_meta.json", "hf_own");
  EXPECT_THAT(LoadSuiteOfSkill(folder_.path() / "skill").error().message, HasSubstr("1 | hf_own"));
  for (const char* name : {"skill_meta.json", "tests.json", "evals/evals.json"}) {
    const TempFolder skill;
    fs::create_directories((skill.path() / name).parent_path());
    fs::create_symlink(token, skill.path() / name);
    const Result<Suite> suite = LoadSuiteOfSkill(skill.path());
    ASSERT_FALSE(suite.ok());
    EXPECT_THAT(suite.error().message, AllOf(HasSubstr(std::string(name) + ":1:"), Not(HasSubstr("hf_"))));
    const Result<Suite> named = LoadSuite(skill.path() / name);
    ASSERT_FALSE(named.ok());
    EXPECT_THAT(named.error().message, AllOf(HasSubstr(std::string(name) + ":1:"), Not(HasSubstr("hf_"))));
  }
}

TEST_F(SuiteFilesTest, NoCasesAnywhere) {
  const Result<Suite> none = LoadSuiteOfSkill(folder_.path());
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("no skill_meta.json, tests.json or evals/evals.json with cases"));
  folder_.Write("skill_meta.json", R"({"metadata": {}, "tests": []})");
  EXPECT_THAT(IdOfFirstCase(), AllOf(HasSubstr("skill_meta.json: no cases"), HasSubstr("name a")));
  EXPECT_EQ(LoadSuiteOfSkill(folder_.path()).error().kind, ErrorKind::kNotFound);
}

TEST_F(SuiteFilesTest, LoadSuiteKeepsItsPath) {
  const fs::path path = folder_.Write("my.json", SuiteWith("a"));
  const Result<Suite> suite = LoadSuite(path);
  ASSERT_TRUE(suite.ok());
  EXPECT_EQ(suite->source, path);
  EXPECT_EQ(LoadSuite(folder_.path() / "absent.json").error().kind, ErrorKind::kNotFound);
  EXPECT_FALSE(LoadSuite(folder_.path()).ok());
}

TEST(LoadSuiteOfSkill, ExampleLoads) {
  const Result<Suite> suite = LoadSuiteOfSkill(SourceDir() / "examples/skills/kernel-builder-cuda-kernels");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  EXPECT_GE(suite->cases.size(), 10U);
  EXPECT_THAT(suite->warnings, IsEmpty());
  EXPECT_EQ(SuiteToJson(*suite), suite->document);
}

}  // namespace
}  // namespace upskill

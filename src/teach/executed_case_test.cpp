// SPDX-License-Identifier: Apache-2.0
#include "teach/executed_case.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "check/check.h"
#include "support/fake_teacher.h"
#include "teach/write_cases.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

Json Empty() {
  return {{"kind", "file"},
          {"transfer", true},
          {"input", "Write units.py with a function double(x) as our team does it."},
          {"contains", Json::array()},
          {"any_of", Json::array()},
          {"not_contains", Json::array()},
          {"checks", Json::array()},
          {"output_file", "units.py"},
          {"reference", "def double(x):\n    return 2 * x\n"},
          {"cites", Json::array()},
          {"given", Json::array()},
          {"gap", ""},
          {"run", {{"language", ""}, {"test", ""}, {"function", ""}, {"calls", Json::array()}}}};
}

Json WithCalls() {
  Json json = Empty();
  json["run"]["function"] = "double";
  json["run"]["calls"] = {{{"arguments", "[2]"}, {"result", "4"}},
                          {{"arguments", "[[1, \"é\"]]"}, {"result", "[1, \"é\", 1, \"é\"]"}}};
  return json;
}

bool Passes(const Json& json, const std::string& answer) {
  const Result<Case> made = CaseFromTeacher(json);
  EXPECT_TRUE(made.ok()) << made.error().message;
  if (!made) return false;
  EXPECT_EQ(CheckKindOf(*made), "executed");
  const Result<CaseChecks> checks = CaseChecks::Make(*made);
  EXPECT_TRUE(checks.ok()) << checks.error().message;
  return checks && AllPass(checks->Run(answer));
}

// From material with code, so that cases shall run something.
Result<VettedCases> WrittenFromCode(FakeTeacher& model, const TempFolder& folder, std::size_t cases) {
  ASSIGN_OR_RETURN(Teacher teacher, Teacher::Open(model, folder.path() / "calls.jsonl"));
  CaseOptions options;
  options.cases = cases;
  Material material;
  material.existing.body = "```python\ndef double(x): ...\n```\n";
  return WriteCases(teacher, material, options);
}

class ExecutedCase : public testing::Test {
 protected:
  void SetUp() override {
    if (FindTestRunners(DefaultSandbox()).languages.empty()) GTEST_SKIP() << "nothing can run here";
  }
};

TEST_F(ExecutedCase, CallsOfAFunctionDecide) {
  const Json json = WithCalls();
  EXPECT_TRUE(Passes(json, "Here it is:\n```python\ndef double(x):\n    return x + x\n```\n"));
  EXPECT_FALSE(Passes(json, "```python\ndef double(x):\n    return x\n```\n"));
  EXPECT_FALSE(Passes(json, "```python\ndef double(x):\n    return x > 1\n```\n"));
  EXPECT_FALSE(Passes(json, "```python\nimport sys\nsys.exit(0)\n```\n")) << "ended before the calls";
  EXPECT_FALSE(Passes(json, ""));
}

TEST_F(ExecutedCase, ProgramsOfEachLanguageDecide) {
  for (const auto& [language, test] :
       {std::pair{"python", "import units\nassert units.double(3) == 6"},
        std::pair{"shell", "python3 -B -c 'import units; assert units.double(3) == 6'\ntrue"}}) {
    Json json = Empty();
    json["run"]["language"] = language;
    json["run"]["test"] = test;
    EXPECT_TRUE(Passes(json, "```python\ndef double(x):\n    return x + x\n```\n")) << language;
    EXPECT_FALSE(Passes(json, "```python\ndef double(x):\n    return x\n```\n")) << language;
  }
  Json json = Empty();
  json["output_file"] = "twice.h";
  json["run"]["language"] = "c++";
  json["run"]["test"] = "#include \"twice.h\"\nint main() { return twice(3) == 6 ? 0 : 1; }";
  EXPECT_TRUE(Passes(json, "```cpp\ninline int twice(int x) { return 2 * x; }\n```\n"));
  EXPECT_FALSE(Passes(json, "```cpp\ninline int twice(int x) { return x; }\n```\n"));
  EXPECT_FALSE(Passes(json, "```cpp\ninline int twice(int x) { return }\n```\n"));
}

Json WithGap() {
  Json json = WithCalls();
  json["given"] = {{{"path", "units.py"}, {"text", "def double(x):\n    return ...  # your code\n"}}};
  json["gap"] = "...  # your code";
  json["reference"] = "2 * x";
  return json;
}

TEST_F(ExecutedCase, AGapIsFilledBeforeItRuns) {
  Json json = WithGap();
  EXPECT_TRUE(Passes(json, "x + x"));
  EXPECT_FALSE(Passes(json, "x"));
  json["reference"] = "x + \\\n    x";
  const Result<Case> lines = CaseFromTeacher(json);
  ASSERT_TRUE(lines.ok());
  EXPECT_TRUE(AllPass(CaseChecks::Make(*lines)->Run(lines->reference))) << "all lines of the reference";
  json["gap"] = "# another gap";
  EXPECT_FALSE(CaseFromTeacher(json).ok()) << "no file has the gap";
}

TEST(ExecutedCaseFromTeacher, RejectsWhatCannotRun) {
  Json json = WithCalls();
  json["run"]["calls"][0]["arguments"] = "2";
  EXPECT_FALSE(CaseFromTeacher(json).ok()) << "not a list";
  json = WithCalls();
  json["run"]["function"] = "double; import os";
  EXPECT_FALSE(CaseFromTeacher(json).ok());
  json = WithCalls();
  json["output_file"] = "units.sh";
  EXPECT_FALSE(CaseFromTeacher(json).ok()) << "no module";
}

// A case is only taken if its reference passes when it runs, and goes back to the teacher otherwise.
TEST_F(ExecutedCase, GoesBackToTheTeacherWithWhatItPrinted) {
  const TempFolder folder;
  FakeTeacher model([](const ChatRequest&, std::size_t number) -> Result<std::string> {
    Json json = WithGap();
    if (number == 0) json["run"]["calls"][0]["result"] = "5";
    return DumpJson({{"cases", {json}}});
  });
  const Result<VettedCases> vetted = WrittenFromCode(model, folder, 1);
  ASSERT_TRUE(vetted.ok()) << vetted.error().message;
  ASSERT_THAT(vetted->cases, SizeIs(1));
  EXPECT_EQ(SharesOf(vetted->cases).executed, 1U);
  EXPECT_THAT(vetted->rejected, ElementsAre(HasSubstr("double(2) gives 4, not 5")));
  ASSERT_THAT(model.requests, SizeIs(2));
  EXPECT_THAT(model.requests[1].messages[0].text, HasSubstr("double(2) gives 4, not 5"));
}

// Most of the cases that run should need only a few lines, so that students that can't write a program can pass.
TEST_F(ExecutedCase, MostOfThemAreGaps) {
  const TempFolder folder;
  FakeTeacher model([](const ChatRequest&, std::size_t number) -> Result<std::string> {
    Json cases = Json::array();
    for (int i = 0; i < 4; ++i) {
      Json json = number > 0 ? WithGap() : WithCalls();
      json["input"] = fmt::format("Complete units.py, version {}-{}.", number, i);
      cases.push_back(json);
    }
    return DumpJson({{"cases", cases}});
  });
  const Result<VettedCases> vetted = WrittenFromCode(model, folder, 4);
  ASSERT_TRUE(vetted.ok()) << vetted.error().message;
  EXPECT_THAT(vetted->cases, SizeIs(4));
  EXPECT_EQ(SharesOf(vetted->cases).gaps, 2U);
  EXPECT_THAT(model.requests, SizeIs(2));
}

}  // namespace
}  // namespace upskill

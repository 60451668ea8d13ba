// SPDX-License-Identifier: Apache-2.0
#include "teach/write_cases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

#include "check/check.h"
#include "skill/check_types.h"
#include "support/fake_teacher.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

// `count` cases of one kind, whose questions start with `first`.
Json CasesOf(const std::string& kind, bool transfer, int first, int count) {
  Json json = CasesJson(first + count - 1);
  Json cases = Json::array();
  for (int k = first; k < first + count; ++k) {
    Json one = json["cases"][static_cast<std::size_t>(k - 1)];
    one["kind"] = kind;
    one["transfer"] = transfer;
    cases.push_back(one);
  }
  return {{"cases", cases}};
}

Result<VettedCases> Written(FakeTeacher& model, const TempFolder& folder) {
  Result<Teacher> teacher = Teacher::Open(model, folder.path() / "calls.jsonl");
  if (!teacher) return teacher.error();
  CaseOptions options;
  options.cases = 8;
  return WriteCases(*teacher, Material{}, options);
}

TEST(WriteCases, WhatExceedsItsShareIsAskedForAgain) {
  const TempFolder folder;
  FakeTeacher model([](const ChatRequest&, std::size_t number) -> Result<std::string> {
    if (number == 0) return DumpJson(CasesOf("answer", false, 1, 8));
    return DumpJson(CasesOf("file", true, 20, 4));
  });
  const Result<VettedCases> vetted = Written(model, folder);
  ASSERT_TRUE(vetted.ok()) << vetted.error().message;
  EXPECT_THAT(vetted->cases, SizeIs(8));
  EXPECT_EQ(SharesOf(vetted->cases).work, 4U);
  EXPECT_EQ(SharesOf(vetted->cases).transfers, 4U);
  ASSERT_THAT(model.requests, SizeIs(2));
  EXPECT_THAT(
      model.requests[0].messages[0].text,
      HasSubstr("At least 4 of them must have the kind `file`, `function` or `command`. At least 2 of them must be"));
  EXPECT_THAT(model.requests[1].messages[0].text,
              AllOf(HasSubstr("Write 4 tests"), HasSubstr("At least 4 of them"), HasSubstr("no test that meets it")));
  EXPECT_THAT(model.requests[0].messages[0].text, testing::Not(HasSubstr("no test that meets it"))) << "nothing is yet";
}

TEST(WriteCases, APromptForOthersAsksForNoShareThatIsThere) {
  const TempFolder folder;
  FakeTeacher model([](const ChatRequest&, std::size_t number) -> Result<std::string> {
    return DumpJson(number == 0 ? CasesOf("file", true, 1, 6) : CasesOf("answer", false, 20, 2));
  });
  ASSERT_TRUE(Written(model, folder).ok());
  ASSERT_THAT(model.requests, SizeIs(2));
  EXPECT_THAT(model.requests[1].messages[0].text, AllOf(HasSubstr("Write 2 tests"), testing::Not(HasSubstr("At least")),
                                                        testing::Not(HasSubstr("must be transfers"))));
}

TEST(WriteCases, ATeacherThatOnlyAsksForFactsStillGivesTests) {
  const TempFolder folder;
  FakeTeacher model(
      [](const ChatRequest&, std::size_t) -> Result<std::string> { return DumpJson(CasesOf("answer", false, 1, 8)); });
  const Result<VettedCases> vetted = Written(model, folder);
  ASSERT_TRUE(vetted.ok());
  EXPECT_THAT(vetted->cases, SizeIs(8));
  EXPECT_EQ(SharesOf(vetted->cases).work, 0U);
  EXPECT_THAT(model.requests, SizeIs(4)) << "asked again three times";
}

TEST(CaseFromTeacher, AllKindsOfChecks) {
  Json json = CasesOf("file", true, 1, 1)["cases"][0];
  const auto check = [](const std::string& type, const Json& values, const std::string& pattern) {
    return Json{{"type", type}, {"values", values}, {"pattern", pattern}, {"path", ""}, {"at", ""}};
  };
  json["checks"] = {check("any_of", {"one", "uno"}, ""), check("any_of", {"two", "due"}, ""),
                    check("regex", Json::array(), "total-\\d+")};
  json["output_file"] = "sums.txt";
  const Result<Case> made = CaseFromTeacher(json);
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_THAT(made->tags, ElementsAre("file", "transfer"));
  EXPECT_TRUE(AsksForWork(*made));
  EXPECT_TRUE(IsTransfer(*made));
  EXPECT_EQ(made->output_file, "sums.txt");
  const Result<CaseChecks> checks = CaseChecks::Make(*made);
  ASSERT_TRUE(checks.ok());
  EXPECT_TRUE(AllPass(checks->Run("It is total-1. one due")));
  EXPECT_FALSE(AllPass(checks->Run("It is total-1. one uno"))) << "nothing of the second group";

  Json value = check("toml_value", {"5"}, "");
  value["at"] = "general.edition";
  value["path"] = "build.toml";
  json["checks"] = {value};
  const Result<Case> with_value = CaseFromTeacher(json);
  ASSERT_TRUE(with_value.ok()) << with_value.error().message;
  const Result<CaseChecks> value_checks = CaseChecks::Make(*with_value);
  ASSERT_TRUE(value_checks.ok()) << value_checks.error().message;
  const auto value_passes = [&](const std::string& edition) {
    return value_checks->Run("total-1 one due\n```toml build.toml\n[general]\nedition = " + edition + "\n```\n")
               .back()
               .outcome == Outcome::kPass;
  };
  EXPECT_TRUE(value_passes("5") && value_passes("\"5\"")) << "a number or a string: the teacher can't say which";
  EXPECT_FALSE(value_passes("6"));

  json["checks"] = {check("regex", Json::array(), "(")};
  const Result<Case> bad = CaseFromTeacher(json);
  EXPECT_TRUE(!bad.ok() || !CaseChecks::Make(*bad).ok());
}

TEST(CasesSchema, HasTheTypesWhoseKeysItHas) {
  const Json types =
      CasesSchema(4).at(Json::json_pointer("/properties/cases/items/properties/checks/items/properties/type/enum"));
  const std::set<std::string_view> others = {"number",   "json_schema", "command",  "cuda_compile", "cuda_bindings",
                                             "all",      "any",         "at_least", "judge",        "not_regex",
                                             "cuda_run", "activates",   "tool_call"};
  for (const CheckType& type : kCheckTypes) {
    const bool named = std::find(types.begin(), types.end(), std::string(type.name)) != types.end();
    EXPECT_EQ(named, !others.contains(type.name)) << type.name;
  }
}

}  // namespace
}  // namespace upskill

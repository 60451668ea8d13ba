// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "report/export/junit.h"
#include "support/junit_schema.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Word = AnswerReport::Word;

SuiteReport SomeReport() {
  AnswerReport right{"reference", true, Word::kAsExpected, "", {{"contains \"teal\"", Outcome::kPass, ""}}, 1.5};
  AnswerReport wrong{
      "wrong-<b>", false, Word::kNotAsExpected, "should fail, but passes", {{"contains \"teal\"", Outcome::kPass, ""}},
      0.0};
  AnswerReport open{"reference", true, Word::kNotChecked, "", {{"command \"nvcc\"", Outcome::kSkip, "no nvcc"}}, 0.0};
  SuiteReport report;
  report.cases.push_back({"colour", {right, wrong}, {}, {"an echo of the input passes"}, 1.5});
  report.cases.push_back({"kernel", {open}, {"command \"nvcc\": no nvcc"}, {}, 0.0});
  report.cases.push_back({"bare", {}, {}, {}, 0.0});
  return report;
}

Suite SomeSuite() {
  Suite suite;
  suite.source = "skills/colours/tests.json";
  suite.warnings = {"unknown key \"wrnog\""};
  return suite;
}

TEST(CheckJUnitXml, HasACaseForEachAnswer) {
  const std::string xml = CheckJUnitXml(SomeSuite(), SomeReport(), false);
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"skills/colours/tests.json\" id=\"0\" tests=\"5\" failures=\"2\" "
                             "errors=\"0\" skipped=\"2\" time=\"1.500\">"));
  EXPECT_THAT(xml, HasSubstr("<testcase name=\"reference\" classname=\"colours.colour\" time=\"1.500\"></testcase>"));
  EXPECT_THAT(xml, AllOf(HasSubstr("name=\"wrong-&lt;b&gt;\""),
                         HasSubstr("<failure message=\"should fail, but passes\" type=\"answer\">pass contains")));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"an echo of the input passes\" type=\"weakness\">"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"command &quot;nvcc&quot;: no nvcc\"/>"));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"the case has no answer to try\"/>"));
  EXPECT_THAT(xml, Not(HasSubstr("wrnog")));
  ExpectValidJUnit(xml);
}

TEST(CheckJUnitXml, StrictTurnsWhatWasNotTriedIntoFailures) {
  const std::string xml = CheckJUnitXml(SomeSuite(), SomeReport(), true);
  EXPECT_THAT(xml, HasSubstr("tests=\"6\" failures=\"5\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"command &quot;nvcc&quot;: no nvcc\" type=\"strict\">"));
  EXPECT_THAT(xml, HasSubstr("<testcase name=\"warning 1\" classname=\"colours.tests.json\""));
  ExpectValidJUnit(xml);
}

}  // namespace
}  // namespace upskill

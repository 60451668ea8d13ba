// SPDX-License-Identifier: Apache-2.0
#include "report/export/junit.h"

#include <gmock/gmock.h>

#include <string>

#include "report/export/junit_writer.h"
#include "support/junit_schema.h"
#include "support/report_fixture.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(XmlText, EscapesMarkupAndReplacesWhatXmlForbids) {
  EXPECT_EQ(XmlText("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(XmlText(std::string("x\x01y\x1b") + '\0' + "\uFFFE\xFF"), "x\uFFFDy\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(XmlText("a\nb\tc\r"), "a&#10;b&#9;c&#13;");
  EXPECT_EQ(XmlText("\u00E9 \u20AC \xF0\x9F\x98\x80"), "\u00E9 \u20AC \xF0\x9F\x98\x80");
}

TEST(JUnitXml, CountsAndCases) {
  const ReportRun run;
  const std::string xml = JUnitXml(Runs(run.judged()));
  EXPECT_THAT(
      xml,
      HasSubstr("<testsuites name=\"upskill\" tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"4.500\">"));
  EXPECT_THAT(xml, HasSubstr("<testsuite name=\"manifests on student\" id=\"0\" tests=\"2\""));
  EXPECT_THAT(xml, HasSubstr("timestamp=\"2026-11-21T10:12:33Z\""));
  EXPECT_THAT(xml, HasSubstr("<property name=\"verdict\" value=\"helps\"/>"));
  EXPECT_THAT(xml, HasSubstr("<testcase name=\"easy\" classname=\"manifests.student\" time=\"3.000\"></testcase>"));
  EXPECT_THAT(xml, HasSubstr("<error message=\"1 of 2 rounds is unanswered; overloaded\" type=\"unavailable\"/>"));
  ExpectValidJUnit(xml);
}

TEST(JUnitXml, AFailedCheck) {
  ReportRun run;
  run.plan.arms = {Arm::kBaseline};
  const std::string xml = JUnitXml(Runs(run.judged()));
  EXPECT_THAT(xml, HasSubstr("failures=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"contains &quot;edition = 5&quot;: not found\" "
                             "type=\"check\">round 1:"));
  EXPECT_THAT(xml, HasSubstr("answer:&#10;edition = 2"));
  ExpectValidJUnit(xml);
}

TEST(JUnitXml, ManyFailingRoundsAreCounted) {
  ReportRun run;
  run.plan.arms = {Arm::kBaseline};
  run.plan.rounds = 24;
  for (int round = 2; round < 24; ++round) {
    run.Add("easy", Arm::kBaseline, round, "4");
    run.Add("hard", Arm::kBaseline, round, "edition = 2");
  }
  const std::string xml = JUnitXml(Runs(run.judged()));
  EXPECT_THAT(xml, HasSubstr("round 20:"));
  EXPECT_THAT(xml, Not(HasSubstr("round 21:")));
  EXPECT_THAT(xml, HasSubstr("… and 4 more rounds that fail"));
  ExpectValidJUnit(xml);
}

TEST(JUnitXml, ASkippedCheckIsNoPass) {
  ReportRun run;
  run.samples.pop_back();
  run.plan.rounds = 1;
  for (Sample& sample : run.samples) {
    if (sample.case_id == "easy") sample.checks.push_back({"nvcc", Outcome::kSkip, "no nvcc"});
  }
  const std::string xml = JUnitXml(Runs(run.judged()));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"nvcc: no nvcc\"/>"));
  EXPECT_THAT(xml, HasSubstr("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\""));
  ExpectValidJUnit(xml);
}

TEST(JUnitXml, CasesThatWereLeftOutAreSkipped) {
  ReportRun run;
  run.plan.left_out = {
      "tests.json:3: case 2 (\"kernel\") is left out: its check command \"nvcc\" can't run: nvcc isn't installed",
      "case \"other\" is left out: its check judge can't run: this version has no judge"};
  const std::string xml = JUnitXml(Runs(run.judged()));
  EXPECT_THAT(xml, HasSubstr("tests=\"4\" failures=\"0\" errors=\"1\" skipped=\"2\""));
  EXPECT_THAT(xml,
              HasSubstr("<testcase name=\"kernel\" classname=\"manifests.student\" time=\"0.000\">\n      <skipped "
                        "message=\"left out: its check command &quot;nvcc&quot; can't run: nvcc isn't installed\"/>"));
  EXPECT_THAT(xml, HasSubstr("<testcase name=\"case &quot;other&quot;\""));
  ExpectValidJUnit(xml);
}

TEST(JUnitXml, MissingRoundsAreErrors) {
  ReportRun run;
  run.samples.clear();
  const std::string xml = JUnitXml(Runs(run.judged()));
  EXPECT_THAT(xml, HasSubstr("<error message=\"2 of 2 rounds are unanswered\" type=\"unanswered\"/>"));
  ExpectValidJUnit(xml);
}

TEST(JUnitXml, TheGateIsATestCase) {
  const std::string xml = JUnitXml(Runs(BrokenRun("not-regressed; lift>-90@estimate").judged()));
  EXPECT_THAT(xml,
              HasSubstr("<testcase name=\"gate: not-regressed vs previous\" "
                        "classname=\"manifests.student.gate\" time=\"0.000\">\n      <failure message=\"100 % → 40 %: "
                        "c|2 broke"));
  EXPECT_THAT(xml, HasSubstr("c|2: 5/5 before, now 0/5"));
  EXPECT_THAT(xml, HasSubstr("&lt;b&gt;unknown"));
  EXPECT_THAT(xml, HasSubstr("<testcase name=\"gate: lift&gt;-90@estimate vs previous\" "
                             "classname=\"manifests.student.gate\" time=\"0.000\"></testcase>"));
  ExpectValidJUnit(xml);
}

TEST(JUnitXml, NoCaseIsAFailureWhereTheGateHolds) {
  const std::string xml = JUnitXml(Runs(BrokenRun("lift>-90@estimate").judged()));
  EXPECT_THAT(xml, HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(xml, ContainsRegex("<skipped message=\"[^\"]*the gate holds[^\"]*\">round 1:"));
  ExpectValidJUnit(xml);
}

TEST(JUnitXml, TheGateOfAnIncompleteRunIsAnError) {
  TestRun run = BrokenRun("not-regressed");
  run.samples.pop_back();
  const std::string xml = JUnitXml(Runs(run.judged()));
  EXPECT_THAT(xml, HasSubstr("<error message=\"not evaluated: the run is incomplete\" type=\"incomplete\"/>"));
}

// Models vary: one answer of five proves nothing.
TEST(JUnitXml, ACaseIsRedOnlyIfMostOfItsRoundsFail) {
  const std::string xml = JUnitXml(Runs(BrokenRun("").judged()));
  EXPECT_THAT(xml, HasSubstr("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(xml, HasSubstr("<testcase name=\"easy\" classname=\"manifests.student\" time=\"0.000\"></testcase>"));
}

TEST(JUnitXml, HostileText) {
  ReportRun run;
  run.plan.skill.name = kAttack;
  run.plan.students[0].name = kAttack;
  run.plan.created = kAttack;
  for (Sample& sample : run.samples) {
    sample.response.text = kAttack + std::string(100000, 'x');
    sample.checks.push_back({kAttack, Outcome::kFail, kAttack});
    if (sample.error) sample.error->message = kAttack;
  }
  const std::string xml = JUnitXml(Runs(run.judged()));
  EXPECT_THAT(xml, Not(HasSubstr("<img")));
  EXPECT_THAT(xml, HasSubstr("more bytes"));
  EXPECT_LT(xml.size(), 300000U);
  ExpectValidJUnit(xml);
}

}  // namespace
}  // namespace upskill

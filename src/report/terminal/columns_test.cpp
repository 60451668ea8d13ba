// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/columns.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "report/terminal/verdict_words.h"
#include "support/report_fixture.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> ColumnKeys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& entry : object.items()) keys.push_back(entry.key());
  return keys;
}

ArmSummary SomeAnswers() {
  ArmSummary arm;
  arm.cells = 2000;
  arm.answered = 1997;
  arm.passed = 1000;
  arm.errors = 1;
  arm.truncated = 1200;
  arm.refusals = 2;
  return arm;
}

// Documents name their members in the order of the table.
TEST(ArmColumns, KeepTheirOrder) {
  const ArmSummary arm = SomeAnswers();
  EXPECT_THAT(ColumnKeys(ArmToJson(&arm, &ArmColumn::json)),
              ElementsAre("passed", "total", "rate", "errors", "attempts", "errors_by_kind", "unanswered",
                          "checks_passed", "checks_total", "time_limits", "truncated", "cut", "refusals", "empty"));
  EXPECT_THAT(ColumnKeys(ArmToJson(&arm, &ArmColumn::tokens)),
              ElementsAre("prompt", "prompt_evaluated", "output", "output_mean"));
  EXPECT_THAT(ColumnKeys(ArmToJson(&arm, &ArmColumn::skills)), ElementsAre("rate", "tokens", "cost_usd"));
  EXPECT_TRUE(ArmToJson(nullptr, &ArmColumn::json).is_null());
}

TEST(ArmColumns, UnknownIsNull) {
  ArmSummary arm = SomeAnswers();
  EXPECT_TRUE(ArmToJson(&arm, &ArmColumn::tokens).at("output").is_null());
  EXPECT_TRUE(ArmToJson(&arm, &ArmColumn::skills).at("cost_usd").is_null());
  arm.tokens_known = arm.cost_known = arm.answered;
  EXPECT_EQ(ArmToJson(&arm, &ArmColumn::tokens).at("output"), 0);
  EXPECT_EQ(ArmToJson(&arm, &ArmColumn::skills).at("cost_usd"), 0.0);
}

TEST(ArmColumns, NoPlaceHasANameTwice) {
  for (const char* ArmColumn::* place : {&ArmColumn::json, &ArmColumn::tokens, &ArmColumn::csv, &ArmColumn::page,
                                         &ArmColumn::skills, &ArmColumn::compared, &ArmColumn::compared_json}) {
    std::set<std::string> names;
    for (const ArmColumn& column : ArmColumns()) {
      if (column.*place == nullptr) continue;
      EXPECT_TRUE(names.insert(column.*place).second) << column.*place;
    }
  }
}

TEST(CsvValue, CountsNumbersAndTexts) {
  EXPECT_EQ(CsvValue(nullptr), "");
  EXPECT_EQ(CsvValue(12), "12");
  EXPECT_EQ(CsvValue(1.0 / 3.0), "0.333333");
  EXPECT_EQ(CsvValue(0.25, 0), "0.25");
  EXPECT_EQ(CsvValue("=1"), "'=1");
}

TEST(StudentColumns, HeadingsNameTheReference) {
  ReportRun run;
  const JudgedRun judged = run.judged();
  const std::vector<StudentRow> rows = StudentRowsOf(judged);
  EXPECT_EQ(HeadingText("{reference}", rows), "baseline");
}

// A column for costs is only shown where something costs anything.
TEST(StudentColumns, NeededOnesOnly) {
  ReportRun run;
  const auto count = [&] {
    const JudgedRun judged = run.judged();
    return StudentColumns(&StudentColumn::eval, StudentRowsOf(judged)).size();
  };
  const std::size_t without = count();
  run.verdicts[0].cost_usd = PairedChange{0.001, 0.002, {}, {}};
  EXPECT_EQ(count(), without + 1);
}

TEST(NotesOn, SaysWhatAnswersLack) {
  const std::vector<ArmNote> notes = NotesOn(SomeAnswers());
  ASSERT_EQ(notes.size(), 4U);
  EXPECT_EQ(notes[0].terminal, "1 error");
  EXPECT_EQ(notes[0].markdown, "1 cell without an answer because of errors");
  EXPECT_EQ(notes[1].terminal, "2 unanswered");
  EXPECT_EQ(notes[2].card, "1,200");
  EXPECT_EQ(notes[3].terminal, "2 refusals");
  EXPECT_THAT(NotesOn(ArmSummary()), IsEmpty());
}

TEST(VerdictWords, OneForEachVerdict) {
  for (const Verdict word : kAllVerdicts) EXPECT_EQ(ShownAs(word).word, word);
  EXPECT_EQ(VerdictLegend(), "▲ helps, ▼ hurts, = no effect, ? undecided, – no lift, · not run");
  EXPECT_EQ(VerdictWordsToJson().at("no effect").at("class"), "no-effect");
}

}  // namespace
}  // namespace upskill

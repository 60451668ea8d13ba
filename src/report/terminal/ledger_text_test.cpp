// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/ledger_text.h"

#include <gmock/gmock.h>

#include "support/plan_fixture.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(LookNote, SaysWhyMoreEvidenceIsNeeded) {
  Plan plan = MakeTestPlan(2);
  EXPECT_EQ(LookNote(plan), "");
  plan.share.look = 1;
  EXPECT_EQ(LookNote(plan), "");
  plan.share.comparisons = 2;
  EXPECT_THAT(LookNote(plan), AllOf(HasSubstr("2 comparisons"), HasSubstr("more evidence"), Not(HasSubstr("look"))));
  plan.share = {};
  plan.share.look = 3;
  plan.share.versions = 3;
  EXPECT_THAT(LookNote(plan), AllOf(StartsWith("third look at these cases, with the third version of this skill"),
                                    HasSubstr("more evidence"), HasSubstr("--no-ledger"), Not(HasSubstr("alpha"))));
  EXPECT_THAT(LookNote(plan, false), Not(HasSubstr("--no-ledger")));
  plan.share.versions = 1;
  EXPECT_THAT(LookNote(plan), Not(HasSubstr("answers"))) << "they may be the same ones";
  plan.share.last_run = "generations/0a1b/test";
  EXPECT_THAT(LookNote(plan), HasSubstr("(the last with a verdict: run generations/0a1b/test)"));
  plan.share.prior_runs = {"2026_11_21_10_12_33-abcd"};
  EXPECT_THAT(LookNote(plan), HasSubstr("the evidence of all seeds together (with run 2026_11_21_10_12_33-abcd);"));
}

TEST(AlphaNote, HasTheFigures) {
  Plan plan = MakeTestPlan(2);
  EXPECT_EQ(AlphaNote(plan), "");
  plan.share.look = 1;
  EXPECT_EQ(AlphaNote(plan), "");
  plan.share.comparisons = 2;
  EXPECT_EQ(AlphaNote(plan), "alpha 2 % instead of 5 %; a first look gets 4 %, and 2 comparisons share it");
  plan.share = {};
  plan.share.look = 3;
  EXPECT_EQ(AlphaNote(plan), "alpha 0.17 % instead of 5 %; a first look gets 4 %");
}

TEST(AlphaToJson, SaysWhatWasUsed) {
  Plan plan = MakeTestPlan(2);
  EXPECT_EQ(AlphaToJson(plan), Json({{"asked", 0.05},
                                     {"used", 0.05},
                                     {"look", nullptr},
                                     {"versions", nullptr},
                                     {"comparisons", 1},
                                     {"combined_with", Json::array()}}));
  plan.share.look = 2;
  plan.share.versions = 2;
  EXPECT_DOUBLE_EQ(AlphaToJson(plan).at("used").get<double>(), 0.005);
}

TEST(LedgerTable, ListsLooks) {
  Ledger ledger;
  LedgerRun& run = ledger.runs.emplace_back();
  run.run = "2026_11_21_10_12_33-abcd";
  run.skill = "evil\x1b[2J";
  run.sha256 = "0123456789abcdef";
  run.inputs = {"a", "b"};
  run.students = {"sim:1"};
  run.share.look = 2;
  run.alpha_used = 0.005;
  Style style;
  style.columns = 160;
  EXPECT_THAT(LedgerTable(ledger, style).text(), HasSubstr("01234567"));
  EXPECT_THAT(LedgerTable(ledger, style).text(), Not(HasSubstr("\x1b")));
  EXPECT_EQ(LedgerToJson(ledger).at(0).at("distinct_inputs"), 2);
  EXPECT_EQ(LedgerToJson(ledger).at(0).at("students").at(0).at("verdict"), nullptr);
  run.results["sim:1"].word = "helps";
  run.results["sim:1"].e_helps = 320.5;
  EXPECT_THAT(LedgerTable(ledger, style).text(), HasSubstr("helps"));
  EXPECT_EQ(LedgerToJson(ledger).at(0).at("students").at(0).at("e_value"), 320.5);
}

}  // namespace
}  // namespace upskill

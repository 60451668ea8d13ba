// SPDX-License-Identifier: Apache-2.0
#include "report/export/markdown.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/report_fixture.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(MarkdownText, NothingIsMarkup) {
  EXPECT_EQ(MarkdownText("a|b `c` <img> *x* [l](u)"), "a&#124;b &#96;c&#96; &lt;img&gt; \\*x\\* \\[l\\](u)");
  EXPECT_EQ(MarkdownText("@you #12 https://x.y"), "@<!-- -->you #<!-- -->12 https:<!-- -->//x.y");
  EXPECT_EQ(MarkdownText("two\nlines\t\x1b"), "two lines \\\\x1b");
  EXPECT_EQ(MarkdownText("- item 1.5-x"), "\\- item 1.5-x");
  EXPECT_EQ(MarkdownText("so: sim:base=0.1, :tada: a_b _c_ www.x.y"),
            "so: sim:base=0.1, :<!-- -->tada: a_b \\_c\\_ www\\.x.y");
  EXPECT_EQ(MarkdownText("1. x :tada"), "1\\. x :<!-- -->tada");
}

TEST(MarkdownText, LongTextIsCut) { EXPECT_LT(MarkdownText(std::string(100000, 'x')).size(), 300U); }

TEST(MarkdownReport, Golden) {
  ReportRun run;
  run.verdicts[0].ceiling = {"easy"};
  run.verdicts[0].cost_per_pass_with = 0.0009;
  EXPECT_EQ(MarkdownReport(Runs(run.judged())),
            "### manifests\n\n"
            "**Use student with this skill: 3 of 3 answers passed, free (without it: 2 of 4).**\n\n"
            "2 cases × 2 rounds, run 2026_11_21_10_12_33-abcd\n\n"
            "| model | verdict | baseline | with skill | lift (likely) | tokens per answer | cost per passed answer |\n"
            "|---|---|--:|--:|--:|--:|--:|\n"
            "| student | ✅ helps | 50 % (2/4) | 100 % (3/3) | +50 (+25 … +75) | 16 → 12: -4, -25 % "
            "| free |\n\n"
            "**Incomplete:** 1 of 8 cells is unanswered and not counted.\n\n"
            "<details><summary>Notes</summary>\n\n"
            "- student, baseline: 1 truncated\n"
            "- student, with skill: 1 of 4 requests, repeats included, failed: 1 other error, 1 cell without an answer "
            "because of errors\n"
            "- student: always passed: easy\n"
            "\n</details>\n");
}

TEST(MarkdownReport, TellsTheRoundsOfARunThatStopped) {
  JudgedRun judged = ReportRun().judged();
  judged.summary.students[0].rounds = 1;
  EXPECT_THAT(MarkdownReport({&judged, 1}), HasSubstr("2 cases × 1 round of 2 planned, run 2026"));
}

TEST(MarkdownReport, TheGateAndWhatBroke) {
  const std::string text = MarkdownReport(Runs(BrokenRun("not-regressed").judged()));
  EXPECT_THAT(text, HasSubstr("**The gate failed.**"));
  EXPECT_THAT(text, HasSubstr("| ❌ | not-regressed | student | previous | 100 % → 40 %: c&#124;2 broke"));
  EXPECT_THAT(text, HasSubstr("**What broke on student:** 1 case"));
  EXPECT_THAT(text, HasSubstr("| c&#124;2 | 5/5 | 0/5 | contains \"edition = 5\": not found | "
                              "&lt;b&gt;unknown&lt;/b&gt; 0 |"));
  EXPECT_THAT(MarkdownReport(Runs(BrokenRun("lift<0@estimate").judged())), HasSubstr("The gate holds."));
  EXPECT_THAT(MarkdownReport(Runs(BrokenRun("lift<0@estimate").judged())), Not(HasSubstr("What broke")));
  EXPECT_THAT(MarkdownReport(Runs(BrokenRun("").judged())), Not(HasSubstr("gate")));
}

TEST(MarkdownReport, OtherArms) {
  ReportRun run;
  JudgedRun judged = run.judged();
  judged.others[Arm::kPlacebo] = run.verdicts;
  EXPECT_THAT(MarkdownReport({&judged, 1}), HasSubstr("- student: against the placebo: +50 (+25 … +75), helps\n"));
}

TEST(MarkdownReport, WithoutABaselineOrAVerdict) {
  ReportRun run;
  run.plan.arms = {Arm::kSkill};
  run.verdicts.clear();
  EXPECT_THAT(MarkdownReport(Runs(run.judged())), HasSubstr("| student | – | – | 100 % (3/3) | – | – | free |"));
}

TEST(MarkdownReport, HostileNamesKeepTheTableWhole) {
  ReportRun run;
  run.plan.students[0].name = kAttack + "\n| x |";
  run.plan.skill.name = kAttack;
  run.verdicts[0].floor = {kAttack};
  const std::string text = MarkdownReport(Runs(run.judged()));
  EXPECT_THAT(text, Not(HasSubstr("<img")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  for (const std::string_view line : SplitLines(text)) {
    if (line.starts_with("| ")) {
      EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 8) << line;
    }
  }
}

}  // namespace
}  // namespace upskill

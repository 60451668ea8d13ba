// SPDX-License-Identifier: Apache-2.0
#include "report/export/matrix_files.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/report_fixture.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

Matrix NamedMatrix(const std::string& skill, const std::string& model) {
  ReportRun run;
  run.plan.skill.name = skill;
  run.plan.students[0].name = model;
  run.verdicts[0].safe_p_helps = 0.001;
  ReportRun other;
  other.plan.skill.name = "other";
  return MakeMatrix(Runs(run.judged(), other.judged()), 4);
}

TEST(MatrixCsv, ARowForEachVerdict) {
  EXPECT_EQ(MatrixCsv(NamedMatrix("manifests", "student")),
            "skill,model,name,run,verdict,stands,p_table,p_value,e_value,e_value_hurts,lift,lift_low,lift_high,rate_"
            "without,rate_with,tokens_without,"
            "tokens_with,cost_usd_without,cost_usd_with,worth_its_tokens\r\n"
            "manifests,sim:base=0.4,student,2026_11_21_10_12_33-abcd,helps,true,0.004,0.001,1,1,0.5,0.25,0.75,0.5,1,46,"
            "242,,,not "
            "shown\r\n"
            "other,sim:base=0.4,student,2026_11_21_10_12_33-abcd,helps,false,1,1,1,1,0.5,0.25,0.75,0.5,1,46,242,,,not "
            "shown\r\n");
}

TEST(MatrixMarkdown, TheTableAndWhatItLacks) {
  const std::string text = MatrixMarkdown(NamedMatrix("manifests", "student"), {"not begun: skills/third"});
  EXPECT_THAT(text, AllOf(HasSubstr("| skill | student |\n|---|---|\n| manifests | ▲ +50 (+25 … +75) ✓ |\n"),
                          HasSubstr("| other | ▲ +50 (+25 … +75) |\n"), HasSubstr("1 of 2 verdicts hold"),
                          HasSubstr("not begun: skills/third"), HasSubstr("\n#### manifests\n\n| model | skill |")));
}

TEST(MatrixHtml, IsOnePageWithoutScripts) {
  const std::string page = MatrixHtml(NamedMatrix("manifests", "student"), {"not begun: skills/third"});
  EXPECT_THAT(page, AllOf(HasSubstr("default-src 'none'; img-src data:; style-src 'sha256-"), Not(HasSubstr("<script")),
                          Not(HasSubstr("script-src")), HasSubstr("▲ +50 ✓"), HasSubstr("not begun: skills/third"),
                          HasSubstr("<bdi>manifests</bdi>"), HasSubstr("helps; +25 … +75")));
}

// Names that try to be markup, a formula, or a command to the terminal.
TEST(MatrixFiles, HostileNames) {
  const Matrix matrix = NamedMatrix(kAttack, "=1+1<img src=x>|");
  const std::string page = MatrixHtml(matrix, {kAttack});
  EXPECT_THAT(page, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("</script>")), Not(HasSubstr("<!--<")),
                          Not(HasSubstr("\x1b")), Not(HasSubstr("\u202E")), Not(HasSubstr("\xFF"))));
  const std::string markdown = MatrixMarkdown(matrix, {kAttack});
  EXPECT_THAT(markdown, AllOf(Not(HasSubstr("<img")), Not(HasSubstr("</script>")), Not(HasSubstr("\x1b")),
                              HasSubstr("=1+1&lt;img src=x&gt;&#124;")));
  const std::string csv = MatrixCsv(matrix);
  EXPECT_THAT(csv, AllOf(HasSubstr("'=1+1<img"), Not(HasSubstr("\x1b")), Not(HasSubstr("\u202E"))));
}

// What is too much for a page, here because of the names of runs, it leaves out and says so.
TEST(MatrixHtml, StaysSmall) {
  Matrix matrix;
  for (int model = 0; model < 12; ++model) matrix.models.push_back("model-" + std::to_string(model));
  MatrixCell cell;
  cell.lift = cell.shown_lift = 0.5;
  cell.low = 0.25;
  cell.high = 0.75;
  cell.run = std::string(2000, 'x');
  for (int skill = 0; skill < 200; ++skill) {
    cell.skill = matrix.skills.emplace_back("skill-" + std::to_string(skill));
    for (const std::string& model : matrix.models) {
      cell.model = cell.name = model;
      matrix.cells.push_back(cell);
    }
  }
  const std::string page = MatrixHtml(matrix, {});
  EXPECT_LE(page.size(), kMostMatrixPage + (std::size_t{64} << 10U));
  EXPECT_THAT(page, HasSubstr("skills are in this table; the others are in the CSV and JSON"));
}

}  // namespace
}  // namespace upskill

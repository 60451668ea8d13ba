// SPDX-License-Identifier: Apache-2.0
#include "report/matrix.h"

#include <gmock/gmock.h>

#include <string>

#include "support/report_fixture.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

const Style kPlain{false, 120};

MatrixCell Cell(const std::string& model, double without, double with, double cost_without, double cost_with,
                Verdict verdict = Verdict::kHelps) {
  MatrixCell cell;
  cell.skill = "s";
  cell.model = model;
  cell.name = model;
  cell.verdict = verdict;
  cell.lift = with - without;
  cell.baseline_rate = without;
  cell.skill_rate = with;
  cell.baseline_tokens = 100;
  cell.skill_tokens = 200;
  cell.baseline_cost_usd = cost_without;
  cell.skill_cost_usd = cost_with;
  return cell;
}

Matrix Made() {
  Matrix matrix;
  matrix.skills = {"s"};
  matrix.cells = {Cell("haiku", 0.58, 0.94, 0.001, 0.0014), Cell("opus", 0.97, 0.97, 0.010, 0.011, Verdict::kNoEffect),
                  Cell("tiny", 0.0, 0.4, 0.0001, 0.0002)};
  for (const MatrixCell& cell : matrix.cells) matrix.models.push_back(cell.model);
  return matrix;
}

TEST(MakeMatrix, TheNewestRunCounts) {
  ReportRun old;
  ReportRun newer;
  newer.plan.run = "newer";
  newer.verdicts[0].lift = 0.25;
  ReportRun other;
  other.plan.skill.name = "another";
  const Matrix matrix = MakeMatrix(Runs(old.judged(), newer.judged(), other.judged()));
  EXPECT_THAT(matrix.skills, ElementsAre("manifests", "another"));
  EXPECT_THAT(matrix.models, ElementsAre("sim:base=0.4"));
  ASSERT_THAT(matrix.cells, SizeIs(2));
  EXPECT_EQ(matrix.at("manifests", "sim:base=0.4")->run, "newer");
  EXPECT_EQ(matrix.at("manifests", "sim:base=0.4")->lift, 0.25);
  EXPECT_EQ(matrix.at("manifests", "sim:base=0.4")->skill_tokens, 242.0);
  EXPECT_EQ(matrix.at("manifests", "nobody"), nullptr);
}

TEST(FindSweetSpot, TheCheapestNearTheBest) {
  const Matrix matrix = Made();
  const SweetSpot spot = FindSweetSpot(matrix, "s");
  ASSERT_TRUE(spot.sweet_spot && spot.best);
  EXPECT_TRUE(spot.by_cost);
  EXPECT_EQ(spot.choices[*spot.best].cell->model, "opus");
  EXPECT_FALSE(spot.choices[*spot.best].with_skill);
  EXPECT_EQ(spot.choices[*spot.sweet_spot].cell->model, "haiku");
  EXPECT_TRUE(spot.choices[*spot.sweet_spot].with_skill);
  const SweetSpot strict = FindSweetSpot(matrix, "s", 0.0);
  EXPECT_EQ(strict.sweet_spot, strict.best);
}

TEST(FindSweetSpot, ByTokensWhereACostIsUnknown) {
  Matrix matrix = Made();
  matrix.cells[2].skill_cost_usd.reset();
  matrix.cells[0].skill_tokens = 90;
  const SweetSpot spot = FindSweetSpot(matrix, "s");
  EXPECT_FALSE(spot.by_cost);
  EXPECT_EQ(spot.choices[*spot.sweet_spot].cell->model, "haiku");
}

TEST(FindSweetSpot, TheParetoFront) {
  Matrix matrix = Made();
  const SweetSpot spot = FindSweetSpot(matrix, "s");
  std::vector<std::string> front;
  for (const std::size_t i : spot.pareto)
    front.push_back(spot.choices[i].cell->model + (spot.choices[i].with_skill ? "+" : "-"));
  // opus with the skill costs more and is not better; haiku and tiny are cheaper than all better ones.
  EXPECT_THAT(front, ElementsAre("haiku-", "haiku+", "opus-", "tiny-", "tiny+"));
}

TEST(FindSweetSpot, NothingMeasured) {
  Matrix matrix;
  const SweetSpot spot = FindSweetSpot(matrix, "s");
  EXPECT_FALSE(spot.best);
  EXPECT_FALSE(spot.sweet_spot);
}

TEST(WorthItsTokens, TheCostOfAPassedAnswer) {
  EXPECT_EQ(WorthItsTokens(Cell("m", 0.5, 1.0, 0.001, 0.0015)), Worth::kYes);
  EXPECT_EQ(WorthItsTokens(Cell("m", 0.5, 0.6, 0.001, 0.0015)), Worth::kCostsMore);
  EXPECT_EQ(WorthItsTokens(Cell("m", 0.0, 0.1, 0.001, 0.1)), Worth::kYes);
  EXPECT_EQ(WorthItsTokens(Cell("m", 0.5, 0.4, 0.001, 0.001, Verdict::kHurts)), Worth::kNo);
  EXPECT_EQ(WorthItsTokens(Cell("m", 0.5, 0.5, 0.001, 0.001, Verdict::kNoEffect)), Worth::kNo);
  EXPECT_EQ(WorthItsTokens(Cell("m", 0.5, 0.6, 0.001, 0.001, Verdict::kUndecided)), Worth::kUnknown);
  MatrixCell by_tokens = Cell("m", 0.5, 0.6, 0.001, 0.001);
  by_tokens.skill_cost_usd.reset();
  EXPECT_EQ(WorthItsTokens(by_tokens), Worth::kCostsMore);
}

TEST(MatrixText, Golden) {
  EXPECT_EQ(MatrixText(Made(), kPlain).text(),
            "skill  haiku  opus  tiny\n"
            "s      ▲ +36  = 0   ▲ +40\n"
            "▲ helps  ▼ hurts  = no effect  ? undecided  – no lift  · not run   lift in points\n"
            "\ns\n"
            "model           pass rate  tokens with prompt  $ per answer  worth it\n"
            "haiku  without       58 %                 100      $0.00100            front\n"
            "haiku  with          94 %                 200      $0.00140  yes       sweet spot\n"
            "opus   without       97 %                 100      $0.01000            best\n"
            "opus   with          97 %                 200      $0.01100  no\n"
            "tiny   without        0 %                 100      $0.00010            front\n"
            "tiny   with          40 %                 200      $0.00020  yes       front\n"
            "sweet spot: haiku with the skill: 3 points below the best (opus without the skill) at 14 % of its cost\n");
}

TEST(MatrixText, HostileNames) {
  ReportRun run;
  run.plan.skill.name = kHostile;
  run.plan.students[0].name = kHostile;
  const std::string text = MatrixText(MakeMatrix(Runs(run.judged())), kPlain).text();
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("evil\\x1b"));
}

TEST(MatrixToJson, Form) {
  const Json json = MatrixToJson(Made());
  EXPECT_EQ(json.at("cells").at(0).at("verdict"), "helps");
  EXPECT_EQ(json.at("cells").at(0).at("worth_its_tokens"), "yes");
  EXPECT_EQ(json.at("sweet_spots").at(0).at("sweet_spot").at("model"), "haiku");
  EXPECT_EQ(json.at("sweet_spots").at(0).at("pareto").size(), 5U);
}

}  // namespace
}  // namespace upskill

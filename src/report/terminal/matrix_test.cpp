// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/matrix.h"

#include <gmock/gmock.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "support/answers_fixture.h"
#include "support/report_fixture.h"
#include "util/rng.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

const Style kPlainMatrix{false, 120};
constexpr int kCases = 12;

constexpr std::int64_t kAnswers = 100;

ArmSummary SummaryOf(double rate, std::int64_t tokens, double cost_usd) {
  ArmSummary arm;
  arm.answered = arm.tokens_known = arm.cost_known = kAnswers;
  arm.passed = static_cast<std::size_t>(std::lround(rate * kAnswers));
  arm.output_tokens = tokens * kAnswers;
  arm.cost_usd = cost_usd * kAnswers;
  return arm;
}

MatrixCell CellOf(const std::string& model, double without, double with, double cost_without, double cost_with,
                  Verdict verdict = Verdict::kHelps, int rounds = 50) {
  MatrixCell cell;
  cell.skill = "s";
  cell.model = model;
  cell.name = model;
  cell.verdict = verdict;
  cell.lift = cell.shown_lift = with - without;
  cell.baseline = SummaryOf(without, 100, cost_without);
  cell.with_skill = SummaryOf(with, 200, cost_with);
  const auto answers = [&](double rate, double cost) {
    return MakeAnswers(model, kCases, rounds, static_cast<int>(std::lround((1.0 - rate) * kCases * rounds)), cost);
  };
  cell.baseline_answers = answers(without, cost_without);
  cell.skill_answers = answers(with, cost_with);
  return cell;
}

Matrix Made(int rounds = 50) {
  Matrix matrix;
  matrix.skills = {"s"};
  matrix.cells = {CellOf("haiku", 0.58, 0.96, 0.001, 0.0014, Verdict::kHelps, rounds),
                  CellOf("opus", 0.97, 0.97, 0.010, 0.011, Verdict::kNoEffect, rounds),
                  CellOf("tiny", 0.0, 0.4, 0.0001, 0.0002, Verdict::kHelps, rounds)};
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
  EXPECT_EQ(matrix.at("manifests", "sim:base=0.4")->with_skill.mean_tokens(), 242.0);
  EXPECT_EQ(matrix.at("manifests", "nobody"), nullptr);
}

TEST(FindSweetSpot, TheCheapestShownToBeNearTheBest) {
  const Matrix matrix = Made();
  const SweetSpot spot = FindSweetSpot(matrix, "s");
  ASSERT_TRUE(spot.sweet_spot && spot.best);
  EXPECT_TRUE(spot.by_cost);
  EXPECT_EQ(spot.choices[*spot.best].cell->model, "opus");
  EXPECT_FALSE(spot.choices[*spot.best].with_skill);
  EXPECT_EQ(spot.choices[*spot.sweet_spot].cell->model, "haiku");
  EXPECT_TRUE(spot.choices[*spot.sweet_spot].with_skill);
  const SweetSpot strict = FindSweetSpot(matrix, "s", 0.02);
  ASSERT_TRUE(strict.sweet_spot);
  EXPECT_EQ(strict.choices[*strict.sweet_spot].cell->model, "opus") << "haiku may be 2 points worse";
}

// The estimates are those of the test above: the cheapest near the best used to be called good enough by them alone.
TEST(FindSweetSpot, FewAnswersShowNone) {
  const Matrix matrix = Made(3);
  const SweetSpot spot = FindSweetSpot(matrix, "s");
  EXPECT_FALSE(spot.sweet_spot);
  ASSERT_TRUE(spot.test);
  EXPECT_EQ(spot.choices[spot.test->candidate].cell->model, "haiku");
  const std::string line = SweetSpotLine(spot).text();
  EXPECT_THAT(line, HasSubstr("best value: not shown: haiku with the skill is 1 point below the best (opus without the "
                              "skill) at 14 % "));
  EXPECT_THAT(line, HasSubstr("but may be worse by more than 5 points; about "));
}

// 94.2 % and 91.7 % are shown as 94 % and 92 %.
TEST(FindSweetSpot, TheDifferenceIsThatOfTheRatesShown) {
  Matrix matrix = Made(3);
  const auto set = [](ArmSummary& arm, std::size_t passed) {
    arm.answered = arm.tokens_known = arm.cost_known = 240;
    arm.cost_usd *= 240.0 / kAnswers;
    arm.passed = passed;
  };
  set(matrix.cells[0].with_skill, 220);
  set(matrix.cells[1].baseline, 226);
  set(matrix.cells[1].with_skill, 226);
  EXPECT_THAT(SweetSpotLine(FindSweetSpot(matrix, "s")).text(), HasSubstr(" is 2 points below the best ("));
}

TEST(FindSweetSpot, RunsOfDifferentCases) {
  Matrix matrix = Made();
  matrix.cells[1].skill_answers = MakeAnswers("opus", 11, 50);
  EXPECT_THAT(SweetSpotLine(FindSweetSpot(matrix, "s")).text(), HasSubstr("best value: not shown: "));
}

TEST(FindSweetSpot, ByTokensWhereACostIsUnknown) {
  Matrix matrix = Made();
  matrix.cells[2].with_skill.cost_known = 0;
  matrix.cells[0].with_skill.output_tokens = 90 * kAnswers;
  matrix.cells[0].baseline.output_tokens = 95 * kAnswers;
  const SweetSpot spot = FindSweetSpot(matrix, "s");
  EXPECT_FALSE(spot.by_cost);
  EXPECT_EQ(spot.choices[*spot.sweet_spot].cell->model, "haiku");
}

TEST(FindSweetSpot, UnknownTokens) {
  Matrix matrix = Made();
  for (std::optional<ChoiceAnswers>* answers : {&matrix.cells[0].baseline_answers, &matrix.cells[0].skill_answers}) {
    for (std::vector<ChoiceAnswer>& round : (*answers)->rounds) {
      for (ChoiceAnswer& answer : round) answer.tokens = answer.output_tokens = std::nullopt;
    }
  }
  matrix.cells[0].baseline.tokens_known = matrix.cells[0].with_skill.tokens_known = 0;
  EXPECT_TRUE(FindSweetSpot(matrix, "s").sweet_spot) << "costs are known";
  EXPECT_THAT(MatrixText(matrix, kPlainMatrix).text(), testing::ContainsRegex("haiku +with +96 % +unknown +\\$0.0014"));
  matrix.cells[0].baseline.cost_known = matrix.cells[0].with_skill.cost_known = 0;
  const SweetSpot spot = FindSweetSpot(matrix, "s");
  EXPECT_THAT(spot.not_compared, SizeIs(2));
  EXPECT_EQ(NotComparedLine(spot).text(), "not compared: haiku (neither tokens nor cost are known)\n");
  EXPECT_EQ(spot.choices[*spot.sweet_spot].cell->model, "opus") << "the others are compared";
  EXPECT_TRUE(MatrixToJson(matrix, 0.05).at("cells").at(0).at("with_skill").at("tokens").is_null());
}

// What a command doesn't report isn't free.
TEST(WorthItsTokens, IsUnknownWithoutTokensAndCosts) {
  MatrixCell cell = CellOf("haiku", 0.5, 1.0, 0.001, 0.001);
  EXPECT_EQ(WorthItsTokens(cell), Worth::kYes);
  for (std::optional<ChoiceAnswers>* answers : {&cell.baseline_answers, &cell.skill_answers}) {
    for (std::vector<ChoiceAnswer>& round : (*answers)->rounds) {
      for (ChoiceAnswer& answer : round) answer.tokens = answer.output_tokens = answer.cost_usd = std::nullopt;
    }
  }
  EXPECT_EQ(WorthItsTokens(cell), Worth::kUnknown);
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

// Its model alone may be as good: what isn't shown to help isn't recommended.
TEST(FindSweetSpot, ASkillThatIsntShownToHelpIsNoBestValue) {
  Matrix matrix;
  matrix.skills = {"s"};
  matrix.models = {"m"};
  for (const Verdict verdict : {Verdict::kUndecided, Verdict::kHelps}) {
    matrix.cells = {CellOf("m", 0.5, 0.75, 0.001, 0.0015, verdict)};
    const SweetSpot spot = FindSweetSpot(matrix, "s");
    ASSERT_TRUE(spot.sweet_spot);
    ASSERT_TRUE(spot.choices[*spot.sweet_spot].with_skill);
    const bool helps = verdict == Verdict::kHelps;
    EXPECT_EQ(ChoiceRows(spot).at(*spot.sweet_spot).note, helps ? "best value" : "highest");
    EXPECT_EQ(SweetSpotLine(spot).text().find("best value: none") == std::string::npos, helps);
  }
}

TEST(WorthItsTokens, TheCostOfAPassedAnswer) {
  EXPECT_EQ(WorthItsTokens(CellOf("m", 0.5, 1.0, 0.001, 0.0015)), Worth::kYes);
  EXPECT_EQ(WorthItsTokens(CellOf("m", 0.5, 0.6, 0.001, 0.0015)), Worth::kCostsMore);
  EXPECT_EQ(WorthItsTokens(CellOf("m", 0.0, 0.15, 0.001, 0.01)), Worth::kYes);
  EXPECT_EQ(WorthItsTokens(CellOf("m", 0.5, 0.4, 0.001, 0.001, Verdict::kHurts)), Worth::kNo);
  EXPECT_EQ(WorthItsTokens(CellOf("m", 0.5, 0.5, 0.001, 0.001, Verdict::kNoEffect)), Worth::kNo);
  EXPECT_EQ(WorthItsTokens(CellOf("m", 0.5, 0.6, 0.001, 0.001, Verdict::kUndecided)), Worth::kNotShown);
  MatrixCell by_tokens = CellOf("m", 0.5, 0.6, 0.001, 0.001);
  for (std::vector<ChoiceAnswer>& round : by_tokens.skill_answers->rounds) {
    for (ChoiceAnswer& answer : round) {
      answer.cost_usd.reset();
      answer.tokens = 2.0 * *answer.tokens;
    }
  }
  by_tokens.with_skill.cost_known = 0;
  EXPECT_EQ(WorthItsTokens(by_tokens), Worth::kCostsMore);
  const MatrixCell by_cost = CellOf("m", 0.5, 0.6, 0.001, 0.0015);
  SweetSpot spot;
  spot.choices = {{&by_tokens, true, 0.6, 20.0, std::nullopt}, {&by_cost, true, 0.6, 20.0, 0.0015}};
  EXPECT_EQ(ChoiceRows(spot).at(0).worth, "more tokens");
  EXPECT_EQ(ChoiceRows(spot).at(1).worth, "costs more");
  MatrixCell free = CellOf("m", 0.5, 1.0, 0.0, 0.0);
  EXPECT_EQ(WorthItsTokens(free), Worth::kYes);
  for (std::vector<ChoiceAnswer>& round : free.skill_answers->rounds) {
    for (ChoiceAnswer& answer : round) answer.tokens = 0.0;
  }
  EXPECT_EQ(WorthItsTokens(free), Worth::kYes);
  for (std::vector<ChoiceAnswer>& round : free.skill_answers->rounds) {
    for (ChoiceAnswer& answer : round) answer.cost_usd.reset();
  }
  EXPECT_EQ(WorthItsTokens(free), Worth::kUnknown) << "neither tokens nor cost are known";
  free.skill_answers.reset();
  EXPECT_EQ(WorthItsTokens(free), Worth::kUnknown);
}

// The estimates are those of the test above, where 50 rounds show both.
TEST(WorthItsTokens, FewAnswersShowNothing) {
  EXPECT_EQ(WorthItsTokens(CellOf("m", 0.5, 1.0, 0.001, 0.0015, Verdict::kHelps, 1)), Worth::kNotShown);
  EXPECT_EQ(WorthItsTokens(CellOf("m", 0.5, 0.6, 0.001, 0.0015, Verdict::kHelps, 3)), Worth::kNotShown);
  // As many passes more as it costs more: neither is shown, however many answers there are.
  EXPECT_EQ(WorthItsTokens(CellOf("m", 0.5, 0.75, 0.001, 0.0015)), Worth::kNotShown);
}

// What was measured is told where the price isn't shown.
TEST(WorthSentence, TellsTheMeasuredPrice) {
  Matrix matrix;
  matrix.skills = {"s"};
  matrix.cells = {CellOf("a", 0.5, 0.75, 0.001, 0.001, Verdict::kHelps, 3),
                  CellOf("b", 0.5, 0.6, 0.001, 0.0015, Verdict::kUndecided, 3),
                  CellOf("c", 0.5, 0.4, 0.001, 0.0015, Verdict::kHurts, 3)};
  for (const MatrixCell& cell : matrix.cells) matrix.models.push_back(cell.model);
  EXPECT_EQ(WorthSentence(matrix, "s"),
            "s helps a (50 % → 75 %, a passed answer cost 33 % less so far); hurts c (50 % → 40 %); is undecided for b "
            "(50 % → "
            "60 %).");
  EXPECT_EQ(WorthText(matrix.cells[0]), "costs 33 % less so far");
  EXPECT_EQ(WorthText(CellOf("free", 0.5, 0.75, 0.0, 0.0, Verdict::kHelps, 3)), "takes 33 % more tokens so far");
  EXPECT_EQ(WorthText(matrix.cells[1]), "not shown");
  EXPECT_EQ(WorthText(matrix.cells[2]), "no");
}

// How often an equal price per pass is called worth it, or too dear. The cases differ, and the passes are drawn.
TEST(WorthItsTokens, IsSeldomWrong) {
  constexpr int kDraws = 400;
  constexpr int kRounds = 5;
  Rng rng(7);
  int yes = 0;
  int more = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    MatrixCell cell = CellOf("m", 0.5, 0.75, 0.001, 0.0015, Verdict::kHelps, kRounds);
    for (int round = 0; round < kRounds; ++round) {
      for (int i = 0; i < kCases; ++i) {
        const auto at = [&](std::optional<ChoiceAnswers>& answers) -> ChoiceAnswer& {
          return answers->rounds[static_cast<std::size_t>(round)][static_cast<std::size_t>(i)];
        };
        const double rate = i < kCases / 2 ? 0.3 : 0.6;
        at(cell.baseline_answers).passed = rng.Uniform() < rate;
        at(cell.skill_answers).passed = rng.Uniform() < 1.5 * rate;
      }
    }
    const Worth worth = WorthItsTokens(cell);
    yes += worth == Worth::kYes ? 1 : 0;
    more += worth == Worth::kCostsMore ? 1 : 0;
  }
  // At most 5 %, and two standard errors.
  EXPECT_LE(yes, 29);
  EXPECT_LE(more, 29);
}

TEST(MatrixText, Golden) {
  EXPECT_EQ(MatrixText(Made(), kPlainMatrix).text(),
            "On the cases measured, use s with the models that it helps.\n"
            "s pays for haiku (58 % → 96 %, a passed answer cost 15 % less) and tiny (0 % → 40 %); makes no difference "
            "to opus\n  (97 % → 97 %).\n\n"
            "skill  haiku  opus  tiny\n"
            "s      ▲ +38  = 0   ▲ +40\n"
            "▲ helps, ▼ hurts, = no effect, ? undecided, – no lift, · not run; lift in points\n"
            "\ns\n"
            "model  skill    pass rate  tokens with prompt  $ per answer  worth it\n"
            "haiku  without       58 %                 100       $0.0010\n"
            "haiku  with          96 %                 200       $0.0014  yes       best value\n"
            "opus   without       97 %                 100       $0.0100            highest\n"
            "opus   with          97 %                 200       $0.0110  no\n"
            "tiny   without        0 %                 100      $0.00010\n"
            "tiny   with          40 %                 200      $0.00020  yes\n"
            "best value: haiku with the skill is not worse than any other choice by more than 5 points (95 % sure), at "
            "14 % of the\n  cost of the best (opus without the skill)\n");
}

// 0.04 is enough beside one that is rejected first, but not as the second of five: 4 · 0.04.
TEST(MakeMatrix, ChecksWhetherVerdictsHoldForAll) {
  const auto run = [](const std::string& skill, double p) {
    ReportRun one;
    one.plan.skill.name = skill;
    one.verdicts[0].safe_p_helps = p;
    return one.judged();
  };
  const Matrix two = MakeMatrix(Runs(run("a", 0.001), run("b", 0.04)));
  EXPECT_EQ(two.verdicts, 2U);
  EXPECT_TRUE(two.at("a", "sim:base=0.4")->in_table.stands);
  EXPECT_TRUE(two.at("b", "sim:base=0.4")->in_table.stands);
  const Matrix of_five = MakeMatrix(Runs(run("a", 0.001), run("b", 0.04)), 5);
  EXPECT_TRUE(of_five.at("a", "sim:base=0.4")->in_table.stands);
  EXPECT_FALSE(of_five.at("b", "sim:base=0.4")->in_table.stands);
  EXPECT_DOUBLE_EQ(of_five.at("b", "sim:base=0.4")->in_table.p, 0.16);
  const std::string text = MatrixText(of_five, kPlainMatrix).text();
  EXPECT_THAT(text, HasSubstr("a      ▲ +50 ✓\n"));
  EXPECT_THAT(text, HasSubstr("b      ▲ +50\n"));
  EXPECT_THAT(text, HasSubstr("✓ 1 of 2 verdicts hold for the whole table (5 cells)"));
  EXPECT_EQ(MatrixToJson(of_five).at("cells").at(0).at("stands"), true);
  EXPECT_THAT(MatrixText(MakeMatrix(Runs(run("a", 0.001))), kPlainMatrix).text(), Not(HasSubstr("as a whole")))
      << "a single verdict needs no correction";
}

TEST(MatrixText, ModelsWhosePriceIsUnknownStayInTheTable) {
  Matrix matrix = Made();
  MatrixCell& tiny = matrix.cells[2];
  for (ArmSummary* arm : {&tiny.baseline, &tiny.with_skill}) arm->tokens_known = arm->cost_known = 0;
  const std::string text = MatrixText(matrix, kPlainMatrix).text();
  EXPECT_THAT(text, HasSubstr("tiny   with          40 %             unknown       unknown"));
  EXPECT_THAT(text, HasSubstr("not compared: tiny (neither tokens nor cost are known)\n"));
  EXPECT_THAT(text, HasSubstr("best value: haiku with the skill")) << "the others are compared";
}

TEST(MatrixText, NothingIsBestWhereNothingPassed) {
  Matrix matrix;
  matrix.skills = {"s"};
  matrix.cells = {CellOf("a", 0.0, 0.0, 0.001, 0.002, Verdict::kUndecided), CellOf("b", 0.0, 0.0, 0.002, 0.003)};
  for (const MatrixCell& cell : matrix.cells) matrix.models.push_back(cell.model);
  const std::string text = MatrixText(matrix, kPlainMatrix).text();
  EXPECT_THAT(text, HasSubstr("best value: not shown: no answer passed\n"));
  EXPECT_THAT(text, Not(HasSubstr("best\n")));
  EXPECT_EQ(MatrixToJson(matrix).at("sweet_spots").at(0).at("best"), nullptr);
}

TEST(MatrixText, HostileNames) {
  ReportRun run;
  run.plan.skill.name = kHostile;
  run.plan.students[0].name = kHostile;
  const std::string text = MatrixText(MakeMatrix(Runs(run.judged())), kPlainMatrix).text();
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

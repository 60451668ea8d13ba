// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "eval/verdict/contrast.h"
#include "report/terminal/matrix.h"
#include "report/terminal/result_words.h"
#include "stats/interval.h"

namespace upskill {
namespace {

constexpr double kBounds = 3.0;  // that a claim rests on, each of which may be wrong on one side
constexpr double kClaimAlpha = VerdictOptions().alpha;
constexpr double kConfidence = 1.0 - 2.0 * kClaimAlpha / kBounds;  // of an interval, so of two sides

// The rate of the cases that pass, valid as a contrast is: with one that never passes.
std::optional<Interval> RateRange(const ChoiceAnswers& answers) {
  ChoiceAnswers never = answers;
  for (std::vector<ChoiceAnswer>& round : never.rounds) {
    for (ChoiceAnswer& answer : round) {
      answer.passed = false;
      answer.lost = false;
    }
  }
  const Result<Contrast> contrast = MakeContrast(answers, never);
  if (!contrast) return std::nullopt;
  Interval range = contrast->Range(kConfidence);
  range.low = std::clamp(range.low, 0.0, 1.0);
  range.high = std::clamp(range.high, 0.0, 1.0);
  return range;
}

// How many times as many answers pass with the skill: 1 + lift / rate without it.
std::optional<Interval> TimesAsMany(const Contrast& contrast, const ChoiceAnswers& baseline) {
  const std::optional<Interval> rate = RateRange(baseline);
  if (!rate) return std::nullopt;
  const Interval lift = contrast.Range(kConfidence);
  const auto times = [](double change, double from) {
    if (from > 0.0) return std::max(0.0, 1.0 + change / from);
    return change > 0.0 ? std::numeric_limits<double>::infinity() : 0.0;
  };
  return Interval{times(lift.low, lift.low > 0.0 ? rate->high : rate->low),
                  times(lift.high, lift.high > 0.0 ? rate->low : rate->high)};
}

// Why a skill doesn't pay; "" if it does, or nothing is shown.
std::string WhyNot(const MatrixCell& cell, Worth worth) {
  if (worth == Worth::kCostsMore) return "a passed answer costs more with it";
  if (worth == Worth::kNo) return cell.verdict == Verdict::kHurts ? "it hurts" : "no effect";
  return "";
}

}  // namespace

std::string WorthSentence(const Matrix& matrix, const std::string& skill) {
  std::vector<std::string> pays;
  std::vector<std::string> doesnt;
  std::vector<std::string> open;
  for (const std::string& model : matrix.models) {
    const MatrixCell* cell = matrix.at(skill, model);
    if (cell == nullptr || !cell->lift) continue;
    const Worth worth = WorthItsTokens(*cell);
    const std::string why_not = WhyNot(*cell, worth);
    if (worth == Worth::kYes) {
      pays.push_back(cell->name);
    } else if (!why_not.empty()) {
      doesnt.push_back(fmt::format("{} ({})", cell->name, why_not));
    } else {
      open.push_back(cell->verdict == Verdict::kHelps ? cell->name + " (it helps)" : cell->name);
    }
  }
  std::vector<std::string> parts;
  if (!pays.empty()) parts.push_back("pays for " + NamesText(pays));
  if (!doesnt.empty())
    parts.push_back(fmt::format("{} for {}", pays.empty() ? "doesn't pay" : "not", NamesText(doesnt)));
  if (!open.empty()) parts.push_back(fmt::format("{}not shown for {}", parts.empty() ? "is " : "", NamesText(open)));
  return parts.empty() ? "" : fmt::format("{} {}.", skill, fmt::join(parts, "; "));
}

Worth WorthItsTokens(const MatrixCell& cell) {
  if (!cell.lift || !cell.baseline_answers || !cell.skill_answers) return Worth::kUnknown;
  if (cell.verdict == Verdict::kHurts || cell.verdict == Verdict::kNoEffect) return Worth::kNo;
  if (cell.verdict == Verdict::kUndecided) return Worth::kNotShown;
  const Result<Contrast> contrast = MakeContrast(*cell.skill_answers, *cell.baseline_answers);
  if (!contrast) return Worth::kUnknown;
  if (contrast->too_many_excluded) return Worth::kNotShown;
  const bool has_cost = contrast->cost_usd && contrast->cost_usd->mean_a() > 0.0;
  const std::optional<PairedMeans>& price = has_cost ? contrast->cost_usd : contrast->tokens;
  // Without a cost, tokens of 0 are as good as unknown ones.
  if (!price || price->mean_a() <= 0.0) return contrast->cost_usd ? Worth::kYes : Worth::kUnknown;
  const std::optional<Interval> ratio = price->Ratio(kConfidence);
  const std::optional<Interval> passes = TimesAsMany(*contrast, *cell.baseline_answers);
  if (!ratio || !passes) return Worth::kNotShown;
  if (ratio->high <= passes->low) return Worth::kYes;
  return ratio->low > passes->high ? Worth::kCostsMore : Worth::kNotShown;
}

}  // namespace upskill

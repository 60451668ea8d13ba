// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "eval/verdict/contrast.h"
#include "report/terminal/figures.h"
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

// The prices of a passed answer with the skill and without it, as measured: their ratio. In money where it costs any,
// else in tokens; nothing where neither is known, or nothing passed.
struct PriceChange {
  double ratio = 1.0;
  bool in_tokens = false;
};

std::optional<PriceChange> MeasuredChange(const MatrixCell& cell) {
  const auto per_pass = [](std::optional<double> price, const ArmSummary& arm) -> std::optional<double> {
    if (price.value_or(0.0) <= 0.0 || arm.rate().value_or(0.0) <= 0.0) return std::nullopt;
    return *price / *arm.rate();
  };
  const auto change = [&](std::optional<double> with, std::optional<double> without,
                          bool in_tokens) -> std::optional<PriceChange> {
    const std::optional<double> new_price = per_pass(with, cell.with_skill);
    const std::optional<double> old_price = per_pass(without, cell.baseline);
    return new_price && old_price ? std::optional(PriceChange{*new_price / *old_price, in_tokens}) : std::nullopt;
  };
  const std::optional<PriceChange> by_cost =
      change(cell.with_skill.mean_cost_usd(), cell.baseline.mean_cost_usd(), false);
  return by_cost ? by_cost : change(cell.with_skill.mean_tokens(), cell.baseline.mean_tokens(), true);
}

// "33 % less", "124 % more tokens"
std::string LessOrMore(const PriceChange& change) {
  const std::string percent = PercentText(std::abs(change.ratio - 1.0));
  if (percent == PercentText(0.0)) return change.in_tokens ? "as many tokens" : "as much";
  if (change.ratio >= 1.0) return percent + (change.in_tokens ? " more tokens" : " more");
  return percent + (change.in_tokens ? " fewer tokens" : " less");
}

// "50 % → 75 %"
std::string RatesText(const MatrixCell& cell) {
  return fmt::format("{} → {}", PercentText(cell.baseline.rate().value_or(0.0)),
                     PercentText(cell.with_skill.rate().value_or(0.0)));
}

// ", a passed answer cost 33 % less so far"
std::string PriceText(const MatrixCell& cell, bool is_shown) {
  const std::optional<PriceChange> change = MeasuredChange(cell);
  if (!change) return "";
  return fmt::format(", a passed answer {} {}{}", change->in_tokens ? "took" : "cost", LessOrMore(*change),
                     is_shown ? "" : " so far");
}

// What a skill does for a model, in the order of WorthSentence.
constexpr std::array kFindings = {
    "pays for", "helps", "helps, but doesn't pay for", "hurts", "makes no difference to", "is undecided for"};

std::size_t FindingOf(const MatrixCell& cell, Worth worth) {
  if (worth == Worth::kYes) return 0;
  if (worth == Worth::kCostsMore) return 2;
  switch (cell.verdict) {
    case Verdict::kHelps:
      return 1;
    case Verdict::kHurts:
      return 3;
    case Verdict::kNoEffect:
      return 4;
    case Verdict::kUndecided:
      break;
  }
  return 5;
}

}  // namespace

std::string WorthSentence(const Matrix& matrix, const std::string& skill) {
  std::array<std::vector<std::string>, kFindings.size()> names;
  for (const std::string& model : matrix.models) {
    const MatrixCell* cell = matrix.at(skill, model);
    if (cell == nullptr || !cell->lift) continue;
    const Worth worth = WorthItsTokens(*cell);
    const bool shown = worth == Worth::kYes || worth == Worth::kCostsMore;
    names[FindingOf(*cell, worth)].push_back(fmt::format(
        "{} ({}{})", cell->name, RatesText(*cell), cell->verdict == Verdict::kHelps ? PriceText(*cell, shown) : ""));
  }
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) parts.push_back(fmt::format("{} {}", kFindings[i], NamesText(names[i])));
  }
  return parts.empty() ? "" : fmt::format("{} {}.", skill, fmt::join(parts, "; "));
}

std::string TableResult(const Matrix& matrix) {
  std::vector<std::string> use;
  std::vector<std::string> leave;
  std::vector<std::string> open;
  for (const std::string& skill : matrix.skills) {
    std::map<Verdict, std::size_t> words;
    for (const std::string& model : matrix.models) {
      const MatrixCell* cell = matrix.at(skill, model);
      if (cell == nullptr || !cell->lift) continue;
      ++words[cell->verdict];
    }
    if (words.empty()) continue;
    if (words[Verdict::kHelps] > 0) {
      use.push_back(skill);
    } else {
      (words[Verdict::kUndecided] > 0 ? open : leave).push_back(skill);
    }
  }
  std::vector<std::string> sentences;
  const std::string models = matrix.models.size() == 1
                                 ? ModelNames(matrix)[0]
                                 : fmt::format("the models that {}", use.size() == 1 ? "it helps" : "they help");
  if (!use.empty()) sentences.push_back(fmt::format("On the cases measured, use {} with {}.", NamesText(use), models));
  if (!leave.empty()) sentences.push_back(fmt::format("Leave out {}.", NamesText(leave)));
  if (!open.empty()) sentences.push_back(fmt::format("Not decided, so leave out for now: {}.", NamesText(open)));
  return fmt::format("{}", fmt::join(sentences, " "));
}

std::string WorthText(const MatrixCell& cell) {
  const Worth worth = WorthItsTokens(cell);
  if (worth == Worth::kCostsMore && cell.with_skill.mean_cost_usd().value_or(0.0) <= 0.0) return "more tokens";
  const std::optional<PriceChange> change = MeasuredChange(cell);
  if (worth != Worth::kNotShown || cell.verdict != Verdict::kHelps || !change) return WorthName(worth);
  return fmt::format("{} {} so far", change->in_tokens ? "takes" : "costs", LessOrMore(*change));
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

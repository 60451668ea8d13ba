// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/judge_correction.h"

#include <algorithm>
#include <vector>

#include "eval/verdict/complete_rounds.h"
#include "eval/verdict/verdict.h"
#include "skill/check_types.h"
#include "stats/interval.h"

namespace upskill {
namespace {

struct Rates {
  double sensitivity = 1.0;
  double specificity = 1.0;
  double better_than_chance() const { return sensitivity + specificity - 1.0; }
};

bool CanBeCorrected(const Case& test_case) {
  std::size_t judges = 0;
  for (const CheckSpec& check : test_case.checks) {
    const CheckType* const type = FindCheckType(check.type);
    if (type == nullptr) continue;
    if (AnyCheck(check.members, &CheckType::asks_judge)) return false;
    if (type->asks_judge() && check.options.contains("against")) return false;
    judges += type->asks_judge() ? 1 : 0;
  }
  return judges <= 1;
}

// What an answer counts, times better_than_chance, so that it is between -1 and 1.
double Credit(const FinalSample& cell, const Rates& rates) {
  const double passed = cell.passed ? 1.0 : 0.0;
  const bool judged = cell.figures != nullptr && cell.figures->is_judged;
  return judged ? passed - (1.0 - rates.specificity) : passed * rates.better_than_chance();
}

std::vector<UnitRounds> UnitsOf(const CompleteRounds& complete, const Rates& rates) {
  std::vector<UnitRounds> units(complete.unit_sizes.size());
  for (std::size_t round = 0; round < complete.evidence_rounds(); ++round) {
    std::vector<double> changes(units.size());
    for (std::size_t entry = 0; entry < complete.cases.size(); ++entry) {
      const AnswerPair pair = complete.pair(round, entry);
      const std::size_t unit = complete.units[entry];
      changes[unit] += (Credit(pair.with, rates) - Credit(pair.without, rates)) / complete.unit_sizes[unit];
    }
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      units[unit].rounds += 1.0;
      units[unit].sum += changes[unit];
      units[unit].squares += changes[unit] * changes[unit];
    }
  }
  return units;
}

double MeanLift(const std::vector<UnitRounds>& units) {
  double sum = 0.0;
  for (const UnitRounds& unit : units) sum += unit.sum / unit.rounds;
  return sum / static_cast<double>(units.size());
}

}  // namespace

std::optional<AgreementEstimate> JudgeCorrectedLift(const RunData& data, std::size_t student) {
  const Plan& plan = data.plan();
  if (!plan.judge || !plan.judge->checked || plan.stop_when_decided || !plan.has_arm(ComparedArm(plan)))
    return std::nullopt;
  const JudgeRecord& record = *plan.judge->checked;
  if (record.rubrics_checked < plan.judge->rubrics || record.arms_differ) return std::nullopt;
  if (!std::all_of(plan.suite.cases.begin(), plan.suite.cases.end(), CanBeCorrected)) return std::nullopt;
  const std::vector<CompleteRounds> complete = FindCompleteRounds(data, ComparedArm(plan));
  if (complete.size() <= student || complete[student].rounds.empty() || complete[student].cases.empty())
    return std::nullopt;
  // Half of the error probability of 5 % is for the lift, a quarter for each of the judge's rates.
  constexpr double kLiftConfidence = 1.0 - 0.05 / 2.0;
  constexpr double kRatesConfidence = 1.0 - 0.05 / 4.0;
  const std::optional<JudgeRates> rates = RatesOfJudge(record.effective, kRatesConfidence);
  if (!rates) return std::nullopt;
  const Interval& sensitivity = rates->sensitivity.interval;
  const Interval& specificity = rates->specificity.interval;
  if (sensitivity.low + specificity.low <= 1.0) return std::nullopt;

  const Rates likeliest{rates->sensitivity.value, rates->specificity.value};
  AgreementEstimate lift;
  lift.value = std::clamp(MeanLift(UnitsOf(complete[student], likeliest)) / likeliest.better_than_chance(), -1.0, 1.0);
  lift.interval = {lift.value, lift.value};
  for (const double passes : {sensitivity.low, sensitivity.high}) {
    for (const double fails : {specificity.low, specificity.high}) {
      const Rates corner{passes, fails};
      const std::optional<Interval> interval = LiftIntervalOfUnits(UnitsOf(complete[student], corner), kLiftConfidence);
      if (!interval) return std::nullopt;
      const double scale = corner.better_than_chance();
      lift.interval.low = std::min(lift.interval.low, std::max(-1.0, interval->low / scale));
      lift.interval.high = std::max(lift.interval.high, std::min(1.0, interval->high / scale));
    }
  }
  return lift;
}

}  // namespace upskill

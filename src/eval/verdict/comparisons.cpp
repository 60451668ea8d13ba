// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/comparisons.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/verdict/general_verdict.h"

namespace upskill {
namespace {

using VerdictsByArm = std::map<Arm, std::vector<StudentVerdict>>;

bool AllAre(const std::vector<StudentVerdict>& verdicts, Verdict word) {
  return std::all_of(verdicts.begin(), verdicts.end(), [&](const StudentVerdict& one) { return one.word == word; });
}

// Judges the undecided comparisons again with what the decided ones pass on, as long as that decides more.
void PassOn(RunData& data, Verdict word, VerdictsByArm& by_arm) {
  const AlphaShare share = data.plan().share;
  int decided = 0;
  while (true) {
    const auto now = static_cast<int>(
        std::count_if(by_arm.begin(), by_arm.end(), [&](const auto& entry) { return AllAre(entry.second, word); }));
    if (now == decided || now >= share.comparisons) break;
    decided = now;
    AlphaShare larger = share;
    larger.comparisons = share.comparisons - decided;
    data.set_share(larger);
    for (auto& [arm, verdicts] : by_arm) {
      if (AllAre(verdicts, word)) continue;
      std::vector<StudentVerdict> again = JudgeRun(data, arm);
      for (std::size_t i = 0; i < verdicts.size(); ++i) {
        if (again[i].word == word) verdicts[i] = std::move(again[i]);
      }
    }
  }
  data.set_share(share);
}

void CombineWithPrior(const Plan& plan, std::vector<StudentVerdict>& verdicts) {
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    StudentVerdict& verdict = verdicts[i];
    const auto prior = plan.share.prior.find(plan.students[i].spec);
    if (prior == plan.share.prior.end() || verdict.complete_rounds == 0) continue;
    const double helps = -std::log(verdict.p_anytime_helps);
    const double hurts = -std::log(verdict.p_anytime_hurts);
    verdict.combined_e_helps = EValue(helps + prior->second.helps);
    verdict.combined_e_hurts = EValue(hurts + prior->second.hurts);
    Verdict word = CombinedWord(plan, plan.students[i], helps, hurts);
    // Answers lost to errors may have told against it: then this run has to say the same by itself
    // (eval/verdict/missing.h).
    const bool lost_answers = HasDoubtByErrors(verdict) || verdict.lost_low.has_value();
    if (lost_answers && word != verdict.word) word = Verdict::kUndecided;
    if (word == Verdict::kUndecided && verdict.word == Verdict::kNoEffect) continue;
    if (verdict.doubt == Doubt::kLaterAnswers) {  // about this run's own test
      verdict.doubt = Doubt::kNone;
      verdict.without_doubt = Verdict::kUndecided;
      verdict.reached_round = 0;
    }
    if (LiftContradicts(word, *verdict.lift, plan.verdict.min_lift)) {
      verdict.doubt = Doubt::kLaterAnswers;
      verdict.without_doubt = std::exchange(word, Verdict::kUndecided);
    }
    verdict.word = word;
    verdict.more_rounds.reset();  // forecasts of this run's own test
    verdict.more_rounds_above.reset();
    WithholdGeneral(verdict);
  }
}

// Lets the intervals agree with the word and with each other. A word and an interval come from two procedures, each
// valid by itself. What a word excludes is taken out of the interval: that adds no error beyond that of the word, which
// has to be small for that. All else makes intervals wider.
void MatchIntervals(const VerdictOptions& options, StudentVerdict& verdict) {
  if (!verdict.low || !verdict.high) return;
  constexpr double kMostAlpha = 0.05;
  switch (options.alpha <= kMostAlpha ? verdict.word : Verdict::kUndecided) {
    case Verdict::kHelps:
      verdict.low = std::max(*verdict.low, options.min_lift);
      break;
    case Verdict::kHurts:
      verdict.high = std::min(*verdict.high, 0.0);
      break;
    case Verdict::kNoEffect:
      verdict.low = std::max(*verdict.low, -options.margin);
      verdict.high = std::min(*verdict.high, options.margin);
      break;
    case Verdict::kUndecided:
      verdict.low = std::min(*verdict.low, options.min_lift);
      verdict.high = std::max(*verdict.high, 0.0);
      break;
  }
  if (!verdict.new_cases_low || !verdict.new_cases_high) return;
  verdict.new_cases_low = std::min(*verdict.new_cases_low, *verdict.low);
  verdict.new_cases_high = std::max(*verdict.new_cases_high, *verdict.high);
  if (verdict.general != Verdict::kHelps) verdict.new_cases_low = std::min(*verdict.new_cases_low, 0.0);
  if (verdict.general != Verdict::kHurts) verdict.new_cases_high = std::max(*verdict.new_cases_high, 0.0);
}

}  // namespace

VerdictsByArm JudgeComparisons(RunData& data) {
  VerdictsByArm by_arm;
  for (const Arm arm : data.plan().arms) {
    if (arm != Arm::kSkill) by_arm[arm] = JudgeRun(data, arm);
  }
  const Arm compared = ComparedArm(data.plan());
  if (!by_arm.contains(compared)) by_arm[compared] = JudgeRun(data, compared);  // nothing to compare with
  if (data.plan().share.comparisons > 1) {
    for (const Verdict word : {Verdict::kHelps, Verdict::kHurts}) PassOn(data, word, by_arm);
  }
  CombineWithPrior(data.plan(), by_arm.at(compared));
  for (auto& [arm, verdicts] : by_arm) {
    for (StudentVerdict& verdict : verdicts) MatchIntervals(data.plan().verdict, verdict);
  }
  return by_arm;
}

Verdict CombinedWord(const Plan& plan, const Student& student, double log_helps, double log_hurts) {
  const PriorEvidence& prior = plan.share.prior.at(student.spec);
  const double needed = std::log(static_cast<double>(plan.students.size()) / EffectiveAlpha(plan));
  if (log_helps + prior.helps >= needed) return Verdict::kHelps;
  return log_hurts + prior.hurts >= needed ? Verdict::kHurts : Verdict::kUndecided;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/missing.h"

#include <algorithm>
#include <cstddef>

namespace upskill {
namespace {

// The forecasts are those of `worst`.
void Withdraw(StudentVerdict& verdict, Doubt doubt, const StudentVerdict& worst) {
  verdict.word = Verdict::kUndecided;
  verdict.doubt = doubt;
  verdict.more_rounds = worst.more_rounds;
  verdict.more_rounds_above = worst.more_rounds_above;
  verdict.more_show_no_effect = worst.more_show_no_effect;
  verdict.futile = worst.futile;
}

void DoubtByExcludedCases(const Plan& plan, StudentVerdict& verdict) {
  const auto excluded = static_cast<double>(verdict.excluded.size());
  if (excluded <= kMaxExcludedShare * static_cast<double>(plan.suite.cases.size())) return;
  verdict.general = Verdict::kUndecided;
  StudentVerdict hopeless;  // further rounds bring no case back
  hopeless.futile = plan.stop_when_decided;
  Withdraw(verdict, Doubt::kExcludedCases, hopeless);
}

void TakeSafeEvidence(const StudentVerdict& against, const StudentVerdict& in_favour, StudentVerdict& verdict) {
  verdict.safe_e_helps = std::min(verdict.e_helps, against.e_helps);
  verdict.safe_e_hurts = std::min(verdict.e_hurts, in_favour.e_hurts);
  verdict.safe_p_helps = std::max(verdict.p_helps, against.p_helps);
  verdict.safe_p_hurts = std::max(verdict.p_hurts, in_favour.p_hurts);
  verdict.safe_p_no_effect = std::max({verdict.p_no_effect, against.p_no_effect, in_favour.p_no_effect});
}

// `against`, `in_favour`: the verdict if all lost answers told against the skill, and for it.
void DoubtByLostAnswers(const StudentVerdict& against, const StudentVerdict& in_favour, StudentVerdict& verdict) {
  if (verdict.lift && against.lift) verdict.lost_low = std::min(*verdict.lift, *against.lift);
  if (verdict.lift && in_favour.lift) verdict.lost_high = std::max(*verdict.lift, *in_favour.lift);
  // A range that leaves out what the lost answers allow would say too much.
  if (verdict.lost_low && verdict.low) verdict.low = std::min(*verdict.low, *verdict.lost_low);
  if (verdict.lost_high && verdict.high) verdict.high = std::max(*verdict.high, *verdict.lost_high);
  const StudentVerdict& worst_of_general = verdict.general == Verdict::kHelps ? against : in_favour;
  if (worst_of_general.general != verdict.general) verdict.general = Verdict::kUndecided;
  const Verdict word = verdict.word;
  if (word == Verdict::kUndecided) return;
  for (const StudentVerdict* worst : {&against, &in_favour}) {
    const bool tells = word == Verdict::kNoEffect || worst == (word == Verdict::kHelps ? &against : &in_favour);
    if (tells && worst->word != word) Withdraw(verdict, Doubt::kErrors, *worst);
  }
}

}  // namespace

const char* DoubtName(Doubt doubt) {
  switch (doubt) {
    case Doubt::kNone:
      break;
    case Doubt::kErrors:
      return "errors";
    case Doubt::kExcludedCases:
      return "excluded_cases";
    case Doubt::kLaterAnswers:
      return "later_answers";
  }
  return "";
}

bool HasErrors(const RunData& data) {
  const Plan& plan = data.plan();
  for (std::size_t i = 0; i < plan.students.size(); ++i) {
    for (const Arm arm : plan.arms) {
      if (!data.attempts(i, arm).errors.empty()) return true;
    }
  }
  return false;
}

std::vector<StudentVerdict> DoubtVerdicts(const RunData& data,
                                          const std::function<std::vector<StudentVerdict>(const RunData&)>& judge) {
  std::vector<StudentVerdict> verdicts = judge(data);
  for (StudentVerdict& verdict : verdicts) {
    if (verdict.doubt == Doubt::kNone) verdict.without_doubt = verdict.word;
    TakeSafeEvidence(verdict, verdict, verdict);
  }
  if (data.has_lost_answers()) {
    const RunData told_against = data.AssumeLost(false);
    const RunData told_for = data.AssumeLost(true);
    const std::vector<StudentVerdict> against = judge(told_against);
    const std::vector<StudentVerdict> in_favour = judge(told_for);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      TakeSafeEvidence(against[i], in_favour[i], verdicts[i]);
      DoubtByLostAnswers(against[i], in_favour[i], verdicts[i]);
    }
  }
  for (StudentVerdict& verdict : verdicts) DoubtByExcludedCases(data.plan(), verdict);
  return verdicts;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/table_verdicts.h"

#include <algorithm>
#include <cmath>

#include "stats/multiplicity.h"

namespace upskill {
namespace {

// With the evidence of earlier runs, the word rests on the product alone (eval/verdict/comparisons), unless answers
// were lost: then the run has to say the same by itself.
double WithPrior(const std::optional<double>& combined_e, bool lost_answers, double p) {
  if (!combined_e) return p;
  const double combined = 1.0 / std::max(1.0, *combined_e);
  return lost_answers ? std::max(combined, p) : combined;
}

}  // namespace

double TableEvidence::p() const {
  switch (word) {
    case Verdict::kHelps:
      return p_helps;
    case Verdict::kHurts:
      return p_hurts;
    case Verdict::kNoEffect:
      return p_no_effect;
    case Verdict::kUndecided:
      break;
  }
  return 1.0;
}

TableEvidence TableEvidenceOf(const JudgedRun& run, std::size_t student) {
  const StudentVerdict& verdict = run.verdicts[student];
  const bool lost = HasDoubtByErrors(verdict) || verdict.lost_low.has_value();
  const double share = EffectiveAlpha(run.plan()) / run.plan().verdict.alpha;
  const auto of_share = [share](double p) { return std::min(1.0, p / share); };
  PriorEvidence prior;
  const auto found = run.plan().share.prior.find(run.plan().students[student].spec);
  if (found != run.plan().share.prior.end()) prior = found->second;
  return {verdict.word,
          of_share(WithPrior(verdict.combined_e_helps, lost, verdict.safe_p_helps)),
          of_share(WithPrior(verdict.combined_e_hurts, lost, verdict.safe_p_hurts)),
          of_share(verdict.safe_p_no_effect),
          share * verdict.safe_e_helps * std::exp(prior.helps),
          share * verdict.safe_e_hurts * std::exp(prior.hurts)};
}

std::vector<TableVerdict> JudgeTable(const std::vector<TableEvidence>& verdicts, std::size_t planned, double alpha) {
  std::vector<TableVerdict> judged(verdicts.size());
  const auto judge = [&](Verdict word, double TableEvidence::* p_of) {
    std::vector<double> p_values;
    p_values.reserve(verdicts.size());
    for (const TableEvidence& verdict : verdicts) p_values.push_back(verdict.*p_of);
    const std::vector<double> adjusted = HolmAdjusted(p_values, planned);
    for (std::size_t i = 0; i < verdicts.size(); ++i) {
      if (verdicts[i].word == word) judged[i] = {adjusted[i] <= alpha, adjusted[i]};
    }
  };
  judge(Verdict::kHelps, &TableEvidence::p_helps);
  judge(Verdict::kHurts, &TableEvidence::p_hurts);
  judge(Verdict::kNoEffect, &TableEvidence::p_no_effect);
  return judged;
}

}  // namespace upskill

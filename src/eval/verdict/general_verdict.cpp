// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/general_verdict.h"

#include <algorithm>

#include "eval/verdict/verdict.h"
#include "stats/bounded_mean.h"
#include "stats/clusters.h"
#include "stats/interval.h"
#include "stats/spending.h"

namespace upskill {

std::vector<double> LiftsOfUnits(const RoundEvidence& evidence, std::size_t rounds) {
  std::vector<double> lifts(evidence.units(), 0.0);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t unit = 0; unit < lifts.size(); ++unit) lifts[unit] += evidence.changes()[round][unit];
  }
  for (double& lift : lifts) lift /= static_cast<double>(rounds);
  return lifts;
}

std::vector<double> LiftsOfSources(const RoundEvidence& evidence, std::size_t rounds) {
  return ClusterMeans(LiftsOfUnits(evidence, rounds), evidence.unit_sources());
}

GeneralPValues GeneralPValuesOf(const RoundEvidence& evidence) {
  GeneralPValues p;
  if (LiftsOfSources(evidence, evidence.rounds()).size() < kFewestCasesForNew) return p;
  // At temperature 0, further rounds may add nothing: the first one has to do.
  const int planned = evidence.schedule().one_may_be_all() ? 1 : evidence.schedule().planned_rounds();
  for (const ScheduledLook& look : ScheduledLooks(planned, static_cast<int>(evidence.rounds()))) {
    std::vector<double> lifts = LiftsOfSources(evidence, static_cast<std::size_t>(look.round));
    p.helps = std::min(p.helps, BoundedMeanTest(lifts) / look.share);
    for (double& lift : lifts) lift = -lift;
    p.hurts = std::min(p.hurts, BoundedMeanTest(lifts) / look.share);
  }
  return p;
}

void WithholdGeneral(StudentVerdict& verdict) {
  if (verdict.general == Verdict::kUndecided) verdict.general = verdict.general_withheld;
  verdict.general_withheld = Verdict::kUndecided;
  const bool helps = verdict.general == Verdict::kHelps && verdict.new_cases_low.value_or(0.0) > 0.0;
  const bool hurts = verdict.general == Verdict::kHurts && verdict.new_cases_high.value_or(0.0) < 0.0;
  if (verdict.general == verdict.word && (helps || hurts)) return;
  verdict.general_withheld = verdict.general;
  verdict.general = Verdict::kUndecided;
}

}  // namespace upskill

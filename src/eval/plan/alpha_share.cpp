// SPDX-License-Identifier: Apache-2.0
#include "eval/plan/alpha_share.h"

#include <algorithm>

#include "eval/plan/plan.h"
#include "stats/multiplicity.h"

namespace upskill {

double LookAlpha(const Plan& plan) {
  return plan.share.look > 0 ? CandidateAlpha(plan.share.look, plan.verdict.alpha) : plan.verdict.alpha;
}

double EffectiveAlpha(const Plan& plan) {
  return LookAlpha(plan) / static_cast<double>(std::max(plan.share.comparisons, 1));
}

Json AlphaShareToJson(const AlphaShare& share) {
  Json json = {{"look", share.look}, {"versions", share.versions}, {"comparisons", share.comparisons}};
  if (!share.last_run.empty()) json["last_run"] = share.last_run;
  if (share.prior.empty()) return json;
  Json& prior = json["prior"];
  for (const auto& [student, evidence] : share.prior)
    prior.push_back({{"model", student}, {"log_e", evidence.helps}, {"log_e_hurts", evidence.hurts}});
  json["prior_runs"] = share.prior_runs;
  return json;
}

AlphaShare AlphaShareFromJson(const Json& json) {
  AlphaShare share;
  share.look = std::clamp(JsonGet(json, "look", 0), 0, kMaxLooks);
  share.versions = std::clamp(JsonGet(json, "versions", 1), 1, kMaxLooks);
  share.comparisons = std::clamp(JsonGet(json, "comparisons", 1), 1, kMaxLooks);
  share.last_run = JsonGet(json, "last_run", std::string());
  for (const Json& entry : Member(json, "prior"))
    share.prior[StringAt(entry, "model")] = {JsonGet(entry, "log_e", 0.0), JsonGet(entry, "log_e_hurts", 0.0)};
  for (const Json& run : Member(json, "prior_runs")) {
    if (run.is_string()) share.prior_runs.push_back(run);
  }
  return share;
}

}  // namespace upskill

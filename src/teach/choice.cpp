// SPDX-License-Identifier: Apache-2.0
#include "teach/choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "eval/verdict/contrast.h"
#include "teach/generate.h"
#include "util/invariant.h"
#include "util/percent.h"
#include "util/text.h"

namespace upskill {
namespace {

// Why a loss of more than the margin can't be ruled out for this student; empty: it is ruled out.
std::string MayBeWorse(const JudgedRun& judged, std::size_t student, double margin) {
  const std::string& name = judged.plan().students[student].name;
  const Result<Contrast> contrast =
      MakeContrast(AnswersOf(judged.data, student, Arm::kSkill), AnswersOf(judged.data, student, Arm::kPrevious));
  if (!contrast) return fmt::format("the new one's answers can't be compared with the existing one's for {}", name);
  const double alpha = judged.plan().verdict.alpha;
  if (contrast->PAbove(-margin) <= alpha) return "";
  return fmt::format(
      "that the new one is worse than the existing one by more than {:g} points isn't ruled out for {} "
      "({:+.0f} points, at least {:.0f}); more tests, more --runs or a wider --accept-margin can",
      100.0 * margin, name, WholePercent(contrast->difference()), WholePercent(contrast->Range(1.0 - 2.0 * alpha).low));
}

}  // namespace

bool IsBetter(const Candidate& a, const Candidate& b) {
  if (a.mean() > b.mean() + kSameRate) return true;
  const bool passes = a.mean() > kSameRate;  // a tie without passes says nothing
  return passes && a.mean() > b.mean() - kSameRate && a.tokens < b.tokens;
}

std::size_t BestOnTrain(const std::vector<Candidate>& candidates) {
  CHECK(!candidates.empty());
  std::size_t best = 0;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (!candidates[i].measured || candidates[i].lost > 0) continue;
    if (!candidates[best].measured || IsBetter(candidates[i], candidates[best])) best = i;
  }
  return best;
}

std::size_t ChosenCandidate(const std::vector<Candidate>& candidates) {
  const std::size_t best = BestOnTrain(candidates);
  return candidates[best].measured ? best : candidates.size() - 1;
}

std::string StatusAfterChoice(const Candidate& candidate, bool chosen) {
  if (chosen) return "chosen";
  if (!candidate.measured) return candidate.status;
  return candidate.lost > 0 ? fmt::format("loses {} on train", Counted(candidate.lost, "answer")) : "beaten on train";
}

bool FallsBehind(const Screening& failing) {
  return failing.passed * static_cast<std::size_t>(failing.best_rounds) <
         failing.best_passed * static_cast<std::size_t>(failing.rounds);
}

bool IsWorthMeasuring(const Screening& failing) {
  return failing.rounds == failing.best_rounds && failing.passed > failing.best_passed;
}

bool LosesNothing(const Screening& passing) { return passing.passed >= passing.best_passed; }

Result<AcceptRule> AcceptRuleFromName(const std::string& name) {
  if (name == "helps") return AcceptRule::kHelps;
  if (name == "not-worse" || name == "never-worse") return AcceptRule::kNotWorse;  // the latter is its older name
  if (name == "any") return AcceptRule::kAny;
  return InputError(fmt::format("must be helps, not-worse or any, not '{}'", name));
}

std::string ReasonToReject(const GenerateOutcome& outcome, AcceptRule rule, double margin) {
  const auto is_existing = [](const Candidate& candidate) { return candidate.kind == "existing"; };
  const bool replaces = std::any_of(outcome.candidates.begin(), outcome.candidates.end(), is_existing);
  if (rule == AcceptRule::kAny || !replaces || is_existing(outcome.candidates[outcome.chosen])) return "";
  if (!outcome.measured) return "the new one was not measured";
  const JudgedRun& judged = outcome.measured->judged;
  const auto against = judged.others.find(Arm::kPrevious);
  if (against == judged.others.end()) return "";  // its body equals the existing one
  const auto never_passes = [](const Trial& trial, Arm arm) {
    const std::vector<double> rates = PassRates(trial, arm);
    return std::all_of(rates.begin(), rates.end(), [](double rate) { return rate < kSameRate; });
  };
  if (never_passes(*outcome.measured, Arm::kSkill) && never_passes(*outcome.measured, Arm::kPrevious))
    return "neither the new one nor the existing one passes any held-out test, so nothing shows that it is as good";
  bool helps = false;
  for (std::size_t i = 0; i < against->second.size(); ++i) {
    const StudentVerdict& verdict = against->second[i];
    if (verdict.word == Verdict::kHurts)
      return fmt::format("the new one is worse than the existing one for {}", judged.plan().students[i].name);
    helps = helps || verdict.word == Verdict::kHelps;
    if (rule != AcceptRule::kNotWorse) continue;
    if (std::string reason = MayBeWorse(judged, i, margin); !reason.empty()) return reason;
  }
  if (rule == AcceptRule::kHelps && !helps)
    return "the new one isn't shown to be better than the existing one for any student";
  return "";
}

}  // namespace upskill

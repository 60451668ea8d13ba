// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/plan_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "eval/journal/journal.h"
#include "eval/plan/alpha_share.h"
#include "eval/plan/plan.h"
#include "eval/verdict/ledger.h"
#include "stats/multiplicity.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// The newest plan with the model, and its student alone.
std::optional<Plan> NewestPlanWith(const std::string& model, const fs::path& runs_dir) {
  const std::vector<fs::path> runs = FindRuns(runs_dir);
  for (const fs::path& run : std::views::reverse(runs)) {
    Result<Plan> plan = LoadPlan(run);
    if (!plan || plan->imported || plan->measures_activation()) continue;
    const auto student = std::find_if(plan->students.begin(), plan->students.end(),
                                      [&](const Student& one) { return one.spec == model; });
    if (student == plan->students.end()) continue;
    plan->students = {*student};
    return *std::move(plan);
  }
  return std::nullopt;
}

// `plan`: of an earlier run with the model.
NextLook LookOf(Plan plan, const Skill& skill, const Suite& suite, double alpha, const Ledger& ledger,
                const fs::path& runs_dir) {
  plan.run.clear();
  plan.skill = Snapshot(skill);
  plan.suite = suite;
  plan.verdict.alpha = alpha;
  plan.arms = {Arm::kBaseline, Arm::kSkill};
  plan.rounds = kMaxRounds;  // unlike those of a run that it would continue
  plan.planned_rounds = 0;
  plan.sampling.seed = UnseenSeed(ledger, runs_dir, plan);
  TakeShare(ledger, runs_dir, true, plan);
  return {.number = std::max(plan.share.look, 1), .planned_rounds = plan.planned_rounds, .alpha = EffectiveAlpha(plan)};
}

}  // namespace

Result<std::vector<NextLook>> FindNextLooks(const fs::path& runs_dir, const Skill& skill, const Suite& suite,
                                            const std::vector<std::string>& models, double alpha) {
  ASSIGN_OR_RETURN(const Ledger ledger, ReadLedger(runs_dir));
  std::vector<NextLook> looks;
  looks.reserve(models.size());
  for (const std::string& model : models) {
    std::optional<Plan> plan = NewestPlanWith(model, runs_dir);
    looks.push_back(plan ? LookOf(*std::move(plan), skill, suite, alpha, ledger, runs_dir)
                         : NextLook{.number = 1, .planned_rounds = 0, .alpha = CandidateAlpha(1, alpha)});
  }
  return looks;
}

std::string LookText(const NextLook& look) {
  std::string text;
  if (look.number > 1)
    text = fmt::format("look {} at these tests, so more evidence is needed than at the first one", look.number);
  if (look.planned_rounds > 0) {
    text += fmt::format("{}the run goes on after {}, which it began with and which count as the first of `rounds`",
                        text.empty() ? "" : "; ", Counted(static_cast<std::size_t>(look.planned_rounds), "round"));
  }
  return text;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "measure/share.h"

#include <algorithm>
#include <utility>

#include "eval/verdict/verdict.h"

namespace upskill {

namespace fs = std::filesystem;

Result<TakenShare> TakenShare::Take(const fs::path& runs_dir, const LookPolicy& policy, Plan& plan) {
  TakenShare taken;
  const bool compares = plan.has_arm(Arm::kSkill) && plan.has_arm(ComparedArm(plan));
  if (!policy.counts || plan.shard.of > 1 || !plan.has_arm(Arm::kSkill) || !(compares || policy.notes)) return taken;
  if (policy.notes) {
    ASSIGN_OR_RETURN(LedgerLock lock, LedgerLock::Take(runs_dir));
    taken.lock_.emplace(std::move(lock));
  }
  ASSIGN_OR_RETURN(const Ledger ledger, ReadLedger(runs_dir));
  taken.skipped_lines_ = ledger.skipped_lines;
  if (policy.may_change_seed && policy.reuses_answers) plan.sampling.seed = UnseenSeed(ledger, runs_dir, plan);
  Plan counted = plan;
  TakeShare(ledger, runs_dir, policy.reuses_answers, counted);
  counted.share.look = std::max(counted.share.look, policy.looks_before + 1);
  if (compares) {
    plan.share = std::move(counted.share);
    plan.planned_rounds = counted.planned_rounds;
  } else {
    taken.without_verdict_ = std::move(counted.share);
  }
  return taken;
}

Status TakenShare::NoteStart(const Plan& plan) {
  if (!lock_) return {};
  Plan counted = plan;
  if (without_verdict_) counted.share = *without_verdict_;
  Status noted = lock_->NoteStart(counted);
  lock_.reset();
  return std::move(noted).With("counting this look at the tests");
}

Status TakeShareAgain(const fs::path& runs_dir, bool answered, const Journal& journal, Plan& plan) {
  if (plan.share.look == 0 || answered) return {};
  const Json before = AlphaShareToJson(plan.share);
  plan.planned_rounds = 0;
  const LookPolicy policy{.counts = true, .notes = true, .reuses_answers = false, .looks_before = 0};
  Result<TakenShare> taken = TakenShare::Take(runs_dir, policy, plan);
  if (!taken) return taken.error().With("counting earlier looks at the tests");
  if (AlphaShareToJson(plan.share) == before) return {};
  RETURN_IF_ERROR(journal.StorePlan(plan));
  return taken->NoteStart(plan);
}

}  // namespace upskill

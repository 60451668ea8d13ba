// SPDX-License-Identifier: Apache-2.0
#include "cli/share_again.h"

#include <algorithm>

#include "eval/ledger.h"

namespace upskill {

Status ShareAlphaAgain(EvalSession& session) {
  Plan& plan = session.plan;
  const bool answered = std::any_of(session.resumed.begin(), session.resumed.end(),
                                    [](const Sample& sample) { return sample.ok() || sample.keeps_answer; });
  if (plan.share.look == 0 || answered) return {};
  ASSIGN_OR_RETURN(const LedgerLock lock, LedgerLock::Take(session.runs_dir));
  const Result<Ledger> ledger = ReadLedger(session.runs_dir);
  if (!ledger) return ledger.error().With("counting earlier looks at the tests");
  const Json before = AlphaShareToJson(plan.share);
  plan.planned_rounds = 0;
  TakeShare(*ledger, session.runs_dir, /*reuses_answers=*/false, plan);
  if (AlphaShareToJson(plan.share) == before) return {};
  RETURN_IF_ERROR(session.journal->StorePlan(plan));
  return lock.NoteStart(plan);
}

}  // namespace upskill

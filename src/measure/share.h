// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "eval/journal/journal.h"
#include "eval/plan/alpha_share.h"
#include "eval/plan/plan.h"
#include "eval/verdict/ledger.h"
#include "util/result.h"

namespace upskill {

// How a run counts among the looks at its tests.
struct LookPolicy {
  bool counts = true;            // false: neither are earlier looks counted, nor this one
  bool notes = true;             // false: the run isn't kept, so it leaves nothing in the ledger
  bool reuses_answers = true;    // it takes answers of earlier runs (TakeShare)
  int looks_before = 0;          // that are known from elsewhere; the ledger may have more
  bool may_change_seed = false;  // to UnseenSeed, before anything is asked
};

// The share of alpha that a run has taken. While it exists, the ledger is locked, so that no other run gets the same
// share. Move-only.
class TakenShare {
 public:
  // Gives the plan the share that the ledger of `runs_dir` leaves for it, and another seed if the policy allows that
  // and it must have one; no share if its looks don't count, or if it has no verdict: a shard, or a plan without an arm
  // to compare with. The latter is a look all the same, because what it shows may decide which version is kept, and
  // its answers are reused: NoteStart counts it. Errors: the ledger can't be locked or read.
  static Result<TakenShare> Take(const std::filesystem::path& runs_dir, const LookPolicy& policy, Plan& plan);

  // Notes the start of the run, which has its name by now, and unlocks the ledger.
  Status NoteStart(const Plan& plan);

  std::size_t skipped_lines() const { return skipped_lines_; }  // of the ledger: they can't be read

 private:
  std::optional<LedgerLock> lock_;             // absent: there is nothing to note
  std::optional<AlphaShare> without_verdict_;  // of a plan that isn't to have a share
  std::size_t skipped_lines_ = 0;
};

// For a run that is resumed. If it has an answer (`answered`), it keeps its share; otherwise others may have taken that
// since it started, and it gets what is left now. Errors: the ledger can't be read or written, nor the plan.
Status TakeShareAgain(const std::filesystem::path& runs_dir, bool answered, const Journal& journal, Plan& plan);

}  // namespace upskill

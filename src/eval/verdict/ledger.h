// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eval/plan/alpha_share.h"
#include "eval/plan/plan.h"
#include "eval/verdict/judged_run.h"
#include "util/clock.h"
#include "util/folder.h"
#include "util/result.h"

namespace upskill {

// What a run showed for one student when its verdict was looked at.
struct LookResult {
  std::string word;  // VerdictName
  int complete_rounds = 0;
  double e_helps = 1.0;  // after the last complete round
  double e_hurts = 1.0;
  bool answers_repeat = false;  // so that another seed wouldn't be independent
};

// What the ledger knows about one run.
struct LedgerRun {
  std::string run;
  std::string time;  // when it started, UTC
  std::string skill;
  std::string folder;
  std::string lineage;                // LineageOf
  std::string sha256;                 // of the skill's body: the version
  std::string conditions;             // hash of the tests and of whatever else makes two runs measure the same
  std::vector<std::string> inputs;    // short hashes of the cases' different inputs, sorted
  std::vector<std::string> cases;     // of the cases with their checks, sorted; empty: of an earlier version
  std::vector<std::string> students;  // identities
  std::string compared_with;          // ArmName
  std::uint64_t seed = 0;
  int rounds = 0;
  int planned_rounds = 0;  // Plan::first_planned_rounds
  double alpha = 0.0;
  double alpha_used = 0.0;                    // EffectiveAlpha
  bool can_decide = true;                     // false: too few answers for any verdict
  AlphaShare share;                           // without `prior`
  bool combines = false;                      // judged together with other seeds
  std::map<std::string, LookResult> results;  // by student's identity; empty: not looked at yet
};

struct Ledger {
  std::vector<LedgerRun> runs;  // in the order in which they started
  std::size_t skipped_lines = 0;
};

inline constexpr const char* kLedgerFile = "ledger.jsonl";

// The content of a ledger.jsonl.
Ledger LedgerFromText(std::string_view text);

// Reads ledger.jsonl of a runs folder. A missing file is an empty ledger; lines that can't be read are skipped.
Result<Ledger> ReadLedger(const std::filesystem::path& runs_dir);

// The seed for a plan: its own, or the next one with which none of its cases and checks were chosen by answers that it
// would reuse. That is so where a run with that seed, of any skill, had some of its inputs and a case or check that the
// plan lacks. Its own also if the answers don't depend on the seed (temperature 0), or if the plan can't decide
// anything.
std::uint64_t UnseenSeed(const Ledger& ledger, const std::filesystem::path& runs_dir, const Plan& plan);

// Gives a plan the share of alpha that the ledger leaves for it (docs/verdicts.md), and the planned rounds of the run
// that it continues. `reuses_answers`: answers of earlier runs are taken from the cache, so that a run with the same
// seed continues the earlier one; and runs with too few answers to decide anything count as well, since what made a
// version look good then is used again. Runs that were started but never looked at count as long as their folder has an
// answer, or they are at work.
void TakeShare(const Ledger& ledger, const std::filesystem::path& runs_dir, bool reuses_answers, Plan& plan);

// What the ledger keeps of a plan.
LedgerRun LedgerRunOf(const Plan& plan);

// The lock of a runs folder's ledger. While a process holds it, no other one gets the same share. Move-only.
class LedgerLock {
 public:
  // Waits for other processes. Makes the folder if it doesn't exist.
  static Result<LedgerLock> Take(const std::filesystem::path& runs_dir);

  // Notes that a run starts, or that it starts again with another share because it had no answer. `plan` has its name
  // and share.
  Status NoteStart(const Plan& plan) const;

 private:
  friend Status NoteLook(const std::filesystem::path& runs_dir, const JudgedRun& run, const Clock& clock);

  explicit LedgerLock(Folder folder) : folder_(std::move(folder)) {}
  Status Append(const Json& line) const;

  Folder folder_;
};

// Notes that the verdicts of a run were looked at, if NoteStart was called for it and it has an answer. Waits for other
// processes.
Status NoteLook(const std::filesystem::path& runs_dir, const JudgedRun& run, const Clock& clock);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "model/chat.h"
#include "model/workspace.h"
#include "skill/suite.h"

namespace upskill {

inline constexpr int kDefaultTurns = 20;
inline constexpr int kActivationTurns = 6;  // where the choice of a skill matters, and not the work

// A skill that is measured, or that another one is compared with.
struct MeasuredSkill {
  SkillSnapshot snapshot;
  // As a student sees it that works in a workspace (AnyActs); absent: no case is done in one.
  std::optional<SkillFolder> folder;
  std::vector<std::string> warnings;  // about its files
};

// How students work on cases that are done in a workspace.
struct WorkspaceSpec {
  CaseMode mode = CaseMode::kUnset;  // of all cases; unset: as each case says
  std::optional<int> max_turns;      // absent: kDefaultTurns, or kActivationTurns
  SkillLoad load = SkillLoad::kBody;
  double case_seconds = 600.0;
  std::int64_t case_tokens = 0;  // 0: no limit
};

// What is to be measured. A run that is resumed takes from it `skill`, which is compared with its own, `terms` and
// `batch`; its plan has the rest.
struct MeasureSpec {
  std::optional<MeasuredSkill> skill;     // absent: the models as they are, without anything to compare
  std::optional<MeasuredSkill> previous;  // without a name: the skill is new, so there is none
  bool baseline = true;
  bool placebo = false;
  Suite suite;
  bool is_vetted = false;                  // whoever made the cases has found them sound
  std::optional<WorkspaceSpec> workspace;  // absent: all cases are answered in words
  // Present: what is measured is whether students choose the skill among these; absent: how they answer.
  std::optional<std::vector<SkillFolder>> others;
  std::vector<Student> students;  // of models that are opened, the model strings alone
  std::string judge;              // a model string; empty: none
  int rounds = 1;
  Sampling sampling;
  std::string system_prompt;
  VerdictOptions verdict;
  bool stop_when_decided = false;
  Shard shard;
  std::string trial;  // Plan::trial
  RunTerms terms;
  bool counts_looks = true;  // at its tests (eval/verdict/ledger.h): earlier ones, and this one
  int looks_before = 0;      // LookPolicy
  bool is_kept = true;       // in the runs folder; false: only in memory
  bool offers_cache = true;
  bool uses_cache = true;
  std::vector<std::filesystem::path> cache_from;  // further runs folders to take answers from
  bool resumes_same_run = false;                  // the newest run of this very plan, if there is one (FindSameRun)
  bool batch = false;                             // the models are asked in batches, which have no limits
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

#include "eval/plan/plan.h"

namespace upskill {

struct SameRun {
  StoredRun run;
  bool lacks_answers = false;
};

// The newest run below `runs_dir` that `plan` is the plan of: the same skill, cases, models and settings. Not one that
// another process is writing. Of the newest runs only (kMostRunsLookedAt).
std::optional<SameRun> FindSameRun(const Plan& plan, const std::filesystem::path& runs_dir);
inline constexpr std::size_t kMostRunsLookedAt = 2000;

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>

#include "eval/plan.h"

namespace upskill {

// The newest run below `runs_dir` that `plan` is the plan of, if it lacks answers: the same skill, cases, models and
// settings. Not one that another process is writing. Of the newest runs only (kMostRunsLookedAt).
std::optional<std::filesystem::path> FindUnfinishedRun(const Plan& plan, const std::filesystem::path& runs_dir);
inline constexpr std::size_t kMostRunsLookedAt = 2000;

}  // namespace upskill

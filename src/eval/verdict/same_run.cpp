// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/same_run.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "eval/journal/journal.h"
#include "eval/journal/run_data.h"
#include "eval/verdict/judged_run.h"
#include "util/hash.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// A plan without what differs between two runs that ask the same.
std::string WhatIsAsked(const Plan& plan) {
  Json json = PlanToJson(plan);
  for (const char* of_one_run : {"run", "created", "version", "alpha_share", "terms", "planned_rounds"})
    json.erase(of_one_run);
  if (json.contains("judge")) json["judge"].erase("checked");
  json["skill"].erase("folder");
  if (json.contains("previous")) json["previous"].erase("folder");
  return Sha256Hex(DumpJson(json));
}

// Nothing: the run can't be read.
std::optional<bool> LacksAnswers(const fs::path& folder) {
  Result<RunData> data = RunData::Read(folder);
  if (!data) return std::nullopt;
  return !Judge(std::move(data).value()).summary.complete();
}

}  // namespace

std::optional<SameRun> FindSameRun(const Plan& plan, const fs::path& runs_dir) {
  const std::string wanted = WhatIsAsked(plan);
  std::vector<fs::path> runs = FindRuns(runs_dir);
  std::reverse(runs.begin(), runs.end());
  if (runs.size() > kMostRunsLookedAt) runs.resize(kMostRunsLookedAt);
  for (const fs::path& folder : runs) {
    Result<Plan> stored = LoadPlan(folder);
    if (!stored || stored->imported || WhatIsAsked(*stored) != wanted) continue;
    const std::optional<bool> lacks = LacksAnswers(folder);
    if (!lacks || IsBeingWritten(folder)) return std::nullopt;
    return SameRun{{folder, *std::move(stored)}, *lacks};
  }
  return std::nullopt;
}

}  // namespace upskill

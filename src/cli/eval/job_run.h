// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cluster/job_record.h"
#include "eval/plan/plan.h"
#include "eval/run/budget.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

// The folder of a run whose shards are measured by jobs: shards/K/ has the runs of shard K, one for each time that it
// was started; plan.json and samples.jsonl are merged from them.

// Which shards are complete: one of their runs answers all of its cells. (A later one takes the answers of the earlier
// ones from the cache, so that the last one does if any.) It can be asked at every poll: the runs of a shard are read
// again only if one of their journals has another size or time than before. Not thread-safe.
class ShardCompletion {
 public:
  explicit ShardCompletion(std::filesystem::path folder) : folder_(std::move(folder)) {}
  bool IsComplete(int shard);

 private:
  struct Seen {
    std::string journals;  // their names, sizes and times
    bool complete = false;
  };

  std::filesystem::path folder_;
  std::map<int, Seen> seen_;
};

// Merges the runs of these shards into the folder. Nothing happens where there are none.
Status MergeShards(const std::filesystem::path& folder, const std::vector<int>& shards, const Clock& clock);

// What a run has spent so far, and what all shards have.
Result<Spending> SpentInRun(const std::filesystem::path& run);
Result<Spending> SpentByShards(const std::filesystem::path& folder, int shards);

// Gives the merged run the terms of the whole one, and with `count_look` its share of alpha: once, when its plan is
// known. `record` tells whether that was done.
Status TakeTerms(const std::filesystem::path& folder, const std::filesystem::path& runs_dir, const RunTerms& terms,
                 bool count_look, bool reuses_answers, JobRecord& record);

}  // namespace upskill

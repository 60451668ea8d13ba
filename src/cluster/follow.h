// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "cluster/job_engine.h"
#include "cluster/job_record.h"
#include "util/clock.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// How many shards are where.
struct ShardCounts {
  int done = 0;
  int running = 0;
  int waiting = 0;
  int failed = 0;
  std::string waiting_for;  // the engine's word for one that waits

  bool operator==(const ShardCounts&) const = default;
};

// What following needs to know of runs. All are called on the caller's thread.
struct FollowedRun {
  // Whether the journal of a shard answers all of its cells. Asked often.
  std::function<bool(int shard)> complete;
  // Takes the journals of these shards, of which some may be incomplete, into the run.
  std::function<Status(const std::vector<int>& shards)> merge;
  // The array for these shards, without its name and folder. Error: nothing more may be submitted, and why.
  std::function<Result<JobArray>(const std::vector<int>& shards)> array;
  std::function<void(const ShardCounts&)> progress;
  std::function<void(const std::string&)> note;
};

struct FollowOutcome {
  bool detached = false;        // the user stopped following; jobs go on
  bool cancelled = false;       // the user had them cancelled
  std::vector<int> unfinished;  // shards whose journals lack answers, and nothing more is submitted
  std::vector<std::string> problems;
};

// Submits what is missing, follows it until every shard is done or was submitted three times, and merges shards as they
// end. The record in `folder` always knows what was submitted, so that a later call goes on where this one ends.
// At stop 1 it stops following, and within a few seconds at 2 cancels the jobs. Errors: nothing could be submitted, the
// engine can't be asked for ten minutes, or the record can't be written.
//
// What the engine's tools don't list is taken for ended after half a minute: they may not know a new task yet.
Result<FollowOutcome> FollowJobs(JobEngine& engine, const std::filesystem::path& folder, JobRecord& record,
                                 const FollowedRun& run, const Clock& clock, const StopFlag* stop);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/job_engine.h"
#include "util/result.h"

namespace upskill {

// A job on the Hub, as `hf jobs ps --format json` lists it.
struct HubJob {
  std::string id;
  int shard = 0;
  TaskState state;
};

// The jobs of one array in what `hf jobs ps --format json` prints. Jobs without a shard are skipped. Error: not a list.
Result<std::vector<HubJob>> HubJobsFrom(std::string_view output);

// Hugging Face Jobs, by the command-line tool `hf`: a job for each shard, with a storage bucket for what goes in and
// comes out. `bucket`: "NAMESPACE/NAME"; empty with the option `storage` (S3Storage). Further options: `image` (with
// upskill in it), `program` (in the image), and those of `hf jobs run`: flavor, timeout, secrets, env, namespace.
Result<std::unique_ptr<JobEngine>> MakeHubJobs(const std::string& bucket, const std::vector<JobOption>& options);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/job_engine.h"
#include "cluster/s3_storage.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// What `--job-option` says of the pods of an indexed job.
struct PodOptions {
  std::string image;                          // with upskill in it
  std::string program = "upskill";            // in the image
  std::string claim;                          // a PersistentVolumeClaim with the runs folder and the working folder
  std::string mount;                          // where it is mounted: the same folder as on this machine
  std::optional<S3Storage> storage;           // instead of a claim
  std::map<std::string, std::string> limits;  // "nvidia.com/gpu": "1"
  std::vector<std::string> secrets;           // whose keys become environment variables
  std::string service_account;                // may be empty
  int deadline_seconds = 0;                   // of the job; 0: none
};

// Error (kInput): an unknown option, no image, or neither or both of claim and storage.
Result<PodOptions> PodOptionsFrom(const std::vector<JobOption>& options);

// The Job (batch/v1) for an array: one index for each shard.
Json KubernetesJob(const JobArray& array, const PodOptions& options);

// The tasks by shard in what `kubectl get jobs,pods -o json` prints for one array. Empty: there is no such job.
Result<std::map<int, TaskState>> TasksFromKubectl(std::string_view output);

// Kubernetes, by kubectl. `name_space` may be empty: the one of the current context.
Result<std::unique_ptr<JobEngine>> MakeKubernetes(const std::string& name_space, const std::vector<JobOption>& options);

}  // namespace upskill

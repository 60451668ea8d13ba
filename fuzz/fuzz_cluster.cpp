// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_cluster.h"

#include "cluster/hf_jobs.h"
#include "cluster/job_record.h"
#include "cluster/kubernetes.h"
#include "cluster/slurm.h"
#include "fuzz/fuzz_checks.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

void CheckTasks(const Result<std::map<int, TaskState>>& tasks) {
  if (!Parsed(tasks)) return;
  for (const auto& [shard, state] : *tasks)
    CHECK(shard >= 0 && DisplayColumns(state.word) <= 200 && !FindInvalidUtf8(state.word));
}

}  // namespace

void FuzzJobOutput(std::string_view input) {
  const Result<std::string> id = SlurmIdFrom(input);
  if (Parsed(id)) CHECK(ParseWholeNumber(*id, 1).has_value());
  CheckTasks(TasksFromSqueue(input, "17"));
  for (const auto& [task, state] : StatesFromSacct(input, "17")) CHECK(task >= 0 && !state.empty());
  CheckTasks(TasksFromKubectl(input));
  const Result<std::vector<HubJob>> jobs = HubJobsFrom(input);
  if (!Parsed(jobs)) return;
  for (const HubJob& job : *jobs) CHECK(job.shard >= 1 && job.shard <= kMaxShards && !job.id.starts_with('-'));
}

std::vector<std::string> JobOutputSeeds() {
  return {"17;cluster\n", "17|6|PENDING|JobArrayTaskLimit\n17|5|RUNNING|None\n17|2|NODE_FAIL|None\n",
          "17_1|COMPLETED\n17_2|CANCELLED by 0\n17_[3-9]|PENDING\n",
          R"({"items":[{"kind":"Job","metadata":{"annotations":{"upskill/shards":"1,3"}},"status":{"conditions":[]}},)"
          R"({"kind":"Pod","metadata":{"annotations":{"batch.kubernetes.io/job-completion-index":"1"}},)"
          R"("status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull"}}}]}}]})",
          R"([{"id":"68a1f0","labels":{"name":"upskill-x-1","shard":"1"},"status":"RUNNING"}])"};
}

void FuzzJobRecord(std::string_view input) {
  const Result<Json> json = ParseJson(input, "jobs.json");
  if (!Parsed(json)) return;
  const Result<JobRecord> record = JobRecordFromJson(*json, "jobs.json");
  if (!Parsed(record)) return;
  const Json written = JobRecordToJson(*record);
  const Result<JobRecord> again = JobRecordFromJson(written, "jobs.json");
  CHECK(again.ok() && DumpJson(JobRecordToJson(*again)) == DumpJson(written));
  for (const JobSubmission& submission : record->submissions) CHECK(IsArrayName(submission.name));
}

std::vector<std::string> JobRecordSeeds() {
  JobRecord record;
  record.created = "2026-11-21T10:12:33Z";
  record.engine = "slurm:gpu";
  record.shards = 4;
  record.job_options = {"gres=gpu:1"};
  record.arguments = {"--seed=7"};
  record.submissions = {{"upskill-x-1", "42", {1, 2, 3, 4}}, {"upskill-x-2", "", {3}}};
  record.max_cost_usd = 1.5;
  return {DumpJson(JobRecordToJson(record))};
}

}  // namespace upskill

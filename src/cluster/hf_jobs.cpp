// SPDX-License-Identifier: Apache-2.0
#include "cluster/hf_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "cluster/job_record.h"
#include "cluster/job_tool.h"
#include "cluster/s3_storage.h"
#include "cluster/task_script.h"
#include "util/folder.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kMount = "/upskill";     // the bucket's folder of the run, in the container
constexpr const char* kWork = "/tmp/upskill";  // whose files are copied to the bucket

// The name of an account or a bucket.
bool IsHubName(std::string_view name) {
  return !name.empty() && name.size() <= 96 && IsAsciiAlphanumeric(name.front()) && IsAsciiAlphanumeric(name.back()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return IsAsciiAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsBucket(std::string_view name) {
  const std::size_t slash = name.find('/');
  return slash != std::string_view::npos && IsHubName(name.substr(0, slash)) && IsHubName(name.substr(slash + 1));
}

bool IsHubId(std::string_view id) {
  return !id.empty() && id.size() <= 64 &&
         std::all_of(id.begin(), id.end(), [](char c) { return IsAsciiAlphanumeric(c); });
}

// In the container, files on the bucket are written whole: a shard works on a copy, which is copied back every half
// minute and at the end.
std::string HubScript(const JobArray& array, const std::string& program, int shard) {
  JobArray there = array;
  if (!there.command.empty()) there.command.front() = program;
  there.folder = kWork;
  there.working_folder = std::string(kMount) + "/in";
  const std::string own = ShardFolder(shard);
  const std::string head = fmt::format(
      "mkdir -p {0}/shards {1}/shards\n"
      "[ ! -d {1}/{2} ] || cp -r {1}/{2} {0}/shards/\n"
      "keep() {{ cp -r {0}/{2} {1}/shards/; }}\n"
      "(while sleep 30; do keep; done) 2>/dev/null &\n"
      "trap 'kill $!; keep' EXIT\n",
      kWork, kMount, own);
  return TaskScript(there, std::to_string(shard), head);
}

class HubJobs : public JobEngine {
 public:
  HubJobs(std::string bucket, std::optional<S3Storage> storage, std::string image, std::string program,
          std::vector<std::string> options, std::optional<std::string> name_space)
      : bucket_(std::move(bucket)),
        storage_(std::move(storage)),
        image_(std::move(image)),
        program_(std::move(program)),
        options_(std::move(options)),
        name_space_(std::move(name_space)) {}

  Result<std::string> Submit(const JobArray& array) override {
    RETURN_IF_ERROR(storage_ ? storage_->SendInputs(array) : SendInputs(array));
    for (const int shard : array.shards) {
      std::vector<std::string> words = {
          "hf", "jobs", "run", "--detach", "--quiet", "--name", array.name, "--label", fmt::format("shard={}", shard)};
      if (!storage_) words.insert(words.end(), {"--volume", fmt::format("{}:{}:rw", FolderOf(array.folder), kMount)});
      words.insert(words.end(), options_.begin(), options_.end());
      words = InNameSpace(std::move(words));
      words.insert(words.end(), {"--", image_, "/bin/sh", "-c", ScriptFor(array, shard)});
      ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words));
      if (outcome.exit_code != 0) return RefusedByTool({"hf jobs run"}, outcome);
    }
    return array.name;
  }

  Result<std::optional<std::string>> Find(const std::string& name) override {
    ASSIGN_OR_RETURN(const std::vector<HubJob> jobs, List(name));
    return jobs.empty() ? std::optional<std::string>() : std::optional(name);
  }

  Result<std::map<int, TaskState>> Poll(const std::string& name, const std::string& /*id*/) override {
    ASSIGN_OR_RETURN(const std::vector<HubJob> jobs, List(name));
    std::map<int, TaskState> tasks;
    for (const HubJob& job : jobs) {
      const auto [found, is_new] = tasks.emplace(job.shard, job.state);
      if (!is_new && found->second.phase == TaskState::Phase::kEnded) found->second = job.state;
    }
    return tasks;
  }

  Status Fetch(const std::string& /*name*/, const std::filesystem::path& folder, int shard) override {
    if (storage_) return storage_->FetchShard(folder, shard);
    const std::string own = ShardFolder(shard);
    const std::vector<std::string> words = {"hf", "sync", FolderOf(folder) + "/" + own, (folder / own).string()};
    ASSIGN_OR_RETURN(const Folder opened, Folder::Open(folder));
    RETURN_IF_ERROR(opened.MakeBelow(own));
    ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words, "", kTransferLimit));
    if (outcome.exit_code != 0) return ToolError({"hf sync"}, outcome);
    return {};
  }

  Status Cancel(const std::string& name, const std::string& /*id*/) override {
    ASSIGN_OR_RETURN(const std::vector<HubJob> jobs, List(name));
    for (const HubJob& job : jobs) {
      if (job.state.phase == TaskState::Phase::kEnded) continue;
      const std::vector<std::string> words = InNameSpace({"hf", "jobs", "cancel", job.id});
      ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words));
      if (outcome.exit_code != 0) return ToolError({"hf jobs cancel"}, outcome);
    }
    return {};
  }

  bool shares_folders() const override { return false; }
  bool IsId(std::string_view id) const override { return IsArrayName(id); }
  std::string CancelLine(const std::string& id) const override {
    return fmt::format("hf jobs ps --name {}`, then `hf jobs cancel ID", id);
  }

 private:
  std::vector<std::string> InNameSpace(std::vector<std::string> words) const {
    if (name_space_) words.insert(words.end(), {"--namespace", *name_space_});
    return words;
  }

  std::string FolderOf(const std::filesystem::path& run) const {
    return fmt::format("hf://buckets/{}/{}", bucket_, run.filename().string());
  }

  std::string ScriptFor(const JobArray& array, int shard) const {
    if (!storage_) return HubScript(array, program_, shard);
    return storage_->TaskScriptFor(array, program_, std::to_string(shard), S3Storage::ExitWith::kCommandsCode);
  }

  // What the command reads has the same names below in/.
  Status SendInputs(const JobArray& array) const {
    for (const std::string& input : array.inputs) {
      ASSIGN_OR_RETURN(const std::filesystem::path path, PathOfInput(input));
      std::error_code code;
      const bool is_folder = std::filesystem::is_directory(array.working_folder / path, code);
      const std::string there = FolderOf(array.folder) + "/in/" + path.generic_string();
      std::vector<std::string> words = {"hf"};
      if (!is_folder) words.emplace_back("buckets");
      words.insert(words.end(), {is_folder ? "sync" : "cp", (array.working_folder / path).string(), there});
      ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words, "", kTransferLimit));
      if (outcome.exit_code != 0) return RefusedByTool({words[0] + " " + words[1]}, outcome);
    }
    return {};
  }

  Result<std::vector<HubJob>> List(const std::string& name) const {
    const std::vector<std::string> words =
        InNameSpace({"hf", "jobs", "ps", "--all", "--name", name, "--limit", "0", "--format", "json"});
    ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words));
    if (outcome.exit_code != 0) return ToolError({"hf jobs ps"}, outcome);
    return HubJobsFrom(outcome.output);
  }

  std::string bucket_;                // may be empty with a storage
  std::optional<S3Storage> storage_;  // instead of the bucket
  std::string image_;
  std::string program_;
  std::vector<std::string> options_;
  std::optional<std::string> name_space_;
};

}  // namespace

Result<std::vector<HubJob>> HubJobsFrom(std::string_view output) {
  ASSIGN_OR_RETURN(const Json json, ToolJson(output, "hf jobs ps"));
  if (!json.is_array()) return Error{ErrorKind::kUnavailable, "hf jobs ps printed no list of jobs"};
  std::vector<HubJob> jobs;
  for (const Json& item : json) {
    HubJob job;
    job.id = StringAt(item, "id");
    const auto shard = ParseWholeNumber(StringAt(Member(item, "labels"), "shard"), 1, kMaxShards);
    if (!shard || !IsHubId(job.id)) continue;
    job.shard = static_cast<int>(*shard);
    const std::string stage = StringAt(item, "status");
    job.state.word = ExcerptLine(stage, 40);
    constexpr std::array<std::string_view, 4> kFinal = {"COMPLETED", "CANCELED", "ERROR", "DELETED"};
    if (std::find(kFinal.begin(), kFinal.end(), stage) != kFinal.end()) job.state.phase = TaskState::Phase::kEnded;
    if (stage == "SCHEDULING") job.state.phase = TaskState::Phase::kWaiting;
    if (stage == "RUNNING") job.state.phase = TaskState::Phase::kRunning;
    jobs.push_back(std::move(job));
  }
  return jobs;
}

namespace {

struct HubOptions {
  std::string image;
  std::string program = "upskill";
  std::vector<std::string> passed_on;  // to `hf jobs run`
  std::optional<std::string> name_space;
  std::optional<S3Storage> storage;
};

Result<HubOptions> HubOptionsFrom(const std::vector<JobOption>& options) {
  constexpr std::array<std::string_view, 5> kPassedOn = {"flavor", "timeout", "secrets", "env", "resource-group-id"};
  HubOptions hub;
  for (const JobOption& option : options) {
    const std::string value = option.value.value_or("");
    if (value.empty()) return InputError(fmt::format("--job-option {}: give it a value", option.name));
    if (option.name == "image") {
      hub.image = value;
    } else if (option.name == "program") {
      hub.program = value;
    } else if (option.name == "storage") {
      ASSIGN_OR_RETURN(hub.storage, S3Storage::Parse(value));
    } else if (option.name == "namespace") {
      if (!IsHubName(value)) {
        return InputError(fmt::format("--job-option namespace: '{}' can't be the name of a user or an organization",
                                      ExcerptLine(value, 60)));
      }
      hub.name_space = value;
    } else if (std::find(kPassedOn.begin(), kPassedOn.end(), option.name) != kPassedOn.end()) {
      hub.passed_on.push_back(fmt::format("--{}={}", option.name, value));
    } else {
      return InputError(
          fmt::format("unknown --job-option {}; Hugging Face Jobs take image, program, storage, flavor, timeout, "
                      "secrets, env, namespace and resource-group-id",
                      option.name));
    }
  }
  if (hub.image.empty() || hub.image.starts_with('-'))
    return InputError("--on hf needs --job-option image=IMAGE, an image with upskill in it");
  return hub;
}

}  // namespace

Result<std::unique_ptr<JobEngine>> MakeHubJobs(const std::string& bucket, const std::vector<JobOption>& options) {
  ASSIGN_OR_RETURN(HubOptions hub, HubOptionsFrom(options));
  if (bucket.empty() && !hub.storage)
    return InputError(
        "--on hf needs one of your storage buckets: --on hf:NAMESPACE/BUCKET (`hf buckets create` makes one), or "
        "--job-option storage=s3://BUCKET/FOLDER");
  if (!bucket.empty() && hub.storage)
    return InputError(
        "--on hf:NAMESPACE/BUCKET and --job-option storage can't be combined: give one place for the files");
  if (!bucket.empty() && !IsBucket(bucket)) {
    return InputError(
        fmt::format("--on hf:{}: not a storage bucket; expected hf:NAMESPACE/BUCKET, both of letters, digits, '-', '_' "
                    "and '.', with a letter or digit at both ends",
                    ExcerptLine(bucket, 60)));
  }
  return std::unique_ptr<JobEngine>(std::make_unique<HubJobs>(bucket, std::move(hub.storage), std::move(hub.image),
                                                              std::move(hub.program), std::move(hub.passed_on),
                                                              std::move(hub.name_space)));
}

}  // namespace upskill

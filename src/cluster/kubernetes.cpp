// SPDX-License-Identifier: Apache-2.0
#include "cluster/kubernetes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cluster/job_tool.h"
#include "cluster/task_script.h"
#include "util/folder.h"
#include "util/text.h"

namespace upskill {
namespace {

// Persisted in the cluster: never rename.
constexpr const char* kArrayLabel = "upskill/array";
constexpr const char* kShardsAnnotation = "upskill/shards";
constexpr const char* kIndexAnnotation = "batch.kubernetes.io/job-completion-index";
constexpr int kRestartsOfShard = 3;
constexpr int kMaxIndex = 100'000;

// A name of RFC 1123: lowercase letters and digits, and with `dots` dots; `-` inside.
bool IsDnsName(std::string_view name, bool dots) {
  const auto is_end = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= (dots ? 253 : 63) && is_end(name.front()) && is_end(name.back()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_end(c) || c == '-' || (dots && c == '.'); });
}

Status CheckPodNames(const PodOptions& pod) {
  std::vector<std::pair<std::string, std::string>> names;
  if (!pod.storage) names.emplace_back("claim", pod.claim);
  if (!pod.service_account.empty()) names.emplace_back("service-account", pod.service_account);
  for (const std::string& secret : pod.secrets) names.emplace_back("secret", secret);
  for (const auto& [option, name] : names) {
    if (IsDnsName(name, true)) continue;
    return InputError(fmt::format(
        "--job-option {}: '{}' isn't a valid name in Kubernetes; expected lowercase letters, digits, '-' and '.', "
        "with a letter or digit at both ends",
        option, ExcerptLine(name, 60)));
  }
  return {};
}

Error Unexpected(std::string_view what) {
  return Error{ErrorKind::kUnavailable, fmt::format("kubectl printed something unexpected: {}", what)};
}

// Why a pod waits: it fits on no node, or its image can't be had.
std::string WaitingFor(const Json& status) {
  const Json& containers = Member(status, "containerStatuses");
  if (containers.is_array() && !containers.empty()) {
    const std::string reason = StringAt(Member(Member(containers[0], "state"), "waiting"), "reason");
    if (!reason.empty()) return reason;
  }
  const Json& conditions = Member(status, "conditions");
  if (!conditions.is_array()) return "";
  for (const Json& condition : conditions) {
    if (StringAt(condition, "status") == "False" && StringAt(condition, "type") == "PodScheduled")
      return StringAt(condition, "reason");
  }
  return "";
}

TaskState StateOfPod(const Json& pod) {
  const Json& status = Member(pod, "status");
  const std::string phase = StringAt(status, "phase");
  TaskState state;
  state.word = ExcerptLine(phase, 40);
  if (phase == "Running" || phase == "Unknown") state.phase = TaskState::Phase::kRunning;
  if (phase == "Succeeded" || phase == "Failed") state.phase = TaskState::Phase::kEnded;
  if (phase == "Pending") {
    state.phase = TaskState::Phase::kWaiting;
    if (const std::string reason = WaitingFor(status); !reason.empty())
      state.word += fmt::format(" ({})", ExcerptLine(reason, 80));
  }
  if (phase == "Failed") {
    const std::string reason = StringAt(status, "reason");  // "Evicted"
    if (!reason.empty()) state.word += fmt::format(" ({})", ExcerptLine(reason, 80));
  }
  return state;
}

// Whether the job itself says that it has ended.
bool HasEnded(const Json& job) {
  const Json& conditions = Member(Member(job, "status"), "conditions");
  return conditions.is_array() && std::any_of(conditions.begin(), conditions.end(), [](const Json& condition) {
           const std::string type = StringAt(condition, "type");
           return StringAt(condition, "status") == "True" && (type == "Complete" || type == "Failed");
         });
}

// The shards of the job's indices.
Result<std::vector<int>> ShardsOfJob(const Json& job) {
  const std::string list = StringAt(Member(Member(job, "metadata"), "annotations"), kShardsAnnotation);
  std::vector<int> shards;
  for (std::string_view rest = list; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const auto shard = ParseWholeNumber(rest.substr(0, comma), 1, kMaxIndex);
    if (!shard) return Unexpected("a job without its shards");
    shards.push_back(static_cast<int>(*shard));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (shards.empty()) return Unexpected("a job without its shards");
  return shards;
}

// Without a configuration, kubectl asks a server on this machine and wonders about its port.
Error WithoutContext(Error error, const JobToolOutcome& outcome) {
  if (outcome.error.find("localhost:8080") == std::string::npos) return error;
  error.kind = ErrorKind::kPermanent;
  error.message =
      "kubectl has no cluster to talk to: no configuration names one (`kubectl config get-contexts` lists those that "
      "it knows; KUBECONFIG names its file)";
  return error;
}

class Kubernetes : public JobEngine {
 public:
  Kubernetes(std::string name_space, PodOptions options)
      : name_space_(std::move(name_space)), options_(std::move(options)) {}

  Result<std::string> Submit(const JobArray& array) override {
    if (options_.storage) RETURN_IF_ERROR(options_.storage->SendInputs(array));
    const std::string manifest = DumpJsonIndented(KubernetesJob(array, options_)) + "\n";
    ASSIGN_OR_RETURN(const Folder folder, Folder::Open(array.folder));
    RETURN_IF_ERROR(folder.WriteFile("jobs/" + array.name + ".json", manifest));
    const std::vector<std::string> words = Words({"create", "-f", "-", "-o", "name"});
    ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words, manifest));
    if (outcome.exit_code != 0) return WithoutContext(RefusedByTool(words, outcome), outcome);
    return array.name;
  }

  Result<std::optional<std::string>> Find(const std::string& name) override {
    const std::vector<std::string> words = Words({"get", "job", name, "--ignore-not-found", "-o", "name"});
    ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words));
    if (outcome.exit_code != 0) return ToolError(words, outcome);
    return Trim(outcome.output).empty() ? std::optional<std::string>() : std::optional(name);
  }

  Result<std::map<int, TaskState>> Poll(const std::string& name, const std::string& /*id*/) override {
    const std::vector<std::string> words =
        Words({"get", "jobs,pods", "-l", fmt::format("{}={}", kArrayLabel, name), "-o", "json"});
    ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words));
    if (outcome.exit_code != 0) return ToolError(words, outcome);
    return TasksFromKubectl(outcome.output);
  }

  Status Fetch(const std::string& /*name*/, const std::filesystem::path& folder, int shard) override {
    return options_.storage ? options_.storage->FetchShard(folder, shard) : Status();
  }

  Status Cancel(const std::string& name, const std::string& /*id*/) override {
    const std::vector<std::string> words = Words({"delete", "job", name, "--ignore-not-found", "--wait=false"});
    ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words));
    if (outcome.exit_code != 0) return ToolError(words, outcome);
    return {};
  }

  bool shares_folders() const override { return !options_.storage; }
  Status CheckPlaces(const std::vector<std::filesystem::path>& paths) const override {
    if (options_.storage) return {};
    const std::filesystem::path mount = std::filesystem::path(options_.mount + "/").lexically_normal();
    for (const std::filesystem::path& path : paths) {
      if ((path / "").lexically_normal().string().starts_with(mount.string())) continue;
      return InputError(fmt::format(
          "{} isn't below {}, the folder of --job-option claim, so the pods wouldn't see it: start in a folder below "
          "{}, with the skill and the runs folder there, too",
          path.string(), options_.mount, options_.mount));
    }
    return {};
  }
  bool IsId(std::string_view id) const override { return IsArrayName(id); }
  std::string CancelLine(const std::string& id) const override {
    return fmt::format("{}", fmt::join(Words({"delete", "job", id}), " "));
  }

 private:
  std::vector<std::string> Words(std::vector<std::string> words) const {
    words.insert(words.begin(), "kubectl");
    if (!name_space_.empty()) words.insert(words.begin() + 1, "--namespace=" + name_space_);
    return words;
  }

  std::string name_space_;
  PodOptions options_;
};

}  // namespace

Result<PodOptions> PodOptionsFrom(const std::vector<JobOption>& options) {
  PodOptions pod;
  const std::map<std::string, std::string> resources = {
      {"cpu", "cpu"}, {"memory", "memory"}, {"gpu", "nvidia.com/gpu"}, {"amd-gpu", "amd.com/gpu"}};
  for (const JobOption& option : options) {
    const std::string value = option.value.value_or("");
    if (value.empty()) return InputError(fmt::format("--job-option {}: give it a value", option.name));
    if (option.name == "image") {
      pod.image = value;
    } else if (option.name == "program") {
      pod.program = value;
    } else if (option.name == "claim") {
      const std::size_t colon = value.find(':');
      pod.claim = value.substr(0, colon);
      pod.mount = colon == std::string::npos ? "" : value.substr(colon + 1);
    } else if (option.name == "storage") {
      ASSIGN_OR_RETURN(pod.storage, S3Storage::Parse(value));
    } else if (option.name == "secret") {
      pod.secrets.push_back(value);
    } else if (option.name == "service-account") {
      pod.service_account = value;
    } else if (option.name == "deadline") {
      const auto seconds = ParseWholeNumber(value, 1, 100'000'000);
      if (!seconds) return InputError("--job-option deadline: expected a number of seconds");
      pod.deadline_seconds = static_cast<int>(*seconds);
    } else if (const auto resource = resources.find(option.name); resource != resources.end()) {
      pod.limits[resource->second] = value;
    } else {
      return InputError(fmt::format(
          "unknown --job-option {}; Kubernetes takes image, claim, storage, program, cpu, memory, gpu, amd-gpu, "
          "secret, service-account and deadline",
          option.name));
    }
  }
  if (pod.image.empty())
    return InputError("--on kubernetes needs --job-option image=IMAGE, an image with upskill in it");
  if (pod.storage && !pod.claim.empty())
    return InputError("--job-option claim and storage can't be combined: give one place for the files");
  if (!pod.storage && (pod.claim.empty() || !pod.mount.starts_with('/'))) {
    return InputError(
        "--on kubernetes needs --job-option claim=NAME:/FOLDER: the volume that is mounted there on this machine, too, "
        "with the skill and the runs folder; or --job-option storage=s3://BUCKET/FOLDER");
  }
  RETURN_IF_ERROR(CheckPodNames(pod));
  return pod;
}

Json KubernetesJob(const JobArray& array, const PodOptions& options) {
  JobArray here = array;
  if (!here.command.empty()) here.command.front() = options.program;
  // The journal says what is missing, not the exit code: a restart is for pods that were killed.
  const std::string shard =
      fmt::format("$(set -- {}; shift \"$JOB_COMPLETION_INDEX\"; echo \"$1\")", fmt::join(array.shards, " "));
  const std::string script =
      options.storage ? options.storage->TaskScriptFor(array, options.program, shard, S3Storage::ExitWith::kZero)
                      : TaskScript(here, shard, "trap 'exit 0' EXIT\n");
  Json container = {{"name", "shard"}, {"image", options.image}, {"command", {"/bin/sh", "-c", script}}};
  for (const auto& [resource, amount] : options.limits) container["resources"]["limits"][resource] = amount;
  for (const std::string& secret : options.secrets) container["envFrom"].push_back({{"secretRef", {{"name", secret}}}});
  Json pod = {{"restartPolicy", "Never"}};
  if (!options.storage) {
    container["volumeMounts"] = Json::array({{{"name", "runs"}, {"mountPath", options.mount}}});
    pod["volumes"] = Json::array({{{"name", "runs"}, {"persistentVolumeClaim", {{"claimName", options.claim}}}}});
  }
  pod["containers"] = Json::array({std::move(container)});
  if (!options.service_account.empty()) pod["serviceAccountName"] = options.service_account;
  const Json labels = {{kArrayLabel, array.name}, {"app.kubernetes.io/managed-by", "upskill"}};
  const int count = static_cast<int>(array.shards.size());
  Json spec = {{"completionMode", "Indexed"},
               {"completions", count},
               {"parallelism", count},
               {"backoffLimit", array.restarts ? kRestartsOfShard * count : 0},
               {"template", {{"metadata", {{"labels", labels}}}, {"spec", std::move(pod)}}}};
  if (options.deadline_seconds > 0) spec["activeDeadlineSeconds"] = options.deadline_seconds;
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata",
           {{"name", array.name},
            {"labels", labels},
            {"annotations", {{kShardsAnnotation, fmt::format("{}", fmt::join(array.shards, ","))}}}}},
          {"spec", std::move(spec)}};
}

Result<std::map<int, TaskState>> TasksFromKubectl(std::string_view output) {
  ASSIGN_OR_RETURN(const Json json, ToolJson(output, "kubectl"));
  const Json& items = Member(json, "items");
  if (!items.is_array()) return Unexpected("no list");
  std::map<int, TaskState> tasks;
  const auto job =
      std::find_if(items.begin(), items.end(), [](const Json& item) { return StringAt(item, "kind") == "Job"; });
  if (job == items.end()) return tasks;
  ASSIGN_OR_RETURN(const std::vector<int> shards, ShardsOfJob(*job));
  for (const Json& item : items) {
    if (StringAt(item, "kind") != "Pod") continue;
    const std::string annotation = StringAt(Member(Member(item, "metadata"), "annotations"), kIndexAnnotation);
    const auto index = ParseWholeNumber(annotation, 0, kMaxIndex);
    if (!index || static_cast<std::size_t>(*index) >= shards.size()) continue;
    const auto [found, is_new] = tasks.emplace(shards[static_cast<std::size_t>(*index)], StateOfPod(item));
    if (!is_new && found->second.phase == TaskState::Phase::kEnded) found->second = StateOfPod(item);  // a later pod
  }
  const bool has_ended = HasEnded(*job);
  for (const int shard : shards) {  // a pod that was killed is replaced; one that succeeded is not
    if (has_ended) tasks[shard].phase = TaskState::Phase::kEnded;
    if (has_ended) continue;
    const auto task = tasks.find(shard);
    if (task != tasks.end() && (task->second.phase != TaskState::Phase::kEnded || task->second.word == "Succeeded"))
      continue;
    tasks[shard] = {TaskState::Phase::kWaiting, task == tasks.end() ? "" : task->second.word};
  }
  return tasks;
}

Result<std::unique_ptr<JobEngine>> MakeKubernetes(const std::string& name_space,
                                                  const std::vector<JobOption>& options) {
  if (!name_space.empty() && !IsDnsName(name_space, false)) {
    return InputError(
        fmt::format("--on kubernetes:{}: not a valid namespace; expected at most 63 lowercase letters, digits and '-', "
                    "with a letter or digit at both ends",
                    ExcerptLine(name_space, 60)));
  }
  ASSIGN_OR_RETURN(PodOptions pod, PodOptionsFrom(options));
  return std::unique_ptr<JobEngine>(std::make_unique<Kubernetes>(name_space, std::move(pod)));
}

}  // namespace upskill

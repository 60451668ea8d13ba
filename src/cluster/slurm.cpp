// SPDX-License-Identifier: Apache-2.0
#include "cluster/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cluster/job_tool.h"
#include "cluster/task_script.h"
#include "util/folder.h"
#include "util/text.h"

namespace upskill {
namespace {

// Lists of names, each between two spaces.

// Set by the engine itself, or of no use in a job that nobody waits for.
constexpr std::string_view kOwnOptions =
    " array chdir clusters error help input job-name no-requeue open-mode output parsable partition requeue test-only "
    "usage version wait workdir wrap ";

// Those of sbatch that take a value, from 20.11 to 24.11.
constexpr std::string_view kWithValue =
    " account acctg-freq batch bb bbf begin cluster-constraint comment constraint container container-id core-spec "
    "cores-per-socket cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency distribution exclude export "
    "export-file extra extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres "
    "gres-flags hint kill-on-invalid-dep licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu "
    "mincpus network nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket "
    "power prefer priority profile qos reservation segment signal sockets-per-node switches thread-spec "
    "threads-per-core time time-min tmp tres-bind tres-per-task uid wait-all-nodes wckey ";

constexpr std::string_view kWithoutValue =
    " contiguous hold ignore-pbs overcommit oversubscribe quiet reboot spread-job stepmgr use-min-nodes verbose ";

bool IsAmong(std::string_view names, const std::string& name) {
  return names.find(" " + name + " ") != std::string_view::npos;
}

// Whether an option may be passed on to sbatch. Errors (kInput): upskill sets it itself, sbatch might take it for an
// abbreviation of one that upskill sets, or a value is missing or too much. Options that aren't sbatch's own pass: a
// cluster's plugins add some.
Status CheckSbatchOption(const JobOption& option) {
  const std::string& name = option.name;
  const bool has_value = option.value && !option.value->empty();
  if (IsAmong(kOwnOptions, name)) {
    return InputError(fmt::format("--job-option {}: upskill sets this option of sbatch itself{}", name,
                                  name == "partition" ? "; name the partition with --on slurm:NAME" : ""));
  }
  if (const std::size_t start = kOwnOptions.find(" " + name); start != std::string_view::npos) {
    const std::string_view whole = kOwnOptions.substr(start + 1, kOwnOptions.find(' ', start + 1) - start - 1);
    return InputError(
        fmt::format("--job-option {}: sbatch would take it for an abbreviation of --{}, which upskill sets itself; "
                    "write the name of the option in full",
                    name, whole));
  }
  if (IsAmong(kWithValue, name) && !has_value)
    return InputError(fmt::format("--job-option {0}: this option of sbatch needs a value: {0}=VALUE", name));
  if (IsAmong(kWithoutValue, name) && option.value)
    return InputError(fmt::format("--job-option {}: this option of sbatch takes no value", name));
  return {};
}

constexpr int kMaxTask = 1'000'000;

// squeue(1), JOB STATE CODES.
TaskState::Phase PhaseOf(std::string_view state) {
  constexpr std::array<std::string_view, 6> kWaiting = {"PENDING",     "CONFIGURING",  "REQUEUED",
                                                        "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT"};
  constexpr std::array<std::string_view, 7> kRunning = {"RUNNING",  "COMPLETING", "SUSPENDED", "STOPPED",
                                                        "RESIZING", "SIGNALING",  "STAGE_OUT"};
  constexpr std::array<std::string_view, 13> kEnded = {
      "BOOT_FAIL",     "CANCELLED",     "COMPLETED", "DEADLINE",      "FAILED",  "LAUNCH_FAILED", "NODE_FAIL",
      "OUT_OF_MEMORY", "POWER_UP_FAIL", "PREEMPTED", "RECONFIG_FAIL", "REVOKED", "TIMEOUT"};
  if (std::find(kWaiting.begin(), kWaiting.end(), state) != kWaiting.end()) return TaskState::Phase::kWaiting;
  if (std::find(kRunning.begin(), kRunning.end(), state) != kRunning.end()) return TaskState::Phase::kRunning;
  if (std::find(kEnded.begin(), kEnded.end(), state) != kEnded.end()) return TaskState::Phase::kEnded;
  return TaskState::Phase::kUnknown;
}

// Why one of Slurm's tools failed. Where no cluster is within reach, they print several lines of how they searched.
Error SlurmError(const std::vector<std::string>& words, const JobToolOutcome& outcome, bool starts_something) {
  const std::string_view said = Trim(outcome.error);
  const std::string first = ExcerptLine(Trim(said.substr(0, said.find('\n'))), 200);
  if (said.find("Could not establish a configuration source") != std::string_view::npos) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("this machine belongs to no Slurm cluster: there is no slurm.conf, and no controller was "
                             "found ({})",
                             first)};
  }
  if (said.find("Unable to contact slurm controller") != std::string_view::npos) {
    return Error{ErrorKind::kUnavailable,
                 fmt::format("Slurm's controller (slurmctld) isn't running or can't be reached ({})", first)};
  }
  return starts_something ? RefusedByTool(words, outcome) : ToolError(words, outcome);
}

std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t bar = line.find('|');
    fields.push_back(line.substr(0, bar));
    if (bar == std::string_view::npos) return fields;
    line.remove_prefix(bar + 1);
  }
}

bool IsSlurmId(std::string_view id) { return id.size() <= 10 && ParseWholeNumber(id, 1).has_value(); }

// sbatch(1), FILENAME PATTERN: %a is the task, %% a percent sign, and a backslash would turn all of that off.
std::string OutputPattern(const JobArray& array) {
  std::string pattern;
  for (const char c : array.folder.string() + "/") {
    if (c == '\\') return "/dev/null";
    pattern += c == '%' ? "%%" : std::string(1, c);
  }
  return pattern + TaskOutputFile(array.name, "%a");
}

bool IsName(std::string_view name) {
  return !name.empty() && name.front() != '-' && name.size() <= 128 &&
         std::all_of(name.begin(), name.end(), [](char c) { return IsAsciiAlphanumeric(c) || c == '_' || c == '-'; });
}

class Slurm : public JobEngine {
 public:
  Slurm(std::string partition, const std::vector<JobOption>& options) : partition_(std::move(partition)) {
    for (const JobOption& option : options)
      options_.push_back("--" + option.name + (option.value ? "=" + *option.value : ""));
  }

  Result<std::string> Submit(const JobArray& array) override {
    ASSIGN_OR_RETURN(const Folder folder, Folder::Open(array.folder));
    const std::string file = "jobs/" + array.name + ".sh";
    RETURN_IF_ERROR(folder.WriteFile(file, TaskScript(array, "$SLURM_ARRAY_TASK_ID"), {Durability::kSynced, 0700}));
    std::vector<std::string> words = {"sbatch", "--parsable", "--job-name=" + array.name,
                                      fmt::format("--array={}", fmt::join(array.shards, ",")),
                                      "--output=" + OutputPattern(array)};
    if (!partition_.empty()) words.push_back("--partition=" + partition_);
    words.emplace_back(array.restarts ? "--requeue" : "--no-requeue");
    words.insert(words.end(), options_.begin(), options_.end());
    words.emplace_back("--");  // not the script, but this would be the value of an option that lacks one
    words.push_back((array.folder / file).string());
    ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words));
    if (outcome.exit_code != 0) return SlurmError(words, outcome, true);
    return SlurmIdFrom(outcome.output);
  }

  Result<std::optional<std::string>> Find(const std::string& name) override {
    const std::vector<std::string> words = {"squeue", "-h", "-t", "all", "--name=" + name, "-o", "%F"};
    ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words));
    if (outcome.exit_code != 0) return SlurmError(words, outcome, false);
    const std::string_view first = Trim(std::string_view(outcome.output).substr(0, outcome.output.find('\n')));
    if (first.empty()) return std::optional<std::string>();
    if (!IsSlurmId(first)) return Error{ErrorKind::kUnavailable, "squeue printed no job id: " + ExcerptLine(first, 60)};
    return std::optional(std::string(first));
  }

  Result<std::map<int, TaskState>> Poll(const std::string& /*name*/, const std::string& id) override {
    const std::vector<std::string> words = {"squeue", "-h", "-r", "-t", "all", "-j", id, "-o", "%F|%K|%T|%r"};
    ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words));
    std::map<int, TaskState> tasks;
    if (outcome.exit_code == 0) {
      ASSIGN_OR_RETURN(tasks, TasksFromSqueue(outcome.output, id));
    } else if (outcome.error.find("Invalid job id") == std::string::npos) {  // of an array that ended long ago
      return SlurmError(words, outcome, false);
    }
    return tasks.empty() ? FromAccounting(id) : tasks;
  }

  Status Cancel(const std::string& name, const std::string& id) override {
    const std::vector<std::string> words = {"scancel", "--name=" + name, id};  // both: never a job of someone else's
    ASSIGN_OR_RETURN(const JobToolOutcome outcome, RunTool(words));
    if (outcome.exit_code != 0) return SlurmError(words, outcome, false);
    return {};
  }

  bool IsId(std::string_view id) const override { return IsSlurmId(id); }
  std::string CancelLine(const std::string& id) const override { return "scancel " + id; }

 private:
  // Why tasks ended that squeue has forgotten, where Slurm keeps accounts.
  static std::map<int, TaskState> FromAccounting(const std::string& id) {
    std::map<int, TaskState> tasks;
    const Result<JobToolOutcome> outcome = RunTool({"sacct", "-n", "-P", "-X", "-j", id, "-o", "JobID,State"});
    if (!outcome || outcome->exit_code != 0) return tasks;
    for (const auto& [task, word] : StatesFromSacct(outcome->output, id)) tasks[task] = {PhaseOf(word), word};
    return tasks;
  }

  std::string partition_;
  std::vector<std::string> options_;
};

}  // namespace

Result<std::unique_ptr<JobEngine>> MakeSlurm(const std::string& partition, const std::vector<JobOption>& options) {
  if (!partition.empty() && !IsName(partition))
    return InputError(
        fmt::format("--on slurm:{}: not the name of a partition; expected letters, digits, '_' and '-', without '-' at "
                    "the start",
                    ExcerptLine(partition, 60)));
  for (const JobOption& option : options) RETURN_IF_ERROR(CheckSbatchOption(option));
  return std::unique_ptr<JobEngine>(std::make_unique<Slurm>(partition, options));
}

Result<std::string> SlurmIdFrom(std::string_view output) {
  const std::string_view line = Trim(output);
  const std::string_view id = line.substr(0, line.find(';'));
  if (!IsSlurmId(id)) return Error{ErrorKind::kUnavailable, "sbatch printed no job id, but: " + ExcerptLine(line, 200)};
  return std::string(id);
}

Result<std::map<int, TaskState>> TasksFromSqueue(std::string_view output, const std::string& id) {
  std::map<int, TaskState> tasks;
  for (const std::string_view line : SplitLines(output)) {
    if (Trim(line).empty()) continue;
    const std::vector<std::string_view> fields = Fields(Trim(line));
    if (fields.size() < 4 || fields[0] != id)
      return Error{ErrorKind::kUnavailable, "squeue printed an unexpected line: " + ExcerptLine(line, 200)};
    const auto task = ParseWholeNumber(fields[1], 0, kMaxTask);
    if (!task) continue;
    TaskState state;
    state.phase = PhaseOf(fields[2]);
    state.word = ExcerptLine(fields[2], 40);
    if (state.phase == TaskState::Phase::kWaiting && fields[3] != "None")
      state.word += fmt::format(" ({})", ExcerptLine(fields[3], 80));
    tasks[static_cast<int>(*task)] = std::move(state);
  }
  return tasks;
}

std::map<int, std::string> StatesFromSacct(std::string_view output, const std::string& id) {
  std::map<int, std::string> states;
  for (const std::string_view line : SplitLines(output)) {
    const std::vector<std::string_view> fields = Fields(Trim(line));
    if (fields.size() != 2 || !fields[0].starts_with(id + "_")) continue;
    const auto task = ParseWholeNumber(fields[0].substr(id.size() + 1), 0, kMaxTask);
    const std::string_view state = fields[1].substr(0, fields[1].find(' '));  // "CANCELLED by 0"
    if (task && !state.empty()) states[static_cast<int>(*task)] = ExcerptLine(state, 40);
  }
  return states;
}

}  // namespace upskill

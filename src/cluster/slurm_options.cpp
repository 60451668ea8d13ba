// SPDX-License-Identifier: Apache-2.0
#include "cluster/slurm_options.h"

#include <fmt/format.h>

#include <string>
#include <string_view>

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

}  // namespace

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

}  // namespace upskill

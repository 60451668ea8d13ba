// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/device_task.h"

#include <array>
#include <string_view>

#include "util/base64.h"

namespace upskill {
namespace {

constexpr std::array<std::string_view, 4> kRoles = {"in", "out", "inout", "scalar"};

Json ArgumentToJson(const DeviceArgument& argument) {
  return {{"role", kRoles[static_cast<std::size_t>(argument.role)]},
          {"data", EncodeBase64(argument.data)},
          {"bytes", argument.bytes},
          {"bits", argument.bits}};
}

Result<DeviceArgument> ArgumentFromJson(const Json& json) {
  DeviceArgument argument;
  const std::string role = StringAt(json, "role");
  std::size_t number = 0;
  while (number < kRoles.size() && kRoles[number] != role) ++number;
  if (number == kRoles.size()) return InputError("a task for the device has an argument of an unknown role");
  argument.role = static_cast<ArgumentRole>(number);
  argument.data = DecodeBase64(StringAt(json, "data"));
  argument.bytes = JsonGet<std::uint64_t>(json, "bytes", 0);
  argument.bits = JsonGet<std::uint64_t>(json, "bits", 0);
  return argument;
}

}  // namespace

Json TaskToJson(const DeviceTask& task) {
  Json trials = Json::array();
  for (const DeviceTrial& trial : task.trials) {
    Json arguments = Json::array();
    for (const DeviceArgument& argument : trial.arguments) arguments.push_back(ArgumentToJson(argument));
    trials.push_back({{"arguments", std::move(arguments)}, {"seed", trial.seed}, {"same_buffers", trial.same_buffers}});
  }
  return {{"key", task.key},
          {"program", task.program},
          {"seed", task.seed},
          {"checks", task.checks},
          {"counts", task.counts},
          {"threads", task.threads},
          {"instruction_budget", task.instruction_budget},
          {"time_budget_ms", task.time_budget.count()},
          {"trials", std::move(trials)}};
}

Result<DeviceTask> TaskFromJson(const Json& json) {
  DeviceTask task;
  task.key = StringAt(json, "key");
  task.seed = JsonGet<std::uint64_t>(json, "seed", 0);
  task.checks = JsonGet<bool>(json, "checks", true);
  task.counts = JsonGet<bool>(json, "counts", true);
  task.threads = JsonGet<std::uint32_t>(json, "threads", 1);
  task.instruction_budget = JsonGet<std::uint64_t>(json, "instruction_budget", task.instruction_budget);
  task.time_budget = std::chrono::milliseconds(JsonGet<std::int64_t>(json, "time_budget_ms", task.time_budget.count()));
  for (const Json& word : Member(json, "program")) {
    if (word.is_string()) task.program.push_back(word.get<std::string>());
  }
  if (task.program.empty()) return InputError("a task for the device names no program");
  for (const Json& each : Member(json, "trials")) {
    DeviceTrial trial;
    trial.seed = JsonGet<std::uint64_t>(each, "seed", 0);
    trial.same_buffers = JsonGet<bool>(each, "same_buffers", false);
    for (const Json& argument : Member(each, "arguments")) {
      ASSIGN_OR_RETURN(DeviceArgument read, ArgumentFromJson(argument));
      trial.arguments.push_back(std::move(read));
    }
    task.trials.push_back(std::move(trial));
  }
  return task;
}

}  // namespace upskill

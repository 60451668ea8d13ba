// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

enum class ArgumentRole { kIn, kOut, kInOut, kScalar };

// One argument of the function that a trial calls.
struct DeviceArgument {
  ArgumentRole role = ArgumentRole::kIn;
  std::string data;         // of a buffer that is read
  std::uint64_t bytes = 0;  // of the buffer
  std::uint64_t bits = 0;   // of a scalar: a double or a whole number of 64 bits
};

// One call of the function.
struct DeviceTrial {
  std::vector<DeviceArgument> arguments;
  std::uint64_t seed = 0;     // of the order of warps and blocks, and of the addresses
  bool same_buffers = false;  // at the addresses of the trial before, whose sizes are the same
};

// A program to run on the emulated device, by itself or for trials.
struct DeviceTask {
  std::string key;                   // which only the report repeats: the program can't see it
  std::vector<std::string> program;  // and its arguments
  std::vector<DeviceTrial> trials;
  std::uint64_t seed = 0;                             // of launches outside of trials
  bool checks = true;                                 // races, uninitialised memory
  bool counts = true;                                 // coalescing, bank conflicts
  std::uint32_t threads = 1;                          // that run the blocks of a launch
  std::uint64_t instruction_budget = 20'000'000'000;  // of threads, in all launches together
  std::chrono::milliseconds time_budget{60'000};      // of all launches together
};

Json TaskToJson(const DeviceTask& task);
// Errors: what TaskToJson doesn't make.
Result<DeviceTask> TaskFromJson(const Json& json);

}  // namespace upskill

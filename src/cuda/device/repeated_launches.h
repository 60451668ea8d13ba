// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/ptx/device_memory.h"
#include "cuda/ptx/launch.h"

namespace upskill {

// Recognizes launches that repeat earlier ones in identical memory, as in programs that measure times, so that they
// needn't be run again. The first run of a launch isn't recorded. After it, a launch is known once two runs in a row,
// in different orders of warps and blocks, have started from the same memory and left the same memory. Only launches
// that complete, have no findings, print nothing and read no clock can become known. Memory is compared by hashes, and
// hashing is limited to a small part of the time that launches take.
class RepeatedLaunches {
 public:
  // `launch` has all that decides what the launch does, except for the memory. If what it does is known, this does it,
  // and returns what came of it. Otherwise nullptr: the launch is to be run, and Ran is to be told.
  const ptx::LaunchOutcome* Repeat(std::string_view launch, ptx::DeviceMemory& memory);
  void Ran(const ptx::LaunchOutcome& outcome, ptx::DeviceMemory& memory);
  // To be called when something other than a launch may have changed memory.
  void MemoryChanged() { state_.reset(); }

 private:
  struct State {
    std::vector<std::uint64_t> chunks;  // a hash of each part of the memory, and of who wrote it
    std::uint64_t id = 0;               // a hash of all of them and of the places of allocations
  };
  struct Change {
    std::size_t chunk = 0;
    std::uint64_t hash = 0;
    std::vector<std::uint8_t> bytes;
  };
  struct Known {
    int runs = 0;  // in a row, with the same result
    std::uint64_t after = 0;
    ptx::LaunchOutcome outcome;
    std::vector<Change> changes;
  };
  // Launches whose results keep changing are looked at less and less often.
  struct Pause {
    std::uint32_t length = 0;
    std::uint32_t left = 0;
  };
  std::optional<State> StateOf(ptx::DeviceMemory& memory);
  bool NoteResult(const State& before, const ptx::LaunchOutcome& outcome, ptx::DeviceMemory& memory);
  void Forget();

  std::map<std::uint64_t, Pause> seen_;                                // by the hash of the launch
  std::map<std::pair<std::uint64_t, std::uint64_t>, Known> outcomes_;  // by that hash and the state before
  std::uint64_t kept_bytes_ = 0;                                       // of changes
  std::uint64_t credit_ = 0;                                           // bytes that may be hashed
  std::optional<State> state_;                                         // of the memory as it is
  std::optional<State> before_;  // the memory before the running launch, if hashed
  std::uint64_t launch_ = 0;     // the hash of that launch
};

}  // namespace upskill

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

// Recognizes launches that are repeated in memory in which they have run before, as programs that measure times do
// hundreds of times, so that they needn't be run again. A launch is known once it has run twice in the same memory, in
// different orders of warps and blocks, and has left the same. Only launches that completed, have no findings, print
// nothing and read no clock are. Memory is compared by hashes, which take a small part of the time that launches take.
class RepeatedLaunches {
 public:
  // `launch` has all that decides what the launch does, except for the memory. If what it does is known, this does it,
  // and returns what came of it. Otherwise nullptr: the launch is to be run, and Ran is to be told.
  const ptx::LaunchOutcome* Repeat(std::string_view launch, ptx::DeviceMemory& memory);
  void Ran(const ptx::LaunchOutcome& outcome, ptx::DeviceMemory& memory);
  // Anything but a launch may have changed memory.
  void MemoryChanged() { state_.reset(); }

 private:
  struct State {
    std::vector<std::uint64_t> chunks;  // a hash of each part of the memory, and of who wrote it
    std::uint64_t id = 0;               // of all of them, and of where allocations are
  };
  struct Change {
    std::size_t chunk = 0;
    std::uint64_t hash = 0;
    std::vector<std::uint8_t> bytes;
  };
  struct Known {
    int runs = 0;  // one after the other that had the same result
    std::uint64_t after = 0;
    ptx::LaunchOutcome outcome;
    std::vector<Change> changes;
  };
  // Launches whose results change are looked at ever more rarely.
  struct Pause {
    std::uint32_t length = 0;
    std::uint32_t left = 0;
  };
  std::optional<State> StateOf(ptx::DeviceMemory& memory);
  bool NoteResult(const State& before, const ptx::LaunchOutcome& outcome, ptx::DeviceMemory& memory);
  void Forget();

  std::map<std::uint64_t, Pause> seen_;                                // by the hash of the launch
  std::map<std::pair<std::uint64_t, std::uint64_t>, Known> outcomes_;  // by that, and by the state before
  std::uint64_t kept_bytes_ = 0;                                       // of changes
  std::uint64_t credit_ = 0;                                           // bytes that may be hashed
  std::optional<State> state_;                                         // of the memory as it is
  std::optional<State> before_;                                        // the launch that is being run
  std::uint64_t launch_ = 0;                                           // that one
};

}  // namespace upskill

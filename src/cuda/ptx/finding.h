// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cuda/ptx/module.h"

namespace upskill::ptx {

// A place in the CUDA source (from -lineinfo). Line 0: unknown.
struct SourceLine {
  std::string file;
  std::uint32_t line = 0;
  bool operator==(const SourceLine&) const = default;
};

enum class FindingKind : std::uint8_t {
  kOutOfBounds,
  kMisaligned,
  kReadOnlyWrite,
  kUninitialised,       // a value that nobody wrote decides something or is stored
  kRace,                // two accesses that nothing orders
  kAsyncRead,           // a read of what an asynchronous copy, not waited for, writes
  kDivergentBarrier,    // some threads can never reach the barrier at which others wait
  kDeadlock,            // nothing can run any more
  kBadSynchronisation,  // a lane that isn't in the mask, an mbarrier that isn't initialised, …
  kTrap,                // trap, or an assertion that failed
  kUnsupported,         // an instruction that isn't implemented was to be executed
};

const char* FindingKindName(FindingKind kind);  // "out-of-bounds"

// What a check found at one place of a kernel. The first occurrence is described, the others are counted.
struct Finding {
  FindingKind kind = FindingKind::kOutOfBounds;
  std::string message;  // in the words of compute-sanitizer: "Invalid __global__ read of size 4 bytes"
  std::string detail;   // "Address 0x700000100 is out of bounds: 0 bytes after …"; may be empty
  std::string kernel;
  SourceLine source;                   // the innermost place, perhaps in a header
  std::vector<SourceLine> inlined_at;  // from there outwards
  std::uint32_t ptx_line = 0;
  std::string instruction;  // "ld.global.f32"
  Dim3 block{0, 0, 0};
  Dim3 thread{0, 0, 0};
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;  // of one access
  Space space = Space::kGeneric;
  // The other access of a race.
  SourceLine other_source;
  std::uint32_t other_ptx_line = 0;
  Dim3 other_block{0, 0, 0};
  Dim3 other_thread{0, 0, 0};
  std::uint64_t count = 1;  // occurrences at this place, over all threads
};

}  // namespace upskill::ptx

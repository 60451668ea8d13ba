// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// What PTX (PTX ISA 9.0, chapters 4, 5 and 9) shows of the kernels in it.
struct PtxFacts {
  std::string target;                // sm_90a
  std::vector<std::string> kernels;  // names of the functions that can be launched
  std::map<std::string, std::size_t>
      instructions;                    // how often each is there, with its modifiers: cp.async.ca.shared.global
  std::uint64_t shared_alignment = 0;  // the largest of a variable in shared memory, bytes
};

PtxFacts FactsOfPtx(std::string_view ptx);

// Whether an instruction of such a name is used: the name's parts are among those of the instruction, in this order,
// and the first parts are the same ("ld.global.v4", "mma"). `cp.async` means the copy, not `cp.async.bulk`, which
// is also `tma`, nor `cp.async.wait_group` and the like.
bool UsesInstruction(const PtxFacts& facts, std::string_view name);

// What `ptxas -v` says of the kernels that it has assembled.
struct AssemblerFacts {
  std::optional<std::uint64_t> registers;     // of a thread, the most of all kernels
  std::optional<std::uint64_t> spill_bytes;   // stores and loads of all kernels together
  std::optional<std::uint64_t> shared_bytes;  // static, the most of all kernels
};

AssemblerFacts FactsOfAssembler(std::string_view log);

}  // namespace upskill

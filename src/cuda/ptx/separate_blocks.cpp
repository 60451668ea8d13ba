// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/separate_blocks.h"

#include <algorithm>

#include "cuda/ptx/forms.h"
#include "cuda/ptx/operand.h"

namespace upskill::ptx {
namespace {

// Fences alone order nothing here: what they make known is passed on by the accesses that are refused.
bool ConcernsOtherBlocks(const Inst& inst) {
  const bool own = inst.space == Space::kShared || inst.space == Space::kLocal;
  switch (inst.action) {
    case Action::kAtomic:
      return !own;
    case Action::kLoad:
    case Action::kStore:
      return !own && inst.ordering != Ordering::kWeak;
    case Action::kSpecialRegister:
      return IsClock(static_cast<SpecialRegister>(inst.sub));
    case Action::kCall:
      return inst.sub == kCallPrintf;
    case Action::kClusterBarrier:
    case Action::kMapToRank:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool HasSeparateBlocks(const Program& program, const Function& kernel) {
  const auto functions = static_cast<std::uint32_t>(program.functions.size());
  std::vector<bool> known(functions, false);
  std::vector<std::uint32_t> next{static_cast<std::uint32_t>(&kernel - program.functions.data())};
  known[next[0]] = true;
  const auto add = [&](std::uint32_t function) {
    if (function >= functions || known[function]) return;
    known[function] = true;
    next.push_back(function);
  };
  while (!next.empty()) {
    const Function& function = program.functions[next.back()];
    next.pop_back();
    if (!function.has_body) continue;
    for (std::uint32_t pc = function.entry; pc < function.end; ++pc) {
      const Inst& inst = program.code[pc];
      if (ConcernsOtherBlocks(inst)) return false;
      if (inst.action != Action::kCall) continue;
      if (inst.sub == kCallDirect) add(program.calls[inst.target].function);
      if (inst.sub != kCallIndirect) continue;
      for (std::uint32_t i = 0; i < functions; ++i) add(i);
    }
  }
  return true;
}

}  // namespace upskill::ptx

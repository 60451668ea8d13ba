// SPDX-License-Identifier: Apache-2.0
// Barriers, and what the lanes of a warp do together.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "cuda/ptx/forms.h"
#include "cuda/ptx/machine.h"

namespace upskill::ptx {
namespace {

constexpr std::uint32_t kMostExpected = 2048;  // threads at a barrier; more than a block has

}  // namespace

// A fragment comes here twice: when it arrives, and when all have arrived.
Step Machine::Barrier(const Inst& inst, std::uint32_t mask) {
  if (mask != warp_->fragments[fragment_].mask) {
    SplitOff(mask, warp_->fragments[fragment_].pc);
    return Step::kNext;
  }
  Fragment& fragment = warp_->fragments[fragment_];
  const bool reduces = inst.sub >= kBarrierPopc;
  const std::uint32_t first = inst.results;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
  const std::uint32_t id = Register<std::uint32_t>(Operand(inst, first))[lane] & 15U;
  BlockBarrier& barrier = block_->barriers[id];
  if (fragment.arrived) {
    fragment.arrived = false;
    return Step::kNext;
  }
  const std::uint32_t threads = std::min(Register<std::uint32_t>(Operand(inst, first + 1))[lane], kMostExpected);
  barrier.threads = threads;
  // The lanes that a warp lacks count like those that arrive.
  const std::uint32_t missing = mask == warp_->live ? ~warp_->lanes : 0U;
  barrier.arrived += static_cast<std::uint32_t>(std::popcount(mask | (threads != 0 ? missing : 0U)));
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto member = static_cast<std::uint32_t>(std::countr_zero(rest));
    barrier.members.push_back(static_cast<std::uint16_t>(warp_->index * 32 + member));
  }
  barrier.places.emplace_back(warp_->index, fragment.pc);
  if (reduces) {
    const std::uint32_t value = *Register<std::uint32_t>(Operand(inst, first + 2)) & mask;
    barrier.ones += static_cast<std::uint32_t>(std::popcount(value));
    barrier.any_zero = barrier.any_zero || value != mask;
  }
  if (inst.sub == kBarrierArrive) {
    CheckBarriers(*block_);
    return Step::kNext;
  }
  fragment.state = FragmentState::kBarrier;
  fragment.barrier = id;
  CheckBarriers(*block_);
  return Step::kStay;
}

void Machine::CheckBarriers(Block& block) {
  for (std::uint32_t id = 0; id < block.barriers.size(); ++id) {
    const BlockBarrier& barrier = block.barriers[id];
    if (barrier.members.empty()) continue;
    const std::uint32_t expected = barrier.threads == 0 ? block.live_threads : barrier.threads;
    if (barrier.arrived >= expected) CompleteBarrier(block, id);
  }
}

// The threads of a barrier must come from one place of the code in each warp, and none may have left the kernel.
void Machine::CheckDivergence(Block& block, BlockBarrier& barrier) {
  std::sort(barrier.places.begin(), barrier.places.end());
  barrier.places.erase(std::unique(barrier.places.begin(), barrier.places.end()), barrier.places.end());
  std::uint32_t last_warp = kNowhere;
  for (const auto& [warp, pc] : barrier.places) {
    const Inst& inst = program_.code[pc];
    const std::string& name = program_.names[inst.name];
    if (warp == last_warp && (name.starts_with("bar.") || name.ends_with("aligned"))) {
      Report(FindingKind::kDivergentBarrier, inst,
             static_cast<std::uint32_t>(std::countr_zero(block.warps[warp].lanes)),
             "Barrier error detected. Divergent thread(s) in warp", "lanes of a warp wait at different barriers");
    }
    last_warp = warp;
  }
  const auto all = static_cast<std::uint32_t>(config_.block.Count());
  if (barrier.threads == 0 && barrier.members.size() < all && !barrier.places.empty()) {
    const Inst& inst = program_.code[barrier.places.begin()->second];
    Report(FindingKind::kDivergentBarrier, inst, barrier.members.front() % 32U,
           "Barrier error detected. Divergent thread(s) in block",
           "some threads of the block ended before they reached the barrier");
  }
}

void Machine::CompleteBarrier(Block& block, std::uint32_t id) {
  BlockBarrier& barrier = block.barriers[id];
  ++outcome_.counters.barriers;
  ++changes_;
  Warp* const running = warp_;
  warp_ = &block.warps[barrier.members.front() / 32];
  CheckDivergence(block, barrier);
  warp_ = running;
  if (options_.check_races) {
    if (barrier.members.size() >= block.live_threads) {
      races_.BlockBarrier(block.clock);
    } else {
      races_.SomeWarpsBarrier(block.clock, block.index, barrier.members);
    }
  }
  for (Warp& warp : block.warps) {
    for (Fragment& fragment : warp.fragments) {
      if (fragment.state != FragmentState::kBarrier || fragment.barrier != id) continue;
      fragment.state = FragmentState::kRunnable;
      fragment.arrived = true;
      fragment.barrier = 0;
      const Inst& inst = program_.code[fragment.pc];
      if (inst.sub < kBarrierPopc) continue;
      char* const registers = fragment.frame->registers.get();
      if (inst.sub == kBarrierPopc) {
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
          if (((fragment.mask >> lane) & 1U) != 0)
            std::memcpy(registers + inst.op[0] + std::size_t{lane} * 4, &barrier.ones, 4);
        }
      } else {
        const bool result = inst.sub == kBarrierAnd ? !barrier.any_zero : barrier.ones > 0;
        auto* p = reinterpret_cast<std::uint32_t*>(registers + inst.op[0]);
        *p = result ? *p | fragment.mask : *p & ~fragment.mask;
      }
      if (!fragment.frame->taints.empty()) fragment.frame->taints[inst.op[0] / 64].lanes &= ~fragment.mask;
    }
  }
  // The vectors keep their memory for the next time.
  barrier.members.clear();
  barrier.places.clear();
  barrier = BlockBarrier{.members = std::move(barrier.members), .places = std::move(barrier.places)};
}

// Whether all lanes that the mask of each lane names are here. Otherwise the fragment waits for them, and false is
// returned; those that wait at the same place join.
bool Machine::Gather(const Inst& inst, std::uint32_t mask_operand, std::uint32_t mask) {
  Warp& warp = *warp_;
  Fragment& fragment = warp.fragments[fragment_];
  const auto* masks = Register<std::uint32_t>(mask_operand);
  std::uint32_t wanted = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    if (((masks[lane] >> lane) & 1U) == 0) {
      Report(FindingKind::kBadSynchronisation, inst, lane,
             "Invalid arguments: the mask doesn't include the thread itself");
    }
    wanted |= masks[lane];
  }
  wanted &= warp.live;
  if ((wanted & ~mask) == 0 || fragment.arrived) {
    fragment.arrived = false;
    return true;
  }
  std::uint32_t here = mask;
  for (const Fragment& other : warp.fragments) {
    if (&other == &fragment || other.state != FragmentState::kCollective) continue;
    const bool same_place = other.pc == fragment.pc && other.frame == fragment.frame;
    const bool both_sync =
        inst.action == Action::kWarpBarrier && program_.code[other.pc].action == Action::kWarpBarrier;
    if (same_place || both_sync) here |= other.mask;
  }
  fragment.state = FragmentState::kCollective;
  if ((wanted & ~here) != 0) return false;
  // All are here: those at the same place run as one, those at other barriers of the warp go on too.
  for (Fragment& other : warp.fragments) {
    if (other.state != FragmentState::kCollective || (other.mask & wanted) == 0) continue;
    other.state = FragmentState::kRunnable;
    other.arrived = true;
  }
  if (options_.check_races) races_.WarpBarrier(block_->clock, warp.index, here, warp.live);
  return false;
}

Step Machine::WarpSync(const Inst& inst, std::uint32_t mask) {
  if (mask != warp_->fragments[fragment_].mask) {
    SplitOff(mask, warp_->fragments[fragment_].pc);
    return Step::kNext;
  }
  if (!Gather(inst, inst.op[0], mask)) return Step::kStay;
  if (options_.check_races) races_.WarpBarrier(block_->clock, warp_->index, mask, warp_->live);
  return Step::kNext;
}

namespace {

// The lane that `lane` reads, if it is in its segment.
std::optional<std::uint32_t> ShuffleSource(std::uint8_t form, std::uint32_t lane, std::uint32_t b, std::uint32_t c) {
  const std::uint32_t clamp = c & 31U;
  const std::uint32_t segment = (c >> 8U) & 31U;
  const std::uint32_t most = (lane & segment) | (clamp & ~segment);
  const std::uint32_t delta = b & 31U;
  if (form == kShuffleUp) {
    if (lane < delta || lane - delta < most) return std::nullopt;
    return lane - delta;
  }
  const std::uint32_t from = form == kShuffleDown  ? lane + delta
                             : form == kShuffleXor ? lane ^ delta
                                                   : (lane & segment) | (delta & ~segment);
  if (from > most) return std::nullopt;
  return from;
}

}  // namespace

Step Machine::Shuffle(const Inst& inst, std::uint32_t mask) {
  if (mask != warp_->fragments[fragment_].mask) {
    SplitOff(mask, warp_->fragments[fragment_].pc);
    return Step::kNext;
  }
  if (!Gather(inst, inst.op[5], mask)) return Step::kStay;
  if (options_.check_races) races_.WarpBarrier(block_->clock, warp_->index, mask, warp_->live);
  auto* d = Register<std::uint32_t>(inst.op[0]);
  const auto* b = Register<std::uint32_t>(inst.op[3]);
  const auto* c = Register<std::uint32_t>(inst.op[4]);
  std::array<std::uint32_t, 32> values{};
  std::memcpy(values.data(), Register<std::uint32_t>(inst.op[2]), sizeof values);
  const Taint source =
      (inst.op[2] & kConstantBit) != 0 || !options_.check_uninitialised ? Taint{} : frame_->taints[inst.op[2] / 64];
  std::uint32_t p = 0;
  std::uint32_t undefined = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const std::optional<std::uint32_t> chosen = ShuffleSource(inst.sub, lane, b[lane], c[lane]);
    const std::uint32_t from = chosen.value_or(lane);
    if (chosen) p |= 1U << lane;
    if (((mask >> from) & 1U) == 0) {
      if (((warp_->live >> from) & 1U) == 0) undefined |= 1U << lane;
      d[lane] = values[from];
      if (((warp_->live >> from) & 1U) != 0) {
        Report(FindingKind::kBadSynchronisation, inst, lane,
               "Shuffle reads the value of a thread that isn't in the mask");
      }
      continue;
    }
    d[lane] = values[from];
    if (((source.lanes >> from) & 1U) != 0) undefined |= 1U << lane;
  }
  std::uint32_t& predicate = *Register<std::uint32_t>(inst.op[1]);
  predicate = (predicate & ~mask) | p;
  if (options_.check_uninitialised) {
    Taint& taint = frame_->taints[inst.op[0] / 64];
    taint.lanes = (taint.lanes & ~mask) | undefined;
    taint.computed &= ~mask;
    taint.origin = source.origin == kNowhere ? LocationPc(inst) : source.origin;
    frame_->taints[inst.op[1] / 64].lanes &= ~mask;
  }
  return Step::kNext;
}

Step Machine::Vote(const Inst& inst, std::uint32_t mask) {
  if (mask != warp_->fragments[fragment_].mask) {
    SplitOff(mask, warp_->fragments[fragment_].pc);
    return Step::kNext;
  }
  if (!Gather(inst, inst.op[2], mask)) return Step::kStay;
  if (options_.check_races) races_.WarpBarrier(block_->clock, warp_->index, mask, warp_->live);
  const std::uint32_t value = *Register<std::uint32_t>(inst.op[1]);
  const auto* masks = Register<std::uint32_t>(inst.op[2]);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const std::uint32_t members = masks[lane] & mask;
    const std::uint32_t ones = value & members;
    if (inst.sub == kVoteBallot) {
      Register<std::uint32_t>(inst.op[0])[lane] = ones;
      continue;
    }
    const bool result = inst.sub == kVoteAll   ? ones == members
                        : inst.sub == kVoteAny ? ones != 0
                                               : ones == members || ones == 0;
    std::uint32_t& p = *Register<std::uint32_t>(inst.op[0]);
    p = result ? p | (1U << lane) : p & ~(1U << lane);
  }
  if (options_.check_uninitialised) Propagate(inst, mask);
  return Step::kNext;
}

Step Machine::Match(const Inst& inst, std::uint32_t mask) {
  if (mask != warp_->fragments[fragment_].mask) {
    SplitOff(mask, warp_->fragments[fragment_].pc);
    return Step::kNext;
  }
  if (!Gather(inst, inst.op[3], mask)) return Step::kStay;
  if (options_.check_races) races_.WarpBarrier(block_->clock, warp_->index, mask, warp_->live);
  const auto value = [&](std::uint32_t lane) {
    return inst.source_slot_size == 8 ? Register<std::uint64_t>(inst.op[2])[lane]
                                      : std::uint64_t{Register<std::uint32_t>(inst.op[2])[lane]};
  };
  const auto* masks = Register<std::uint32_t>(inst.op[3]);
  std::array<std::uint32_t, 32> results{};
  std::uint32_t p = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const std::uint32_t members = masks[lane] & mask;
    for (std::uint32_t other = 0; other < 32; ++other) {
      if (((members >> other) & 1U) != 0 && value(other) == value(lane)) results[lane] |= 1U << other;
    }
    if (results[lane] == members) p |= 1U << lane;
    if (inst.sub == 1 && results[lane] != members) results[lane] = 0;
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) != 0) Register<std::uint32_t>(inst.op[0])[lane] = results[lane];
  }
  std::uint32_t& predicate = *Register<std::uint32_t>(inst.op[1]);
  predicate = (predicate & ~mask) | p;
  if (options_.check_uninitialised) Propagate(inst, mask);
  return Step::kNext;
}

Step Machine::Redux(const Inst& inst, std::uint32_t mask) {
  if (mask != warp_->fragments[fragment_].mask) {
    SplitOff(mask, warp_->fragments[fragment_].pc);
    return Step::kNext;
  }
  if (!Gather(inst, inst.op[2], mask)) return Step::kStay;
  if (options_.check_races) races_.WarpBarrier(block_->clock, warp_->index, mask, warp_->live);
  std::array<std::uint32_t, 32> values{};
  std::memcpy(values.data(), Register<std::uint32_t>(inst.op[1]), sizeof values);
  const auto* masks = Register<std::uint32_t>(inst.op[2]);
  const auto combine = [&](std::uint32_t a, std::uint32_t b) -> std::uint32_t {
    const bool is_signed = IsSigned(inst.type);
    const bool less = is_signed ? static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) : a < b;
    switch (inst.atomic) {
      case AtomicOp::kAdd:
        return a + b;
      case AtomicOp::kMin:
        return less ? a : b;
      case AtomicOp::kMax:
        return less ? b : a;
      case AtomicOp::kAnd:
        return a & b;
      case AtomicOp::kOr:
        return a | b;
      default:
        return a ^ b;
    }
  };
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    std::uint32_t result = values[lane];
    for (std::uint32_t other = 0; other < 32; ++other) {
      if (other != lane && (((masks[lane] & mask) >> other) & 1U) != 0) result = combine(result, values[other]);
    }
    Register<std::uint32_t>(inst.op[0])[lane] = result;
  }
  if (options_.check_uninitialised) Propagate(inst, mask);
  return Step::kNext;
}

Step Machine::Elect(const Inst& inst, std::uint32_t mask) {
  if (!Gather(inst, inst.op[2], mask)) return Step::kStay;
  const auto leader = static_cast<std::uint32_t>(std::countr_zero(mask));
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) != 0) Register<std::uint32_t>(inst.op[0])[lane] = leader;
  }
  std::uint32_t& predicate = *Register<std::uint32_t>(inst.op[1]);
  predicate = (predicate & ~mask) | (1U << leader);
  if (options_.check_uninitialised) Propagate(inst, mask);
  return Step::kNext;
}

// Nothing of the block can run: lanes that wait for others which will never come go on without them.
void Machine::ReleaseStuckCollectives(Block& block) {
  for (Warp& warp : block.warps) {
    for (Fragment& fragment : warp.fragments) {
      if (fragment.state != FragmentState::kCollective) continue;
      warp_ = &warp;
      Report(FindingKind::kBadSynchronisation, program_.code[fragment.pc],
             static_cast<std::uint32_t>(std::countr_zero(fragment.mask)), "Threads of the mask don't arrive",
             "the mask names threads of the warp that take another way");
      fragment.state = FragmentState::kRunnable;
      fragment.arrived = true;
    }
  }
}

}  // namespace upskill::ptx

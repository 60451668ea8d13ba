// SPDX-License-Identifier: Apache-2.0
// How a warp runs: fragments of lanes, branches, special registers.
#include <algorithm>
#include <bit>
#include <cstring>

#include "cuda/ptx/forms.h"
#include "cuda/ptx/machine.h"

namespace upskill::ptx {
namespace {

constexpr std::uint32_t kTurn = 400;         // warp instructions of a turn
constexpr std::uint64_t kPatience = 20'000;  // warp instructions until a fragment gives way to the others

}  // namespace

// The fragment that gave way least, then the one that is deepest in calls, then the one that is furthest behind.
std::size_t Machine::ChooseFragment(Warp& warp) const {
  std::size_t best = warp.fragments.size();
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    const Fragment& candidate = warp.fragments[i];
    if (candidate.state != FragmentState::kRunnable) continue;
    if (best == warp.fragments.size()) {
      best = i;
      continue;
    }
    const Fragment& other = warp.fragments[best];
    if (candidate.turns != other.turns) {
      if (candidate.turns < other.turns) best = i;
    } else if (candidate.frame->depth != other.frame->depth) {
      if (candidate.frame->depth > other.frame->depth) best = i;
    } else if (program_.priority[candidate.pc] < program_.priority[other.pc]) {
      best = i;
    }
  }
  return best;
}

// Lanes at the same place of the same call go on together.
void Machine::MergeFragments(Warp& warp) {
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    for (std::size_t k = warp.fragments.size() - 1; k > i; --k) {
      Fragment& a = warp.fragments[i];
      const Fragment& b = warp.fragments[k];
      if (a.pc != b.pc || a.frame != b.frame || a.state != b.state || a.arrived != b.arrived ||
          a.barrier != b.barrier) {
        continue;
      }
      a.mask |= b.mask;
      a.turns = std::max(a.turns, b.turns);
      warp.fragments.erase(warp.fragments.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

void Machine::RunWarp(Warp& warp) {
  warp_ = &warp;
  std::uint32_t left = kTurn;
  if (options_.schedule_seed != 0) left = 1 + static_cast<std::uint32_t>(OrderOf(*warp.block).Next() % kTurn);
  const std::uint32_t turn = left;
  give_way_ = false;
  while (left > 0 && !ended_) {
    if (warp.fragments.size() > 1) MergeFragments(warp);
    const std::size_t chosen = ChooseFragment(warp);
    if (chosen == warp.fragments.size()) return;
    RunFragment(warp, chosen, left);
    if (give_way_) return;
  }
  if (warp.fragments.size() > 1 && warp.executed / kPatience != (warp.executed - (turn - left)) / kPatience) {
    const std::size_t chosen = ChooseFragment(warp);
    if (chosen < warp.fragments.size()) ++warp.fragments[chosen].turns;
  }
}

// Runs until the fragment's lanes part, wait, end, meet other lanes, or the turn is over.
void Machine::RunFragment(Warp& warp, std::size_t index, std::uint32_t& left) {
  fragment_ = index;
  frame_ = warp.fragments[index].frame;
  bases_ = {frame_->registers.get(), constants_base_};
  const std::size_t fragments = warp.fragments.size();
  while (left > 0) {
    Fragment& fragment = warp.fragments[index];
    const Inst& inst = program_.code[fragment.pc];
    std::uint32_t mask = fragment.mask;
    if (inst.guard != kNoSlot) {
      if (options_.check_uninitialised) CheckUse(inst, inst.guard, mask);
      const std::uint32_t predicate = *Register<std::uint32_t>(inst.guard);
      mask &= inst.guard_negated ? ~predicate : predicate;
    }
    --left;
    Retire(inst, mask);
    if (inst.alu != nullptr && inst.action == Action::kAlu) {
      if (mask != 0) {
        inst.alu(bases_.data(), inst, mask);
        if (options_.check_uninitialised) Propagate(inst, mask);
      }
      ++fragment.pc;
    } else {
      const Step step = mask == 0 && inst.action != Action::kBranch ? Step::kNext : Execute(inst, mask);
      if (ended_ || step == Step::kEnd) return;
      if (step == Step::kStay) return;
      if (step == Step::kNext) ++warp.fragments[index].pc;
      if (give_way_ || warp.fragments.size() != fragments || warp.fragments[index].frame != frame_) return;
    }
    if (fragments > 1) {
      // Whoever is further behind runs first; who is at the same place joins.
      const std::size_t next = ChooseFragment(warp);
      if (next != index) return;
      for (std::size_t i = 0; i < fragments; ++i) {
        if (i != index && warp.fragments[i].pc == warp.fragments[index].pc) return;
      }
    }
  }
}

void Machine::Retire(const Inst& inst, std::uint32_t mask) {
  const std::uint64_t lanes = mask == 0xFFFFFFFFU ? 32U : static_cast<std::uint64_t>(std::popcount(mask));
  ++outcome_.counters.warp_instructions;
  outcome_.counters.thread_instructions += lanes;
  tallies_[inst.tally] += lanes;
  ++warp_->executed;
}

// The lanes in which a predicate has a value, and decides what it is joined with by `or` or `and`.
std::uint32_t Machine::DecidedLanes(std::uint32_t predicate, bool by_or) const {
  if ((predicate & kConstantBit) != 0) return 0;
  const std::uint32_t value = *Register<std::uint32_t>(predicate);
  return (by_or ? value : ~value) & ~frame_->taints[predicate / 64].lanes;
}

void Machine::Propagate(const Inst& inst, std::uint32_t mask) {
  Taint sum;
  const std::uint32_t count = std::uint32_t{inst.results} + inst.sources;
  if (count <= inst.op.size()) {
    // Nearly always, all sources have values.
    std::uint32_t lanes = 0;
    for (std::uint32_t i = inst.results; i < count; ++i) {
      if ((inst.op[i] & kConstantBit) == 0) lanes |= frame_->taints[inst.op[i] / 64].lanes;
    }
    if ((lanes & mask) == 0) {
      for (std::uint32_t i = 0; i < inst.results; ++i) {
        Taint& taint = frame_->taints[inst.op[i] / 64];
        if ((taint.lanes & mask) == 0) continue;
        taint.lanes &= ~mask;
        taint.computed &= ~mask;
      }
      return;
    }
  }
  const bool selects = inst.copies && inst.sub == 1 && inst.sources == 3;
  const bool or_joins = program_.names[inst.name].starts_with("or.pred");
  const bool joins = (or_joins || program_.names[inst.name].starts_with("and.pred")) && inst.op[0] != inst.op[1] &&
                     inst.op[0] != inst.op[2];
  for (std::uint32_t i = inst.results; i < count; ++i) {
    const std::uint32_t operand = count <= inst.op.size() ? inst.op[i] : Operand(inst, i);
    if ((operand & kConstantBit) != 0) continue;
    const Taint& taint = frame_->taints[operand / 64];
    std::uint32_t lanes = taint.lanes;
    if (selects && i < 3) {
      const std::uint32_t chosen = *Register<std::uint32_t>(inst.op[3]);
      lanes &= i == 1 ? chosen : ~chosen;
    }
    if (joins) lanes &= ~DecidedLanes(inst.op[3 - i], or_joins);
    if ((lanes & mask) == 0) continue;
    sum.lanes |= lanes & mask;
    sum.computed |= taint.computed & lanes & mask;
    sum.origin = taint.origin;
  }
  // Code that isn't optimised sets a bit field by reading the word, clearing some bits and adding the new ones. Which
  // of the bits have values isn't tracked.
  if (program_.debug && sum.lanes != 0 && program_.names[inst.name].starts_with("and.b")) sum = {};
  if (!inst.copies) sum.computed = sum.lanes;
  for (std::uint32_t i = 0; i < inst.results; ++i) {
    const std::uint32_t operand = count <= inst.op.size() ? inst.op[i] : Operand(inst, i);
    Taint& taint = frame_->taints[operand / 64];
    if (((taint.lanes & mask) | sum.lanes) == 0) continue;
    taint.lanes = (taint.lanes & ~mask) | sum.lanes;
    taint.computed = (taint.computed & ~mask) | sum.computed;
    if (sum.lanes != 0) taint.origin = sum.origin;
  }
}

void Machine::SplitOff(std::uint32_t mask, std::uint32_t pc) {
  Fragment other = warp_->fragments[fragment_];
  other.mask = mask;
  other.pc = pc;
  warp_->fragments[fragment_].mask &= ~mask;
  warp_->fragments.push_back(other);
}

Step Machine::Branch(const Inst& inst, std::uint32_t taken) {
  Fragment& fragment = warp_->fragments[fragment_];
  ++outcome_.counters.branches;
  if (inst.target == fragment.pc && taken != 0) {
    // Nothing changes on the way, so these lanes never go on.
    if (taken != fragment.mask) SplitOff(taken, inst.target);
    Fragment& endless =
        taken == warp_->fragments[fragment_].mask ? warp_->fragments[fragment_] : warp_->fragments.back();
    endless.state = FragmentState::kEndless;
    return &endless == &warp_->fragments[fragment_] ? Step::kStay : Step::kNext;
  }
  if (taken == fragment.mask) {
    fragment.pc = inst.target;
    return Step::kJumped;
  }
  if (taken == 0) return Step::kNext;
  ++outcome_.counters.divergent_branches;
  SplitOff(taken, inst.target);
  return Step::kNext;
}

Step Machine::BranchIndexed(const Inst& inst, std::uint32_t mask) {
  const std::vector<std::uint32_t>& targets = program_.branch_targets[inst.target];
  const auto* index = Register<std::uint32_t>(inst.op[0]);
  std::map<std::uint32_t, std::uint32_t> lanes_of;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    if (index[lane] >= targets.size()) {
      Report(FindingKind::kOutOfBounds, inst, lane, "Invalid index of a branch", {});
      Stop(Ending::kTrapped, "an indexed branch beyond its targets");
      return Step::kEnd;
    }
    lanes_of[targets[index[lane]]] |= 1U << lane;
  }
  ++outcome_.counters.branches;
  Fragment& fragment = warp_->fragments[fragment_];
  if (lanes_of.size() == 1 && mask == fragment.mask) {
    fragment.pc = lanes_of.begin()->first;
    return Step::kJumped;
  }
  ++outcome_.counters.divergent_branches;
  for (const auto& [target, lanes] : lanes_of) {
    if (warp_->fragments[fragment_].mask == lanes) {
      warp_->fragments[fragment_].pc = target;
      return Step::kJumped;
    }
    SplitOff(lanes, target);
  }
  return Step::kNext;
}

Step Machine::Exit(std::uint32_t mask) {
  ++changes_;
  Warp& warp = *warp_;
  warp.live &= ~mask;
  block_->live_threads -= static_cast<std::uint32_t>(std::popcount(mask));
  for (Frame* frame = frame_; frame != nullptr;) {
    Frame* caller = frame->caller;
    LeaveFrame(frame, mask);
    frame = caller;
  }
  Fragment& fragment = warp.fragments[fragment_];
  fragment.mask &= ~mask;
  LeaveCluster(mask);
  const bool gone = fragment.mask == 0;
  if (gone) warp.fragments.erase(warp.fragments.begin() + static_cast<std::ptrdiff_t>(fragment_));
  // Who waits for these lanes needn't any more.
  for (Fragment& other : warp.fragments) {
    if (other.state == FragmentState::kCollective) other.state = FragmentState::kRunnable;
  }
  CheckBarriers(*block_);
  return gone ? Step::kEnd : Step::kNext;
}

Step Machine::Execute(const Inst& inst, std::uint32_t mask) {
  switch (inst.action) {
    case Action::kBranch:
      return Branch(inst, mask);
    case Action::kBranchIndexed:
      return BranchIndexed(inst, mask);
    case Action::kCall:
      return Call(inst, mask);
    case Action::kReturn:
      return Return(mask);
    case Action::kExit:
      return Exit(mask);
    case Action::kTrap:
      Report(FindingKind::kTrap, inst, static_cast<std::uint32_t>(std::countr_zero(mask)), "trap instruction executed");
      Stop(Ending::kTrapped, "a trap instruction");
      return Step::kEnd;
    case Action::kBarrier:
      return Barrier(inst, mask);
    case Action::kWarpBarrier:
      return WarpSync(inst, mask);
    case Action::kClusterBarrier:
      return inst.sub == kClusterWait ? ClusterWait(inst, mask) : ClusterArrive(inst, mask);
    case Action::kShuffle:
      return Shuffle(inst, mask);
    case Action::kVote:
      return Vote(inst, mask);
    case Action::kMatch:
      return Match(inst, mask);
    case Action::kRedux:
      return Redux(inst, mask);
    case Action::kElect:
      return Elect(inst, mask);
    case Action::kMbarrierTest:
      NotePoll(inst, mask);
      return MbarrierTest(inst, mask);
    default:
      return ExecuteMemory(inst, mask);
  }
}

Step Machine::ExecuteMemory(const Inst& inst, std::uint32_t mask) {
  switch (inst.action) {
    case Action::kLoad:
      Load(inst, mask);
      if (inst.ordering != Ordering::kWeak) {
        NotePoll(inst, mask);
        // Others may come between a read and what the thread does with it.
        if (options_.schedule_seed != 0 && OrderOf(*block_).Next() % 4 == 0) give_way_ = true;
      }
      break;
    case Action::kStore:
      Store(inst, mask);
      ++changes_;
      break;
    case Action::kLoadArgument:
      LoadArgument(inst, mask);
      break;
    case Action::kAtomic:
      Atomic(inst, mask);
      NotePoll(inst, mask);
      break;
    case Action::kAsyncCopy:
      AsyncCopyTo(inst, mask);
      break;
    case Action::kAsyncCommit:
      AsyncCommit(mask);
      break;
    case Action::kAsyncWait:
      AsyncWait(inst, mask);
      break;
    case Action::kAsyncArrive:
      AsyncArrive(inst, mask);
      ++changes_;
      break;
    case Action::kLoadMatrix:
    case Action::kStoreMatrix:
      LoadMatrix(inst, mask);
      ++changes_;
      break;
    case Action::kMma:
      Mma(inst, mask);
      break;
    case Action::kWmmaLoad:
    case Action::kWmmaStore:
      WmmaMove(inst, mask);
      break;
    case Action::kWmmaMultiply:
      WmmaMultiply(inst, mask);
      break;
    case Action::kWgmma:
      Wgmma(inst, mask);
      break;
    default:
      return ExecuteOther(inst, mask);
  }
  return Step::kNext;
}

Step Machine::ExecuteOther(const Inst& inst, std::uint32_t mask) {
  switch (inst.action) {
    case Action::kSpecialRegister:
      Special(inst, mask);
      break;
    case Action::kLocalAddress:
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        if (((mask >> lane) & 1U) == 0) continue;
        const std::uint64_t value = frame_->local_base + static_cast<std::uint64_t>(inst.imm);
        std::memcpy(Register<char>(inst.op[0]) + std::size_t{lane} * inst.slot_size, &value, inst.slot_size);
      }
      break;
    case Action::kConvertAddress:
      ConvertAddress(inst, mask);
      break;
    case Action::kIsSpace:
      IsSpace(inst, mask);
      break;
    case Action::kBulkCopy:
      BulkCopy(inst, mask);
      break;
    case Action::kTensorCopy:
      TensorCopy(inst, mask);
      break;
    case Action::kMapToRank:
      MapToRank(inst, mask);
      break;
    case Action::kActiveMask:
      for (std::uint32_t lane = 0; lane < 32; ++lane) {
        if (((mask >> lane) & 1U) != 0) Register<std::uint32_t>(inst.op[0])[lane] = mask;
      }
      break;
    case Action::kFence:
      Fence(inst, mask);
      break;
    case Action::kYield:
      give_way_ = true;
      ++warp_->fragments[fragment_].turns;
      return Step::kNext;
    case Action::kMbarrierInit:
    case Action::kMbarrierInval:
    case Action::kMbarrierArrive:
    case Action::kMbarrierExpect:
      MbarrierChange(inst, mask);
      ++changes_;
      break;
    case Action::kNop:
      return Step::kNext;
    default:
      outcome_.unsupported = program_.names[inst.name];
      Report(FindingKind::kUnsupported, inst, static_cast<std::uint32_t>(std::countr_zero(mask)),
             "Unsupported instruction " + program_.names[inst.name]);
      Stop(Ending::kUnsupported, "the instruction " + program_.names[inst.name] + " isn't supported");
      return Step::kEnd;
  }
  if (options_.check_uninitialised && inst.action != Action::kMbarrierInit) Propagate(inst, mask);
  return Step::kNext;
}

}  // namespace upskill::ptx

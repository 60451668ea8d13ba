// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "cuda/ptx/separate_blocks.h"

namespace upskill::ptx {
namespace {

constexpr std::uint64_t kSharedGap = 32;               // between variables, so that overruns are found
constexpr std::uint64_t kMostSharedBytes = 4U << 20U;  // of a block, with gaps
constexpr std::size_t kResidentBlocks = 8;
constexpr std::size_t kMostResidentBlocks = 2048;           // if all of them wait for others
constexpr std::uint64_t kMostPolls = 20'000;                // that find no change, until they count as a deadlock
constexpr std::uint64_t kCheckInterval = 100'000;           // thread instructions between two looks at the clock
constexpr std::uint64_t kSeedStep = 0xD1B54A32D192ED03ULL;  // from block to block: odd, and not that of Rng itself

std::uint64_t RoundUp(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

}  // namespace

void AlignedDelete::operator()(char* memory) const { ::operator delete[](memory, std::align_val_t{64}); }

Machine::Machine(const LoadedModule& loaded, DeviceMemory& memory, const Function& kernel, const LaunchConfig& config,
                 std::span<const std::uint8_t> arguments, const RunOptions& options)
    : loaded_(loaded),
      program_(loaded.module().program()),
      memory_(memory),
      kernel_(kernel),
      config_(config),
      arguments_(arguments.begin(), arguments.end()),
      options_(options),
      races_(options.memory_budget / 2),
      rng_(options.schedule_seed),
      separate_(options.schedule_seed != 0 && HasSeparateBlocks(program_, kernel_)) {
  deadline_ = std::chrono::steady_clock::now() + options.time_budget;
}

Machine::~Machine() {
  if (arguments_address_ != 0) static_cast<void>(memory_.Free(arguments_address_));
  if (workspace_address_ != 0) static_cast<void>(memory_.Free(workspace_address_));
}

Status Machine::Prepare() {
  ASSIGN_OR_RETURN(arguments_address_,
                   memory_.Allocate(std::max<std::size_t>(arguments_.size(), 1), "kernel arguments"));
  RETURN_IF_ERROR(memory_.Write(arguments_address_, arguments_));
  memory_.SetReadOnly(arguments_address_, true);
  memory_.SetInternal(arguments_address_);
  if (config_.cooperative) {
    ASSIGN_OR_RETURN(workspace_address_, memory_.Allocate(64, "grid workspace"));
    RETURN_IF_ERROR(memory_.Fill(workspace_address_, 0, 64));
    memory_.SetInternal(workspace_address_);
  }
  RETURN_IF_ERROR(LayOutShared());
  PrepareConstants();
  return {};
}

Status Machine::LayOutShared() {
  const auto index = static_cast<std::uint32_t>(&kernel_ - program_.functions.data());
  shared_offsets_.assign(program_.shared.size(), 0);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  std::uint64_t end = kSharedStart;
  const auto place = [&](bool common) {
    for (std::size_t i = 0; i < program_.shared.size(); ++i) {
      const SharedVariable& variable = program_.shared[i];
      if (common ? variable.function != kNoSlot : variable.function != index) continue;
      shared_offsets_[i] = RoundUp(end, std::max<std::uint64_t>(variable.alignment, 16));
      end = shared_offsets_[i] + variable.bytes;
      ranges.emplace_back(shared_offsets_[i], end);
      end += kSharedGap;
    }
  };
  place(true);
  place(false);
  dynamic_shared_ = RoundUp(end, program_.dynamic_shared_alignment);
  if (dynamic_shared_ > kMostSharedBytes) {
    return InputError(
        fmt::format("the {} shared variables, aligned and with gaps between them, take more than {} bytes",
                    ranges.size(), kMostSharedBytes));
  }
  shared_end_ = dynamic_shared_ + config_.dynamic_shared_bytes;
  ranges.emplace_back(dynamic_shared_, shared_end_);
  shared_initial_state_.assign(shared_end_ + kSharedGap, kGap);
  for (const auto& [first, last] : ranges) {
    std::fill(shared_initial_state_.begin() + static_cast<std::ptrdiff_t>(first),
              shared_initial_state_.begin() + static_cast<std::ptrdiff_t>(last), std::uint8_t{0});
  }
  return {};
}

void Machine::PrepareConstants() {
  constants_.assign(program_.constants.begin(), program_.constants.end());
  constants_.resize(constants_.size() + 512);
  constants_base_ = constants_.data();
  for (const Relocation& relocation : program_.relocations) {
    std::uint64_t value = 0;
    switch (relocation.kind) {
      case Relocation::Kind::kVariable:
        value = loaded_.AddressOf(program_.globals[relocation.index].info.name);
        break;
      case Relocation::Kind::kShared:
        value = shared_offsets_[relocation.index];
        break;
      case Relocation::Kind::kDynamicShared:
        value = dynamic_shared_;
        break;
      case Relocation::Kind::kFunction:
        value = kFunctionAddress + std::uint64_t{16} * relocation.index;
        break;
      case Relocation::Kind::kArguments:
        value = arguments_address_;
        break;
    }
    value += static_cast<std::uint64_t>(relocation.addend);
    for (std::size_t lane = 0; lane < 32; ++lane) {
      std::memcpy(constants_.data() + relocation.offset + lane * relocation.bytes, &value,
                  std::min<std::size_t>(relocation.bytes, 8));
    }
  }
}

// The blocks of a cluster start together.
void Machine::StartCluster() {
  const Dim3& shape = config_.cluster;
  const auto size = static_cast<std::uint32_t>(shape.Count());
  const std::uint32_t number = next_block_ / size;
  const std::uint32_t columns = config_.grid.x / shape.x;
  const std::uint32_t rows = config_.grid.y / shape.y;
  const Dim3 first{number % columns * shape.x, number / columns % rows * shape.y, number / columns / rows * shape.z};
  clusters_.push_back(std::make_unique<Cluster>());
  Cluster& cluster = *clusters_.back();
  for (std::uint32_t rank = 0; rank < size && !ended_; ++rank) {
    const Dim3 in_cluster = BlockInCluster(rank);
    const std::uint64_t row = first.y + in_cluster.y + std::uint64_t{config_.grid.y} * (first.z + in_cluster.z);
    StartBlock(static_cast<std::uint32_t>(first.x + in_cluster.x + config_.grid.x * row), cluster);
  }
  next_block_ += size;
}

void Machine::StartBlock(std::uint32_t index, Cluster& cluster) {
  auto block = std::make_unique<Block>();
  block->index = index;
  block->id = BlockDim(index);
  block->rng = Rng(options_.schedule_seed + index * kSeedStep);
  block->cluster = &cluster;
  block->rank = static_cast<std::uint32_t>(cluster.blocks.size());
  const auto threads = static_cast<std::uint32_t>(config_.block.Count());
  block->live_threads = threads;
  block->shared.assign(shared_initial_state_.size(), 0);
  block->shared_state = shared_initial_state_;
  block->bytes = 2 * block->shared.size() + 65'536;
  if (options_.check_races) {
    block->shared_shadow.resize(block->shared.size() / 4 + 1);
    block->bytes += block->shared_shadow.size() * sizeof(ShadowCell);
    block->clock.threads.resize(threads);
    block->clock.warps.resize((threads + 31) / 32);
  }
  block->warps = std::vector<Warp>((threads + 31) / 32);
  host_bytes_ += block->bytes;
  block_ = block.get();
  for (std::uint32_t w = 0; w < block->warps.size(); ++w) {
    Warp& warp = block->warps[w];
    warp.block = block.get();
    warp.index = w;
    const std::uint32_t count = std::min(32U, threads - w * 32);
    warp.lanes = warp.live = count == 32 ? 0xFFFFFFFFU : (1U << count) - 1;
    warp_ = &warp;
    Frame* frame = NewFrame(warp, static_cast<std::uint32_t>(&kernel_ - program_.functions.data()));
    if (frame == nullptr) return;
    frame->lanes = warp.lanes;
    NeedLocal(kernel_.local_bytes);
    Fragment fragment;
    fragment.mask = warp.lanes;
    fragment.pc = kernel_.entry;
    fragment.frame = frame;
    warp.fragments.push_back(fragment);
  }
  cluster.blocks.push_back(block.get());
  // Nothing that happened before this launch, or before this block, races with it by itself: time only goes on.
  resident_.push_back(std::move(block));
}

void Machine::Stop(Ending ending, std::string reason) {
  if (ended_) return;
  ended_ = true;
  outcome_.ending = ending;
  if (workers_ != nullptr) workers_->failed = true;
  outcome_.reason = std::move(reason);
}

bool Machine::Spent() {
  if (ended_) return true;
  if (outcome_.counters.thread_instructions < next_check_) return false;
  next_check_ = outcome_.counters.thread_instructions + kCheckInterval;
  if (workers_ != nullptr) {
    if (WorkersSpent()) GiveUp();
  } else if (outcome_.counters.thread_instructions > options_.instruction_budget) {
    Stop(Ending::kBudget, fmt::format("more than {} thread instructions", options_.instruction_budget));
  } else if (std::chrono::steady_clock::now() > deadline_) {
    Stop(Ending::kBudget, fmt::format("more than {} ms", options_.time_budget.count()));
  } else if (host_bytes_ > options_.memory_budget) {
    Stop(Ending::kBudget, fmt::format("more than {} bytes of memory", options_.memory_budget));
  } else if (options_.stop && options_.stop()) {
    Stop(Ending::kBudget, "stopped");
  } else if ((next_block_ >= config_.grid.Count() || resident_.size() >= kMostResidentBlocks) && OnlyPolls()) {
    ReportDeadlock();
  }
  return ended_;
}

// The running lanes have looked at what others may change.
void Machine::NotePoll(const Inst& inst, std::uint32_t mask) {
  Fragment& fragment = warp_->fragments[fragment_];
  std::uint64_t address = static_cast<std::uint64_t>(inst.imm);
  if (inst.action != Action::kMbarrierTest && inst.address_mode != AddressMode::kFrame && inst.sources > 0) {
    const bool load = inst.action == Action::kLoad;
    const std::uint32_t at = load ? 0 : (inst.atomic == AtomicOp::kCas ? 2U : 1U);
    address = AddressOf(inst, static_cast<std::uint32_t>(std::countr_zero(mask)), Operand(inst, inst.results + at));
  }
  if (fragment.polled_at != changes_ || fragment.polled_address != address) fragment.polls = 0;
  fragment.polled_address = address;
  fragment.polled_at = changes_;
  ++fragment.polls;
}

// Whether all threads wait in loops for a change of memory, which none of them makes.
bool Machine::OnlyPolls() const {
  bool any = false;
  for (const auto& block : resident_) {
    for (const Warp& warp : block->warps) {
      for (const Fragment& fragment : warp.fragments) {
        if (fragment.state != FragmentState::kRunnable) continue;
        if (fragment.polled_at != changes_ || fragment.polls < kMostPolls) return false;
        any = true;
      }
    }
  }
  return any;
}

bool Machine::Runnable(const Block& block) const {
  for (const Warp& warp : block.warps) {
    for (const Fragment& fragment : warp.fragments) {
      if (fragment.state == FragmentState::kRunnable) return true;
    }
  }
  return false;
}

// Every warp of the block that can run gets a turn, from a place that the seed chooses.
void Machine::RunBlock(Block& block) {
  block_ = &block;
  const std::size_t count = block.warps.size();
  const std::size_t first = options_.schedule_seed == 0 ? 0 : OrderOf(block).Next() % count;
  for (std::size_t i = 0; i < count && !ended_; ++i) RunWarp(block.warps[(first + i) % count]);
  if (!ended_ && !Runnable(block) && block.live_threads > 0) ReleaseStuckCollectives(block);
}

// One turn of all resident blocks. Returns whether anything ran.
bool Machine::RunResident() {
  const std::uint64_t before = outcome_.counters.warp_instructions;
  for (std::size_t i = 0; i < resident_.size() && !Spent(); ++i) RunBlock(*resident_[i]);
  const std::size_t ended = std::erase_if(resident_, [this](const std::unique_ptr<Block>& block) {
    if (block->live_threads > 0) return false;
    host_bytes_ -= block->bytes;
    if (options_.check_races) races_.ForgetShared(block->index);
    block->cluster->blocks[block->rank] = nullptr;
    return true;
  });
  if (ended > 0) {
    std::erase_if(clusters_, [](const std::unique_ptr<Cluster>& cluster) {
      return std::all_of(cluster->blocks.begin(), cluster->blocks.end(),
                         [](const Block* block) { return block == nullptr; });
    });
  }
  return outcome_.counters.warp_instructions != before;
}

LaunchOutcome Machine::Run() {
  const std::uint64_t blocks = config_.grid.Count();
  std::size_t resident = config_.cooperative ? blocks : kResidentBlocks;
  if (options_.schedule_seed == 0 && !config_.cooperative) resident = 1;
  while (!Spent()) {
    const bool awaits = AwaitsDivision();
    if (awaits && resident_.empty() && RunOnThreads()) break;
    while (division_ != Division::kNear && resident_.size() < resident && next_block_ < blocks && !Spent()) {
      StartCluster();
      if (host_bytes_ > options_.memory_budget) {
        Stop(Ending::kBudget, fmt::format("more than {} bytes of memory", options_.memory_budget));
      }
    }
    if (ended_ || resident_.empty()) break;
    const bool ran = RunResident();
    // Blocks that wait for something are no reason to wait for them.
    if (awaits && !resident_.empty() && (!ran || OnlyPolls())) division_ = Division::kOver;
    if (ran || awaits || ended_ || resident_.empty()) {
      // Blocks that only wait for others need those to start.
      if (resident < kResidentBlocks && give_way_) resident = kResidentBlocks;
      if (next_block_ < blocks && resident < kMostResidentBlocks && OnlyPolls()) resident = 2 * resident_.size();
      continue;
    }
    bool runnable = false;
    for (const auto& block : resident_) runnable = runnable || Runnable(*block);
    if (!runnable) ReportDeadlock();
  }
  outcome_.race_checks_incomplete = races_.Incomplete();
  FillCounters();
  return std::move(outcome_);
}

// Of the first threads that are in an endless loop, or if there are none, of the first ones.
void Machine::ReportDeadlock() {
  const Fragment* found = nullptr;
  for (const auto& block : resident_) {
    for (Warp& warp : block->warps) {
      for (const Fragment& fragment : warp.fragments) {
        const bool endless = fragment.state == FragmentState::kEndless;
        if (found != nullptr && (!endless || found->state == FragmentState::kEndless)) continue;
        found = &fragment;
        block_ = block.get();
        warp_ = &warp;
      }
    }
  }
  const bool endless = found != nullptr && found->state == FragmentState::kEndless;
  if (found != nullptr) {
    Report(FindingKind::kDeadlock, program_.code[found->pc], static_cast<std::uint32_t>(std::countr_zero(found->mask)),
           endless ? "Deadlock: the thread is in an endless loop" : "Deadlock: the thread waits forever",
           endless ? "nothing in the loop can change: the compiler may have moved a read out of it"
                   : "no other thread can arrive");
  }
  Stop(Ending::kDeadlock, endless ? "a thread is in an endless loop" : "threads wait for others that never arrive");
}

}  // namespace upskill::ptx

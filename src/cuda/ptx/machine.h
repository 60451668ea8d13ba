// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cuda/ptx/block_state.h"
#include "cuda/ptx/block_workers.h"
#include "cuda/ptx/lane_addresses.h"
#include "cuda/ptx/launch.h"
#include "cuda/ptx/operand.h"
#include "cuda/ptx/program.h"
#include "cuda/ptx/race_checker.h"
#include "cuda/ptx/tensor_map.h"
#include "cuda/ptx/word_claims.h"

namespace upskill::ptx {

enum class Step : std::uint8_t { kNext, kStay, kJumped, kEnd };

// Whether the rest of the blocks is dealt to several threads: perhaps later, as soon as those that run have ended, or
// not any more.
enum class Division : std::uint8_t { kLater, kNear, kOver };

// One launch, or what one worker does of it. Not thread-safe.
class Machine {
 public:
  Machine(const LoadedModule& loaded, DeviceMemory& memory, const Function& kernel, const LaunchConfig& config,
          std::span<const std::uint8_t> arguments, const RunOptions& options);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  LaunchOutcome Run();
  Status Prepare();

 private:
  // machine.cpp: blocks and time
  void PrepareConstants();
  Status LayOutShared();
  void StartCluster();
  void StartBlock(std::uint32_t index, Cluster& cluster);
  void RunBlock(Block& block);
  bool RunResident();
  bool Spent();
  void Stop(Ending ending, std::string reason);
  // Of the order in which the block's warps run. Where blocks are separate, it depends on the block alone, so that it
  // is the same whatever runs beside it.
  Rng& OrderOf(Block& block) { return separate_ ? block.rng : rng_; }
  // Host memory that the current block uses, of the memory budget.
  void Charge(std::uint64_t bytes) { Charge(*block_, bytes); }
  void Charge(Block& block, std::uint64_t bytes) {
    host_bytes_ += bytes;
    block.bytes += bytes;
  }
  void Discharge(std::uint64_t bytes) {
    host_bytes_ -= bytes;
    block_->bytes -= bytes;
  }
  void ReportDeadlock();
  void NotePoll(const Inst& inst, std::uint32_t mask);
  bool OnlyPolls() const;
  bool Runnable(const Block& block) const;

  // run_on_threads.cpp
  Machine(const Machine& first, BlockWorkers& workers, std::uint32_t number);
  bool AwaitsDivision();
  bool RunOnThreads();
  bool TakeResults(const BlockWorkers& workers, const std::vector<std::unique_ptr<Machine>>& machines);
  void RunAsWorker();
  void RunDealtBlocks();
  bool WorkersSpent();
  bool ClaimTogether(const WarpAccess& access, std::uint32_t mask, std::uint32_t bytes, bool writes);
  // Of a worker: what it did doesn't count. The launch goes on with one thread.
  void GiveUp() { Stop(Ending::kBudget, {}); }

  // warp.cpp
  void RunWarp(Warp& warp);
  std::size_t ChooseFragment(Warp& warp) const;
  void MergeFragments(Warp& warp);
  void RunFragment(Warp& warp, std::size_t index, std::uint32_t& left);
  Step Execute(const Inst& inst, std::uint32_t mask);
  Step ExecuteMemory(const Inst& inst, std::uint32_t mask);
  Step ExecuteOther(const Inst& inst, std::uint32_t mask);
  void Propagate(const Inst& inst, std::uint32_t mask);
  void Retire(const Inst& inst, std::uint32_t mask);
  Step Branch(const Inst& inst, std::uint32_t taken);
  Step BranchIndexed(const Inst& inst, std::uint32_t mask);
  Step Exit(std::uint32_t mask);
  void SplitOff(std::uint32_t mask, std::uint32_t pc);
  void Special(const Inst& inst, std::uint32_t mask);
  void Broadcast(const Inst& inst, std::uint32_t mask, const std::array<std::uint8_t, 16>& value);
  std::uint64_t SpecialValue(SpecialRegister special) const;
  std::uint64_t IndexValue(SpecialRegister special) const;
  std::uint64_t ClusterValue(SpecialRegister special) const;

  // calls.cpp
  Frame* NewFrame(Warp& warp, std::uint32_t function);
  Frame* JoinFrame(std::uint32_t call, std::uint32_t function, std::uint32_t mask, std::uint32_t return_pc);
  Step Call(const Inst& inst, std::uint32_t mask);
  Step Enter(const CallSite& site, std::uint32_t call, std::uint32_t function, std::uint32_t mask,
             std::uint32_t return_pc);
  Step Return(std::uint32_t mask);
  void LeaveFrame(Frame* frame, std::uint32_t mask);
  void NeedLocal(std::uint32_t bytes);
  void CopyLocal(std::uint32_t lane, std::uint32_t to, std::uint32_t from, std::uint32_t bytes);
  std::uint64_t LocalValue(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes) const;
  Step Printf(const CallSite& site, std::uint32_t mask);
  std::string Format(const std::string& format, std::uint64_t arguments, std::uint32_t& count);
  std::string FormatOne(std::string spec, char conversion, std::uint64_t& at);
  Step AssertFail(const CallSite& site, std::uint32_t mask);
  std::string StringAt(std::uint64_t address);
  std::vector<std::uint8_t> BytesAt(std::uint64_t address, std::uint32_t bytes);

  // memory_access.cpp
  std::uint64_t AddressOf(const Inst& inst, std::uint32_t lane, std::uint32_t base) const;
  bool Resolve(const Inst& inst, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes, const char* what,
               Target& target);
  bool ResolveGlobal(const Inst& inst, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes, const char* what,
                     Target& target);
  bool ResolveShared(const Inst& inst, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes, const char* what,
                     Target& target);
  bool ResolveLocal(const Inst& inst, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes, const char* what,
                    Target& target);
  void Load(const Inst& inst, std::uint32_t mask);
  void Store(const Inst& inst, std::uint32_t mask);
  void LoadArgument(const Inst& inst, std::uint32_t mask);
  void Atomic(const Inst& inst, std::uint32_t mask);
  void ConvertAddress(const Inst& inst, std::uint32_t mask);
  void IsSpace(const Inst& inst, std::uint32_t mask);
  void CheckRace(const Inst& inst, std::uint32_t lane, const Target& target, std::uint32_t bytes, bool writes,
                 bool strong, bool same_value);
  void CheckStrongRead(const Inst& inst, std::uint32_t lane, const Target& target, std::uint32_t bytes,
                       const ShadowCell& cell, const MemoryAccess& access);
  bool IsPolled(const Inst& inst) const;
  void CheckProxyFence(const Inst& inst, std::uint32_t lane, const Target& from, std::uint32_t bytes);
  void Order(const Inst& inst, std::uint32_t lane, const Target& target, bool reads, bool writes);
  void CheckLostUpdate(const Inst& inst, std::uint32_t lane, const Target& target, std::uint32_t bytes, bool writes);
  std::uint32_t KnownBytes(const Inst& inst, std::uint32_t lane, const Target& target, std::uint32_t bytes);
  void CountAccess(std::uint32_t mask, const std::array<std::uint64_t, 32>& addresses, std::uint32_t bytes, Space space,
                   bool writes);  // access_counts.cpp
  void CheckUse(const Inst& inst, std::uint32_t operand, std::uint32_t mask);
  std::uint32_t TaintOf(std::uint32_t operand) const;
  std::uint32_t DecidedLanes(std::uint32_t predicate, bool by_or) const;

  // warp_access.cpp
  void AddressesTogether(const Inst& inst, std::uint32_t mask, std::uint32_t base, LaneAddresses& lanes) const;
  std::optional<WarpAccess> ResolveLocals(LaneAddresses& lanes, std::uint32_t mask, std::uint32_t bytes);
  std::optional<WarpAccess> ResolveTogether(const Inst& inst, LaneAddresses& lanes, std::uint32_t mask,
                                            std::uint32_t bytes);
  MemoryAccess Watched(const Inst& inst) const;
  void WatchReads(const Inst& inst, const WarpAccess& access, std::uint32_t mask, std::uint32_t bytes);
  void WatchLane(const Inst& inst, const WarpAccess& access, std::uint32_t lane, std::uint32_t bytes, bool writes,
                 bool same_value, MemoryAccess& watched);
  bool LoadTogether(const Inst& inst, std::uint32_t mask, std::uint32_t base, std::uint32_t bytes);
  bool StoreTogether(const Inst& inst, std::uint32_t mask, std::uint32_t base, std::uint32_t bytes);
  void CountTogether(const WarpAccess& access, std::uint32_t mask, std::uint32_t bytes, bool writes);

  // synchronisation.cpp
  Step Barrier(const Inst& inst, std::uint32_t mask);
  void CompleteBarrier(Block& block, std::uint32_t id);
  void CheckBarriers(Block& block);
  void CheckDivergence(Block& block, BlockBarrier& barrier);
  bool Gather(const Inst& inst, std::uint32_t mask_operand, std::uint32_t mask);
  Step WarpSync(const Inst& inst, std::uint32_t mask);
  Step Shuffle(const Inst& inst, std::uint32_t mask);
  Step Vote(const Inst& inst, std::uint32_t mask);
  Step Match(const Inst& inst, std::uint32_t mask);
  Step Redux(const Inst& inst, std::uint32_t mask);
  Step Elect(const Inst& inst, std::uint32_t mask);
  void Fence(const Inst& inst, std::uint32_t mask);
  void ReleaseStuckCollectives(Block& block);

  // cluster.cpp
  Dim3 BlockInCluster(std::uint32_t rank) const;
  Block* OwnerOf(std::uint64_t shared_address) const;
  std::uint32_t SharedScope(const Target& target) const {
    return (target.block == nullptr ? block_ : target.block)->index + 1;
  }
  void MapToRank(const Inst& inst, std::uint32_t mask);
  void NoteRemoteAccess(const Inst& inst, std::uint32_t lane, Block& owner, std::uint64_t address, std::uint32_t bytes);
  void CheckAccessesOfOthers(Block& block);
  Step ClusterArrive(const Inst& inst, std::uint32_t mask);
  Step ClusterWait(const Inst& inst, std::uint32_t mask);
  void CheckClusterBarrier(Cluster& cluster);
  void LeaveCluster(std::uint32_t mask);

  // async.cpp
  void AsyncCopyTo(const Inst& inst, std::uint32_t mask);
  void AsyncCommit(std::uint32_t mask);
  void AsyncWait(const Inst& inst, std::uint32_t mask);
  void Perform(std::uint32_t lane, std::vector<AsyncCopy>& copies);
  void AsyncArrive(const Inst& inst, std::uint32_t mask);
  Mbarrier* FindMbarrier(const Inst& inst, std::uint32_t lane, std::uint32_t base, Target& place);
  void MbarrierChange(const Inst& inst, std::uint32_t mask);
  void Arrive(Mbarrier& barrier, std::int64_t count);
  Step MbarrierTest(const Inst& inst, std::uint32_t mask);

  // bulk_copy.cpp
  std::optional<BulkEnds> BulkEndsOf(const Inst& inst, std::uint32_t lane, std::uint32_t bytes, std::uint64_t to);
  void BulkCopy(const Inst& inst, std::uint32_t mask);
  // Brings the next look at the budgets nearer: one instruction has moved so many bytes.
  void NoteMoved(std::uint64_t bytes) { next_check_ -= std::min(next_check_, bytes); }
  void BulkCopyTo(const Inst& inst, std::uint32_t lane, std::uint64_t to, std::uint64_t barrier);
  void BulkToShared(const Inst& inst, std::uint32_t lane, const BulkEnds& ends, std::uint32_t bytes,
                    std::uint64_t barrier);
  void DeliverBulk(Block& block, std::uint64_t address, std::uint64_t phase);

  // tensor_copy.cpp
  std::optional<TensorMap> TensorMapAt(const Inst& inst, std::uint32_t lane, std::uint64_t address);
  void TensorCopy(const Inst& inst, std::uint32_t mask);
  bool ResolveBox(const Inst& inst, std::uint32_t lane, std::uint64_t shared, std::uint32_t bytes, const char* what,
                  Target& box);
  void CountPart(bool loads, const TensorPart& part);
  void LoadBox(const Inst& inst, std::uint32_t lane, const TensorMap& map, const std::vector<TensorPart>& parts,
               std::uint64_t shared, std::uint64_t barrier);
  void StoreBox(const Inst& inst, std::uint32_t lane, const TensorMap& map, const std::vector<TensorPart>& parts,
                std::uint64_t shared);

  // wmma.cpp, wgmma.cpp
  std::uint64_t FragmentBits(std::uint32_t operand, unsigned lane, unsigned index, unsigned size) const;
  void SetFragmentBits(std::uint32_t operand, unsigned lane, unsigned index, unsigned size, std::uint64_t bits);
  bool WmmaMoveTogether(const Inst& inst, std::uint32_t mask, std::uint32_t base, std::uint64_t stride, unsigned size);
  void WmmaMove(const Inst& inst, std::uint32_t mask);
  void WmmaMultiply(const Inst& inst, std::uint32_t mask);
  double MatrixElement(const Inst& inst, std::uint32_t lane, std::uint64_t descriptor, unsigned row, unsigned k);
  void Wgmma(const Inst& inst, std::uint32_t mask);

  // matrix.cpp
  void LoadMatrix(const Inst& inst, std::uint32_t mask);
  void Mma(const Inst& inst, std::uint32_t mask);

  // reports.cpp
  void Report(FindingKind kind, const Inst& inst, std::uint32_t lane, std::string message, std::string detail = {},
              std::uint64_t address = 0, std::uint32_t bytes = 0, Space space = Space::kGeneric);
  void ReportUninitialised(const Inst& inst, std::uint32_t lane, const Taint& taint);
  void ReportRace(const Inst& inst, std::uint32_t lane, const Target& target, std::uint32_t bytes, bool writes,
                  const Conflict& conflict);
  Finding* FindingAt(FindingKind kind, std::uint32_t pc, std::uint64_t other);
  void Place(Finding& finding, std::uint32_t pc, std::uint32_t block, std::uint32_t thread) const;
  SourceLine SourceOf(std::uint32_t location) const;
  Dim3 ThreadDim(std::uint32_t thread) const;
  Dim3 BlockDim(std::uint32_t block) const;
  void FillCounters();

  template <typename T>
  T* Register(std::uint32_t operand) const {
    return reinterpret_cast<T*>(bases_[operand >> 31U] + (operand & ~kConstantBit));
  }
  std::uint32_t Operand(const Inst& inst, std::size_t index) const {
    return program_.operands[inst.first_operand + index];
  }
  std::uint32_t LocationPc(const Inst& inst) const { return static_cast<std::uint32_t>(&inst - program_.code.data()); }

  const LoadedModule& loaded_;
  const Program& program_;
  DeviceMemory& memory_;
  const Function& kernel_;
  LaunchConfig config_;
  std::vector<std::uint8_t> arguments_;
  RunOptions options_;
  RaceChecker races_;
  Rng rng_{0};
  LaunchOutcome outcome_;
  std::map<std::tuple<FindingKind, std::uint32_t, std::uint64_t>, std::size_t> finding_index_;

  std::vector<char> constants_;     // the program's, with addresses, aligned to 64 bytes
  char* constants_base_ = nullptr;  // they, or those of the launch that a worker belongs to; never written to
  std::uint64_t arguments_address_ = 0;
  std::uint64_t workspace_address_ = 0;        // of a cooperative launch: the grid's barrier
  std::vector<std::uint64_t> shared_offsets_;  // of each shared variable
  std::vector<std::uint8_t> shared_initial_state_;
  std::uint64_t dynamic_shared_ = 0;
  std::uint64_t shared_end_ = kSharedStart;

  std::vector<std::unique_ptr<Block>> resident_;
  std::vector<std::unique_ptr<Frame>> spare_frames_;  // for the next blocks and calls
  std::vector<std::unique_ptr<Cluster>> clusters_;    // of the resident blocks
  std::uint32_t next_block_ = 0;
  std::uint64_t host_bytes_ = 0;
  bool ended_ = false;
  bool separate_ = false;  // HasSeparateBlocks; found out if there is an order to choose
  Division division_ = Division::kLater;
  std::chrono::steady_clock::time_point deadline_;
  std::uint64_t next_check_ = 0;                                     // of thread_instructions
  std::array<std::uint64_t, kInstClasses * kPrecisions> tallies_{};  // thread instructions by Inst::tally

  // What runs now.
  Block* block_ = nullptr;
  Warp* warp_ = nullptr;
  Frame* frame_ = nullptr;
  std::size_t fragment_ = 0;
  std::array<char*, 2> bases_{};
  Allocation* last_allocation_ = nullptr;
  bool give_way_ = false;
  std::uint64_t changes_ = 1;  // of what other threads can see

  // Several threads.
  BlockWorkers* workers_ = nullptr;  // this is one of them; nullptr: the launch itself
  std::unique_ptr<WordClaimer> claimer_;
  std::uint64_t told_ = 0;  // of thread_instructions: what the other workers have been told
};

}  // namespace upskill::ptx

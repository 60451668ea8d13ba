// SPDX-License-Identifier: Apache-2.0
// How the rest of a launch's blocks runs on several threads. The launch comes out as if they had run one after the
// other: workers keep apart what they access (word_claims.h), and if they can't, find anything or exceed a budget, all
// that they did is undone and the blocks run again in order.
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "cuda/ptx/machine.h"
#include "cuda/ptx/separate_blocks.h"

namespace upskill::ptx {
namespace {

constexpr std::uint64_t kFewestBlocks = 4;                  // that are worth it
constexpr std::chrono::milliseconds kBetweenQuestions{20};  // RunOptions::stop is asked so often

RunOptions OptionsOfWorker(const RunOptions& options, std::uint64_t block_bytes) {
  RunOptions own = options;
  own.memory_budget = block_bytes;
  own.stop = nullptr;  // it needn't be thread-safe: the launch's own thread asks
  return own;
}

void AddCounters(Counters& sum, const Counters& other) {
  for (const auto member :
       {&Counters::warp_instructions, &Counters::thread_instructions, &Counters::branches,
        &Counters::divergent_branches, &Counters::global_load_requests, &Counters::global_load_sectors,
        &Counters::global_load_bytes, &Counters::global_store_requests, &Counters::global_store_sectors,
        &Counters::global_store_bytes, &Counters::shared_requests, &Counters::shared_bank_conflicts,
        &Counters::local_requests, &Counters::barriers, &Counters::atomics}) {
    sum.*member += other.*member;
  }
}

// Threads that end by themselves, of which the last one says so.
class Threads {
 public:
  Threads() = default;
  ~Threads() {
    for (std::thread& thread : threads_) thread.join();
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  // False if the system has no thread.
  template <typename Work>
  bool Start(Work work) {
    {
      const std::lock_guard lock(mutex_);
      ++running_;
    }
    try {
      threads_.emplace_back([this, work] {
        work();
        const std::lock_guard lock(mutex_);
        if (--running_ == 0) ended_.notify_all();
      });
    } catch (const std::exception&) {
      const std::lock_guard lock(mutex_);
      --running_;
      return false;
    }
    return true;
  }
  // Whether all have ended by then.
  bool WaitFor(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, time, [this] { return running_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

Machine::Machine(const Machine& first, BlockWorkers& workers, std::uint32_t number)
    : loaded_(first.loaded_),
      program_(first.program_),
      memory_(first.memory_),
      kernel_(first.kernel_),
      config_(first.config_),
      arguments_(first.arguments_),
      options_(OptionsOfWorker(first.options_, workers.block_bytes)),
      races_(first.races_, workers.pool),
      constants_base_(first.constants_base_),
      shared_offsets_(first.shared_offsets_),
      shared_initial_state_(first.shared_initial_state_),
      dynamic_shared_(first.dynamic_shared_),
      shared_end_(first.shared_end_),
      separate_(first.separate_),
      deadline_(first.deadline_),
      workers_(&workers),
      claimer_(std::make_unique<WordClaimer>(*workers.claims, number, workers.pool)) {}

// Whether blocks are to end before others start, so that the rest can be dealt to threads. This depends on nothing but
// the kernel and what has run: the order of what follows is the same with any number of threads.
bool Machine::AwaitsDivision() {
  if (division_ == Division::kLater && outcome_.counters.thread_instructions >= options_.divide_after) {
    const bool divides = !config_.cooperative && config_.cluster.Count() == 1 &&
                         config_.grid.Count() - next_block_ >= kFewestBlocks && HasSeparateBlocks(program_, kernel_);
    division_ = divides ? Division::kNear : Division::kOver;
  }
  return division_ == Division::kNear;
}

// Returns whether all of the remaining blocks have ended; otherwise, it is as if none of them had started.
bool Machine::RunOnThreads() {
  division_ = Division::kOver;
  const std::uint64_t blocks = config_.grid.Count();
  const auto count = static_cast<std::uint32_t>(
      std::min<std::uint64_t>({options_.threads, WordClaimer::kMostWorkers, (blocks - next_block_) / 2}));
  const std::uint64_t used = races_.UsedBytes();
  const std::uint64_t block_bytes = options_.memory_budget / 4 / std::max(count, 1U);
  if (count < 2 || !outcome_.findings.empty() || races_.Incomplete()) return false;
  if (used > options_.memory_budget / 4 * 3) return false;
  BlockWorkers workers(count, options_.memory_budget / 4 * 3 - used, block_bytes);
  workers.claims = WordClaims::Make(memory_, workers.pool);
  if (!workers.claims) return false;
  workers.next_block = next_block_;
  workers.blocks = static_cast<std::uint32_t>(blocks);
  workers.instructions = outcome_.counters.thread_instructions;
  std::vector<std::unique_ptr<Machine>> machines;
  for (std::uint32_t number = 1; number <= count; ++number) {
    machines.push_back(std::unique_ptr<Machine>(new Machine(*this, workers, number)));
  }
  {
    Threads threads;
    bool any = false;
    for (const std::unique_ptr<Machine>& machine : machines) {
      any = threads.Start([worker = machine.get()] { worker->RunAsWorker(); }) || any;
    }
    if (!any) return false;
    while (!threads.WaitFor(kBetweenQuestions)) {
      if (options_.stop && options_.stop()) workers.failed = true;
    }
  }
  if (TakeResults(workers, machines)) return true;
  outcome_.division = LaunchDivision::kUndone;
  for (const std::unique_ptr<Machine>& machine : machines) machine->claimer_->Restore();
  return false;
}

bool Machine::TakeResults(const BlockWorkers& workers, const std::vector<std::unique_ptr<Machine>>& machines) {
  std::uint64_t instructions = outcome_.counters.thread_instructions;
  for (const std::unique_ptr<Machine>& machine : machines) {
    if (machine->ended_ || machine->races_.Incomplete()) return false;
    instructions += machine->outcome_.counters.thread_instructions;
  }
  if (workers.failed || instructions > options_.instruction_budget) return false;
  for (const std::unique_ptr<Machine>& machine : machines) {
    AddCounters(outcome_.counters, machine->outcome_.counters);
    for (std::size_t i = 0; i < tallies_.size(); ++i) tallies_[i] += machine->tallies_[i];
  }
  next_block_ = workers.blocks;
  outcome_.division = LaunchDivision::kDone;
  return true;
}

// On a thread of its own. Whatever keeps a worker from its end makes all of them stop.
void Machine::RunAsWorker() {
  try {
    RunDealtBlocks();
  } catch (const std::exception&) {  // no memory
    workers_->failed = true;
  }
}

void Machine::RunDealtBlocks() {
  std::uint32_t end = 0;
  while (!Spent()) {
    if (resident_.empty()) {
      if (next_block_ == end) std::tie(next_block_, end) = workers_->Deal();
      if (next_block_ == end) return;
      StartCluster();
      continue;
    }
    if (RunResident() || ended_ || resident_.empty()) continue;
    // Only others could let the block go on, or nobody.
    if (!Runnable(*resident_.front())) GiveUp();
  }
}

// Of a worker: whether it has to stop.
bool Machine::WorkersSpent() {
  const std::uint64_t own = outcome_.counters.thread_instructions;
  const std::uint64_t done = std::exchange(told_, own);
  const std::uint64_t all = workers_->instructions.fetch_add(own - done, std::memory_order_relaxed) + own - done;
  return workers_->failed.load(std::memory_order_relaxed) || all > options_.instruction_budget ||
         host_bytes_ > options_.memory_budget || races_.Incomplete() || std::chrono::steady_clock::now() > deadline_ ||
         OnlyPolls();
}

// Claims what the lanes of a warp access. False: it mustn't be accessed, and the worker has stopped.
bool Machine::ClaimTogether(const WarpAccess& access, std::uint32_t mask, std::uint32_t bytes, bool writes) {
  if (access.space != Space::kGlobal || (access.read_only && !writes)) return true;
  const Allocation& allocation = *last_allocation_;
  const std::uint64_t first = access.first - allocation.address;
  const auto& offsets = access.lanes.offsets;
  // Lanes that are at most a word apart touch every word.
  const std::uint32_t step = access.lanes.step;
  if (access.lanes.same || (step != 0 && step <= std::max(bytes, 4U))) {
    if (claimer_->Claim(allocation, first, access.lanes.span + bytes, writes)) return true;
    GiveUp();
    return false;
  }
  std::uint32_t last = kNowhere;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint32_t offset = offsets[static_cast<std::size_t>(std::countr_zero(rest))];
    if (offset == last) continue;
    last = offset;
    if (claimer_->Claim(allocation, first + offset, bytes, writes)) continue;
    GiveUp();
    return false;
  }
  return true;
}

}  // namespace upskill::ptx

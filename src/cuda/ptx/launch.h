// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/ptx/device_memory.h"
#include "cuda/ptx/finding.h"
#include "cuda/ptx/module.h"
#include "util/result.h"

namespace upskill::ptx {

struct LaunchConfig {
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_shared_bytes = 0;
  Dim3 cluster{0, 0, 0};     // 0: what the kernel requires, otherwise 1
  bool cooperative = false;  // all blocks are resident at once, so that the grid can synchronise
};

struct RunOptions {
  std::uint64_t instruction_budget = 20'000'000'000;  // thread instructions
  std::chrono::milliseconds time_budget{60'000};
  std::uint64_t memory_budget = std::uint64_t{1} << 30U;  // registers, shared memory, shadow memory; not DeviceMemory
  std::function<bool()> stop;                             // asked now and then; true ends the run like a spent budget
  std::uint64_t schedule_seed = 0;                        // orders warps and blocks; the same seed, the same run
  bool check_races = true;
  bool check_uninitialised = true;
  bool count_memory = true;  // sectors and bank conflicts
  // The number of host threads that run the blocks of a kernel whose blocks can't communicate. They start once the
  // kernel has executed `divide_after` thread instructions. Only LaunchOutcome::division depends on this number.
  std::uint32_t threads = 1;
  std::uint64_t divide_after = 4'000'000;
  std::size_t max_findings = 100;
  std::size_t max_printed_bytes = 1U << 20U;
};

enum class Ending : std::uint8_t {
  kCompleted,
  kTrapped,      // trap, a failed assertion
  kBudget,       // a budget is spent or `stop` said so
  kDeadlock,     // no thread can go on
  kUnsupported,  // `unsupported` names the instruction
};

struct Counters {
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;
  // Thread instructions by class: "integer", "float32", "float64", "half", "conversion", "control", "memory",
  // "synchronisation", "matrix", "special", "move".
  std::map<std::string, std::uint64_t> by_class;
  // Computations by the type of their numbers: "f64", "f32", "f16", "bf16", "tf32", "fp8", "int8". An instruction for
  // matrices counts as 64.
  std::map<std::string, std::uint64_t> by_precision;
  std::uint64_t branches = 0;              // of warps
  std::uint64_t divergent_branches = 0;    // that parted a warp
  std::uint64_t global_load_requests = 0;  // of warps
  std::uint64_t global_load_sectors = 0;   // of 32 bytes that the requests touch
  std::uint64_t global_load_bytes = 0;     // that the threads asked for
  std::uint64_t global_store_requests = 0;
  std::uint64_t global_store_sectors = 0;
  std::uint64_t global_store_bytes = 0;
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_bank_conflicts = 0;  // passes beyond those that the width of the access needs
  std::uint64_t local_requests = 0;
  std::uint64_t barriers = 0;
  std::uint64_t atomics = 0;  // of threads
};

// Whether several threads have run blocks of the launch.
enum class LaunchDivision : std::uint8_t {
  kNone,
  kDone,
  kUndone,  // in vain: they met at some memory, found something or exceeded a budget, and one thread ran them again
};

struct LaunchOutcome {
  Ending ending = Ending::kCompleted;
  std::string reason;       // of an ending other than completed
  std::string unsupported;  // the instruction's name
  std::vector<Finding> findings;
  std::uint64_t findings_dropped = 0;  // places beyond max_findings
  // The memory budget didn't allow to watch all of the memory for races.
  bool race_checks_incomplete = false;
  Counters counters;
  LaunchDivision division = LaunchDivision::kNone;
  std::string printed;       // by printf
  bool reads_clock = false;  // so what it did may depend on the order of warps and blocks
};

// A module whose variables have addresses in a DeviceMemory. The memory must outlive it.
class LoadedModule {
 public:
  // Allocates and initialises the module's global variables and constants.
  static Result<LoadedModule> Load(std::shared_ptr<const Module> module, DeviceMemory& memory);
  // The variables' memory is freed by this alone, never by the destructor.
  void Unload(DeviceMemory& memory);

  const Module& module() const { return *module_; }
  // 0 if there is no such variable.
  std::uint64_t AddressOf(std::string_view variable) const;
  const std::map<std::string, std::uint64_t, std::less<>>& addresses() const { return addresses_; }

 private:
  std::shared_ptr<const Module> module_;
  std::map<std::string, std::uint64_t, std::less<>> addresses_;
};

// Runs one kernel to its end. `arguments` has KernelInfo::parameter_bytes bytes, each parameter at its offset. An error
// is a mistake of the caller (no such kernel, a bad configuration, too few arguments); what the kernel does is in the
// outcome.
Result<LaunchOutcome> Launch(const LoadedModule& module, DeviceMemory& memory, std::string_view kernel,
                             const LaunchConfig& config, std::span<const std::uint8_t> arguments,
                             const RunOptions& options = {});

}  // namespace upskill::ptx

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime/wire.h>

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda/device/device_report.h"
#include "cuda/device/device_task.h"
#include "cuda/device/kernel_log.h"
#include "cuda/device/repeated_launches.h"
#include "cuda/device/stream_order.h"
#include "cuda/ptx/device_memory.h"
#include "cuda/ptx/launch.h"

namespace upskill {

// What a request is answered with.
struct DeviceReply {
  std::uint32_t error = 0;  // a cudaError_t
  std::uint64_t r[4] = {};
  std::string bytes;
};

// A trial's arguments in memory.
struct RunningTrial {
  std::vector<std::uint64_t> values;       // as the function gets them
  std::vector<std::uint64_t> allocations;  // buffers, and what lies between them
  std::uint64_t bytes_to_host = 0;
  std::uint64_t launches = 0;
  std::uint32_t error = 0;
  std::uint64_t decisions = 0;                             // DeviceTrialReport::decisions
  std::unordered_map<std::uint64_t, std::uint64_t> named;  // the addresses of allocations in decisions, numbered
};

// The emulated device as one program sees it: its memory, modules, streams, and the trials that it is given. Requests
// come from code that nobody vouches for. Not thread-safe.
class DeviceSession {
 public:
  explicit DeviceSession(DeviceTask task);

  DeviceReply Answer(const UpskillRequest& request, std::string_view bytes);
  // The answer to a request that took more memory than there is.
  DeviceReply OutOfMemory();
  // What was seen, without what the process knows of the program.
  DeviceReport Finish();

 private:
  struct KnownKernel {
    std::size_t module = 0;
    std::string name;
    bool divided_in_vain = false;  // its blocks are run by one thread from then on
  };
  DeviceReply LoadModule(std::string_view bytes);
  DeviceReply FindKernel(std::uint64_t module, std::string_view name);
  DeviceReply FindSymbol(std::uint64_t module, std::string_view name);
  DeviceReply Allocate(std::uint64_t bytes, std::uint64_t kind, std::uint64_t at);
  Result<std::uint64_t> FindRoom(std::uint64_t bytes, bool managed, std::uint64_t at);
  DeviceReply Free(std::uint64_t address);
  DeviceReply Write(std::uint64_t address, std::string_view bytes, std::uint64_t stream);
  DeviceReply Read(std::uint64_t address, std::uint64_t bytes, std::uint64_t stream);
  DeviceReply Copy(const UpskillRequest& request);
  DeviceReply Fill(const UpskillRequest& request);
  DeviceReply Launch(const UpskillRequest& request, std::string_view arguments);
  void NoteLaunch(const ptx::KernelInfo& kernel, const UpskillRequest& request, std::string_view arguments);
  Result<ptx::LaunchOutcome> RunLaunch(KnownKernel& kernel, const ptx::LaunchConfig& config,
                                       std::span<const std::uint8_t> arguments);
  DeviceReply EndOfLaunch(const ptx::LaunchOutcome& outcome);
  DeviceReply CallFailed(std::uint64_t kernel, std::string_view text);
  DeviceReply EarlyAccess(std::uint64_t address, std::string_view known);
  DeviceReply Streams(const UpskillRequest& request);
  DeviceReply FindAllocation(std::uint64_t address) const;
  DeviceReply NextTrial();
  DeviceReply EndTrial();

  Result<std::uint64_t> PlaceArgument(const DeviceArgument& argument, std::string label);
  Status PlaceArguments(const DeviceTrial& trial);
  std::optional<std::vector<std::uint8_t>> PackArguments(const ptx::KernelInfo& kernel, std::string_view sent) const;
  ptx::RunOptions OptionsOfLaunch(const KnownKernel& kernel) const;
  std::uint64_t TimeForProgram() const;  // what events measure
  void LookAt(const DeviceArgument& argument, std::size_t number, DeviceTrialReport& report) const;
  DeviceReply Failed(std::uint32_t error);
  // Whether these bytes of the device are in one allocation. If not, that is a finding about `call`.
  bool CheckRange(std::uint64_t address, std::uint64_t bytes, std::string_view call);
  // Adds something that the host has decided in this trial: numbers, of which addresses count from the beginning of
  // their allocations, which are elsewhere in each trial.
  void NoteDecision(std::string_view bytes);
  void NoteDecision(std::initializer_list<std::uint64_t> numbers);

  DeviceTask task_;
  DeviceReport report_;
  ptx::DeviceMemory memory_;
  std::vector<ptx::LoadedModule> modules_;
  std::vector<KnownKernel> kernels_;
  std::set<std::uint64_t> managed_;  // addresses
  StreamOrder streams_;
  KernelLog log_;
  RepeatedLaunches repeated_;
  std::vector<DeviceFinding> unread_;         // calls that failed, and whose error the program hasn't looked at
  std::vector<DeviceFinding> host_findings_;  // mistakes of the host, even if it looks at the error
  std::string last_kernel_;                   // that was launched
  std::size_t next_trial_ = 0;
  std::optional<RunningTrial> trial_;
  std::vector<std::uint64_t> kept_values_;       // of the trial before, if the next one has the same buffers
  std::vector<std::uint64_t> kept_allocations_;  // of that trial
  std::uint64_t launches_ = 0;
  std::uint64_t launched_threads_ = 0;
  std::uint64_t run_instructions_ = 0;  // of the launches that were run; log_ counts those of repeated ones, too
  std::chrono::milliseconds run_time_{0};
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

// What was found in a kernel, in the words of compute-sanitizer.
struct DeviceFinding {
  std::string kind;     // race, out-of-bounds, …: the names of ptx::FindingKind
  std::string message;  // Invalid __global__ read of size 4 bytes
  std::string detail;
  std::string kernel;
  std::string place;        // FILE:LINE, empty if it isn't known
  std::string other_place;  // of the other access of a race
  std::string instruction;
  std::string thread;  // (0,0,0) in block (1,0,0)
  std::uint64_t count = 1;
};

// One kernel of the program, over all of its launches.
struct DeviceKernel {
  std::string name;
  std::uint64_t launches = 0;
  std::uint64_t threads_per_block = 0;  // of the first launch
  std::uint64_t shared_bytes = 0;       // of a block of the first launch
  std::map<std::string, std::uint64_t> counters;
  std::map<std::string, std::uint64_t> classes;     // instructions of threads by class
  std::map<std::string, std::uint64_t> precisions;  // computations by type: f16, bf16, tf32, fp8, …
  std::uint64_t repeated = 0;                       // launches that weren't run again (RepeatedLaunches)
};

// What a trial has left in a buffer that it writes.
struct DeviceOutput {
  std::size_t argument = 0;
  std::string data;
  std::uint64_t unwritten = 0;  // bytes that nothing has written
  std::uint64_t from_host = 0;  // bytes that were copied from the host
  std::uint64_t copied = 0;     // bytes that the runtime, no kernel, has copied there from an input
};

struct DeviceTrialReport {
  std::vector<DeviceOutput> outputs;
  std::vector<std::size_t> changed_inputs;  // by number of the argument
  std::uint64_t launches = 0;
  std::uint64_t pending_streams = 0;  // with work that nothing has waited for
  std::uint64_t bytes_to_host = 0;    // copied from the device, and printed by it
  std::uint32_t error = 0;            // of the runtime, at the end
  std::uint64_t decisions = 0;        // a hash of what the host has had done: launches, copies, bytes that it sent
};

struct DeviceReport {
  std::string key;
  int exit_code = -1;  // of the program; 128 + signal if a signal ended it
  std::string output;  // of the program
  std::string error;
  std::string limit;                      // why kernels were ended: a budget
  std::string unsupported;                // an instruction, or a feature, that can't be run here
  std::string failure;                    // of a launch that ended otherwise: a trap, a deadlock
  std::vector<DeviceTrialReport> trials;  // that were completed
  std::vector<DeviceKernel> kernels;
  std::vector<DeviceFinding> findings;
  std::uint64_t findings_dropped = 0;
  bool race_checks_incomplete = false;
  std::uint64_t streams = 0;  // that the program made
  bool output_cut = false;    // the program printed more than is kept
};

Json ReportToJson(const DeviceReport& report);
Result<DeviceReport> ReportFromJson(const Json& json);

// Whether two findings are one for the reader: of the same kind in the same places. Of those that aren't races, or
// whose places aren't known, the messages are the same, too.
bool SameFinding(const DeviceFinding& a, const DeviceFinding& b);

// "softmax.cu:31: Invalid __global__ read of size 4 bytes by thread (0,0,0) in block (1,0,0) of softmax(…)".
std::string FindingLine(const DeviceFinding& finding);

}  // namespace upskill

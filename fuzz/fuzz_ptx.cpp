// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_ptx.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cuda/ptx/launch.h"
#include "cuda/ptx/tensor_map.h"
#include "fuzz/fuzz_checks.h"
#include "util/invariant.h"

namespace upskill {
namespace {

constexpr std::uint64_t kInstructions = 60'000;
constexpr std::uint64_t kMemory = std::uint64_t{64} << 20U;
constexpr std::size_t kPrinted = 2'000;
constexpr std::size_t kFindings = 20;
constexpr std::size_t kKernels = 2;
constexpr std::uint32_t kMostBoxBytes = 256U << 10U;

ptx::ParseLimits SmallLimits() {
  ptx::ParseLimits limits;
  limits.instructions = 5'000;
  limits.registers = 5'000;
  limits.variables = 500;
  limits.variable_bytes = 1U << 20U;
  return limits;
}

struct Shape {
  unsigned blocks = 2;
  unsigned threads = 40;
  unsigned seed = 0;
  bool cooperative = false;
};

Shape ShapeOf(std::string_view input) {
  Shape shape;
  const std::string line(input.substr(0, std::min<std::size_t>(input.find('\n'), 80)));
  if (std::sscanf(line.c_str(), "// launch %u %u %u", &shape.blocks, &shape.threads, &shape.seed) > 0) {  // NOLINT
    shape.cooperative = line.find("cooperative") != std::string::npos;
  }
  return shape;
}

// What one run left: equal for two runs with the same seed, whatever the number of threads.
struct Left {
  ptx::Ending ending = ptx::Ending::kCompleted;
  std::uint64_t instructions = 0;
  std::size_t findings = 0;
  std::string printed;
  std::vector<std::uint8_t> memory;
  bool operator==(const Left&) const = default;
};

void CheckOutcome(const ptx::LaunchOutcome& outcome, const ptx::RunOptions& options) {
  CHECK(outcome.findings.size() <= options.max_findings && outcome.printed.size() <= options.max_printed_bytes);
  // Spent budgets are noticed at the next look, and a turn of a block may be a few hundred instructions of each warp.
  CHECK(outcome.counters.thread_instructions <= options.instruction_budget + 1'000'000);
  CHECK((outcome.ending == ptx::Ending::kCompleted) == outcome.reason.empty());
  for (const ptx::Finding& finding : outcome.findings) {
    CheckError(InputError(finding.message));
    CHECK(finding.detail.size() <= kMaxErrorBytes && finding.count > 0 && !finding.kernel.empty());
  }
}

Left RunOnce(const std::shared_ptr<const ptx::Module>& module, const std::string& kernel, const Shape& shape,
             std::uint32_t threads) {
  ptx::DeviceMemory memory(4U << 20U);
  Result<ptx::LoadedModule> loaded = ptx::LoadedModule::Load(module, memory);
  Left left;
  if (!Parsed(loaded)) return left;
  const std::uint64_t buffer = memory.Allocate(16'384, "buffer").value();
  CHECK(memory.Fill(buffer, 1, 8'192).ok());
  // Pointers to the buffer and small numbers in turn.
  std::vector<std::uint8_t> arguments(module->FindKernel(kernel)->parameter_bytes);
  for (std::size_t at = 0; at + 8 <= arguments.size(); at += 8) {
    const std::uint64_t value = at / 8 % 3 == 2 ? 33 : buffer + at * 16;
    std::memcpy(arguments.data() + at, &value, sizeof value);
  }
  ptx::LaunchConfig config;
  config.grid.x = shape.blocks;
  config.block.x = shape.threads;
  config.dynamic_shared_bytes = 1'024;
  config.cooperative = shape.cooperative;
  ptx::RunOptions options;
  options.instruction_budget = kInstructions;
  options.time_budget = std::chrono::minutes(10);  // a spent one would differ from run to run
  options.memory_budget = kMemory;
  options.max_findings = kFindings;
  options.max_printed_bytes = kPrinted;
  options.schedule_seed = shape.seed;
  options.threads = threads;
  options.divide_after = 0;
  const Result<ptx::LaunchOutcome> outcome = ptx::Launch(*loaded, memory, kernel, config, arguments, options);
  if (Parsed(outcome)) {
    CheckOutcome(*outcome, options);
    left = Left{outcome->ending, outcome->counters.thread_instructions, outcome->findings.size(), outcome->printed, {}};
  }
  left.memory = memory.Read(buffer, 16'384).value();
  loaded->Unload(memory);
  CHECK(memory.AllocationCount() == 1);
  return left;
}

}  // namespace

void FuzzPtx(std::string_view input) {
  const Result<std::shared_ptr<const ptx::Module>> module = ptx::ParseModule(input);
  if (!Parsed(module)) return;
  CHECK(!(*module)->Version().empty());
  for (const ptx::KernelInfo& kernel : (*module)->Kernels()) {
    CHECK((*module)->FindKernel(kernel.name) != nullptr);
    std::uint64_t end = 0;
    for (const ptx::Parameter& parameter : kernel.parameters) {
      CHECK(parameter.offset >= end);
      end = parameter.offset + parameter.bytes;
    }
    CHECK(end == kernel.parameter_bytes);
  }
}

void FuzzPtxRun(std::string_view input) {
  const Result<std::shared_ptr<const ptx::Module>> module = ptx::ParseModule(input, SmallLimits());
  if (!Parsed(module)) return;
  const Shape shape = ShapeOf(input);
  std::size_t ran = 0;
  for (const ptx::KernelInfo& kernel : (*module)->Kernels()) {
    if (++ran > kKernels) break;
    const Left first = RunOnce(*module, kernel.name, shape, 1);
    CHECK(first == RunOnce(*module, kernel.name, shape, 3));
  }
}

// What is copied stays within the box, in its order, and swizzling moves no two bytes to the same place.
void FuzzTensorMap(std::string_view input) {
  std::vector<std::uint8_t> bytes(input.begin(), input.end());
  const std::optional<ptx::TensorMap> map = ptx::ReadTensorMap(bytes);
  if (!map) return;
  CHECK(bytes.size() >= ptx::kTensorMapBytes && map->rank >= 1 && map->rank <= 5);
  CHECK(map->BoxBytes() > 0 && map->BoxBytes() <= kMostBoxBytes);
  std::array<std::int32_t, 5> coordinates{};
  bytes.resize(ptx::kTensorMapBytes + sizeof coordinates);
  std::memcpy(coordinates.data(), bytes.data() + ptx::kTensorMapBytes, sizeof coordinates);
  std::uint64_t end = 0;
  for (const ptx::TensorPart& part : ptx::PartsOfBox(*map, coordinates)) {
    CHECK(part.bytes > 0 && part.bytes % map->element_bytes == 0 && part.in_box >= end);
    end = std::uint64_t{part.in_box} + part.bytes;
    CHECK(end <= map->BoxBytes());
  }
  std::vector<bool> taken(2048);
  for (std::uint64_t at = 0; at < taken.size(); ++at) {
    const std::uint64_t to = map->Swizzled(at);
    CHECK(to < taken.size() && !taken[to]);
    taken[to] = true;
  }
}

}  // namespace upskill

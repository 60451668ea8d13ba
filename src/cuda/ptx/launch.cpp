// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "cuda/ptx/machine.h"

namespace upskill::ptx {
namespace {

constexpr std::uint64_t kMostShared = 227U << 10U;  // of a block, on sm_90
constexpr std::uint32_t kMostClusterBlocks = 16;    // with cudaFuncAttributeNonPortableClusterSizeAllowed

Status CheckConfig(const KernelInfo& kernel, const LaunchConfig& config, std::size_t arguments) {
  const Dim3& grid = config.grid;
  const Dim3& block = config.block;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7FFFFFFFU || grid.y > 65'535 || grid.z > 65'535 ||
      grid.Count() > std::numeric_limits<std::uint32_t>::max() - 1) {
    return InputError(fmt::format("the grid ({}, {}, {}) is invalid", grid.x, grid.y, grid.z));
  }
  if (block.x == 0 || block.y == 0 || block.z == 0 || block.x > 1024 || block.y > 1024 || block.z > 64 ||
      block.Count() > 1024) {
    return InputError(
        fmt::format("the block ({}, {}, {}) is invalid: at most 1024 threads", block.x, block.y, block.z));
  }
  if (kernel.max_threads != 0 && block.Count() > kernel.max_threads) {
    return InputError(
        fmt::format("{} threads per block; the kernel was compiled for at most {}", block.Count(), kernel.max_threads));
  }
  const std::uint64_t shared = kernel.static_shared_bytes + config.dynamic_shared_bytes;
  if (config.dynamic_shared_bytes > kMostShared || shared > kMostShared) {
    return InputError(fmt::format("{} bytes of shared memory; a block has at most {}", shared, kMostShared));
  }
  if (arguments < kernel.parameter_bytes) {
    return InputError(fmt::format("{} bytes of arguments; the kernel takes {}", arguments, kernel.parameter_bytes));
  }
  if (config.cooperative && grid.Count() > std::uint64_t{132} * 32) {
    return InputError(fmt::format("a cooperative launch of {} blocks is too large", grid.Count()));
  }
  return {};
}

// The shape of the launch's clusters: (1, 1, 1) without any.
Result<Dim3> ClusterOf(const KernelInfo& kernel, const LaunchConfig& config) {
  const Dim3& required = kernel.required_cluster;
  Dim3 cluster = config.cluster.x == 0 ? required : config.cluster;
  if (cluster.x == 0) cluster = Dim3{1, 1, 1};
  const auto text = fmt::format("({}, {}, {})", cluster.x, cluster.y, cluster.z);
  if (required.x != 0 && (required.x != cluster.x || required.y != cluster.y || required.z != cluster.z)) {
    return InputError(fmt::format("a cluster of {}; the kernel was compiled for clusters of ({}, {}, {})", text,
                                  required.x, required.y, required.z));
  }
  if (cluster.y == 0 || cluster.z == 0 || cluster.x > kMostClusterBlocks || cluster.y > kMostClusterBlocks ||
      cluster.z > kMostClusterBlocks || cluster.Count() > kMostClusterBlocks) {
    return InputError(fmt::format("a cluster of {} is invalid: at most {} blocks", text, kMostClusterBlocks));
  }
  if (config.grid.x % cluster.x != 0 || config.grid.y % cluster.y != 0 || config.grid.z % cluster.z != 0) {
    return InputError(fmt::format("the grid isn't a multiple of the cluster {}", text));
  }
  return cluster;
}

void ApplyRelocations(const GlobalVariable& variable, const Program& program,
                      const std::map<std::string, std::uint64_t, std::less<>>& addresses,
                      std::vector<std::uint8_t>& bytes) {
  for (const Relocation& relocation : variable.relocations) {
    std::uint64_t value = kFunctionAddress + std::uint64_t{16} * relocation.index;
    if (relocation.kind == Relocation::Kind::kVariable) {
      value = addresses.at(program.globals[relocation.index].info.name);
    }
    value += static_cast<std::uint64_t>(relocation.addend);
    std::memcpy(bytes.data() + relocation.offset, &value, relocation.bytes);
  }
}

}  // namespace

Result<LoadedModule> LoadedModule::Load(std::shared_ptr<const Module> module, DeviceMemory& memory) {
  LoadedModule loaded;
  const Program& program = module->program();
  for (const GlobalVariable& variable : program.globals) {
    if (loaded.addresses_.contains(variable.info.name)) continue;
    const std::uint64_t alignment =
        std::max(variable.info.managed ? kPageBytes : kAllocationAlignment, variable.info.alignment);
    ASSIGN_OR_RETURN(loaded.addresses_[variable.info.name],
                     memory.Allocate(variable.info.bytes, variable.info.name, alignment));
  }
  for (const GlobalVariable& variable : program.globals) {
    const std::uint64_t address = loaded.addresses_.at(variable.info.name);
    std::vector<std::uint8_t> bytes = variable.initial;
    bytes.resize(variable.info.bytes);
    ApplyRelocations(variable, program, loaded.addresses_, bytes);
    RETURN_IF_ERROR(memory.Write(address, bytes));
    if (variable.info.space == Space::kConst) memory.SetReadOnly(address, true);
  }
  loaded.module_ = std::move(module);
  return loaded;
}

void LoadedModule::Unload(DeviceMemory& memory) {
  for (const auto& [name, address] : addresses_) static_cast<void>(memory.Free(address));
  addresses_.clear();
}

std::uint64_t LoadedModule::AddressOf(std::string_view variable) const {
  const auto found = addresses_.find(variable);
  return found == addresses_.end() ? 0 : found->second;
}

Result<LaunchOutcome> Launch(const LoadedModule& module, DeviceMemory& memory, std::string_view kernel,
                             const LaunchConfig& config, std::span<const std::uint8_t> arguments,
                             const RunOptions& options) {
  const KernelInfo* info = module.module().FindKernel(kernel);
  if (info == nullptr) return Error{ErrorKind::kNotFound, fmt::format("the module has no kernel \"{}\"", kernel)};
  RETURN_IF_ERROR(CheckConfig(*info, config, arguments.size()));
  LaunchConfig clustered = config;
  ASSIGN_OR_RETURN(clustered.cluster, ClusterOf(*info, config));
  const Program& program = module.module().program();
  const auto function = std::find_if(
      program.functions.begin(), program.functions.end(),
      [&](const Function& candidate) { return candidate.is_kernel && candidate.has_body && candidate.name == kernel; });
  if (function == program.functions.end()) {
    return Error{ErrorKind::kNotFound, fmt::format("the kernel \"{}\" has no body", kernel)};
  }
  Machine machine(module, memory, *function, clustered, arguments, options);
  RETURN_IF_ERROR(machine.Prepare());
  return machine.Run();
}

}  // namespace upskill::ptx

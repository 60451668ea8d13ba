// SPDX-License-Identifier: Apache-2.0
// For the tests of this folder: a device, and kernels written by hand.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cuda/ptx/launch.h"

namespace upskill::ptx {

inline std::string KernelText(const std::string& parameters, const std::string& body) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(" + parameters + ")\n{\n" + body + "\n}\n";
}

class Device {
 public:
  explicit Device(const std::string& text) {
    auto module = ParseModule(text);
    EXPECT_TRUE(module.ok()) << module.error().message;
    if (module) loaded_ = std::make_unique<LoadedModule>(LoadedModule::Load(*module, memory_).value());
  }

  template <typename T>
  std::uint64_t Upload(const std::vector<T>& values) {
    const std::uint64_t address = memory_.Allocate(values.size() * sizeof(T), "in").value();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    EXPECT_TRUE(memory_.Write(address, {bytes, values.size() * sizeof(T)}).ok());
    return address;
  }
  std::uint64_t Reserve(std::size_t bytes) { return memory_.Allocate(bytes, "out").value(); }
  template <typename T>
  std::vector<T> Download(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    const auto bytes = memory_.Read(address, count * sizeof(T)).value();
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  // All arguments have 8 bytes.
  LaunchOutcome Run(std::uint32_t blocks, std::uint32_t threads, const std::vector<std::uint64_t>& arguments,
                    const RunOptions& options = {}) {
    LaunchConfig config;
    config.grid.x = blocks;
    config.block.x = threads;
    return Run(config, arguments, options);
  }
  LaunchOutcome Run(const LaunchConfig& config, const std::vector<std::uint64_t>& arguments,
                    const RunOptions& options = {}) {
    auto outcome = TryRun(config, arguments, options);
    EXPECT_TRUE(outcome.ok()) << outcome.error().message;
    return outcome ? std::move(outcome).value() : LaunchOutcome{};
  }
  Result<LaunchOutcome> TryRun(const LaunchConfig& config, const std::vector<std::uint64_t>& arguments,
                               const RunOptions& options = {}) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(arguments.data());
    return Launch(*loaded_, memory_, "k", config, {bytes, arguments.size() * 8}, options);
  }
  DeviceMemory& memory() { return memory_; }

 private:
  DeviceMemory memory_;
  std::unique_ptr<LoadedModule> loaded_;
};

}  // namespace upskill::ptx

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// The values that a build.toml may have, by the rules of kernel-builder (kernels-data/src/config, version.rs).

inline constexpr std::array<std::string_view, 8> kKernelBackends = {"cann",   "cpu",  "cuda", "metal",
                                                                    "neuron", "rocm", "tpu",  "xpu"};
// The backends that have compiled kernels.
inline constexpr std::array<std::string_view, 5> kCompiledBackends = {"cpu", "cuda", "metal", "rocm", "xpu"};
inline constexpr std::array<std::string_view, 11> kKernelDependencies = {
    "torch",       "metal-cpp",   "sycl_tla",    "cutlass_2_10", "cutlass_3_5", "cutlass_3_6",
    "cutlass_3_8", "cutlass_3_9", "cutlass_4_0", "cutlass_4_4",  "cutlass_4_5"};

// ^[a-z][-a-z0-9]*[a-z0-9]$
bool IsKernelName(std::string_view name);

// The package of a kernel: its name with "_" for "-".
std::string KernelPackage(std::string_view name);

// Two whole numbers ("12.4"), with white space around them.
bool IsBuildVersion(std::string_view text);

// Why it isn't a URL that `git clone` takes; empty if it is. Approximates the URL standard: numeric and international
// hosts aren't looked at.
std::string GitUrlProblem(std::string_view url);

// "9.0", "9.0a", "12.0+PTX".
bool IsCapability(std::string_view text);

// Whether kernel-builder generates code for any of these capabilities: those that it supports, of any CUDA version,
// intersected with the list as cuda_archs_loose_intersection of its CMake code does.
bool AnyCapabilityIsBuilt(const std::vector<std::string>& capabilities);

// Whether a kernel with this list has code for `wanted`: "9.0" and "9.0a" have code for 9.0, only "9.0a" for 9.0a. An
// empty list stands for the builder's own.
bool HasCodeFor(const std::vector<std::string>& capabilities, std::string_view wanted);

bool IsSupportedRocmArch(std::string_view arch);

// Python packages that a kernel may depend on, in general (empty backend) or for one backend.
std::vector<std::string_view> PythonDependenciesOf(std::string_view backend);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// The keys of build.toml, by version of its schema (kernels-data/src/config/v1.rs to v5.rs of kernel-builder).

// Bits, so that a rule can be for several. A file without `edition` is read as v4; older ones must be migrated.
enum BuildSchema : std::uint8_t {
  kSchemaV1 = 1,
  kSchemaV2 = 2,
  kSchemaV3 = 4,
  kSchemaV4 = 8,
  kSchemaV5 = 16,
};

// "v5"
std::string_view BuildSchemaName(BuildSchema schema);

// The tables of a build.toml; bits.
enum BuildSection : std::uint16_t {
  kNoSection = 0,
  kTopSection = 1,
  kGeneralSection = 2,
  kHubSection = 4,
  kCudaSection = 8,  // [general.cuda]
  kNeuronSection = 16,
  kTpuSection = 32,
  kXpuSection = 64,
  kTorchSection = 128,
  kNoarchSection = 256,
  kTvmFfiSection = 512,
  kCpuKernel = 1024,  // [kernel.NAME], by its backend
  kCudaKernel = 2048,
  kMetalKernel = 4096,
  kRocmKernel = 8192,
  kXpuKernel = 16384,
  kOldKernel = 32768,  // of v1, which has no backends
};
inline constexpr std::uint16_t kAnyKernel = kCpuKernel | kCudaKernel | kMetalKernel | kRocmKernel | kXpuKernel;

enum class BuildValue : std::uint8_t {
  kSection,  // a table, of the section in the rule
  kKernels,  // a table of tables
  kText,
  kTexts,
  kName,
  kCount,    // an integer of at least 0
  kEdition,  // 5
  kFlag,
  kVersion,
  kGitUrl,
  kBackend,   // of a kernel
  kBackends,  // of the project
  kLanguage,  // of a kernel in v1
  kDependencies,
  kKernelDepends,
  kPythonNames,  // of v2: einops, nvidia-cutlass-dsl
  kStableAbi,    // a version, or a table of backends and versions
};

struct BuildKey {
  std::string_view name;
  BuildValue value = BuildValue::kText;
  std::uint16_t sections = 0;  // where it may be: bits of BuildSection
  std::uint8_t schemas = 0;    // in which versions: bits of BuildSchema
  std::uint8_t required = 0;   // in which of them it must be there
  BuildSection table = kNoSection;
};

const std::vector<BuildKey>& BuildKeys();

// nullptr if the section has no such key in that version.
const BuildKey* FindBuildKey(BuildSchema schema, BuildSection section, std::string_view name);

// What to say about a key that the section doesn't have: where it belongs, or what it is called there.
std::string HintForUnknownKey(BuildSchema schema, BuildSection section, std::string_view name);

}  // namespace upskill

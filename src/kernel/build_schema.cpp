// SPDX-License-Identifier: Apache-2.0
#include "kernel/build_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace upskill {
namespace {

constexpr std::uint8_t kV5 = kSchemaV5;
constexpr std::uint8_t kV45 = kSchemaV4 | kSchemaV5;
constexpr std::uint8_t kV345 = kV45 | kSchemaV3;
constexpr std::uint8_t kV2345 = kV345 | kSchemaV2;
constexpr std::uint8_t kAll = kV2345 | kSchemaV1;
constexpr std::uint8_t kV12 = kSchemaV1 | kSchemaV2;
constexpr std::uint16_t kTorchAndTvm = kTorchSection | kTvmFfiSection;

std::vector<BuildKey> AllKeys() {  // NOLINT(readability-function-size): a table
  return {
      {"general", BuildValue::kSection, kTopSection, kAll, kAll, kGeneralSection},
      {"torch", BuildValue::kSection, kTopSection, kAll, kV12, kTorchSection},
      {"torch-noarch", BuildValue::kSection, kTopSection, kV45, 0, kNoarchSection},
      {"tvm-ffi", BuildValue::kSection, kTopSection, kV345, 0, kTvmFfiSection},
      {"kernel", BuildValue::kKernels, kTopSection, kAll, 0},

      {"name", BuildValue::kName, kGeneralSection, kAll, kAll},
      {"version", BuildValue::kCount, kGeneralSection, kV345, kV45},
      {"edition", BuildValue::kEdition, kGeneralSection, kV5, kV5},
      {"license", BuildValue::kText, kGeneralSection, kV345, kV45},
      {"upstream", BuildValue::kGitUrl, kGeneralSection, kV345, 0},
      {"source", BuildValue::kGitUrl, kGeneralSection, kV45, 0},
      {"backends", BuildValue::kBackends, kGeneralSection, kV345, kV345},
      {"universal", BuildValue::kFlag, kGeneralSection, kSchemaV2, 0},
      {"cuda-minver", BuildValue::kVersion, kGeneralSection, kSchemaV2, 0},
      {"cuda-maxver", BuildValue::kVersion, kGeneralSection, kSchemaV2, 0},
      {"python-depends", BuildValue::kPythonNames, kGeneralSection, kSchemaV2, 0},
      {"hub", BuildValue::kSection, kGeneralSection, kV2345, 0, kHubSection},
      {"cuda", BuildValue::kSection, kGeneralSection, kV345, 0, kCudaSection},
      {"neuron", BuildValue::kSection, kGeneralSection, kV345, 0, kNeuronSection},
      {"tpu", BuildValue::kSection, kGeneralSection, kV5, 0, kTpuSection},
      {"xpu", BuildValue::kSection, kGeneralSection, kV345, 0, kXpuSection},
      {"kernel-depends", BuildValue::kKernelDepends, kGeneralSection | kCudaSection | kNeuronSection | kXpuSection, kV5,
       0},
      {"python-depends", BuildValue::kTexts,
       kGeneralSection | kCudaSection | kNeuronSection | kTpuSection | kXpuSection, kV345, 0},
      {"repo-id", BuildValue::kText, kHubSection, kV2345, 0},
      {"branch", BuildValue::kText, kHubSection, kV2345, 0},
      {"minver", BuildValue::kVersion, kCudaSection, kV345, 0},
      {"maxver", BuildValue::kVersion, kCudaSection, kV345, 0},

      {"minver", BuildValue::kVersion, kTorchSection, kV2345, 0},
      {"maxver", BuildValue::kVersion, kTorchSection, kV2345, 0},
      {"universal", BuildValue::kFlag, kTorchSection, kSchemaV1, 0},
      {"src", BuildValue::kTexts, kTorchSection, kAll, 0},
      {"src", BuildValue::kTexts, kTvmFfiSection, kV345, kV345},
      {"include", BuildValue::kTexts, kTorchAndTvm, kAll, 0},
      {"pyext", BuildValue::kTexts, kTorchAndTvm | kNoarchSection, kAll, 0},
      {"stable-abi", BuildValue::kVersion, kTorchSection, kSchemaV4, 0},
      {"stable-abi", BuildValue::kStableAbi, kTorchSection, kV5, 0},
      {"cxx-flags", BuildValue::kTexts, kTorchAndTvm, kV45, 0},
      {"cuda_capabilities", BuildValue::kTexts, kNoarchSection, kV45, 0},
      {"rocm_archs", BuildValue::kTexts, kNoarchSection, kV45, 0},

      {"backend", BuildValue::kBackend, kAnyKernel, kV2345, kV2345},
      {"depends", BuildValue::kDependencies, kAnyKernel | kOldKernel, kAll, kAll},
      {"src", BuildValue::kTexts, kAnyKernel | kOldKernel, kAll, kAll},
      {"include", BuildValue::kTexts, kAnyKernel | kOldKernel, kAll, 0},
      {"cxx-flags", BuildValue::kTexts, kAnyKernel, kV2345, 0},
      {"cuda-capabilities", BuildValue::kTexts, kCudaKernel | kOldKernel, kAll, 0},
      {"cuda-flags", BuildValue::kTexts, kCudaKernel, kV2345, 0},
      {"cuda-minver", BuildValue::kVersion, kCudaKernel, kV2345, 0},
      {"rocm-archs", BuildValue::kTexts, kRocmKernel | kOldKernel, kAll, 0},
      {"hip-flags", BuildValue::kTexts, kRocmKernel, kV2345, 0},
      {"sycl-flags", BuildValue::kTexts, kXpuKernel, kV2345, 0},
      {"language", BuildValue::kLanguage, kOldKernel, kSchemaV1, 0},
  };
}

struct SectionName {
  BuildSection section;
  std::string_view name;
};
constexpr std::array<SectionName, 15> kSectionNames = {{
    {kTopSection, "the top level"},
    {kGeneralSection, "[general]"},
    {kHubSection, "[general.hub]"},
    {kCudaSection, "[general.cuda]"},
    {kNeuronSection, "[general.neuron]"},
    {kTpuSection, "[general.tpu]"},
    {kXpuSection, "[general.xpu]"},
    {kTorchSection, "[torch]"},
    {kNoarchSection, "[torch-noarch]"},
    {kTvmFfiSection, "[tvm-ffi]"},
    {kCpuKernel, "kernels of the backend cpu"},
    {kCudaKernel, "kernels of the backend cuda"},
    {kMetalKernel, "kernels of the backend metal"},
    {kRocmKernel, "kernels of the backend rocm"},
    {kXpuKernel, "kernels of the backend xpu"},
}};

std::string Places(std::uint16_t sections) {
  if ((sections & kAnyKernel) == kAnyKernel) return "[kernel.NAME]";
  std::string places;
  for (const SectionName& one : kSectionNames) {
    if ((sections & one.section) != 0) places += (places.empty() ? "" : ", ") + std::string(one.name);
  }
  return places;
}

std::string WithOtherDashes(std::string_view name) {
  std::string other(name);
  for (char& c : other) c = c == '_' ? '-' : (c == '-' ? '_' : c);
  return other;
}

std::string KeysOf(BuildSchema schema, BuildSection section) {
  std::string keys;
  for (const BuildKey& key : BuildKeys()) {
    if ((key.schemas & schema) != 0 && (key.sections & section) != 0)
      keys += (keys.empty() ? "" : ", ") + std::string(key.name);
  }
  return keys;
}

}  // namespace

std::string_view BuildSchemaName(BuildSchema schema) {
  switch (schema) {
    case kSchemaV1:
      return "v1";
    case kSchemaV2:
      return "v2";
    case kSchemaV3:
      return "v3";
    case kSchemaV4:
      return "v4";
    case kSchemaV5:
      return "v5";
  }
  return "";
}

const std::vector<BuildKey>& BuildKeys() {
  static const std::vector<BuildKey> keys = AllKeys();
  return keys;
}

const BuildKey* FindBuildKey(BuildSchema schema, BuildSection section, std::string_view name) {
  for (const BuildKey& key : BuildKeys()) {
    if ((key.schemas & schema) != 0 && (key.sections & section) != 0 && key.name == name) return &key;
  }
  return nullptr;
}

std::string HintForUnknownKey(BuildSchema schema, BuildSection section, std::string_view name) {
  const std::string other = WithOtherDashes(name);
  if (FindBuildKey(schema, section, other) != nullptr) return fmt::format("here it is written `{}`", other);
  std::uint16_t sections = 0;
  std::uint8_t schemas = 0;
  for (const BuildKey& key : BuildKeys()) {
    if (key.name != name && key.name != other) continue;
    if ((key.schemas & schema) != 0 && key.name == name) sections = static_cast<std::uint16_t>(sections | key.sections);
    if ((key.sections & section) != 0) schemas = static_cast<std::uint8_t>(schemas | key.schemas);
  }
  if ((schemas & kSchemaV5) != 0) return "it needs `edition = 5` in [general]";
  if (sections != 0) return fmt::format("it belongs in {}", Places(sections));
  for (const BuildSchema old : {kSchemaV3, kSchemaV2, kSchemaV1}) {
    if ((schemas & old) != 0) return fmt::format("it is a key of the old {} format", BuildSchemaName(old));
  }
  return fmt::format("the keys are {}", KeysOf(schema, section));
}

}  // namespace upskill

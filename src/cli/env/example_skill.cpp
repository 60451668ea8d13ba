// SPDX-License-Identifier: Apache-2.0
#include "cli/env/example_skill.h"

#include <system_error>

namespace upskill {
namespace {

constexpr const char* kExampleSkill = "examples/skills/kernel-builder-cuda-kernels";

}  // namespace

std::optional<std::filesystem::path> FindExampleSkill(const Env& env) {
  std::error_code code;
  for (const std::filesystem::path& folder : {std::filesystem::path(kExampleSkill), env.data_dir / kExampleSkill}) {
    if (std::filesystem::exists(folder / "SKILL.md", code)) return folder;
  }
  return std::nullopt;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "cli/env/example_skill.h"

#include <system_error>

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExampleSkill = "examples/skills/kernel-builder-cuda-kernels";

}  // namespace

std::optional<fs::path> FindExampleSkill(const Env& env) {
  std::error_code code;
  const auto is_there = [&](const fs::path& folder) { return fs::exists(folder / "SKILL.md", code); };
  if (is_there(kExampleSkill)) return kExampleSkill;
  // Above the program is the folder of the sources, if it was built there.
  for (fs::path above = env.data_dir; !above.empty(); above = above.parent_path()) {
    if (is_there(above / kExampleSkill)) return above / kExampleSkill;
    if (above == above.parent_path()) break;
  }
  return std::nullopt;
}

}  // namespace upskill

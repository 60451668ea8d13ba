// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

namespace upskill {

// What a suite was read from, beside its own file.
struct SuiteFiles {
  std::vector<std::filesystem::path> cases;   // of all skills that the suite has cases of
  std::vector<std::filesystem::path> values;  // of checks; they may be parts of the skill, such as a schema
};

}  // namespace upskill

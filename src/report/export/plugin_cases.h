// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "util/result.h"

namespace upskill {

struct PluginCases {
  std::size_t cases = 0;
  std::vector<std::string> left_out;  // sentences
};

// Writes a plan's cases as `claude plugin eval` reads them: a folder for each in `dir`, with prompt.md and graders/.
// Checks without a counterpart are left out, and so are cases without another one. Errors (kInput): `dir` is there
// already; no case can be written.
Result<PluginCases> ExportPluginCases(const Plan& plan, const std::filesystem::path& dir);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "eval/journal/sample.h"
#include "eval/plan/cell.h"

namespace upskill {

// The newest answers in earlier runs for the wanted cell keys, each with its student. `cached_from` names the run in
// which the model gave each. Only lines with a wanted key are parsed. Errors, and runs that don't offer their answers,
// are skipped. So are older answers of a student by another model (ChatResponse::served_model) than its newest run has:
// a server can serve something else under the same name.
std::unordered_map<std::string, Sample> FindCachedSamples(const std::filesystem::path& runs_dir,
                                                          const std::unordered_map<std::string, std::size_t>& wanted);

// The answers in earlier runs for these cells; where several of the folders have one, that of the first.
std::vector<Sample> CachedSamplesOf(const std::vector<Cell>& cells,
                                    const std::vector<std::filesystem::path>& runs_dirs);

}  // namespace upskill

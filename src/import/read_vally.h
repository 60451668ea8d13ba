// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "import/imported_results.h"
#include "util/result.h"

namespace upskill {

// results.jsonl of Microsoft Vally: a line of the type `trial-result` for each generation, with its stimulus, variant,
// grades and trajectory. The arms are variants; `vally experiment run` writes a file for each. An answer passes if
// Vally says so (gradeResult.passed), else if its score reaches --pass-at.

// Whether a text is such a file, by its first line.
bool IsVallyResults(std::string_view text);

// The answers of one file. Error: none is with or without the skill; `folder` is the variant where the lines don't name
// one. A file usually has one arm only, so the results are a part (ImportedResults::is_part).
Result<ImportedResults> ResultsOfVally(std::string_view text, const std::string& source, const std::string& folder,
                                       const ImportOptions& options);

}  // namespace upskill

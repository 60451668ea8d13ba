// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "import/imported_results.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The results that `promptfoo eval -o out.json` writes (OutputFile and EvaluateResult in promptfoo's src/types): one
// entry for each provider, prompt and test. The arms are labels of prompts or of providers. An answer passes if
// promptfoo says so (`success`), by the thresholds of its own assertions.

bool IsPromptfooResults(const Json& json);

// Errors: no results (only their table or counts), or no labels that are the arms; the message lists the labels.
Result<ImportedResults> ResultsOfPromptfoo(const Json& json, const std::string& source, const ImportOptions& options);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "import/imported_results.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// aggregate-result.json of `claude plugin eval` (code.claude.com/docs/en/plugin-evals): cases[].arms.with[] and
// .without[] are generations, each with a score between 0 and 1 and its graders. Votes of a judge are inside a grader.

bool IsPluginEval(const Json& json);

// Errors: no case has an answer in an arm of a known name.
Result<ImportedResults> ResultsOfPluginEval(const Json& json, const std::string& source, const ImportOptions& options);

}  // namespace upskill

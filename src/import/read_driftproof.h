// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "import/imported_results.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// A receipt of Driftproof (spec/receipt.schema.json of driftproofhq/driftproof): results.cases[] has an entry for each
// case and mode, which is one generation that a judge scored several times, or since schema 0.6 a list of generations
// (generation.draws). A generation passes if its mean score reaches the case's threshold, as the receipt has it.

bool IsDriftproofReceipt(const Json& json);

// Errors: no case has a measured generation in a known mode.
Result<ImportedResults> ResultsOfDriftproof(const Json& json, const std::string& source, const ImportOptions& options);

}  // namespace upskill

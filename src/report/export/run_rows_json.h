// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "report/terminal/runs_text.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Rows as JSON, with all that RunBars, RunTable and RunCsv show of them and nothing else, so that a run needn't be read
// again for them.
Json RowsToJson(const std::vector<RunRow>& rows);
// Errors: a field is missing or of another type.
Result<std::vector<RunRow>> RowsFromJson(const Json& json);

}  // namespace upskill

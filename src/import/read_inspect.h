// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "import/imported_results.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Logs of Inspect AI: the JSON form, or an .eval archive. Each sample and epoch is one generation; it passes if every
// score is "C", true, or a number that reaches --pass-at. The arm is a label in the metadata of the sample or of the
// log
// (`arm`, `condition` or `configuration`), in the task's arguments, one of the tags, the task's name, or the file's
// name. A log often has one arm only, so the results are a part (ImportedResults::is_part).

bool IsInspectLog(const Json& json);

// Errors: no sample is of a known arm, or none is scored.
Result<ImportedResults> ResultsOfInspect(const Json& json, const std::string& source, const ImportOptions& options);

// The results of an .eval archive in memory, read one sample after another. Errors: also a damaged archive.
Result<ImportedResults> ResultsOfInspectArchive(std::string_view bytes, const std::string& source,
                                                const ImportOptions& options);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "import/imported_results.h"
#include "util/result.h"

namespace upskill {

// The results in files and folders of other programs, one for each evaluation. The format is told by the content. Logs
// of Inspect and results of Vally are one evaluation however many files they are, because the arms are in different
// ones. Errors: unreadable, of an unknown format (the message lists the known ones), or nothing to judge in it.
Result<std::vector<ImportedResults>> ReadResults(const std::vector<std::filesystem::path>& paths,
                                                 const ImportOptions& options);

// The results in the text of one file.
Result<ImportedResults> ReadResultsText(std::string_view text, const std::string& source, const ImportOptions& options);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace upskill {

// What the fuzzers do with a file of another program's results: read, arranged as a run, and judged.
void FuzzImportedResults(std::string_view input);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "skill/formats/converted_suite.h"

namespace upskill {

// Whether the document is a configuration of promptfoo ({"prompts", "defaultTest", "tests"}) or a list of its tests
// ({"vars", "assert"}). Format: https://www.promptfoo.dev/docs/configuration/reference/.
bool IsPromptfoo(const Json& document);

// A case for each test, prompt and combination of listed variables. Providers are left to `-m`. Prompts, tests and
// values in files are looked for in the file's folder and below; what code would make is a warning. `lines`: of the
// tests. Errors: more than 10,000 cases, no prompt, a file of tests that can't be read.
Result<ConvertedSuite> ConvertPromptfoo(const Json& document, const std::vector<std::size_t>& lines,
                                        const std::filesystem::path& file);

}  // namespace upskill

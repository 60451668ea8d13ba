// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "skill/formats/converted_suite.h"

namespace upskill {

// The checks of a promptfoo test (https://www.promptfoo.dev/docs/configuration/expected-outputs/): one for each entry
// of `asserts`, or a single group if the test has a threshold. Values are rendered with the variables; files are looked
// for in `folder`, and added to `files`. What has no counterpart is a skipped check. `templates`: the file's
// assertionTemplates.
Json PromptfooChecks(const Json& asserts, const Json& threshold, const Json& variables, const Json& templates,
                     const std::filesystem::path& folder, std::vector<std::filesystem::path>& files);

}  // namespace upskill

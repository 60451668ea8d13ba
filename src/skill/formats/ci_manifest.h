// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>

#include "skill/formats/converted_suite.h"

namespace upskill {

// Whether the document is a manifest of the Python tool of the same name: {"scenarios": [{"id", "skills", "tests",
// "judge"}]}, in .upskill/evals.json.
bool IsCiManifest(const Json& document);

// Whether a scenario of the manifest names the skill in this folder.
bool ManifestNames(const Json& manifest, const std::filesystem::path& file, const std::filesystem::path& skill);

// The cases of the scenarios that name the skill in `skill` (of all, if it is empty or none does), with the scenario
// before their ids. Names in the manifest count from its folder, or from the one that has `.upskill`. `read` reads a
// file of cases. Errors: a malformed scenario, a file that leads out of that folder or can't be read.
Result<ConvertedSuite> ConvertCiManifest(
    const Json& manifest, const std::filesystem::path& file, const std::filesystem::path& skill,
    const std::function<Result<ConvertedSuite>(const std::filesystem::path&)>& read);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "skill/formats/converted_suite.h"

namespace upskill {

// One record of a file of lines, or of a list.
struct FileRecord {
  Json json;
  std::string place;  // `FILE:LINE`
};

// Whether the records are samples of Inspect (inspect_ai.dataset.json_dataset): {"input", "target", "choices", "id",
// "metadata", "files"}.
bool HasInspectSamples(const std::vector<FileRecord>& records);

// The target, which Inspect leaves to a scorer that isn't in the file, is what the answer must contain, ignoring case,
// as Inspect's `includes` has it; of several targets, one. With choices, the answer must end with the target's letter,
// as its `choice` has it.
ConvertedSuite ConvertInspectSamples(const std::vector<FileRecord>& records, const std::filesystem::path& file);

}  // namespace upskill

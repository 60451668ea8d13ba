// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skill/formats/converted_suite.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// A file of cases as read, or a folder of them: JSON, lines of JSON (.jsonl) or YAML (.yaml, .yml).
struct SuiteFile {
  // The line of each element of the list under `key`, or of the outermost list.
  std::vector<std::size_t> LinesOf(const std::string& key) const;

  std::string text;
  Json document;  // of lines: a list
  bool is_yaml = false;
  std::vector<std::size_t> record_lines;  // of .jsonl
  bool is_folder = false;                 // of cases of `claude plugin eval`, which are read when they are converted
};

// `folder`: that of the skill, if the file was found in it. Errors: not readable, larger than 64 MiB, malformed (with
// line and column).
Result<SuiteFile> ReadSuiteFile(const std::filesystem::path& path, const std::filesystem::path& folder);

// The key of the cases in an object: the first of "tests", "cases" and "evals" that has cases, else the first one
// present, else nullptr.
const char* ListKey(const Json& object);

// Whether the file is one of another tool: evals.json with assertions in prose, a CI manifest, trigger queries,
// promptfoo's configuration or tests, Inspect's samples, a folder of cases of `claude plugin eval`.
bool IsForeign(const SuiteFile& read);

// The file's cases in this program's form; nothing if they are in it already. `skill`: for manifests
// (ConvertCiManifest).
Result<std::optional<ConvertedSuite>> ConvertSuiteFile(const SuiteFile& read, const std::filesystem::path& path,
                                                       const std::filesystem::path& skill);

}  // namespace upskill

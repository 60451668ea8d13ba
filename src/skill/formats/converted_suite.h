// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skill/formats/suite_files.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// One case of another tool's file, in the form of this program's suites (docs/suites.md).
struct ConvertedCase {
  Json json;
  std::string place;               // `FILE:LINE`, or `FILE`
  std::vector<std::string> facts;  // `key: value`: a tag of the cases that share it (AddSharedTags)
};

struct ConvertedSuite {
  std::vector<ConvertedCase> cases;
  std::vector<std::string> warnings;  // with their places; what is said of a case is in its skipped checks
  SuiteFiles files;
};

// A check that this program can't make. It is skipped with a warning, and a case that can't pass without it is left
// out.
Json SkippedCheck(std::string_view name, std::string_view reason);

Json ContainsCheck(Json values);
Json JudgeCheck(std::string_view rubric);

// Tags each case with the facts that it shares with another case: what only one case has groups nothing.
void AddSharedTags(std::vector<ConvertedCase>& cases);

// The facts in an object of metadata: its short texts, numbers and flags.
std::vector<std::string> FactsIn(const Json& metadata);

// Ids that every case has for itself: of equal ones, the second gets " (2)".
class UniqueIds {
 public:
  std::string Take(const std::string& id);

 private:
  std::map<std::string, std::size_t> times_;
};

// A text of at most 1 MiB from a file in the folder or below. Errors: the name leads out of the folder, also by a
// symbolic link; no such file; larger; not UTF-8 text.
Result<std::string> ReadTextBelow(const std::filesystem::path& folder, const std::string& name);

// Error: the pattern isn't in RE2's syntax.
Status CheckRe2Syntax(const std::string& pattern);

// The first that `find` finds in the folder or in one above, up to the root of its repository; else an empty path.
std::filesystem::path FindAbove(const std::filesystem::path& folder,
                                const std::function<std::filesystem::path(const std::filesystem::path&)>& find);

// The texts in the content of a chat message: a string, or a list of parts. Nothing if a part isn't text.
std::optional<std::string> TextOfContent(const Json& content);

// A string as it is, other values as compact JSON, whole numbers without a fraction.
std::string TextOf(const Json& value);

}  // namespace upskill

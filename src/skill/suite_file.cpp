// SPDX-License-Identifier: Apache-2.0
#include "skill/suite_file.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <system_error>
#include <utility>

#include "skill/case_lines.h"
#include "skill/formats/readers.h"
#include "skill/python_cases.h"
#include "util/files.h"
#include "util/json_file.h"
#include "util/text.h"
#include "util/yaml.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSuiteBytes = std::uint64_t{64} << 20U;
constexpr std::size_t kMaxRecords = 1'000'000;
constexpr std::array<const char*, 3> kListKeys = {"tests", "cases", "evals"};

enum class Form { kOwn, kEvals, kManifest, kQueries, kPromptfoo, kInspect, kPlugin };

// The list that the document is, or has under one of the usual keys.
const Json& ListOf(Json&& document) = delete;
const Json& ListOf(const Json& document) {
  if (document.is_array() || !document.is_object()) return document;
  const char* const key = ListKey(document);
  return key == nullptr ? document : document.at(key);
}

std::string KeyOf(const Json& document) {
  const char* const key = document.is_object() ? ListKey(document) : nullptr;
  return key == nullptr ? "" : key;
}

std::vector<FileRecord> RecordsOf(const SuiteFile& read, const fs::path& path) {
  std::vector<FileRecord> records;
  if (!read.document.is_array()) return records;
  const std::vector<std::size_t> lines = read.LinesOf("");
  for (std::size_t i = 0; i < read.document.size(); ++i)
    records.push_back(
        {read.document[i], i < lines.size() ? fmt::format("{}:{}", path.string(), lines[i]) : path.string()});
  return records;
}

Form FormOf(const SuiteFile& read) {
  const Json& document = read.document;
  if (read.is_folder) return Form::kPlugin;
  if (IsCiManifest(document)) return Form::kManifest;
  if (IsPromptfoo(document)) return Form::kPromptfoo;
  const Json& list = ListOf(document);
  if (HasTriggerQueries(list)) return Form::kQueries;
  if (document.is_array() && HasInspectSamples(RecordsOf(read, ""))) return Form::kInspect;
  if (KeyOf(document) == "evals" && list.is_array() && HasProseCases(list)) return Form::kEvals;
  return Form::kOwn;
}

// The cases of a file that a manifest names, which may be of any other form.
Result<ConvertedSuite> CasesOfManifest(const fs::path& path) {
  ASSIGN_OR_RETURN(const SuiteFile read, ReadSuiteFile(path, FolderOf(path)));
  if (FormOf(read) == Form::kManifest) return InputError(path.string() + ": a manifest can't name another one");
  ASSIGN_OR_RETURN(std::optional<ConvertedSuite> converted, ConvertSuiteFile(read, path, {}));
  if (converted) return *std::move(converted);
  ASSIGN_OR_RETURN(const JoinedTests joined, JoinTests(read.document, KeyOf(read.document)).With(path.string()));
  const Json& list = ListOf(joined.document);
  if (!list.is_array()) return InputError(path.string() + ": no list of cases");
  ConvertedSuite own;
  // Of joined cases, some stand in another list.
  const std::vector<std::size_t> lines =
      joined.places.empty() ? read.LinesOf(KeyOf(read.document)) : std::vector<std::size_t>();
  for (std::size_t i = 0; i < list.size(); ++i)
    own.cases.push_back(
        {list[i], i < lines.size() ? fmt::format("{}:{}", path.string(), lines[i]) : path.string(), {}});
  return own;
}

Status ReadLines(const fs::path& path, SuiteFile& read) {
  read.document = Json::array();
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(read.text)) {
    ++number;
    if (Trim(line).empty()) continue;
    if (read.document.size() == kMaxRecords)
      return InputError(fmt::format("{}: more than {} lines; divide it", path.string(), WithThousands(kMaxRecords)));
    ASSIGN_OR_RETURN(Json record, ParseJson(line, fmt::format("{}: line {}", path.string(), number)));
    read.document.push_back(std::move(record));
    read.record_lines.push_back(number);
  }
  return {};
}

}  // namespace

std::vector<std::size_t> SuiteFile::LinesOf(const std::string& key) const {
  if (!record_lines.empty()) return record_lines;
  return is_yaml ? YamlListLines(text, key) : CaseLines(text, key);
}

const char* ListKey(const Json& object) {
  const char* first = nullptr;
  for (const char* key : kListKeys) {
    const auto found = object.find(key);
    if (found == object.end()) continue;
    if (found->is_array() && !found->empty()) return key;
    if (first == nullptr) first = key;
  }
  return first;
}

Result<SuiteFile> ReadSuiteFile(const fs::path& path, const fs::path& folder) {
  SuiteFile read;
  std::error_code code;
  read.is_folder = fs::is_directory(path, code);
  if (read.is_folder) return read;
  const std::string extension = ToLowerAscii(path.extension().string());
  read.is_yaml = extension == ".yaml" || extension == ".yml";
  ASSIGN_OR_RETURN(read.text, ReadFile(path, read.is_yaml ? kMaxYamlBytes : kMaxSuiteBytes));
  if (read.is_yaml) {
    ASSIGN_OR_RETURN(read.document, ParseYaml(read.text, path.string(), YamlNumbers::kNumbers));
  } else if (extension == ".jsonl") {
    RETURN_IF_ERROR(ReadLines(path, read));
  } else {
    ASSIGN_OR_RETURN(read.document, ParseJsonFile(read.text, path, folder));
  }
  return read;
}

bool IsForeign(const SuiteFile& read) { return FormOf(read) != Form::kOwn; }

Result<std::optional<ConvertedSuite>> ConvertSuiteFile(const SuiteFile& read, const fs::path& path,
                                                       const fs::path& skill) {
  const Json& list = ListOf(read.document);
  const std::string key = KeyOf(read.document);
  switch (FormOf(read)) {
    case Form::kOwn:
      return std::optional<ConvertedSuite>();
    case Form::kEvals:
      return std::optional(ConvertEvals(list, read.LinesOf(key), path));
    case Form::kQueries: {
      ASSIGN_OR_RETURN(ConvertedSuite converted, ConvertTriggerQueries(list, read.LinesOf(key), path));
      return std::optional(std::move(converted));
    }
    case Form::kInspect:
      return std::optional(ConvertInspectSamples(RecordsOf(read, path), path));
    case Form::kPromptfoo: {
      ASSIGN_OR_RETURN(ConvertedSuite converted, ConvertPromptfoo(read.document, read.LinesOf(key), path));
      return std::optional(std::move(converted));
    }
    case Form::kPlugin: {
      ASSIGN_OR_RETURN(ConvertedSuite converted, ConvertPluginCases(path, skill));
      return std::optional(std::move(converted));
    }
    case Form::kManifest: {
      ASSIGN_OR_RETURN(
          ConvertedSuite converted,
          ConvertCiManifest(read.document, path, skill, [](const fs::path& tests) { return CasesOfManifest(tests); }));
      return std::optional(std::move(converted));
    }
  }
  return std::optional<ConvertedSuite>();
}

}  // namespace upskill

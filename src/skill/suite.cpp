// SPDX-License-Identifier: Apache-2.0
#include "skill/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <system_error>

#include "skill/case_lines.h"
#include "skill/case_reader.h"
#include "skill/case_writer.h"
#include "skill/check_types.h"
#include "skill/python_tests.h"
#include "util/files.h"
#include "util/json_file.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSuiteBytes = std::uint64_t{64} << 20U;
constexpr std::array<const char*, 3> kListKeys = {"tests", "cases", "evals"};

// The key of the cases in an object: the first one that has cases, else the first one present, else nullptr.
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

struct CaseList {
  std::string key;  // empty for a bare list
  Json cases = Json::array();
};

Result<CaseList> FindCases(const Json& document, const std::string& source) {
  if (document.is_array()) return CaseList{"", document};
  if (!document.is_object()) {
    return InputError(fmt::format("{}: must be an object with \"tests\" or \"cases\", or a list of cases, not {}",
                                  source, JsonTypeName(document)));
  }
  const char* key = ListKey(document);
  if (key == nullptr) return CaseList{"tests", Json::array()};
  const Json& list = document.at(key);
  if (list.is_null()) return CaseList{key, Json::array()};
  if (!list.is_array()) {
    return InputError(fmt::format("{}: \"{}\" must be a list, not {}", source, key, JsonTypeName(list)));
  }
  return CaseList{key, list};
}

Error NoCases(const std::string& source) {
  return InputError(
      fmt::format("{}: no cases; write some under \"tests\" (or \"cases\"), or name another file "
                  "that has them",
                  source));
}

// The line of each case in the file; 0: unknown.
std::vector<std::size_t> LinesOf(const std::string& text, const std::string& key, const JoinedTests& joined) {
  std::vector<std::size_t> lines = CaseLines(text, key);
  if (joined.places.empty()) return lines;
  std::vector<std::size_t> of_cases;
  for (const std::optional<std::size_t>& place : joined.places)
    of_cases.push_back(place && *place < lines.size() ? lines[*place] : 0);
  return of_cases;
}

Result<Suite> SuiteFromDocument(const std::string& text, const std::string& source, Json document) {
  ASSIGN_OR_RETURN(const CaseList read, FindCases(document, source));
  ASSIGN_OR_RETURN(JoinedTests joined, JoinTests(std::move(document), read.key).With(source));
  const std::vector<std::size_t> lines = LinesOf(text, read.key, joined);
  document = std::move(joined.document);
  ASSIGN_OR_RETURN(const CaseList list, FindCases(document, source));
  if (list.cases.empty()) return NoCases(source);
  Suite suite;
  suite.source = source;
  suite.document = std::move(document);
  std::map<std::string, std::size_t> number_of_id;
  for (std::size_t i = 0; i < list.cases.size(); ++i) {
    const std::size_t number = i + 1;
    const std::string line = i < lines.size() && lines[i] > 0 ? fmt::format(":{}", lines[i]) : std::string();
    const std::string place = fmt::format("{}{}: {}", source, line, CaseLabel(list.cases[i], number));
    ASSIGN_OR_RETURN(CaseReading reading, ReadCase(list.cases[i], number).With(place));
    const auto [other, is_new] = number_of_id.emplace(reading.test_case.id, number);
    if (!is_new) {
      return InputError(fmt::format("{}: has the same id \"{}\" as case {}", place,
                                    ExcerptLine(reading.test_case.id, 60), other->second));
    }
    for (const std::string& warning : reading.warnings) suite.warnings.push_back(fmt::format("{}: {}", place, warning));
    reading.test_case.place = place;
    suite.cases.push_back(std::move(reading.test_case));
  }
  return suite;
}

struct SuiteText {
  std::string text;
  std::string source;
  Json document;
};

// `folder`: that of the skill, if the file was found in it.
Result<SuiteText> ReadSuiteText(const fs::path& path, const fs::path& folder) {
  SuiteText read;
  read.source = path.string();
  ASSIGN_OR_RETURN(read.text, ReadFile(path, kMaxSuiteBytes));
  ASSIGN_OR_RETURN(read.document, ParseJsonFile(read.text, path, folder));
  return read;
}

Result<Suite> SuiteFromFile(SuiteText read, const fs::path& path) {
  ASSIGN_OR_RETURN(Suite suite, SuiteFromDocument(read.text, read.source, std::move(read.document)));
  suite.source = path;
  return suite;
}

}  // namespace

Result<Suite> ParseSuite(const std::string& text, const std::string& source) {
  ASSIGN_OR_RETURN(Json document, ParseJson(text, source));
  return SuiteFromDocument(text, source, std::move(document));
}

bool AnyCheck(const std::vector<CheckSpec>& checks, bool (CheckType::*condition)() const) {
  return std::any_of(checks.begin(), checks.end(), [&](const CheckSpec& check) {
    const CheckType* const type = FindCheckType(check.type);
    return (type != nullptr && (type->*condition)()) || AnyCheck(check.members, condition);
  });
}

const std::string* FileWithGap(const Case& test_case) {
  if (!test_case.fill) return nullptr;
  for (const auto* files : {&test_case.files, &test_case.fill->files}) {
    for (const auto& [name, content] : *files) {
      if (name == test_case.fill->file) return &content;
    }
  }
  return nullptr;
}

Status CheckFill(const Case& test_case) {
  if (!test_case.fill) return {};
  const Fill& fill = *test_case.fill;
  if (!test_case.output_file.empty()) return InputError("\"fill\" and \"output_file\" exclude each other; keep one");
  for (const auto& [name, content] : fill.files) {
    const bool shown =
        std::any_of(test_case.files.begin(), test_case.files.end(), [&](const auto& one) { return one.first == name; });
    if (shown) {
      return InputError(fmt::format("\"fill.files\": {} is also in \"context.files\"; keep it in one of them",
                                    ExcerptLine(name, 60)));
    }
  }
  const std::string* const content = FileWithGap(test_case);
  if (content == nullptr) {
    return InputError(fmt::format("\"fill.file\": neither \"context.files\" nor \"fill.files\" has a file {}",
                                  ExcerptLine(fill.file, 60)));
  }
  std::size_t count = 0;
  for (std::size_t at = 0; (at = content->find(fill.gap, at)) != std::string::npos; ++at) ++count;
  if (count == 1) return {};
  return InputError(fmt::format("\"fill.gap\": \"{}\" occurs {} in {}; it must occur once", ExcerptLine(fill.gap, 60),
                                count == 0 ? "nowhere" : Counted(count, "time"), ExcerptLine(fill.file, 60)));
}

std::string_view CheckKindOf(const Case& test_case) {
  if (AnyCheck(test_case.checks, &CheckType::asks_judge)) return "judged";
  return AnyCheck(test_case.checks, &CheckType::is_executed) ? "executed" : "text";
}

Result<Suite> LoadSuite(const fs::path& path) {
  ASSIGN_OR_RETURN(SuiteText read, ReadSuiteText(path, {}));
  return SuiteFromFile(std::move(read), path);
}

Result<Suite> LoadSuiteOfSkill(const fs::path& folder) {
  std::string empty_source;
  for (const char* name : {"skill_meta.json", "tests.json", "evals/evals.json"}) {
    const fs::path path = folder / name;
    std::error_code code;
    if (!fs::exists(path, code)) continue;
    ASSIGN_OR_RETURN(SuiteText read, ReadSuiteText(path, folder));
    ASSIGN_OR_RETURN(const CaseList list, FindCases(read.document, read.source));
    if (!list.cases.empty() || HasOwnTests(read.document)) return SuiteFromFile(std::move(read), path);
    // skill_meta.json is often written with an empty list while the tests are in a separate file.
    if (empty_source.empty()) empty_source = read.source;
  }
  if (!empty_source.empty()) return Error{ErrorKind::kNotFound, NoCases(empty_source).message};
  return Error{ErrorKind::kNotFound,
               fmt::format("{}: no skill_meta.json, tests.json or evals/evals.json with cases", folder.string())};
}

Json SuiteToJson(const Suite& suite) {
  Json list = Json::array();
  for (const Case& test_case : suite.cases) list.push_back(WriteCase(test_case, list.size() + 1));
  if (suite.document.is_array()) return list;
  Json document = suite.document.is_object() ? suite.document : Json::object();
  const char* key = ListKey(document);
  if (key == nullptr) key = document.contains("metadata") ? "tests" : "cases";
  document[key] = std::move(list);
  return document;
}

Status SaveSuite(const Suite& suite, const fs::path& path) {
  return WriteFileAtomically(path, DumpJsonIndented(SuiteToJson(suite)) + "\n");
}

}  // namespace upskill

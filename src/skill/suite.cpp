// SPDX-License-Identifier: Apache-2.0
#include "skill/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>

#include "skill/case_lines.h"
#include "skill/case_reader.h"
#include "skill/case_writer.h"
#include "skill/check_types.h"
#include "skill/formats/readers.h"
#include "skill/python_cases.h"
#include "skill/suite_file.h"
#include "util/files.h"
#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

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
  if (key == nullptr) {
    constexpr std::array<std::string_view, 3> kKeys = {"tests", "cases", "evals"};
    for (const auto& member : document.items()) {
      const std::optional<std::string> meant =
          member.value().is_array() ? NearestKey(member.key(), kKeys) : std::nullopt;
      if (meant) {
        return InputError(fmt::format("{}: no cases; \"{}\" is unknown; did you mean \"{}\"?", source,
                                      ExcerptLine(member.key(), 60), *meant));
      }
    }
    return CaseList{"tests", Json::array()};
  }
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

// The suite of these cases; `document` is left to the caller.
Result<Suite> SuiteFromCases(ConvertedSuite read, const fs::path& source) {
  if (read.cases.empty()) return NoCases(source.string());
  Suite suite;
  suite.source = source;
  suite.warnings = std::move(read.warnings);
  suite.files = std::move(read.files);
  std::map<std::string, std::size_t> number_of_id;
  for (std::size_t i = 0; i < read.cases.size(); ++i) {
    const std::size_t number = i + 1;
    const Json& raw = read.cases[i].json;
    const std::string place = fmt::format("{}: {}", read.cases[i].place, CaseLabel(raw, number));
    ASSIGN_OR_RETURN(CaseReading reading, ReadCase(raw, number).With(place));
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

// The line of each case, from those of the list as it was read; 0: unknown.
std::vector<std::size_t> LinesOfCases(const std::vector<std::size_t>& lines, const JoinedTests& joined) {
  if (joined.places.empty()) return lines;
  std::vector<std::size_t> of_cases;
  of_cases.reserve(joined.places.size());
  for (const std::optional<std::size_t>& place : joined.places)
    of_cases.push_back(place && *place < lines.size() ? lines[*place] : 0);
  return of_cases;
}

// `lines`: of the elements of the list under a key.
Result<Suite> SuiteFromOwn(Json document, const std::string& source,
                           const std::function<std::vector<std::size_t>(const std::string& key)>& lines_of) {
  ASSIGN_OR_RETURN(const CaseList read, FindCases(document, source));
  ASSIGN_OR_RETURN(JoinedTests joined, JoinTests(std::move(document), read.key).With(source));
  ASSIGN_OR_RETURN(const CaseList list, FindCases(joined.document, source));
  const std::vector<std::size_t> lines = LinesOfCases(lines_of(read.key), joined);
  ConvertedSuite cases;
  for (std::size_t i = 0; i < list.cases.size(); ++i) {
    const bool known = i < lines.size() && lines[i] > 0;
    cases.cases.push_back({list.cases[i], known ? fmt::format("{}:{}", source, lines[i]) : source, {}});
  }
  ASSIGN_OR_RETURN(Suite suite, SuiteFromCases(std::move(cases), source));
  suite.document = std::move(joined.document);
  return suite;
}

// The document of cases that another tool's file stated.
Json DocumentOf(const std::vector<ConvertedCase>& cases) {
  Json list = Json::array();
  for (const ConvertedCase& one : cases) list.push_back(one.json);
  return {{"cases", std::move(list)}};
}

Result<Suite> SuiteFromFile(SuiteFile read, const fs::path& path, const fs::path& skill) {
  ASSIGN_OR_RETURN(std::optional<ConvertedSuite> converted, ConvertSuiteFile(read, path, skill));
  if (!converted) {
    ASSIGN_OR_RETURN(Suite suite, SuiteFromOwn(read.document, path.string(),
                                               [&read](const std::string& key) { return read.LinesOf(key); }));
    suite.source = path;
    return suite;
  }
  Json document = DocumentOf(converted->cases);
  ASSIGN_OR_RETURN(Suite suite, SuiteFromCases(*std::move(converted), path));
  suite.document = std::move(document);
  return suite;
}

// Whether the file of a skill has cases, of whatever tool.
Result<bool> HasCases(const SuiteFile& read, const fs::path& path) {
  if (IsForeign(read)) return true;
  ASSIGN_OR_RETURN(const CaseList list, FindCases(read.document, path.string()));
  return !list.cases.empty() || HasOwnTests(read.document);
}

// The manifest that names the skill, in its folder or in one of those above, up to the root of its repository.
fs::path ManifestOf(const fs::path& skill) {
  return FindAbove(skill, [&](const fs::path& folder) {
    const fs::path manifest = folder / ".upskill" / "evals.json";
    std::error_code code;
    if (!fs::is_regular_file(manifest, code)) return fs::path();
    const Result<SuiteFile> read = ReadSuiteFile(manifest, folder);
    return read && ManifestNames(read->document, manifest, skill) ? manifest : fs::path();
  });
}

}  // namespace

Result<Suite> ParseSuite(const std::string& text, const std::string& source) {
  ASSIGN_OR_RETURN(Json document, ParseJson(text, source));
  return SuiteFromOwn(std::move(document), source, [&text](const std::string& key) { return CaseLines(text, key); });
}

bool AnyCheck(const std::vector<CheckSpec>& checks, bool (CheckType::*condition)() const) {
  return std::any_of(checks.begin(), checks.end(), [&](const CheckSpec& check) {
    const CheckType* const type = FindCheckType(check.type);
    return (type != nullptr && (type->*condition)()) || AnyCheck(check.members, condition);
  });
}

const char* CaseModeName(CaseMode mode) {
  switch (mode) {
    case CaseMode::kUnset:
      break;
    case CaseMode::kAnswer:
      return "answer";
    case CaseMode::kWorkspace:
      return "workspace";
  }
  return "";
}

std::optional<CaseMode> CaseModeFromName(std::string_view name) {
  for (const CaseMode mode : {CaseMode::kAnswer, CaseMode::kWorkspace}) {
    if (name == CaseModeName(mode)) return mode;
  }
  return std::nullopt;
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

Result<Suite> LoadSuite(const fs::path& path, const fs::path& skill) {
  ASSIGN_OR_RETURN(SuiteFile read, ReadSuiteFile(path, {}));
  return SuiteFromFile(std::move(read), path, skill);
}

namespace {

// Whether somebody has written the file `a` after `b`: what is copied or checked out together is written within a
// minute.
bool IsNewer(const fs::path& a, const fs::path& b) {
  std::error_code code;
  const fs::file_time_type time = fs::last_write_time(a, code);
  return !code && time > fs::last_write_time(b, code) + std::chrono::minutes(1) && !code;
}

}  // namespace

Result<Suite> LoadSuiteOfSkill(const fs::path& folder) {
  std::string empty_source;
  std::vector<fs::path> paths;
  for (const char* name : {"skill_meta.json", "tests.json", "evals/evals.json", "promptfooconfig.yaml"})
    paths.push_back(folder / name);
  if (fs::path manifest = ManifestOf(folder); !manifest.empty()) paths.push_back(std::move(manifest));
  if (fs::path cases = PluginCasesOf(folder); !cases.empty()) paths.push_back(std::move(cases));
  for (const char* name : {"evals/eval_queries.json", "eval_queries.json"}) paths.push_back(folder / name);
  for (const fs::path& path : paths) {
    std::error_code code;
    if (!fs::exists(path, code)) continue;
    ASSIGN_OR_RETURN(SuiteFile read, ReadSuiteFile(path, folder));
    ASSIGN_OR_RETURN(const bool has_cases, HasCases(read, path));
    if (has_cases) {
      ASSIGN_OR_RETURN(Suite suite, SuiteFromFile(std::move(read), path, folder));
      if (const fs::path newer = folder / "tests.json"; path.filename() == "skill_meta.json" && IsNewer(newer, path))
        suite.warnings.push_back(fmt::format("{} isn't read, because {} has cases; to use its cases, name it with -t",
                                             newer.string(), path.filename().string()));
      return suite;
    }
    // skill_meta.json is often written with an empty list while the tests are in a separate file.
    if (empty_source.empty()) empty_source = path.string();
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

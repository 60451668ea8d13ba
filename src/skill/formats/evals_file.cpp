// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "skill/formats/readers.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 100;

bool HasOwnChecks(const Json& one) {
  constexpr std::array<const char*, 4> kKeys = {"expected", "checks", "verifiers", "validator"};
  return std::any_of(kKeys.begin(), kKeys.end(), [&](const char* key) { return FindMember(one, key) != nullptr; });
}

bool IsProse(const Json& one) {
  if (!one.is_object() || HasOwnChecks(one)) return false;
  return FindMember(one, "assertions") != nullptr || FindMember(one, "expectations") != nullptr ||
         FindMember(one, "expected_output") != nullptr;
}

// An assertion is a sentence, or an object that has one.
std::string SentenceOf(const Json& assertion) {
  if (assertion.is_string()) return std::string(Trim(assertion.get_ref<const std::string&>()));
  for (const char* key : {"text", "assertion", "expectation", "description"}) {
    if (std::string text = StringAt(assertion, key); !text.empty()) return text;
  }
  return "";
}

Json ChecksOf(const Json& one) {
  Json checks = Json::array();
  for (const char* key : {"assertions", "expectations"}) {
    const Json* const list = FindMember(one, key);
    if (list == nullptr) continue;
    for (const Json& assertion : list->is_array() ? *list : Json::array({*list})) {
      const std::string sentence = SentenceOf(assertion);
      checks.push_back(sentence.empty() ? SkippedCheck("an assertion without a text", "it must be a sentence")
                                        : JudgeCheck(sentence));
    }
  }
  if (!checks.empty()) return checks;
  const std::string wanted(Trim(StringAt(one, "expected_output")));
  if (!wanted.empty()) {
    checks.push_back(JudgeCheck("The answer is what this description of a good result asks for: " + wanted));
  } else {
    checks.push_back(
        SkippedCheck("a case without assertions", "add sentences under \"assertions\" that a judge can decide"));
  }
  return checks;
}

// The text of a file of the case: its name counts from the skill's folder, whose evals/ has the file of cases, else
// from the file of cases.
Result<std::string> FileOfCase(const fs::path& folder, const std::string& name) {
  std::optional<Error> first;
  if (folder.filename() == "evals") {
    Result<std::string> text = ReadTextBelow(FolderOf(folder), name);
    if (text || text.error().kind != ErrorKind::kNotFound) return text;
    first = text.error();
  }
  Result<std::string> text = ReadTextBelow(folder, name);
  if (!text && first) return *first;
  return text;
}

// The case's files as context; a file that can't be sent as text becomes a skipped check, because the answer would be
// one to another question.
Json ContextOf(const Json& files, const fs::path& folder, Json& checks) {
  Json context = Json::object();
  if (!files.is_array()) {
    checks.push_back(SkippedCheck("\"files\"", "it must be a list of names of files"));
    return context;
  }
  for (const Json& name : files) {
    if (context.size() == kMaxFiles) {
      checks.push_back(SkippedCheck("\"files\"", fmt::format("a case may have {} files", kMaxFiles)));
      break;
    }
    if (!name.is_string()) {
      checks.push_back(SkippedCheck("\"files\"", "it must be a list of names of files"));
      continue;
    }
    const std::string& text = name.get_ref<const std::string&>();
    const Result<std::string> content = FileOfCase(folder, text);
    if (content) {
      context[text] = *content;
    } else {
      checks.push_back(SkippedCheck(fmt::format("the file \"{}\"", ExcerptLine(text, 60)), content.error().message));
    }
  }
  return context;
}

Json CaseFrom(const Json& one, const fs::path& file) {
  Json made = Json::object();
  Json checks = ChecksOf(one);
  for (const auto& [key, value] : one.items()) {
    if (key == "assertions" || key == "expectations" || key == "files") continue;
    // Not an answer that passes, as `reference` is: a person's description of one.
    made[key == "expected_output" ? "description" : key] = value;
  }
  if (const Json* const files = FindMember(one, "files"); files != nullptr && !files->empty()) {
    Json context = ContextOf(*files, FolderOf(file), checks);
    if (!context.empty()) made["context"] = {{"files", std::move(context)}};
  }
  made["checks"] = std::move(checks);
  return made;
}

}  // namespace

bool HasProseCases(const Json& list) { return std::any_of(list.begin(), list.end(), IsProse); }

ConvertedSuite ConvertEvals(const Json& list, const std::vector<std::size_t>& lines, const fs::path& file) {
  ConvertedSuite suite;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = i < lines.size() ? fmt::format("{}:{}", file.string(), lines[i]) : file.string();
    suite.cases.push_back({IsProse(list[i]) ? CaseFrom(list[i], file) : list[i], place, {}});
  }
  return suite;
}

}  // namespace upskill

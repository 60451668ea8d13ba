// SPDX-License-Identifier: Apache-2.0
#include "skill/python_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string_view>
#include <utility>

#include "util/json_builder.h"
#include "util/list.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kNamespace = "x-upskill";
constexpr const char* kList = "tests";

// The keys of a test in the Python tool (TestCase), in its order.
constexpr std::array<std::string_view, 6> kPythonKeys = {"input",       "context",   "expected",
                                                         "output_file", "validator", "validator_config"};

bool AllStrings(const Json& values) {
  return std::all_of(values.begin(), values.end(), [](const Json& value) { return value.is_string(); });
}

bool IsPythonContext(const Json* context) {
  if (context == nullptr) return true;
  if (!context->is_object()) return false;
  for (const auto& [key, value] : context->items()) {
    if (key != "files" || !(value.is_null() || (value.is_object() && AllStrings(value)))) return false;
  }
  return true;
}

bool IsPythonExpected(const Json* expected) {
  if (expected == nullptr || !expected->is_object() || expected->size() != 1) return false;
  const Json* const contains = FindMember(*expected, "contains");
  if (contains == nullptr) return false;
  return contains->is_string() || (contains->is_array() && !contains->empty() && AllStrings(*contains));
}

bool IsPythonValidator(const Json& one) {
  const Json* const name = FindMember(one, "validator");
  const Json* const config = FindMember(one, "validator_config");
  if (name != nullptr && !name->is_string()) return false;
  if (config == nullptr) return true;
  return config->is_object() && std::all_of(config->begin(), config->end(), [](const Json& value) {
           return value.is_string() || value.is_number() || value.is_boolean();
         });
}

// Whether what the Python tool knows of the case is all that decides it.
bool IsJudgedAlike(const Json& one) {
  for (const char* key : {"checks", "verifiers", "fill"}) {
    if (FindMember(one, key) != nullptr) return false;
  }
  const Json* const input = FindMember(one, "input") != nullptr ? FindMember(one, "input") : FindMember(one, "prompt");
  if (input == nullptr || !input->is_string()) return false;
  // The Python tool looks at the file only with a validator.
  if (FindMember(one, "output_file") != nullptr && FindMember(one, "validator") == nullptr) return false;
  return IsPythonContext(FindMember(one, "context")) && IsPythonExpected(FindMember(one, "expected")) &&
         IsPythonValidator(one);
}

std::string InputOf(const Json& one) {
  std::string input = StringAt(one, "input");
  if (input.empty()) input = StringAt(one, "prompt");
  return input;
}

// The two parts of a case: what the Python tool knows, and the rest. The first is null if it would judge otherwise.
std::pair<Json, Json> PartsOf(const Json& one) {
  if (!one.is_object() || !IsJudgedAlike(one)) return {nullptr, one};
  const std::string input = InputOf(one);
  JsonObjectBuilder test;
  JsonObjectBuilder rest;
  test.Add("input") = input;
  rest.Add("input") = input;
  for (const auto& [key, value] : one.items()) {
    if (key == "input" || key == "prompt") continue;
    (IsOneOf(key, kPythonKeys) ? test : rest).Add(key) = value;
  }
  return {test.Take(), rest.Take()};
}

const char* KeyOfList(const Json& document) {
  if (!document.is_object()) return nullptr;
  for (const char* key : {"tests", "cases"}) {
    if (const Json* list = FindMember(document, key); list != nullptr && list->is_array() && !list->empty()) return key;
  }
  return nullptr;
}

// An entry of x-upskill that needs no test beside it.
bool IsWhole(const Json& entry) {
  for (const char* key : {"expected", "checks", "verifiers", "validator"}) {
    if (FindMember(entry, key) != nullptr) return true;
  }
  return false;
}

// The test, completed: names first, then what both tools know, then the rest. The test's own values count.
Json Joined(const Json& test, const Json& entry) {
  constexpr std::array<std::string_view, 2> kNames = {"id", "name"};
  JsonObjectBuilder whole;  // of equal keys, the last value counts, at the place of the first
  const auto add = [&](const Json& from, bool names) {
    for (const auto& [key, value] : from.items()) {
      if (IsOneOf(key, kNames) == names) whole.Add(key) = value;
    }
  };
  add(entry, true);
  add(test, true);
  add(test, false);
  add(entry, false);
  add(test, false);
  return whole.Take();
}

}  // namespace

Json ReadableByPython(Json document) {
  const char* const key = KeyOfList(document);
  if (key == nullptr) return document;
  Json tests = Json::array();
  Json entries = Json::array();
  bool needed = false;
  for (const Json& one : document[key]) {
    auto [test, rest] = PartsOf(one);
    needed = needed || test.is_null() || rest.size() > 1;
    if (!test.is_null()) tests.push_back(std::move(test));
    entries.push_back(std::move(rest));
  }
  if (!needed) return document;
  document[key] = std::move(tests);
  if (!document.contains(kNamespace) || !document[kNamespace].is_object()) document[kNamespace] = Json::object();
  document[kNamespace][kList] = std::move(entries);
  return document;
}

bool HasOwnTests(const Json& document) {
  const Json* const entries = FindMember(Member(document, kNamespace), kList);
  return entries != nullptr && entries->is_array() && !entries->empty();
}

Result<JoinedTests> JoinTests(Json document, const std::string& key) {
  JoinedTests joined;
  if (!HasOwnTests(document)) {
    joined.document = std::move(document);
    return joined;
  }
  const Json* const list = FindMember(document, key.c_str());
  const Json tests = list != nullptr && list->is_array() ? *list : Json::array();
  std::map<std::string, std::deque<std::size_t>> of_input;
  for (std::size_t i = 0; i < tests.size(); ++i) of_input[InputOf(tests[i])].push_back(i);
  Json cases = Json::array();
  std::vector<bool> used(tests.size(), false);
  for (const Json& entry : document[kNamespace][kList]) {
    const std::string place = fmt::format("\"{}.{}\" entry {}", kNamespace, kList, cases.size() + 1);
    if (!entry.is_object()) return InputError(fmt::format("{} must be an object, not {}", place, JsonTypeName(entry)));
    if (IsWhole(entry)) {
      cases.push_back(entry);
      joined.places.emplace_back(std::nullopt);
      continue;
    }
    const auto found = of_input.find(InputOf(entry));
    if (found == of_input.end() || found->second.empty()) {
      return InputError(
          fmt::format("{} has no checks, and no test in \"{}\" has its \"input\" {}; give both the same "
                      "\"input\", or remove the entry",
                      place, key, ExcerptLine(DumpJson(InputOf(entry)), 60)));
    }
    const std::size_t test = found->second.front();
    found->second.pop_front();
    used[test] = true;
    cases.push_back(Joined(tests[test], entry));
    joined.places.emplace_back(test);
  }
  for (std::size_t i = 0; i < tests.size(); ++i) {
    if (used[i]) continue;
    cases.push_back(tests[i]);
    joined.places.emplace_back(i);
  }
  document[key] = std::move(cases);
  document[kNamespace].erase(kList);
  if (document[kNamespace].empty()) document.erase(kNamespace);
  joined.document = std::move(document);
  return joined;
}

}  // namespace upskill

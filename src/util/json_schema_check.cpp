// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/json_schema.h"
#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kMaxPatterns = 1000;

// Of `schema` itself, not of what is in it.
Status CheckPatternsOf(const Json& schema, int& left) {
  std::vector<std::string> patterns;
  if (const auto pattern = schema.find("pattern"); pattern != schema.end() && pattern->is_string())
    patterns.push_back(pattern->get<std::string>());
  if (const auto keys = schema.find("patternProperties"); keys != schema.end() && keys->is_object()) {
    for (const auto& each : keys->items()) patterns.push_back(each.key());
  }
  for (const std::string& pattern : patterns) {
    if (--left < 0) return InputError("the schema has more than 1,000 patterns");
    RE2::Options options;
    options.set_log_errors(false);
    const RE2 compiled(pattern, options);
    if (!compiled.ok())
      return InputError(fmt::format("the schema's pattern \"{}\": {}", ExcerptLine(pattern, 80), compiled.error()));
  }
  return {};
}

constexpr std::array<std::string_view, 7> kTypes = {"object", "array",   "string", "boolean",
                                                    "null",   "integer", "number"};

// Keywords whose value is a schema, a list of schemas, or an object of schemas.
constexpr std::array<std::string_view, 12> kWithSchemas = {
    "items", "additionalItems", "contains", "prefixItems", "allOf", "anyOf", "oneOf", "not", "if", "then",
    "else",  "propertyNames"};
constexpr std::array<std::string_view, 6> kWithNamedSchemas = {
    "properties", "patternProperties", "dependentSchemas", "definitions", "$defs", "dependencies"};
constexpr std::array<std::string_view, 40> kOtherKeywords = {"type",
                                                             "enum",
                                                             "const",
                                                             "required",
                                                             "minProperties",
                                                             "maxProperties",
                                                             "minContains",
                                                             "maxContains",
                                                             "uniqueItems",
                                                             "minItems",
                                                             "maxItems",
                                                             "minLength",
                                                             "maxLength",
                                                             "pattern",
                                                             "minimum",
                                                             "maximum",
                                                             "exclusiveMinimum",
                                                             "exclusiveMaximum",
                                                             "multipleOf",
                                                             "format",
                                                             "title",
                                                             "description",
                                                             "default",
                                                             "examples",
                                                             "deprecated",
                                                             "readOnly",
                                                             "writeOnly",
                                                             "contentEncoding",
                                                             "contentMediaType",
                                                             "contentSchema",
                                                             "$schema",
                                                             "$id",
                                                             "$ref",
                                                             "$anchor",
                                                             "$comment",
                                                             "dependentRequired",
                                                             "unevaluatedItems",
                                                             "unevaluatedProperties",
                                                             "id",
                                                             "example"};

// Calls `visit` with every schema in `schema`, itself included; `visit` returns a Status.
template <typename Visit>
Status VisitSchemas(const Json& schema, const Visit& visit) {
  std::vector<const Json*> waiting = {&schema};
  const auto add = [&](const Json& value) {
    if (value.is_object()) waiting.push_back(&value);
  };
  while (!waiting.empty()) {
    const Json& next = *waiting.back();
    waiting.pop_back();
    if (!next.is_object()) continue;
    RETURN_IF_ERROR(visit(next));
    add(Member(next, "additionalProperties"));
    for (const std::string_view key : kWithSchemas) {
      const Json& value = Member(next, std::string(key).c_str());
      add(value);
      if (!value.is_array()) continue;
      for (const Json& one : value) add(one);
    }
    for (const std::string_view key : kWithNamedSchemas) {
      const Json& named = Member(next, std::string(key).c_str());
      if (!named.is_object()) continue;
      for (const Json& one : named) add(one);
    }
  }
  return {};
}

Status CheckTypesOf(const Json& schema) {
  const Json& type = Member(schema, "type");
  if (type.is_null()) return {};
  for (const Json& one : type.is_array() ? type : Json::array({type})) {
    const std::string name = one.is_string() ? one.get<std::string>() : std::string();
    if (std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end()) continue;
    const std::optional<std::string> meant = NearestKey(name, kTypes);
    return InputError(fmt::format("the schema's \"type\" can't be {}{}", ExcerptLine(DumpJson(one), 80),
                                  meant ? fmt::format("; did you mean \"{}\"?", *meant)
                                        : fmt::format("; there are {}", fmt::join(kTypes, ", "))));
  }
  return {};
}

}  // namespace

std::vector<std::string> MisspeltSchemaKeywords(const Json& schema) {
  constexpr std::size_t kMostToName = 5;
  std::vector<std::string_view> keywords(kOtherKeywords.begin(), kOtherKeywords.end());
  keywords.insert(keywords.end(), kWithSchemas.begin(), kWithSchemas.end());
  keywords.insert(keywords.end(), kWithNamedSchemas.begin(), kWithNamedSchemas.end());
  keywords.emplace_back("additionalProperties");
  std::vector<std::string> misspelt;
  const Status visited = VisitSchemas(schema, [&](const Json& one) -> Status {
    for (const auto& member : one.items()) {
      if (misspelt.size() == kMostToName) return {};
      if (const std::optional<std::string> meant = NearestKey(member.key(), keywords)) {
        misspelt.push_back(
            fmt::format("unknown keyword \"{}\" is ignored; did you mean \"{}\"?", member.key(), *meant));
      }
    }
    return {};
  });
  return visited ? misspelt : std::vector<std::string>();
}

Status CheckSchemaItself(const Json& schema) {
  RETURN_IF_ERROR(VisitSchemas(schema, CheckTypesOf));
  int left = kMaxPatterns;
  std::vector<const Json*> waiting = {&schema};
  while (!waiting.empty()) {
    const Json& next = *waiting.back();
    waiting.pop_back();
    if (next.is_object()) RETURN_IF_ERROR(CheckPatternsOf(next, left));
    if (next.is_structured()) {
      for (const Json& member : next) waiting.push_back(&member);
    }
  }
  return {};
}

}  // namespace upskill

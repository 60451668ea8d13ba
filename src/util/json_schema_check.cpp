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

// What the value of a keyword is. kAny: something that says nothing about values, or is judged elsewhere.
enum class Form {
  kSchema,
  kSchemas,
  kSchemaOrSchemas,
  kNamedSchemas,
  kDependencies,
  kNumber,
  kSize,
  kString,
  kStrings,
  kList,
  kFlag,
  kAny
};

struct KeywordForm {
  std::string_view keyword;
  Form form;
};

// All keywords of drafts 7 and 2020-12 that are known here.
constexpr std::array<KeywordForm, 59> kForms = {{{"not", Form::kSchema},
                                                 {"if", Form::kSchema},
                                                 {"then", Form::kSchema},
                                                 {"else", Form::kSchema},
                                                 {"contains", Form::kSchema},
                                                 {"propertyNames", Form::kSchema},
                                                 {"additionalProperties", Form::kSchema},
                                                 {"additionalItems", Form::kSchema},
                                                 {"items", Form::kSchemaOrSchemas},
                                                 {"prefixItems", Form::kSchemas},
                                                 {"allOf", Form::kSchemas},
                                                 {"anyOf", Form::kSchemas},
                                                 {"oneOf", Form::kSchemas},
                                                 {"properties", Form::kNamedSchemas},
                                                 {"patternProperties", Form::kNamedSchemas},
                                                 {"dependentSchemas", Form::kNamedSchemas},
                                                 {"minimum", Form::kNumber},
                                                 {"maximum", Form::kNumber},
                                                 {"exclusiveMinimum", Form::kNumber},
                                                 {"exclusiveMaximum", Form::kNumber},
                                                 {"multipleOf", Form::kNumber},
                                                 {"minLength", Form::kSize},
                                                 {"maxLength", Form::kSize},
                                                 {"minItems", Form::kSize},
                                                 {"maxItems", Form::kSize},
                                                 {"minProperties", Form::kSize},
                                                 {"maxProperties", Form::kSize},
                                                 {"minContains", Form::kSize},
                                                 {"maxContains", Form::kSize},
                                                 {"pattern", Form::kString},
                                                 {"$ref", Form::kString},
                                                 {"required", Form::kStrings},
                                                 {"enum", Form::kList},
                                                 {"uniqueItems", Form::kFlag},
                                                 {"$defs", Form::kNamedSchemas},
                                                 {"definitions", Form::kNamedSchemas},
                                                 {"dependencies", Form::kDependencies},
                                                 {"type", Form::kAny},
                                                 {"const", Form::kAny},
                                                 {"format", Form::kAny},
                                                 {"title", Form::kAny},
                                                 {"description", Form::kAny},
                                                 {"default", Form::kAny},
                                                 {"examples", Form::kAny},
                                                 {"example", Form::kAny},
                                                 {"deprecated", Form::kAny},
                                                 {"readOnly", Form::kAny},
                                                 {"writeOnly", Form::kAny},
                                                 {"contentEncoding", Form::kAny},
                                                 {"contentMediaType", Form::kAny},
                                                 {"contentSchema", Form::kAny},
                                                 {"$schema", Form::kAny},
                                                 {"$id", Form::kAny},
                                                 {"id", Form::kAny},
                                                 {"$anchor", Form::kAny},
                                                 {"$comment", Form::kAny},
                                                 {"dependentRequired", Form::kAny},
                                                 {"unevaluatedItems", Form::kAny},
                                                 {"unevaluatedProperties", Form::kAny}}};

bool HoldsSchemas(Form form) {
  return form == Form::kSchema || form == Form::kSchemas || form == Form::kSchemaOrSchemas ||
         form == Form::kNamedSchemas || form == Form::kDependencies;
}

// Calls `visit` with every schema in `schema`, itself included; `visit` returns a Status.
template <typename Visit>
Status VisitSchemas(const Json& schema, const Visit& visit) {
  std::vector<const Json*> waiting = {&schema};
  while (!waiting.empty()) {
    const Json& next = *waiting.back();
    waiting.pop_back();
    if (!next.is_object()) continue;
    RETURN_IF_ERROR(visit(next));
    for (const KeywordForm& known : kForms) {
      const auto found = next.find(known.keyword);
      if (found == next.end() || !HoldsSchemas(known.form)) continue;
      const bool several = found->is_array() || known.form == Form::kNamedSchemas || known.form == Form::kDependencies;
      if (!several) {
        waiting.push_back(&*found);
      } else if (found->is_structured()) {
        for (const Json& one : *found) waiting.push_back(&one);
      }
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

bool IsSchema(const Json& value) { return value.is_object() || value.is_boolean(); }

// What a value of the form is; empty if `value` is one.
std::string_view Wanted(Form form, const Json& value) {
  const auto all = [&](const auto& fits) { return std::all_of(value.begin(), value.end(), fits); };
  const auto unless = [](bool fits, std::string_view words) { return fits ? std::string_view() : words; };
  switch (form) {
    case Form::kSchema:
      return unless(IsSchema(value), "a schema: an object, true or false");
    case Form::kSchemas:
      return unless(value.is_array() && !value.empty() && all(IsSchema), "a list of schemas");
    case Form::kSchemaOrSchemas:
      return unless(IsSchema(value) || (value.is_array() && all(IsSchema)), "a schema or a list of schemas");
    case Form::kNamedSchemas:
      return unless(value.is_object() && all(IsSchema), "an object whose values are schemas");
    case Form::kDependencies:
      return unless(value.is_object() && all([](const Json& one) { return IsSchema(one) || one.is_array(); }),
                    "an object whose values are schemas or lists of keys");
    case Form::kNumber:
      return unless(value.is_number(), "a number");
    case Form::kSize:
      return unless(value.is_number() && value.get<double>() >= 0.0, "a number from 0");
    case Form::kString:
      return unless(value.is_string(), "a string");
    case Form::kStrings:
      return unless(value.is_array() && all([](const Json& one) { return one.is_string(); }), "a list of strings");
    case Form::kList:
      return unless(value.is_array() && !value.empty(), "a list of values");
    case Form::kFlag:
      return unless(value.is_boolean(), "true or false");
    case Form::kAny:
      break;
  }
  return {};
}

Status CheckFormsOf(const Json& schema) {
  for (const KeywordForm& known : kForms) {
    const auto found = schema.find(known.keyword);
    if (found == schema.end()) continue;
    if (const std::string_view wanted = Wanted(known.form, *found); !wanted.empty()) {
      return InputError(fmt::format("the schema's \"{}\" must be {}, not {}", known.keyword, wanted,
                                    ExcerptLine(DumpJson(*found), 80)));
    }
  }
  return {};
}

Status CheckReferencesOf(const Json& schema, const Json& root) {
  for (const char* key : {"$dynamicRef", "$recursiveRef"}) {
    if (schema.contains(key)) return InputError(fmt::format("the schema's \"{}\" is not supported; use \"$ref\"", key));
  }
  const auto reference = schema.find("$ref");
  if (reference == schema.end() || FindReferenced(root, *reference) != nullptr) return {};
  return InputError(fmt::format(
      "the schema's \"$ref\" {} names nothing in it; a reference is a JSON pointer within the schema, such as "
      "\"#/$defs/size\"",
      ExcerptLine(DumpJson(*reference), 80)));
}

}  // namespace

std::vector<std::string> IgnoredSchemaKeywords(const Json& schema) {
  constexpr std::size_t kMostToName = 5;
  std::vector<std::string_view> keywords;
  keywords.reserve(kForms.size());
  for (const KeywordForm& known : kForms) keywords.push_back(known.keyword);
  std::vector<std::string> ignored;
  const Status visited = VisitSchemas(schema, [&](const Json& one) -> Status {
    for (const auto& member : one.items()) {
      if (ignored.size() == kMostToName) return {};
      if (member.key() == "unevaluatedProperties" || member.key() == "unevaluatedItems")
        ignored.push_back(fmt::format("the keyword \"{}\" is not supported, and ignored", member.key()));
      if (const std::optional<std::string> meant = NearestKey(member.key(), keywords)) {
        ignored.push_back(fmt::format("unknown keyword \"{}\" is ignored; did you mean \"{}\"?", member.key(), *meant));
      }
    }
    return {};
  });
  return visited ? ignored : std::vector<std::string>();
}

Status CheckSchemaItself(const Json& schema) {
  RETURN_IF_ERROR(VisitSchemas(schema, CheckTypesOf));
  RETURN_IF_ERROR(VisitSchemas(schema, CheckFormsOf));
  RETURN_IF_ERROR(VisitSchemas(schema, [&](const Json& one) { return CheckReferencesOf(one, schema); }));
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

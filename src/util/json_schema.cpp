// SPDX-License-Identifier: Apache-2.0
#include "util/json_schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "util/text.h"

namespace upskill {
namespace {

constexpr int kMaxSchemaDepth = 100;  // of nested schemas; values are at most 200 levels deep (ParseJson)
constexpr int kMaxSteps = 200'000;    // schemas applied to values: bounds the cost of nested anyOf

bool IsInteger(const Json& value) {
  if (value.is_number_integer()) return true;
  return value.is_number_float() && std::isfinite(value.get<double>()) &&
         std::trunc(value.get<double>()) == value.get<double>();
}

bool HasType(const Json& value, std::string_view type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer") return IsInteger(value);
  if (type == "number") return value.is_number();
  return false;
}

// Equal regardless of the order of keys.
bool SameValue(const Json& a, const Json& b) { return a == b || CanonicalJson(a) == CanonicalJson(b); }

std::string Short(const Json& value) { return ExcerptLine(DumpJson(value), 80); }

// Validates one value against one schema. Not reusable.
class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  Status Check(const Json& schema, const Json& value, const std::string& pointer, int depth) {
    if (depth > kMaxSchemaDepth || ++steps_ > kMaxSteps) return Bad(pointer, "the schema is nested too deep");
    if (schema.is_boolean()) return schema.get<bool>() ? Status() : Bad(pointer, "no value is allowed here");
    if (!schema.is_object()) return Bad(pointer, "the schema is not an object");
    if (const auto reference = schema.find("$ref"); reference != schema.end()) {
      const Json* target = Resolve(*reference);
      if (target == nullptr) return Bad(pointer, "the schema has an unresolvable $ref");
      RETURN_IF_ERROR(Check(*target, value, pointer, depth + 1));
    }
    RETURN_IF_ERROR(CheckType(schema, value, pointer));
    RETURN_IF_ERROR(CheckChoice(schema, value, pointer));
    RETURN_IF_ERROR(CheckBounds(schema, value, pointer));
    if (value.is_object()) RETURN_IF_ERROR(CheckObject(schema, value, pointer, depth));
    if (value.is_array()) RETURN_IF_ERROR(CheckItems(schema, value, pointer, depth));
    return CheckCombined(schema, value, pointer, depth);
  }

 private:
  static Error Bad(const std::string& pointer, const std::string& reason) {
    return InputError(fmt::format("{}: {}", pointer.empty() ? "the answer" : ExcerptLine(pointer, 120), reason));
  }

  static std::string Below(const std::string& pointer, const std::string& key) {
    std::string escaped;  // RFC 6901
    for (const char c : key) escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return pointer + "/" + escaped;
  }

  const Json* Resolve(const Json& reference) const {
    if (!reference.is_string()) return nullptr;
    const auto& text = reference.get_ref<const std::string&>();
    if (text.empty() || text[0] != '#') return nullptr;
    try {
      const Json::json_pointer pointer(text.substr(1));
      return root_.contains(pointer) ? &root_.at(pointer) : nullptr;
    } catch (const Json::exception&) {
      return nullptr;
    }
  }

  static Status CheckType(const Json& schema, const Json& value, const std::string& pointer) {
    const auto type = schema.find("type");
    if (type == schema.end()) return {};
    if (type->is_string()) {
      if (HasType(value, type->get_ref<const std::string&>())) return {};
    } else if (type->is_array()) {
      if (std::any_of(type->begin(), type->end(), [&](const Json& one) {
            return one.is_string() && HasType(value, one.get_ref<const std::string&>());
          }))
        return {};
    }
    return Bad(pointer, fmt::format("must be of type {}, but is {}", Short(*type), JsonTypeName(value)));
  }

  static Status CheckChoice(const Json& schema, const Json& value, const std::string& pointer) {
    if (const auto constant = schema.find("const"); constant != schema.end() && !SameValue(*constant, value)) {
      return Bad(pointer, fmt::format("must be {}, but is {}", Short(*constant), Short(value)));
    }
    const auto choices = schema.find("enum");
    if (choices == schema.end() || !choices->is_array()) return {};
    if (std::any_of(choices->begin(), choices->end(), [&](const Json& choice) { return SameValue(choice, value); }))
      return {};
    return Bad(pointer, fmt::format("must be one of {}, but is {}", Short(*choices), Short(value)));
  }

  static Status CheckSize(const Json& schema, const std::string& pointer, const char* min_key, const char* max_key,
                          std::size_t size, const char* what) {
    const double number = static_cast<double>(size);
    if (const auto bound = schema.find(min_key);
        bound != schema.end() && bound->is_number() && number < bound->get<double>()) {
      return Bad(pointer, fmt::format("has {} {}, but must have at least {}", size, what, Short(*bound)));
    }
    if (const auto bound = schema.find(max_key);
        bound != schema.end() && bound->is_number() && number > bound->get<double>()) {
      return Bad(pointer, fmt::format("has {} {}, but must have at most {}", size, what, Short(*bound)));
    }
    return {};
  }

  static Status CheckBounds(const Json& schema, const Json& value, const std::string& pointer) {
    if (value.is_string()) {
      return CheckSize(schema, pointer, "minLength", "maxLength", CountCodePoints(value.get_ref<const std::string&>()),
                       "characters");
    }
    if (value.is_array()) return CheckSize(schema, pointer, "minItems", "maxItems", value.size(), "items");
    if (!value.is_number()) return {};
    const double number = value.get<double>();
    if (const auto bound = schema.find("minimum");
        bound != schema.end() && bound->is_number() && number < bound->get<double>()) {
      return Bad(pointer, fmt::format("is {}, but must be at least {}", Short(value), Short(*bound)));
    }
    if (const auto bound = schema.find("maximum");
        bound != schema.end() && bound->is_number() && number > bound->get<double>()) {
      return Bad(pointer, fmt::format("is {}, but must be at most {}", Short(value), Short(*bound)));
    }
    return {};
  }

  Status CheckObject(const Json& schema, const Json& value, const std::string& pointer, int depth) {
    if (const auto required = schema.find("required"); required != schema.end() && required->is_array()) {
      for (const Json& key : *required) {
        if (key.is_string() && !value.contains(key.get_ref<const std::string&>()))
          return Bad(pointer, fmt::format("is missing the key {}", Short(key)));
      }
    }
    const auto properties = schema.find("properties");
    const auto others = schema.find("additionalProperties");
    for (const auto& item : value.items()) {
      const std::string below = Below(pointer, item.key());
      if (properties != schema.end() && properties->is_object()) {
        if (const auto property = properties->find(item.key()); property != properties->end()) {
          RETURN_IF_ERROR(Check(*property, item.value(), below, depth + 1));
          continue;
        }
      }
      if (others == schema.end()) continue;
      if (others->is_boolean() && !others->get<bool>()) return Bad(below, "unknown key");
      if (others->is_object()) RETURN_IF_ERROR(Check(*others, item.value(), below, depth + 1));
    }
    return {};
  }

  Status CheckItems(const Json& schema, const Json& value, const std::string& pointer, int depth) {
    const auto items = schema.find("items");
    if (items == schema.end() || (!items->is_object() && !items->is_boolean())) return {};
    for (std::size_t i = 0; i < value.size(); ++i)
      RETURN_IF_ERROR(Check(*items, value[i], fmt::format("{}/{}", pointer, i), depth + 1));
    return {};
  }

  Status CheckCombined(const Json& schema, const Json& value, const std::string& pointer, int depth) {
    if (const auto all = schema.find("allOf"); all != schema.end() && all->is_array()) {
      for (const Json& one : *all) RETURN_IF_ERROR(Check(one, value, pointer, depth + 1));
    }
    for (const char* key : {"anyOf", "oneOf"}) {
      const auto choices = schema.find(key);
      if (choices == schema.end() || !choices->is_array() || choices->empty()) continue;
      int fitting = 0;
      std::string reasons;
      for (const Json& one : *choices) {
        const Status status = Check(one, value, pointer, depth + 1);
        if (status) {
          ++fitting;
        } else if (reasons.size() < 400) {
          reasons += (reasons.empty() ? "" : "; ") + status.error().message;
        }
      }
      if (fitting == 0) return Bad(pointer, fmt::format("matches none of the alternatives of {} ({})", key, reasons));
      if (fitting > 1 && std::string_view(key) == "oneOf")
        return Bad(pointer, "matches more than one alternative of oneOf");
    }
    return {};
  }

  const Json& root_;
  int steps_ = 0;
};

}  // namespace

Status CheckJsonSchema(const Json& schema, const Json& value) { return Validator(schema).Check(schema, value, "", 0); }

}  // namespace upskill

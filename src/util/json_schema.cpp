// SPDX-License-Identifier: Apache-2.0
#include "util/json_schema.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "util/text.h"

namespace upskill {
namespace {

constexpr int kMaxSchemaDepth = 100;        // of nested schemas; values are at most 200 levels deep (ParseJson)
constexpr std::size_t kMaxSteps = 200'000;  // schemas applied to values: bounds the cost of nested anyOf

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

std::string Short(const Json& value) { return ExcerptLine(DumpJson(value), 80); }

// Validates one value against one schema. Not reusable.
class Validator {
 public:
  explicit Validator(const Json& root) : root_(root) {}

  // Reaching a limit is never a verdict, which `not` or `if` might turn into its opposite.
  Status Run(const Json& value) {
    Status status = Check(root_, value, "", 0);
    if (!limit_.empty()) return InputError(limit_);
    return status;
  }

 private:
  Status Check(const Json& schema, const Json& value, const std::string& pointer, int depth) {
    if (limit_.empty() && depth > kMaxSchemaDepth) limit_ = "can't be judged: the schema refers to itself too deep";
    Spend(1);
    if (!limit_.empty()) return InputError(limit_);
    if (schema.is_boolean()) return schema.get<bool>() ? Status() : Bad(pointer, "no value is allowed here");
    if (!schema.is_object()) return Bad(pointer, "the schema is not an object");
    if (const auto reference = schema.find("$ref"); reference != schema.end()) {
      const Json* target = FindReferenced(root_, *reference);
      if (target == nullptr) return Bad(pointer, "the schema has an unresolvable $ref");
      RETURN_IF_ERROR(Check(*target, value, pointer, depth + 1));
    }
    RETURN_IF_ERROR(CheckType(schema, value, pointer));
    if (const auto choices = schema.find("enum"); choices != schema.end()) Spend(choices->size());
    RETURN_IF_ERROR(CheckChoice(schema, value, pointer));
    RETURN_IF_ERROR(CheckBounds(schema, value, pointer));
    if (value.is_string()) RETURN_IF_ERROR(CheckPattern(schema, value, pointer));
    if (value.is_object()) RETURN_IF_ERROR(CheckObject(schema, value, pointer, depth));
    if (value.is_object()) RETURN_IF_ERROR(CheckDependents(schema, value, pointer, depth));
    if (value.is_array()) RETURN_IF_ERROR(CheckItems(schema, value, pointer, depth));
    if (value.is_array()) RETURN_IF_ERROR(CheckContained(schema, value, pointer, depth));
    RETURN_IF_ERROR(CheckCombined(schema, value, pointer, depth));
    return CheckConditional(schema, value, pointer, depth);
  }

  void Spend(std::size_t steps) {
    steps_ += steps;
    if (limit_.empty() && steps_ > kMaxSteps)
      limit_ = "can't be judged: the schema has too many alternatives for so much data";
  }

  static Error Bad(const std::string& pointer, const std::string& reason) {
    return InputError(fmt::format("{}: {}", pointer.empty() ? "the answer" : ExcerptLine(pointer, 120), reason));
  }

  static std::string Below(const std::string& pointer, const std::string& key) {
    std::string escaped;  // RFC 6901
    for (const char c : key) escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return pointer + "/" + escaped;
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
    if (const auto constant = schema.find("const"); constant != schema.end() && !SameJson(*constant, value)) {
      return Bad(pointer, fmt::format("must be {}, but is {}", Short(*constant), Short(value)));
    }
    const auto choices = schema.find("enum");
    if (choices == schema.end() || !choices->is_array()) return {};
    if (std::any_of(choices->begin(), choices->end(), [&](const Json& choice) { return SameJson(choice, value); }))
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
    if (value.is_object()) return CheckSize(schema, pointer, "minProperties", "maxProperties", value.size(), "keys");
    return value.is_number() ? CheckNumber(schema, value, pointer) : Status();
  }

  static Status CheckNumber(const Json& schema, const Json& value, const std::string& pointer) {
    struct Bound {
      const char* key;
      bool (*holds)(double number, double bound);
      const char* words;
    };
    constexpr std::array<Bound, 5> kBounds = {{
        {"minimum", [](double number, double bound) { return number >= bound; }, "at least"},
        {"maximum", [](double number, double bound) { return number <= bound; }, "at most"},
        {"exclusiveMinimum", [](double number, double bound) { return number > bound; }, "above"},
        {"exclusiveMaximum", [](double number, double bound) { return number < bound; }, "below"},
        {"multipleOf", IsMultiple, "a multiple of"},
    }};
    const double number = value.get<double>();
    for (const Bound& bound : kBounds) {
      const auto stated = schema.find(bound.key);
      if (stated == schema.end() || !stated->is_number() || bound.holds(number, stated->get<double>())) continue;
      return Bad(pointer, fmt::format("is {}, but must be {} {}", Short(value), bound.words, Short(*stated)));
    }
    return {};
  }

  static bool IsMultiple(double number, double step) {
    if (!(step > 0.0)) return true;
    const double quotient = number / step;
    return std::isfinite(quotient) &&
           std::abs(quotient - std::round(quotient)) <= 1e-9 * std::max(1.0, std::abs(quotient));
  }

  // Null if RE2 rejects it.
  const RE2* Pattern(const std::string& pattern) {
    const auto [found, is_new] = patterns_.try_emplace(pattern);
    if (is_new) {
      RE2::Options options;
      options.set_log_errors(false);
      found->second = std::make_unique<RE2>(pattern, options);
    }
    return found->second->ok() ? found->second.get() : nullptr;
  }

  Status CheckPattern(const Json& schema, const Json& value, const std::string& pointer) {
    const auto pattern = schema.find("pattern");
    if (pattern == schema.end() || !pattern->is_string()) return {};
    const RE2* const search = Pattern(pattern->get<std::string>());
    if (search == nullptr) return Bad(pointer, "the schema has a pattern that is not in RE2 syntax");
    if (RE2::PartialMatch(value.get_ref<const std::string&>(), *search)) return {};
    return Bad(pointer, fmt::format("is {}, which doesn't match the pattern {}", Short(value), Short(*pattern)));
  }

  Status CheckObject(const Json& schema, const Json& value, const std::string& pointer, int depth) {
    if (const auto required = schema.find("required"); required != schema.end() && required->is_array())
      RETURN_IF_ERROR(CheckRequired(*required, value, pointer));
    const auto properties = schema.find("properties");
    const auto patterns = schema.find("patternProperties");
    const auto others = schema.find("additionalProperties");
    const auto names = schema.find("propertyNames");
    for (const auto& item : value.items()) {
      const std::string below = Below(pointer, item.key());
      bool known = false;
      if (names != schema.end()) RETURN_IF_ERROR(Check(*names, Json(item.key()), below, depth + 1));
      if (properties != schema.end() && properties->is_object()) {
        if (const auto property = properties->find(item.key()); property != properties->end()) {
          RETURN_IF_ERROR(Check(*property, item.value(), below, depth + 1));
          known = true;
        }
      }
      if (patterns != schema.end() && patterns->is_object()) {
        for (const auto& each : patterns->items()) {
          const RE2* const search = Pattern(each.key());
          if (search == nullptr) return Bad(pointer, "the schema has a pattern that is not in RE2 syntax");
          if (!RE2::PartialMatch(item.key(), *search)) continue;
          RETURN_IF_ERROR(Check(each.value(), item.value(), below, depth + 1));
          known = true;
        }
      }
      if (known || others == schema.end()) continue;
      if (others->is_boolean() && !others->get<bool>()) return Bad(below, "unknown key");
      if (others->is_object()) RETURN_IF_ERROR(Check(*others, item.value(), below, depth + 1));
    }
    return {};
  }

  static Status CheckRequired(const Json& required, const Json& value, const std::string& pointer) {
    for (const Json& key : required) {
      if (key.is_string() && !value.contains(key.get_ref<const std::string&>()))
        return Bad(pointer, fmt::format("is missing the key {}", Short(key)));
    }
    return {};
  }

  // dependentRequired, dependentSchemas, and `dependencies` of draft 7, which has both.
  Status CheckDependents(const Json& schema, const Json& value, const std::string& pointer, int depth) {
    for (const char* key : {"dependentRequired", "dependentSchemas", "dependencies"}) {
      const auto dependents = schema.find(key);
      if (dependents == schema.end() || !dependents->is_object()) continue;
      for (const auto& each : dependents->items()) {
        if (!value.contains(each.key())) continue;
        if (each.value().is_array()) {
          RETURN_IF_ERROR(CheckRequired(each.value(), value, pointer));
        } else {
          RETURN_IF_ERROR(Check(each.value(), value, pointer, depth + 1));
        }
      }
    }
    return {};
  }

  Status CheckItems(const Json& schema, const Json& value, const std::string& pointer, int depth) {
    const auto items = schema.find("items");
    auto prefix = schema.find("prefixItems");
    auto rest = items;
    if (items != schema.end() && items->is_array()) {  // draft 7
      prefix = items;
      rest = schema.find("additionalItems");
    }
    std::size_t first = 0;
    if (prefix != schema.end() && prefix->is_array()) {
      for (; first < std::min(prefix->size(), value.size()); ++first)
        RETURN_IF_ERROR(Check((*prefix)[first], value[first], fmt::format("{}/{}", pointer, first), depth + 1));
    }
    if (rest == schema.end() || (!rest->is_object() && !rest->is_boolean())) return {};
    for (std::size_t i = first; i < value.size(); ++i)
      RETURN_IF_ERROR(Check(*rest, value[i], fmt::format("{}/{}", pointer, i), depth + 1));
    return {};
  }

  Status CheckContained(const Json& schema, const Json& value, const std::string& pointer, int depth) {
    if (const auto unique = schema.find("uniqueItems"); unique != schema.end() && *unique == true) {
      std::set<std::string> seen;
      for (const Json& item : value) {
        if (!seen.insert(CanonicalByValue(item)).second) return Bad(pointer, fmt::format("has {} twice", Short(item)));
      }
    }
    const auto contains = schema.find("contains");
    if (contains == schema.end()) return {};
    std::size_t count = 0;
    for (const Json& item : value) count += Check(*contains, item, pointer, depth + 1) ? 1 : 0;
    const auto bound = [&](const char* key, double other) {
      const auto stated = schema.find(key);
      return stated != schema.end() && stated->is_number() ? stated->get<double>() : other;
    };
    const auto found = static_cast<double>(count);
    if (found >= bound("minContains", 1.0) && found <= bound("maxContains", HUGE_VAL)) return {};
    return Bad(pointer, fmt::format("has {} items that fit \"contains\"", count));
  }

  Status CheckConditional(const Json& schema, const Json& value, const std::string& pointer, int depth) {
    if (const auto refused = schema.find("not"); refused != schema.end() && Check(*refused, value, pointer, depth + 1))
      return Bad(pointer, fmt::format("is {}, which fits the schema of \"not\"", Short(value)));
    const auto condition = schema.find("if");
    if (condition == schema.end()) return {};
    const auto branch = schema.find(Check(*condition, value, pointer, depth + 1) ? "then" : "else");
    return branch == schema.end() ? Status() : Check(*branch, value, pointer, depth + 1);
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
  std::map<std::string, std::unique_ptr<RE2>> patterns_;
  std::size_t steps_ = 0;
  std::string limit_;  // which has been reached, if one has
};

}  // namespace

const Json* FindReferenced(const Json& root, const Json& reference) {
  if (!reference.is_string()) return nullptr;
  const auto& text = reference.get_ref<const std::string&>();
  if (text.empty() || text[0] != '#') return nullptr;
  try {
    const Json::json_pointer pointer(text.substr(1));
    return root.contains(pointer) ? &root.at(pointer) : nullptr;
  } catch (const Json::exception&) {
    return nullptr;
  }
}

Status CheckJsonSchema(const Json& schema, const Json& value) { return Validator(schema).Run(value); }

}  // namespace upskill

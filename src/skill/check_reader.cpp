// SPDX-License-Identifier: Apache-2.0
#include "skill/check_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skill/check_types.h"
#include "util/files.h"
#include "util/json_schema.h"
#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kMaxGroupDepth = 8;

// Types of other tools or later versions, and what this one lacks for them.
struct UnavailableType {
  std::string_view name;
  std::string_view reason;
};
constexpr std::array<UnavailableType, 2> kUnavailableTypes = {{
    {"validator", "validators are functions of another tool"},
    {"nvcc", "use cuda_compile"},
}};

// Keys that every check may have. `cmd`, `config` and `criteria` belong to other tools.
constexpr std::array<std::string_view, 11> kCommonKeys = {"type",   "name",   "values", "text",   "pattern", "file",
                                                          "weight", "checks", "cmd",    "config", "criteria"};

std::string KnownTypes() {
  std::string names;
  for (const CheckType& type : kCheckTypes) names += (names.empty() ? "" : ", ") + std::string(type.name);
  return names;
}

// "; did you mean "contains"?", or nothing.
std::string NearestType(const std::string& type) {
  std::vector<std::string> names;
  names.reserve(kCheckTypes.size());
  for (const CheckType& known : kCheckTypes) names.emplace_back(known.name);
  const std::optional<std::string> meant = NearestName(type, names);
  return meant ? fmt::format("; did you mean \"{}\"?", *meant) : "";
}

std::string ReasonUnavailable(const std::string& type) {
  const auto* const known = std::find_if(kUnavailableTypes.begin(), kUnavailableTypes.end(),
                                         [&](const UnavailableType& one) { return one.name == type; });
  if (known != kUnavailableTypes.end()) return std::string(known->reason);
  return "unknown type" + NearestType(type);
}

bool IsUnknownType(const CheckSpec& check) { return check.unavailable.starts_with("unknown type"); }

class CheckReader {
 public:
  explicit CheckReader(std::vector<std::string>& warnings) : warnings_(warnings) {}

  Result<CheckSpec> Read(const Json& item, int depth) {
    if (!item.is_object()) {
      return InputError(fmt::format("must be an object such as {{\"type\": \"contains\", \"values\": [\"…\"]}}, not {}",
                                    JsonTypeName(item)));
    }
    if (depth > kMaxGroupDepth + 1)
      return InputError(fmt::format("groups are nested more than {} deep", kMaxGroupDepth));
    CheckSpec check;
    ASSIGN_OR_RETURN(check.type, ReadText(item, "type"));
    if (check.type.empty())
      return InputError(fmt::format("no \"type\"; there are {} (upskill help checks)", KnownTypes()));
    std::replace(check.type.begin(), check.type.end(), '-', '_');
    RETURN_IF_ERROR(ReadWeight(item, check));
    const CheckType* const type = FindCheckType(check.type);
    if (check.type == "skipped") return ReadSkipped(item, check);
    if (type == nullptr) {
      check.options = item;
      check.unavailable = ReasonUnavailable(check.type);
      const std::string name = ExcerptLine(check.type, 60);
      warnings_.push_back(IsUnknownType(check)
                              ? fmt::format("unknown check type \"{}\" is skipped{} (upskill help checks)", name,
                                            NearestType(check.type))
                              : fmt::format("the check \"{}\" is skipped: {}", name, check.unavailable));
      return check;
    }
    WarnOfOtherKeys(item, *type);
    RETURN_IF_ERROR(ReadFile(item, *type, check));
    for (const std::string_view key : type->options) {
      // Also null, which a value in JSON may be.
      if (const auto value = item.find(std::string(key)); !key.empty() && value != item.end())
        check.options[std::string(key)] = *value;
    }
    if (type->kind == CheckKind::kCommand) ReadKeysOfVerifier(item, check);
    if (type->is_about_reading()) {
      const Json* const expected = FindMember(check.options, "expected");
      if (expected != nullptr && !expected->is_boolean()) return WrongType("expected", "true or false", *expected);
    }
    if (type->asks_judge() && !ReadRubric(item, check)) {
      check.options = item;
      check.unavailable = "it has no \"rubric\"";
      warnings_.push_back(fmt::format("the check \"judge\" is skipped: {}", check.unavailable));
      return check;
    }
    WarnOfSchema(check);
    RETURN_IF_ERROR(ReadOperand(item, *type, depth, check));
    return check;
  }

 private:
  // An assertion of another tool's file that has no counterpart here (skill/formats): {"type": "skipped", "name": "…",
  // "reason": "…"}.
  CheckSpec ReadSkipped(const Json& item, CheckSpec& check) {
    const std::string name = StringAt(item, "name");
    const std::string reason = StringAt(item, "reason");
    check.options = item;
    check.type = name.empty() || FindCheckType(name) != nullptr ? "skipped" : name;
    check.unavailable = reason.empty() ? "the suite says so" : reason;
    warnings_.push_back(fmt::format("{} is skipped: {}", ExcerptLine(check.type, 60), ExcerptLine(reason, 200)));
    return std::move(check);
  }

  // A command as another tool states it: {"cmd": "…", "config": {"timeout_seconds": 60}}.
  static void ReadKeysOfVerifier(const Json& item, CheckSpec& check) {
    const Json* command = FindMember(item, "cmd");
    if (command != nullptr && FindMember(check.options, "command") == nullptr) check.options["command"] = *command;
    const Json* config = FindMember(item, "config");
    if (config == nullptr || !config->is_object()) return;
    const Json* limit = FindMember(*config, "timeout_seconds");
    if (limit != nullptr && FindMember(check.options, "timeout_seconds") == nullptr)
      check.options["timeout_seconds"] = *limit;
  }

  // A judge's rubric as other tools state it: {"criteria": ["…", "…"]}. False if there is none.
  static bool ReadRubric(const Json& item, CheckSpec& check) {
    if (FindMember(item, "rubric") != nullptr) return true;
    const Json* const criteria = FindMember(item, "criteria");
    if (criteria == nullptr || !criteria->is_array()) return false;
    std::string rubric;
    for (const Json& criterion : *criteria) {
      if (criterion.is_string())
        rubric += fmt::format("{}- {}", rubric.empty() ? "" : "\n", criterion.get<std::string>());
    }
    if (rubric.empty()) return false;
    check.options["rubric"] = rubric;
    return true;
  }

  static Status ReadWeight(const Json& item, CheckSpec& check) {
    const Json* weight = FindMember(item, "weight");
    if (weight == nullptr) return {};
    if (!weight->is_number()) return WrongType("weight", "a number", *weight);
    check.weight = weight->get<double>();
    if (!std::isfinite(check.weight) || check.weight < 0.0 || check.weight > 1e6)
      return InputError("\"weight\" must be between 0 and 1,000,000");
    return {};
  }

  static Status ReadFile(const Json& item, const CheckType& type, CheckSpec& check) {
    for (const char* key : {"file", "path"}) {
      if (std::string_view(key) == "path" && !type.needs_file()) continue;
      ASSIGN_OR_RETURN(const std::string name, ReadText(item, key));
      if (name.empty()) continue;
      RETURN_IF_ERROR(ContainedPath("", name).With(fmt::format("\"{}\"", key)));
      check.file = name.starts_with("./") ? name.substr(2) : name;
      return {};
    }
    if (type.needs_file()) return InputError(fmt::format("{} needs a \"path\": the file's name", type.name));
    return {};
  }

  Status ReadOperand(const Json& item, const CheckType& type, int depth, CheckSpec& check) {
    switch (type.operand) {
      case CheckOperand::kOptions:
        return {};
      case CheckOperand::kPattern:
        return ReadPattern(item, check);
      case CheckOperand::kChecks:
        return ReadMembers(item, depth, check);
      case CheckOperand::kValues:
      case CheckOperand::kOneValue:
        return ReadValues(item, type, check);
    }
    return {};
  }

  static Status ReadPattern(const Json& item, CheckSpec& check) {
    ASSIGN_OR_RETURN(check.pattern, ReadText(item, FindMember(item, "pattern") != nullptr ? "pattern" : "text"));
    if (check.pattern.empty()) return InputError(fmt::format("{} needs a \"pattern\" that is not empty", check.type));
    return {};
  }

  static Status ReadValues(const Json& item, const CheckType& type, CheckSpec& check) {
    for (const char* key : {"values", "text"}) {
      const Json* value = FindMember(item, key);
      if (value == nullptr) continue;
      ASSIGN_OR_RETURN(check.values, ReadExpectedStrings(*value, key));
      if (type.operand == CheckOperand::kOneValue && check.values.size() > 1)
        return InputError(fmt::format("{} takes one value only", check.type));
      return {};
    }
    return InputError(fmt::format("{} needs \"values\": the strings to look for", check.type));
  }

  Status ReadMembers(const Json& item, int depth, CheckSpec& check) {
    const Json* members = FindMember(item, "checks");
    if (members == nullptr) return InputError(fmt::format("{} needs \"checks\": a list of checks", check.type));
    ASSIGN_OR_RETURN(check.members, ReadList(*members, "checks", depth + 1));
    if (check.members.empty()) return InputError(fmt::format("{} has no checks in \"checks\"", check.type));
    return {};
  }

 public:
  Result<std::vector<CheckSpec>> ReadList(const Json& list, const char* key, int depth) {
    if (!list.is_array()) return WrongType(key, "a list", list);
    std::vector<CheckSpec> checks;
    for (const Json& item : list) {
      const std::string place = fmt::format("\"{}\" entry {}", key, checks.size() + 1);
      const std::size_t before = warnings_.size();
      ASSIGN_OR_RETURN(CheckSpec check, Read(item, depth).With(place));
      for (std::size_t i = before; i < warnings_.size(); ++i) warnings_[i] = place + ": " + warnings_[i];
      checks.push_back(std::move(check));
    }
    return checks;
  }

 private:
  // Of those that aren't options of the type. Other tools write `name`, `cmd` and `config` anywhere.
  static bool IsKeyOf(const CheckType& type, std::string_view key) {
    const bool takes_values = type.operand == CheckOperand::kValues || type.operand == CheckOperand::kOneValue;
    if (key == "values") return takes_values;
    if (key == "text") return takes_values || type.operand == CheckOperand::kPattern;
    if (key == "pattern") return type.operand == CheckOperand::kPattern;
    if (key == "checks") return type.operand == CheckOperand::kChecks;
    if (key == "file") return type.operand != CheckOperand::kChecks;
    return std::find(kCommonKeys.begin(), kCommonKeys.end(), key) != kCommonKeys.end();
  }

  void WarnOfOtherKeys(const Json& item, const CheckType& type) {
    constexpr std::size_t kMostToName = 3;
    std::size_t named = 0;
    for (const auto& member : item.items()) {
      const std::string& key = member.key();
      const bool known = IsKeyOf(type, key) || member.value().is_null() ||
                         std::find(type.options.begin(), type.options.end(), key) != type.options.end() ||
                         (key == "path" && type.needs_file());
      if (known) continue;
      std::vector<std::string_view> keys(type.options.begin(), type.options.end());
      keys.insert(keys.end(), kCommonKeys.begin(), kCommonKeys.end());
      const std::optional<std::string> meant = NearestKey(key, keys);
      warnings_.push_back(fmt::format("\"{}\" is ignored: {} has no such key{}", ExcerptLine(key, 60), type.name,
                                      meant ? fmt::format("; did you mean \"{}\"?", *meant) : ""));
      if (++named == kMostToName) return;
    }
  }

  void WarnOfSchema(const CheckSpec& check) {
    const Json* const schema = FindMember(check.options, "schema");
    if (schema == nullptr) return;
    for (const std::string& keyword : IgnoredSchemaKeywords(*schema)) warnings_.push_back("the schema: " + keyword);
  }

  std::vector<std::string>& warnings_;
};

}  // namespace

Error WrongType(std::string_view key, std::string_view wanted, const Json& value) {
  return InputError(fmt::format("\"{}\" must be {}, not {}", key, wanted, JsonTypeName(value)));
}

Result<std::string> ReadText(const Json& object, const char* key) {
  const Json* value = FindMember(object, key);
  if (value == nullptr) return std::string();
  if (!value->is_string()) return WrongType(key, "a string", *value);
  return value->get<std::string>();
}

Result<std::vector<std::string>> ReadExpectedStrings(const Json& value, const std::string& key) {
  std::vector<std::string> strings;
  for (const Json& item : value.is_array() ? value : Json::array({value})) {
    if (!item.is_string()) return WrongType(key, "a string or a list of strings", item);
    strings.push_back(item.get<std::string>());
    if (strings.back().empty())
      return InputError(fmt::format("\"{}\" has an empty string, which every answer contains", key));
  }
  if (strings.empty()) return InputError(fmt::format("\"{}\" is an empty list", key));
  return strings;
}

Result<CheckSpec> ReadCheck(const Json& item, std::vector<std::string>& warnings) {
  return CheckReader(warnings).Read(item, 1);
}

Result<std::vector<CheckSpec>> ReadCheckList(const Json& raw, const char* key, std::vector<std::string>& warnings) {
  const Json* list = FindMember(raw, key);
  if (list == nullptr) return std::vector<CheckSpec>();
  return CheckReader(warnings).ReadList(*list, key, 1);
}

Json CheckToJson(const CheckSpec& check) {
  if (!check.unavailable.empty()) return check.options;
  const CheckType* const type = FindCheckType(check.type);
  const CheckOperand operand = type == nullptr ? CheckOperand::kValues : type->operand;
  Json out = {{"type", check.type}};
  if (!check.file.empty()) out[type != nullptr && type->needs_file() ? "path" : "file"] = check.file;
  if (operand == CheckOperand::kPattern) out["pattern"] = check.pattern;
  if (operand == CheckOperand::kValues || operand == CheckOperand::kOneValue) out["values"] = check.values;
  for (const auto& option : check.options.items()) out[option.key()] = option.value();
  if (check.weight != 1.0) out["weight"] = check.weight;
  if (operand != CheckOperand::kChecks) return out;
  Json members = Json::array();
  for (const CheckSpec& member : check.members) members.push_back(CheckToJson(member));
  out["checks"] = std::move(members);
  return out;
}

Json CheckIdentity(const CheckSpec& check) {
  const CheckSpec plain(check.type, check.values, check.pattern);
  if (check == plain) return {check.type, check.values, check.pattern};
  return CheckToJson(check);
}

}  // namespace upskill

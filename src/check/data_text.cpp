// SPDX-License-Identifier: Apache-2.0
#include "check/data_text.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "util/json_builder.h"
#include "util/text.h"
#include "util/toml_guard.h"
#include "util/yaml.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxDataBytes = std::size_t{1} << 20U;
constexpr std::size_t kMaxDataValues = 200'000;
constexpr std::size_t kMaxPathBytes = 1000;
constexpr std::size_t kMaxValuesAtPath = 10'000;

template <typename Value>
std::string TomlText(const Value& value) {
  std::ostringstream out;
  out << value;
  return std::move(out).str();
}

// toml++ itself limits the nesting of values (TOML_MAX_NESTED_VALUES), FindDeepTomlKey that of keys.
Json TomlToJson(const toml::node& node) {
  if (const toml::table* table = node.as_table()) {
    JsonObjectBuilder object;
    for (const auto& [key, value] : *table) {
      Json converted = TomlToJson(value);
      object.Add(std::string(key.str())) = std::move(converted);
    }
    return object.Take();
  }
  if (const toml::array* array = node.as_array()) {
    Json list = Json::array();
    for (const toml::node& value : *array) list.push_back(TomlToJson(value));
    return list;
  }
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* number = node.as_floating_point())
    return std::isfinite(number->get()) ? Json(number->get()) : Json(TomlText(number->get()));
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* date = node.as_date()) return TomlText(date->get());
  if (const auto* time = node.as_time()) return TomlText(time->get());
  if (const auto* both = node.as_date_time()) return TomlText(both->get());
  return nullptr;
}

Result<Json> ParseToml(std::string_view text) {
  if (const std::optional<std::size_t> deep = FindDeepTomlKey(text)) {
    const TextPosition at = PositionAt(text, *deep);
    return InputError(fmt::format("line {}, column {}: a key has too many dotted parts", at.line, at.column));
  }
  try {
    return TomlToJson(toml::parse(text));
  } catch (const toml::parse_error& error) {
    return InputError(fmt::format("line {}, column {}: {}", error.source().begin.line, error.source().begin.column,
                                  ExcerptLine(error.description(), 120)));
  } catch (const std::bad_alloc&) {
    return InputError("too large for the available memory");
  } catch (const std::exception& error) {
    return InputError(ExcerptLine(error.what(), 120));
  }
}

// "answer:3:5: reason" as "line 3, column 5: reason": there is only one text, whose name says nothing.
std::string WithPlaceInWords(const std::string& message) {
  constexpr std::string_view kName = "answer:";
  if (!message.starts_with(kName)) return message;
  std::string rest(Trim(message.substr(kName.size())));
  const std::size_t line = rest.find_first_not_of("0123456789");
  if (line == 0 || line == std::string::npos || rest[line] != ':') return rest;
  const std::size_t column = rest.find_first_not_of("0123456789", line + 1);
  if (column == line + 1 || column == std::string::npos || rest[column] != ':') return rest;
  return fmt::format("line {}, column {}{}", rest.substr(0, line), rest.substr(line + 1, column - line - 1),
                     rest.substr(column));
}

Result<Json> ParseNamed(DataFormat format, std::string_view text) {
  if (format == DataFormat::kYaml) {
    const std::string yaml(text);
    Result<Json> parsed = ParseYaml(yaml, "answer", YamlNumbers::kNumbers);
    if (parsed && HasMoreYamlDocuments(yaml)) return InputError("a second document follows; a check reads one only");
    return parsed;
  }
  JsonLimits limits;
  limits.bytes = kMaxDataBytes;
  limits.values = kMaxDataValues;
  return ParseJson(text, "answer", limits);
}

Result<std::string> TakeQuoted(std::string_view& text) {
  const std::size_t end = text.find(text[0], 1);
  if (end == std::string_view::npos) return InputError("a quote is not closed");
  std::string key(text.substr(1, end - 1));
  text.remove_prefix(end + 1);
  return key;
}

std::string FromPointer(std::string_view token) {
  std::string key;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escape = token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1');
    key += escape ? (token[i + 1] == '0' ? '~' : '/') : token[i];
    if (escape) ++i;
  }
  return key;
}

const Json* Child(const Json& value, const std::string& key) {
  if (value.is_object()) {
    const auto found = value.find(key);
    return found == value.end() ? nullptr : &*found;
  }
  if (!value.is_array()) return nullptr;
  const std::optional<std::int64_t> index = ParseWholeNumber(key, 0, static_cast<std::int64_t>(kMaxDataValues));
  if (!index || static_cast<std::size_t>(*index) >= value.size()) return nullptr;
  return &value[static_cast<std::size_t>(*index)];
}

}  // namespace

const char* DataFormatName(DataFormat format) {
  switch (format) {
    case DataFormat::kJson:
      return "JSON";
    case DataFormat::kToml:
      return "TOML";
    case DataFormat::kYaml:
      return "YAML";
  }
  return "data";
}

Result<Json> ParseData(DataFormat format, std::string_view text) {
  if (text.size() > kMaxDataBytes) return InputError("more than 1 MiB, the maximum for a check of data");
  if (format == DataFormat::kToml) return ParseToml(text);
  Result<Json> parsed = ParseNamed(format, text);
  if (!parsed) return InputError(WithPlaceInWords(parsed.error().message));
  return parsed;
}

// `text` begins with a bracket.
Result<DataPath::Step> DataPath::TakeBracket(std::string_view& text) {
  Step step;
  text.remove_prefix(1);
  const bool quoted = !text.empty() && (text.front() == '"' || text.front() == '\'');
  if (quoted) {
    ASSIGN_OR_RETURN(step.key, TakeQuoted(text));
  }
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos) return InputError("a bracket is not closed");
  const std::string_view inside = text.substr(0, end);
  text.remove_prefix(end + 1);
  if (quoted && !inside.empty()) return InputError("something stands between a quote and the end of its bracket");
  if (quoted) return step;
  step.key = std::string(inside);
  step.every = inside == "*";
  if (!step.every && !ParseWholeNumber(inside, 0, static_cast<std::int64_t>(kMaxDataValues)))
    return InputError("brackets hold a number from 0, a key in quotes, or *");
  return step;
}

Result<DataPath> DataPath::Parse(std::string_view text) {
  if (text.empty() || text.size() > kMaxPathBytes) return InputError("a path has 1 to 1,000 bytes");
  DataPath path;
  if (text.front() == '/') {
    while (!text.empty()) {
      text.remove_prefix(1);
      const std::size_t end = std::min(text.find('/'), text.size());
      path.steps_.push_back({FromPointer(text.substr(0, end)), false});
      text.remove_prefix(end);
    }
    return path;
  }
  if (text == "$" || text.starts_with("$.") || text.starts_with("$["))
    return InputError("JSONPath's $ is not supported; begin with the first key");
  for (bool first = true; !text.empty(); first = false) {
    const bool dot = !first && text.front() == '.';
    if (dot) text.remove_prefix(1);
    Step step;
    if (text.empty()) return InputError("it ends with a dot");
    if (text.front() == '[' && !dot) {
      ASSIGN_OR_RETURN(step, TakeBracket(text));
    } else if (!first && !dot) {
      return InputError("a dot or a bracket is missing after a bracket or quote");
    } else if (text.front() == '"' || text.front() == '\'') {
      ASSIGN_OR_RETURN(step.key, TakeQuoted(text));
    } else {
      const std::size_t end = std::min(text.find_first_of(".["), text.size());
      step.key = std::string(text.substr(0, end));
      step.every = step.key == "*";
      text.remove_prefix(end);
      if (step.key.empty()) return InputError("a key is empty; quote keys that contain dots");
    }
    path.steps_.push_back(std::move(step));
  }
  return path;
}

std::vector<const Json*> DataPath::In(const Json& data) const {
  std::vector<const Json*> values = {&data};
  for (const Step& step : steps_) {
    std::vector<const Json*> below;
    for (const Json* value : values) {
      if (below.size() >= kMaxValuesAtPath) break;
      if (!step.every) {
        if (const Json* child = Child(*value, step.key)) below.push_back(child);
      } else if (value->is_structured()) {
        for (const Json& child : *value) {
          if (below.size() < kMaxValuesAtPath) below.push_back(&child);
        }
      }
    }
    values = std::move(below);
  }
  return values;
}

}  // namespace upskill

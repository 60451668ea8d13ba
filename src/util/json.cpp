// SPDX-License-Identifier: Apache-2.0
#include "util/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "util/text.h"

namespace upskill {
namespace {

constexpr int kMaxNesting = 200;

// Offset of the first bracket that is nested too deeply. Checked before parsing: a parser callback could do it too, but
// makes nlohmann-json take quadratic time for a list of objects.
std::optional<std::size_t> FindTooDeep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxNesting) return i;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return std::nullopt;
}

// The line at `offset` with a caret under the column, for messages. Escaped here, because the caret's place depends on
// it.
std::string MarkPlace(std::string_view text, std::size_t offset) {
  const TextPosition position = PositionAt(text, offset);
  const std::size_t start = std::min(offset, text.size()) - (position.column - 1);
  std::string_view line = text.substr(start, text.find('\n', start) - start);
  std::size_t column = position.column - 1;
  constexpr std::size_t kWindow = 60;
  if (column > kWindow) {
    line.remove_prefix(column - kWindow);
    column = kWindow;
  }
  const std::string shown = SafeForTerminalLine(line.substr(0, column + 40));
  const std::string number = std::to_string(position.line);
  return fmt::format("\n  {} | {}\n  {} | {}^", number, shown, std::string(number.size(), ' '),
                     std::string(DisplayColumns(SafeForTerminalLine(line.substr(0, column))), ' '));
}

// The parser reports the last byte of an unexpected token; readers look for its first.
std::size_t TokenStart(std::string_view text, std::size_t last, std::string_view message) {
  std::size_t start = last;
  if (message.find("unexpected string literal") != std::string_view::npos) {
    while (start > 0 && (text[start - 1] != '"' || (start > 1 && text[start - 2] == '\\'))) --start;
    return start > 0 ? start - 1 : last;
  }
  if (message.find("unexpected number literal") != std::string_view::npos) {
    while (start > 0 && std::string_view("+-.0123456789eE").find(text[start - 1]) != std::string_view::npos) --start;
  }
  return start;
}

// The parser's message without its prefix "[json.exception…] parse error at line 1, column 2: ".
std::string ShortReason(std::string message) {
  for (const std::string_view prefix : {"[json.exception", "parse error"}) {
    const std::size_t end = message.find(prefix == "parse error" ? ": " : "] ");
    if (message.starts_with(prefix) && end != std::string::npos) message.erase(0, end + 2);
  }
  // MarkPlace shows it, and its length is unbounded.
  if (const std::size_t last_read = message.find("; last read: '"); last_read != std::string::npos) {
    const std::size_t expected_at = std::max(std::min(message.rfind("; expected "), message.size()), last_read);
    message.erase(last_read, expected_at - last_read);
  }
  return ExcerptLine(message, 200);
}

Json Sorted(const Json& value) {
  if (value.is_object()) {
    std::vector<std::string> keys;
    for (const auto& item : value.items()) keys.push_back(item.key());
    std::sort(keys.begin(), keys.end());
    Json out = Json::object();
    for (const std::string& key : keys) out[key] = Sorted(value.at(key));
    return out;
  }
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& item : value) out.push_back(Sorted(item));
    return out;
  }
  return value;
}

}  // namespace

const Json& Member(const Json& object, const char* key) {
  static const Json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

const Json* FindMember(const Json& object, const char* key) {
  const Json& member = Member(object, key);
  return member.is_null() ? nullptr : &member;
}

Json* FindMember(Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string StringAt(const Json& object, const char* key) { return JsonGet(object, key, std::string()); }

namespace {

Result<Json> Parsed(std::string_view text, const std::string& source, bool shows_line) {
  const auto error_at = [&](std::size_t offset, const std::string& reason) {
    const TextPosition position = PositionAt(text, offset);
    return InputError(fmt::format("{}:{}:{}: {}{}", source, position.line, position.column, reason,
                                  shows_line ? MarkPlace(text, offset) : ""));
  };
  if (const auto bad = FindInvalidUtf8(text)) return error_at(*bad, "not UTF-8 text");
  if (text.substr(0, 3) == "\xEF\xBB\xBF") return error_at(0, "starts with a byte order mark; save it without one");
  // The parser would treat a NUL as the end of the text and ignore the rest.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return error_at(nul, "unexpected NUL character");
  if (const auto deep = FindTooDeep(text)) {
    return error_at(*deep, fmt::format("nested deeper than {} levels", kMaxNesting));
  }
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& e) {
    const std::size_t offset = e.byte > 0 ? e.byte - 1 : 0;
    return error_at(TokenStart(text, std::min(offset, text.size()), e.what()), ShortReason(e.what()));
  } catch (const std::exception& e) {
    const std::string reason = ShortReason(e.what());  // "number overflow parsing '1e999'"
    return InputError(fmt::format("{}: {}", source, shows_line ? reason : reason.substr(0, reason.find(" '"))));
  }
}

}  // namespace

Result<Json> ParseJson(std::string_view text, const std::string& source) { return Parsed(text, source, false); }

Result<Json> ParseJsonShowingLine(std::string_view text, const std::string& source) {
  return Parsed(text, source, true);
}

std::string DumpJson(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string DumpJsonIndented(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace); }

std::string CanonicalJson(const Json& value) { return DumpJson(Sorted(value)); }

std::string JsonTypeName(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "true or false";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float:
      return "a number";
    case Json::value_t::binary:
    case Json::value_t::discarded:
      break;
  }
  return "something else";
}

}  // namespace upskill

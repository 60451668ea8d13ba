// SPDX-License-Identifier: Apache-2.0
#include "util/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "util/json_builder.h"
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
  if (message.find("invalid literal") != std::string_view::npos) {
    const auto is_letter = [&](std::size_t at) { return (text[at] | 0x20) >= 'a' && (text[at] | 0x20) <= 'z'; };
    while (start > 0 && is_letter(start - 1)) --start;
  }
  return start;
}

// The end of the parser's message that says what would have been right, which follows the text that it has read. That
// text may hold the same words, so only the names that the parser has for tokens are accepted.
std::string_view ExpectedToken(std::string_view message) {
  constexpr std::string_view kBefore = "; expected ";
  const std::size_t at = message.rfind(kBefore);
  if (at == std::string_view::npos) return "";
  for (const std::string_view name :
       {"end of input", "string literal", "':'", "']'", "'}'", "'[', '{', or a literal"}) {
    if (message.substr(at + kBefore.size()) == name) return message.substr(at);
  }
  return "";
}

// "syntax error while parsing array - unexpected string literal; expected ']'" as "expected ',' or ']', not a string".
std::string InPlainWords(const std::string& message) {
  constexpr std::string_view kPrefix = "syntax error while parsing ";
  const std::size_t dash = message.find(" - ");
  if (!message.starts_with(kPrefix) || dash == std::string::npos) return message;
  const std::string_view place = std::string_view(message).substr(kPrefix.size(), dash - kPrefix.size());
  const std::string_view reason = std::string_view(message).substr(dash + 3);
  constexpr std::string_view kUnexpected = "unexpected ";
  if (reason.starts_with("invalid literal")) return "expected a value; texts need double quotes";
  if (!reason.starts_with(kUnexpected)) return std::string(reason);
  const std::size_t end = reason.find("; expected ");
  const std::string_view token = reason.substr(kUnexpected.size(), end - kUnexpected.size());
  if (token == "end of input") return "the text ends too early";
  const std::string_view wanted = end == std::string_view::npos ? "" : reason.substr(end + 11);
  const std::string found = token == "string literal"   ? "a string"
                            : token == "number literal" ? "a number"
                                                        : std::string(token);
  if (wanted == "end of input") return fmt::format("unexpected {} after the end", found);
  if (place == "array" && wanted == "']'") return fmt::format("expected ',' or ']', not {}", found);
  if (place == "object" && wanted == "'}'") return fmt::format("expected ',' or '}}', not {}", found);
  if (wanted == "string literal") return fmt::format("expected a key in double quotes, not {}", found);
  if (wanted == "':'") return fmt::format("expected ':' after the key, not {}", found);
  return fmt::format("expected a value, not {}", found);
}

// The parser's message without its prefix "[json.exception…] parse error at line 1, column 2: ".
std::string ShortReason(std::string message) {
  for (const std::string_view prefix : {"[json.exception", "parse error"}) {
    const std::size_t end = message.find(prefix == "parse error" ? ": " : "] ");
    if (message.starts_with(prefix) && end != std::string::npos) message.erase(0, end + 2);
  }
  // MarkPlace shows it, and its length is unbounded.
  if (const std::size_t last_read = message.find("; last read: '"); last_read != std::string::npos) {
    message.replace(last_read, std::string::npos,
                    std::string(ExpectedToken(std::string_view(message).substr(last_read))));
  }
  return ExcerptLine(InPlainWords(message), 200);
}

// Builds the document from the parser's events (nlohmann's json_sax). Its own builder looks at all members of an object
// for each new key, and runs out of memory in a destructor, which ends the process.
class DocumentBuilder {
 public:
  explicit DocumentBuilder(const JsonLimits& limits) : limits_(limits) {}
  ~DocumentBuilder() { DiscardJson(root_); }
  DocumentBuilder(const DocumentBuilder&) = delete;
  DocumentBuilder& operator=(const DocumentBuilder&) = delete;

  Json Take() { return std::exchange(root_, nullptr); }
  // Why the parser stopped.
  const std::string& reason() const { return reason_; }
  std::optional<std::size_t> fault_byte() const { return fault_byte_; }  // from 1; nothing: a limit, or unknown
  bool exceeds_limit() const { return exceeds_limit_; }

  // NOLINTBEGIN(readability-identifier-naming): names that the library calls
  bool null() { return Put(nullptr); }
  bool boolean(bool value) { return Put(value); }
  bool number_integer(Json::number_integer_t value) { return Put(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return Put(value); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return Put(value); }
  bool string(std::string& value) {
    if (value.size() > limits_.string_bytes) return Exceed("a string is longer", limits_.string_bytes, "bytes");
    return Put(std::move(value));
  }
  bool binary(Json::binary_t& /*value*/) { return Put(nullptr); }  // not in JSON text
  bool key(std::string& value) {
    Open& object = open_.back();
    if (value.size() > limits_.string_bytes) return Exceed("a key is longer", limits_.string_bytes, "bytes");
    if (object.members.size() >= limits_.keys) return Exceed("an object has more", limits_.keys, "keys");
    object.slot = &object.members.Add(std::move(value));
    return true;
  }
  bool start_object(std::size_t /*size*/) { return Start(true); }
  bool start_array(std::size_t /*size*/) { return Start(false); }
  bool end_object() { return End(open_.back().members.Take()); }
  bool end_array() { return End(open_.back().items.Take()); }

  template <typename Exception>
  bool parse_error(std::size_t position, const std::string& /*last_token*/, const Exception& fault) {
    reason_ = fault.what();
    if constexpr (std::is_same_v<Exception, Json::parse_error>) fault_byte_ = position;
    return false;
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  // A list or object whose end hasn't come yet.
  struct Open {
    bool is_object = false;
    JsonObjectBuilder members;
    JsonListBuilder items;
    Json* slot = nullptr;  // of the next value in an object
  };

  bool Exceed(const char* what, std::size_t limit, const char* unit) {
    reason_ = fmt::format("{} than {} {}, the maximum", what, WithThousands(static_cast<long long>(limit)), unit);
    exceeds_limit_ = true;
    return false;
  }

  Json& Slot() {
    if (open_.empty()) return root_;
    Open& parent = open_.back();
    return parent.is_object ? *parent.slot : parent.items.Add();
  }

  template <typename Value>
  bool Put(Value&& value) {
    if (++values_ > limits_.values) return Exceed("it has more", limits_.values, "values");
    Slot() = std::forward<Value>(value);
    return true;
  }

  bool Start(bool is_object) {
    if (++values_ > limits_.values) return Exceed("it has more", limits_.values, "values");
    open_.emplace_back().is_object = is_object;
    return true;
  }

  bool End(Json value) {
    open_.pop_back();
    // If there is no memory for the place, `value` must not be destroyed by unwinding.
    try {
      Json& slot = Slot();  // before the value is moved
      slot = std::move(value);
    } catch (...) {
      DiscardJson(value);
      throw;
    }
    return true;
  }

  const JsonLimits& limits_;
  Json root_;
  std::vector<Open> open_;
  std::size_t values_ = 0;
  std::string reason_;
  std::optional<std::size_t> fault_byte_;
  bool exceeds_limit_ = false;
};

Json Sorted(const Json& value) {  // NOLINT(misc-no-recursion): values are at most 200 levels deep (ParseJson)
  if (value.is_object()) {
    const auto& object = value.get_ref<const Json::object_t&>();
    std::vector<const Json::object_t::value_type*> members;
    members.reserve(object.size());
    for (const auto& member : object) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    JsonObjectBuilder out;
    for (const auto* member : members) {
      Json& slot = out.Add(member->first);
      slot = Sorted(member->second);
    }
    return out.Take();
  }
  if (value.is_array()) {
    JsonListBuilder out;
    for (const Json& item : value) {
      Json& slot = out.Add();
      slot = Sorted(item);
    }
    return out.Take();
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

Result<Json> Parsed(std::string_view text, const std::string& source, const JsonLimits& limits, bool shows_line) {
  const auto too_large = [&](const std::string& reason) {
    return Error{limits.error_kind, fmt::format("{}: {}", source, reason)};
  };
  if (text.size() > limits.bytes) {
    return too_large(fmt::format("too large: more than {} bytes, the maximum for JSON",
                                 WithThousands(static_cast<long long>(limits.bytes))));
  }
  const auto error_at = [&](std::size_t offset, const std::string& reason) {
    const TextPosition position = PositionAt(text, offset);
    return InputError(fmt::format("{}:{}:{}: {}{}", source, position.line, position.column, reason,
                                  shows_line ? MarkPlace(text, offset) : ""));
  };
  const auto error_without_place = [&](const std::string& what) {
    const std::string reason = ShortReason(what);  // "number overflow parsing '1e999'"
    return InputError(fmt::format("{}: {}", source, shows_line ? reason : reason.substr(0, reason.find(" '"))));
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
    DocumentBuilder builder(limits);
    if (Json::sax_parse(text, &builder)) return builder.Take();
    if (builder.exceeds_limit()) return too_large("too large: " + builder.reason());
    if (!builder.fault_byte()) return error_without_place(builder.reason());
    const std::size_t offset = *builder.fault_byte() > 0 ? *builder.fault_byte() - 1 : 0;
    return error_at(TokenStart(text, std::min(offset, text.size()), builder.reason()), ShortReason(builder.reason()));
  } catch (const std::bad_alloc&) {
    return too_large("too large for the available memory");
  } catch (const std::exception& e) {
    return error_without_place(e.what());
  }
}

}  // namespace

Result<Json> ParseJson(std::string_view text, const std::string& source, const JsonLimits& limits) {
  return Parsed(text, source, limits, false);
}

Result<Json> ParseJsonShowingLine(std::string_view text, const std::string& source, const JsonLimits& limits) {
  return Parsed(text, source, limits, true);
}

std::string DumpJson(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string DumpJsonIndented(const Json& value) { return value.dump(2, ' ', false, Json::error_handler_t::replace); }

std::string CanonicalJson(const Json& value) { return DumpJson(Sorted(value)); }

std::string CanonicalByValue(const Json& value) {
  Json sorted = Sorted(value);
  std::vector<Json*> waiting = {&sorted};
  while (!waiting.empty()) {
    Json& next = *waiting.back();
    waiting.pop_back();
    constexpr double kMostExact = 9007199254740992.0;  // 2^53: above it, neighbours are written alike
    if (next.is_number_float()) {
      const double number = next.get<double>();
      if (std::trunc(number) == number && std::abs(number) <= kMostExact) next = static_cast<std::int64_t>(number);
    } else if (next.is_structured()) {
      for (Json& member : next) waiting.push_back(&member);
    }
  }
  return DumpJson(sorted);
}

bool SameJson(const Json& a, const Json& b) {
  if (a.type() == b.type() && a.is_primitive()) return a == b;
  return a.is_structured() == b.is_structured() && CanonicalByValue(a) == CanonicalByValue(b);
}

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

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

#include "util/byte_order_mark.h"
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

// Where the text is wrong: the parser counts up to the end of what doesn't fit, readers look for its first byte.
std::size_t FaultOffset(std::string_view text, std::size_t end) {
  if (end == 0 || end > text.size()) return text.size();
  const auto in_word = [](char c) { return IsAsciiAlphanumeric(c) || c == '+' || c == '-' || c == '.'; };
  std::size_t start = end - 1;
  if (text[start] == '"') {
    while (start > 0 && (text[start - 1] != '"' || (start > 1 && text[start - 2] == '\\'))) --start;
    return start > 0 ? start - 1 : end - 1;
  }
  while (start > 0 && in_word(text[start]) && in_word(text[start - 1])) --start;
  return start;
}

std::string FaultReason(std::string_view text, std::size_t offset) {
  if (offset == text.size()) return "the text ends too early";
  const std::size_t before = text.substr(0, offset).find_last_not_of(" \t\r\n");
  const bool is_end = text[offset] == ']' || text[offset] == '}';
  if (is_end && before != std::string_view::npos && text[before] == ',')
    return fmt::format("unexpected comma before '{}'", text[offset]);
  return "JSON syntax error";
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
  // Why the parser stopped: a limit is exceeded; else the text is wrong.
  const std::optional<std::string>& exceeded() const { return exceeded_; }
  std::size_t fault_end() const { return fault_end_; }  // of what is wrong
  bool has_huge_number() const { return has_huge_number_; }

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
  bool parse_error(std::size_t position, const std::string& /*last_token*/, const Exception& /*fault*/) {
    fault_end_ = position;
    has_huge_number_ = std::is_same_v<Exception, Json::out_of_range>;
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
    exceeded_ = fmt::format("{} than {} {}, the maximum", what, WithThousands(static_cast<long long>(limit)), unit);
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
  std::optional<std::string> exceeded_;
  std::size_t fault_end_ = 0;
  bool has_huge_number_ = false;
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
  if (const auto bad = FindInvalidUtf8(text)) return error_at(*bad, "not UTF-8 text");
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());  // RFC 8259 lets readers ignore it
  // The parser would treat a NUL as the end of the text and ignore the rest.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return error_at(nul, "unexpected NUL character");
  if (const auto deep = FindTooDeep(text)) {
    return error_at(*deep, fmt::format("nested deeper than {} levels", kMaxNesting));
  }
  try {
    DocumentBuilder builder(limits);
    if (Json::sax_parse(text, &builder)) return builder.Take();
    if (builder.exceeded()) return too_large("too large: " + *builder.exceeded());
    const std::size_t offset = FaultOffset(text, builder.fault_end());
    return error_at(offset, builder.has_huge_number() ? "the number is too large" : FaultReason(text, offset));
  } catch (const std::bad_alloc&) {
    return too_large("too large for the available memory");
  } catch (const std::exception&) {
    return InputError(source + ": not readable as JSON");
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

// SPDX-License-Identifier: Apache-2.0
#include "trace/read/record_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <new>

#include "util/json_builder.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void AppendUtf8(std::string& out, std::uint32_t c) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (c == 0) {
    out += kReplacement;
  } else if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0U | (c >> 6U));
    put(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    put(0xE0U | (c >> 12U));
    put(0x80U | ((c >> 6U) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  } else {
    put(0xF0U | (c >> 18U));
    put(0x80U | ((c >> 12U) & 0x3FU));
    put(0x80U | ((c >> 6U) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  }
}

// Recursive descent over one text; stops at the first fault. Allocates each string once, in its final size.
class Parser {
 public:
  Parser(std::string_view text, const JsonLimits& limits) : text_(text), limits_(limits) {}

  ParsedRecord Run() {
    JsonListBuilder root;  // of one value
    try {
      Json& value = root.Add();
      value = ParseValue(0);
      SkipSpace();
      if (reason_.empty() && at_ < text_.size()) Fail("text after the end of the record");
      if (reason_.empty()) return {std::move(value), {}};
    } catch (const std::bad_alloc&) {
      return {std::nullopt, {"too large for the available memory", std::min(at_, text_.size()), true}};
    }
    return {std::nullopt, {reason_, std::min(fault_, text_.size()), is_limit_}};
  }

 private:
  void Fail(std::string reason) {
    if (!reason_.empty()) return;
    reason_ = std::move(reason);
    fault_ = at_;
  }

  void Exceed(std::string reason) {
    if (reason_.empty()) is_limit_ = true;
    Fail(std::move(reason));
  }

  void SkipSpace() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != '\0') return;
      ++at_;
    }
  }

  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  Json ParseValue(std::size_t depth) {
    SkipSpace();
    if (at_ >= text_.size()) {
      Fail("unexpected end of the record");
      return nullptr;
    }
    if (++values_ > limits_.values) {
      Exceed(fmt::format("too large: more than {} values, the maximum",
                         WithThousands(static_cast<long long>(limits_.values))));
      return nullptr;
    }
    const char c = text_[at_];
    if (c == '"') return ParseString();
    if (c == '{' || c == '[') {
      if (depth >= kMaxRecordDepth) {
        Exceed(fmt::format("nested deeper than {} levels", kMaxRecordDepth));
        return nullptr;
      }
      ++at_;
      return c == '{' ? ParseObject(depth + 1) : ParseList(depth + 1);
    }
    return ParseWord();
  }

  // The last of several equal keys wins, as in the library.
  Json ParseObject(std::size_t depth) {
    JsonObjectBuilder object;
    if (Take('}')) return object.Take();
    while (reason_.empty()) {
      SkipSpace();
      if (at_ >= text_.size() || text_[at_] != '"') {
        Fail(at_ >= text_.size() ? "unexpected end of the record" : "expected a key");
        break;
      }
      if (object.size() >= limits_.keys) {
        Exceed(fmt::format("too large: an object with more than {} keys, the maximum",
                           WithThousands(static_cast<long long>(limits_.keys))));
        break;
      }
      Json& value = object.Add(ParseString());
      if (!Take(':')) Fail("expected ':'");
      if (!reason_.empty()) break;
      value = ParseValue(depth);
      if (Take('}')) break;
      if (!Take(',')) Fail(at_ >= text_.size() ? "unexpected end of the record" : "expected ',' or '}'");
    }
    return reason_.empty() ? object.Take() : Json();
  }

  Json ParseList(std::size_t depth) {
    JsonListBuilder list;
    if (Take(']')) return list.Take();
    while (reason_.empty()) {
      Json& value = list.Add();
      value = ParseValue(depth);
      if (Take(']')) break;
      if (!Take(',')) Fail(at_ >= text_.size() ? "unexpected end of the record" : "expected ',' or ']'");
    }
    return reason_.empty() ? list.Take() : Json();
  }

  std::string ParseString() {
    const std::size_t begin = ++at_;
    const std::size_t end = FindQuote(begin);
    if (end == std::string_view::npos) {
      at_ = text_.size();
      Fail("the record ends inside a string");
      return "";
    }
    const std::string_view raw = text_.substr(begin, end - begin);
    at_ = end + 1;
    unsigned char all = 0;
    bool has_nul = false;
    for (const char c : raw) {
      all |= static_cast<unsigned char>(c);
      has_nul |= c == '\0';
    }
    std::string value = raw.find('\\') == std::string_view::npos ? std::string(raw) : Unescape(raw);
    if (has_nul) ReplaceNul(value);
    if (all >= 0x80 && FindInvalidUtf8(value)) value = ReplaceInvalidUtf8(value);
    return value;
  }

  // The closing quote of the string that begins at `from`.
  std::size_t FindQuote(std::size_t from) const {
    while (from < text_.size()) {
      const std::size_t quote = text_.find('"', from);
      if (quote == std::string_view::npos) return quote;
      // An escaped quote is preceded by an odd number of backslashes.
      std::size_t slashes = 0;
      while (quote - slashes > from && text_[quote - slashes - 1] == '\\') ++slashes;
      if (slashes % 2 == 0) return quote;
      from = quote + 1;
    }
    return std::string_view::npos;
  }

  static void ReplaceNul(std::string& value) {
    std::string out;
    for (const char c : value) {
      if (c == '\0') {
        out += kReplacement;
      } else {
        out += c;
      }
    }
    value = std::move(out);
  }

  std::string Unescape(std::string_view raw) {
    std::string out;
    out.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const std::size_t slash = raw.find('\\', i);
      out.append(raw.substr(i, slash - i));
      if (slash == std::string_view::npos) break;
      i = slash + 1;
      const char c = i < raw.size() ? raw[i] : '\0';
      switch (c) {
        case 'n':
          out += '\n';
          break;
        case '"':
        case '\\':
        case '/':
          out += c;
          break;
        case 't':
          out += '\t';
          break;
        case 'r':
          out += '\r';
          break;
        case 'b':
          out += '\b';
          break;
        case 'f':
          out += '\f';
          break;
        case 'u':
          i += AppendEscaped(raw.substr(i + 1), out);
          break;
        default:
          Fail("unknown escape sequence in a string");
      }
    }
    return out;
  }

  static std::optional<std::uint32_t> FourHexDigits(std::string_view digits) {
    std::uint32_t value = 0;
    if (digits.size() < 4) return std::nullopt;
    const char* const begin = &digits[0];
    const auto [stop, fault] = std::from_chars(begin, begin + 4, value, 16);
    if (fault != std::errc() || stop != begin + 4) return std::nullopt;
    return value;
  }

  // Appends the character whose digits follow `\u`; returns the number of bytes used of `rest`.
  std::size_t AppendEscaped(std::string_view rest, std::string& out) {
    const auto first = FourHexDigits(rest);
    if (!first) {
      Fail("'\\u' without four hex digits in a string");
      return 0;
    }
    if (*first < 0xD800 || *first > 0xDFFF) {
      AppendUtf8(out, *first);
      return 4;
    }
    if (*first < 0xDC00 && rest.substr(4, 2) == "\\u") {
      const auto second = FourHexDigits(rest.substr(6));
      if (second && *second >= 0xDC00 && *second <= 0xDFFF) {
        AppendUtf8(out, 0x10000 + ((*first - 0xD800) << 10U) + (*second - 0xDC00));
        return 10;
      }
    }
    out += kReplacement;
    return 4;
  }

  Json ParseWord() {
    const std::size_t end = std::min(text_.find_first_of(" \n\t\r,:]}[{\"", at_), text_.size());
    const std::string_view word = text_.substr(at_, end - at_);
    Json value = nullptr;
    if (word == "true" || word == "false") {
      value = word == "true";
    } else if (word != "null" && word != "NaN" && word != "Infinity" && word != "-Infinity") {
      value = ParseNumber(word);
    }
    if (reason_.empty()) at_ = end;
    return value;
  }

  Json ParseNumber(std::string_view word) {
    const char* const begin = word.data();
    const char* const end = begin + word.size();
    long long whole = 0;
    const auto [stop, fault] = std::from_chars(begin, end, whole);
    if (fault == std::errc() && stop == end) return whole;
    double number = 0;
    const auto [stop_real, fault_real] = std::from_chars(begin, end, number);
    const bool starts_well = !word.empty() && (word[0] == '-' || (word[0] >= '0' && word[0] <= '9'));
    if (starts_well && stop_real == end && fault_real == std::errc()) return number;
    if (starts_well && stop_real == end && fault_real == std::errc::result_out_of_range) return nullptr;
    Fail("expected a value");  // without quoting the text, which may be a secret
    return nullptr;
  }

  std::string_view text_;
  const JsonLimits& limits_;
  std::size_t values_ = 0;
  std::size_t at_ = 0;
  std::size_t fault_ = 0;
  std::string reason_;
  bool is_limit_ = false;
};

}  // namespace

ParsedRecord ParseRecord(std::string_view text, const JsonLimits& limits) { return Parser(text, limits).Run(); }

}  // namespace upskill

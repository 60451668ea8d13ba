// SPDX-License-Identifier: Apache-2.0
#include "skill/unicode_text.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <memory>

#include "util/invariant.h"

namespace upskill {
namespace {

struct FreeMemory {
  void operator()(utf8proc_uint8_t* memory) const { std::free(memory); }
};

const utf8proc_uint8_t* BytesOf(std::string_view text) {
  return reinterpret_cast<const utf8proc_uint8_t*>(text.data());
}

// The code point that the text starts with, and how many bytes it has: none if these aren't UTF-8.
struct FirstCharacter {
  char32_t character = 0;
  std::size_t bytes = 0;
};

FirstCharacter FirstOf(std::string_view text) {
  utf8proc_int32_t character = 0;
  const utf8proc_ssize_t bytes =
      utf8proc_iterate(BytesOf(text), static_cast<utf8proc_ssize_t>(text.size()), &character);
  return {static_cast<char32_t>(character), static_cast<std::size_t>(std::max<utf8proc_ssize_t>(bytes, 0))};
}

utf8proc_category_t CategoryOf(char32_t character) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(character));
}

// Python's str.isspace.
bool IsUnicodeSpace(char32_t character) {
  if (character < 0x80) return (character >= 0x09 && character <= 0x0D) || (character >= 0x1C && character <= 0x20);
  if (character == 0x85) return true;
  const utf8proc_category_t category = CategoryOf(character);
  return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

// Python's str.isprintable.
bool IsPrintable(char32_t character) {
  switch (CategoryOf(character)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    case UTF8PROC_CATEGORY_ZS:
      return character == U' ';
    default:
      return true;
  }
}

void AppendUtf8(std::string& text, char32_t character) {
  const auto code = static_cast<utf8proc_int32_t>(character);
  utf8proc_uint8_t bytes[4] = {};
  const utf8proc_ssize_t size = utf8proc_encode_char(utf8proc_codepoint_valid(code) ? code : 0xFFFD, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

// utf8proc knows the full case folding only. Where that is several characters, the simple one is the lower-case form,
// but U+0130 has none.
char32_t SimpleFolding(char32_t character) {
  const auto code = static_cast<utf8proc_int32_t>(character);
  utf8proc_int32_t full[4] = {};
  int boundary = 0;  // in clusters of characters, which only matter when these are marked
  if (utf8proc_decompose_char(code, full, 4, UTF8PROC_CASEFOLD, &boundary) == 1) return static_cast<char32_t>(full[0]);
  return character == U'\u0130' ? character : static_cast<char32_t>(utf8proc_tolower(code));
}

// The text with each series of combining marks in canonical order, which changes nothing about its normal form:
// utf8proc takes quadratic time to order them itself, but linear time if they are ordered.
std::u32string WithOrderedMarks(std::u32string text) {
  const auto class_of = [](char32_t c) {
    return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
  };
  for (auto begin = text.begin(); begin != text.end();) {
    begin = std::find_if(begin, text.end(), [&](char32_t c) { return class_of(c) != 0; });
    const auto end = std::find_if(begin, text.end(), [&](char32_t c) { return class_of(c) == 0; });
    std::stable_sort(begin, end, [&](char32_t a, char32_t b) { return class_of(a) < class_of(b); });
    begin = end;
  }
  return text;
}

// The text as utf8proc maps it; unchanged where memory runs out.
std::string Mapped(std::string_view given, int options) {
  std::string text = EncodeUtf8(WithOrderedMarks(DecodeUtf8(given)));
  utf8proc_uint8_t* mapped = nullptr;
  // A combination of flags is no value of their enumeration.
  const utf8proc_ssize_t size = utf8proc_map(BytesOf(text), static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                             static_cast<utf8proc_option_t>(options));  // NOLINT
  const std::unique_ptr<utf8proc_uint8_t, FreeMemory> owner(mapped);
  if (size < 0) return text;
  return {reinterpret_cast<const char*>(owner.get()), static_cast<std::size_t>(size)};
}

}  // namespace

std::u32string DecodeUtf8(std::string_view text) {
  std::u32string decoded;
  decoded.reserve(text.size());
  while (!text.empty()) {
    const FirstCharacter first = FirstOf(text);
    CHECK(first.bytes > 0);  // the callers' texts are valid
    decoded += first.character;
    text.remove_prefix(first.bytes);
  }
  return decoded;
}

std::string EncodeUtf8(std::u32string_view text) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char32_t character : text) AppendUtf8(encoded, character);
  return encoded;
}

std::string FoldCase(std::string_view text) {
  std::string folded;
  folded.reserve(text.size());
  while (!text.empty()) {
    const char c = text.front();
    FirstCharacter first;
    if (static_cast<unsigned char>(c) >= 0x80) first = FirstOf(text);
    if (first.bytes > 0) {
      AppendUtf8(folded, SimpleFolding(first.character));
    } else {
      folded += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    text.remove_prefix(std::max<std::size_t>(first.bytes, 1));
  }
  return folded;
}

std::string NormalizeNfkc(std::string_view text) {
  return Mapped(text, UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
}

std::string FoldFileName(std::string_view text) {
  return Mapped(text, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD);
}

bool IsAlphanumeric(char32_t character) {
  const utf8proc_category_t category = CategoryOf(character);
  const bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
  const bool number = category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
  return letter || number;
}

bool IsLowercase(char32_t character) {
  return utf8proc_tolower(static_cast<utf8proc_int32_t>(character)) == static_cast<utf8proc_int32_t>(character);
}

std::string_view TrimUnicode(std::string_view text) {
  while (!text.empty()) {
    const FirstCharacter first = FirstOf(text);
    if (!IsUnicodeSpace(first.character)) break;
    text.remove_prefix(first.bytes);
  }
  while (!text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80U) --begin;
    if (!IsUnicodeSpace(FirstOf(text.substr(begin)).character)) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

std::string PythonLiteral(std::u32string_view text) {
  const bool single = text.find(U'\'') != std::u32string_view::npos;
  const char32_t quote = single && text.find(U'"') == std::u32string_view::npos ? U'"' : U'\'';
  std::string literal = EncodeUtf8({&quote, 1});
  for (const char32_t c : text) {
    const auto code = static_cast<unsigned long>(c);
    if (c == quote || c == U'\\') {
      literal += '\\';
      literal += static_cast<char>(c);
    } else if (c == U'\n' || c == U'\r' || c == U'\t') {
      literal += c == U'\n' ? "\\n" : c == U'\r' ? "\\r" : "\\t";
    } else if (IsPrintable(c)) {
      literal += EncodeUtf8({&c, 1});
    } else if (code < 0x100) {
      fmt::format_to(std::back_inserter(literal), "\\x{:02x}", code);
    } else if (code < 0x10000) {
      fmt::format_to(std::back_inserter(literal), "\\u{:04x}", code);
    } else {
      fmt::format_to(std::back_inserter(literal), "\\U{:08x}", code);
    }
  }
  literal += static_cast<char>(quote);
  return literal;
}

}  // namespace upskill

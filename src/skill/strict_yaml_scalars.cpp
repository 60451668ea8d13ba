// SPDX-License-Identifier: Apache-2.0
// The part of YamlScanner that reads white space, comments and scalars.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "skill/strict_yaml_scanner.h"
#include "skill/unicode_text.h"

namespace upskill {
namespace {

bool IsHexDigit(char32_t c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f'); }

char32_t HexValue(std::u32string_view digits) {
  char32_t value = 0;
  for (const char32_t c : digits) value = value * 16 + (c <= '9' ? c - '0' : (c | 0x20U) - 'a' + 10);
  return value;
}

// What a backslash and this character stand for in double quotes; nothing if they have no meaning.
std::optional<char32_t> MeaningOfEscape(char32_t c) {
  constexpr std::u32string_view kEscapes = U"abt\tnvfre \"/\\N_LP";
  constexpr std::u32string_view kMeanings = U"\a\b\t\t\n\v\f\r\x1B \"/\\\u0085\u00A0\u2028\u2029";
  if (c == '0') return U'\0';
  const std::size_t at = kEscapes.find(c);
  if (c == YamlText::kEnd || at == std::u32string_view::npos) return std::nullopt;
  return kMeanings[at];
}

// A line break and the empty lines behind it, in a scalar that may be folded.
std::u32string Folded(char32_t line_break, const std::u32string& breaks) {
  if (line_break != '\n') return line_break + breaks;
  return breaks.empty() ? U" " : breaks;
}

}  // namespace

void YamlScanner::SkipComment() {
  text_.Forward();
  char32_t c = '#';
  while (!IsYamlLineEnd(c)) {
    c = text_.Peek();
    if (c == YamlText::kEnd) break;
    text_.Forward();
  }
  while (text_.TakeLineBreak() != YamlText::kEnd) {
  }
  if (flow_.empty()) allow_key_ = true;
}

std::optional<YamlMark> YamlScanner::SkipToNextToken() {
  if (text_.mark().index == 0 && text_.Peek() == 0xFEFF) text_.Forward();
  while (true) {
    while (text_.Peek() == ' ') text_.Forward();
    if (text_.Peek() == '#') {
      const YamlMark start = text_.mark();
      SkipComment();
      return start;
    }
    if (text_.TakeLineBreak() == YamlText::kEnd) return std::nullopt;
    if (flow_.empty()) allow_key_ = true;
    if (text_.Peek() != '\n') continue;
    const YamlMark start = text_.mark();
    while (true) {
      if (text_.TakeLineBreak() != YamlText::kEnd) continue;
      if (text_.Peek() != ' ' && text_.Peek() != '\t') return start;
      text_.Forward();
    }
  }
}

YamlToken YamlScanner::ScanPlain() {
  YamlToken token{Kind::kScalar, text_.mark(), text_.mark(), U"", true};
  const std::ptrdiff_t indent = indent_ + 1;
  std::u32string spaces;
  while (text_.Peek() != '#') {
    std::size_t length = 0;
    char32_t c = text_.Peek();
    while (true) {
      const bool colon = c == ':' && IsYamlSpaceOrEnd(text_.Peek(length + 1));
      const bool plain_sign = (c == ':' && !colon) || c == '?';
      if (!plain_sign && (IsYamlSpaceOrEnd(c) || (flow_.empty() && colon) ||
                          (!flow_.empty() && std::u32string_view(U",:?[]{}").find(c) != std::u32string_view::npos)))
        break;
      c = text_.Peek(++length);
    }
    if (length == 0) break;
    allow_key_ = false;
    token.text += spaces + text_.Take(length);
    token.end = text_.mark();
    spaces.clear();
    if (!ScanPlainSpaces(spaces) || spaces.empty() || text_.Peek() == '#') break;
    if (flow_.empty() && static_cast<std::ptrdiff_t>(text_.column()) < indent) break;
  }
  return token;
}

bool YamlScanner::ScanPlainSpaces(std::u32string& spaces) {
  const auto at_document = [this] {
    return (text_.LooksAt(U"---") || text_.LooksAt(U"...")) && IsYamlSpaceOrEnd(text_.Peek(3));
  };
  std::size_t length = 0;
  while (text_.Peek(length) == ' ') ++length;
  std::u32string blanks = text_.Take(length);
  const char32_t line_break = text_.TakeLineBreak();
  if (line_break == YamlText::kEnd) {
    spaces = std::move(blanks);
    return true;
  }
  allow_key_ = true;
  if (at_document()) return false;
  std::u32string breaks;
  while (text_.Peek() == ' ' || (text_.Peek() != YamlText::kEnd && IsYamlLineEnd(text_.Peek()))) {
    if (text_.Peek() == ' ') {
      text_.Forward();
      continue;
    }
    breaks += text_.TakeLineBreak();
    if (at_document()) return false;
  }
  spaces = Folded(line_break, breaks);
  return true;
}

YamlToken YamlScanner::ScanQuoted(char32_t quote) {
  YamlToken token{Kind::kScalar, text_.mark(), text_.mark(), U"", false};
  text_.Forward();
  ScanQuotedText(quote, token.start, token.text);
  while (text_.Peek() != quote && !text_.failed()) {
    ScanQuotedSpaces(token.start, token.text);
    ScanQuotedText(quote, token.start, token.text);
  }
  text_.Forward();
  token.end = text_.mark();
  return token;
}

void YamlScanner::ScanQuotedText(char32_t quote, const YamlMark& start, std::u32string& text) {
  const bool twice = quote == '"';
  while (!text_.failed()) {
    std::size_t length = 0;
    for (char32_t c = text_.Peek(); !IsYamlSpaceOrEnd(c) && c != '\'' && c != '"' && c != '\\';)
      c = text_.Peek(++length);
    text += text_.Take(length);
    const char32_t c = text_.Peek();
    if (!twice && c == '\'' && text_.Peek(1) == '\'') {
      text += '\'';
      text_.Forward(2);
    } else if (c == '\\' && twice) {
      if (!ScanEscape(start, text)) return;
    } else if ((c == '\'' || c == '"' || c == '\\') && c != quote) {
      text += c;
      text_.Forward();
    } else {
      return;
    }
  }
}

bool YamlScanner::ScanEscape(const YamlMark& start, std::u32string& text) {
  constexpr const char* kContext = "while scanning a double-quoted scalar";
  text_.Forward();
  const char32_t c = text_.Peek();
  if (const std::optional<char32_t> meaning = MeaningOfEscape(c)) {
    text += *meaning;
    text_.Forward();
    return true;
  }
  if (c == 'x' || c == 'u' || c == 'U') {
    const std::size_t length = c == 'x' ? 2 : c == 'u' ? 4 : 8;
    text_.Forward();
    for (std::size_t i = 0; i < length; ++i) {
      const char32_t digit = text_.Peek(i);
      if (IsHexDigit(digit)) continue;
      text_.Fail(kContext, start,
                 fmt::format("expected escape sequence of {} hexdecimal numbers, but found {}", length,
                             PythonLiteral({&digit, 1})));
      return false;
    }
    const char32_t value = HexValue(text_.Take(length));
    if (value > 0x10FFFF) {
      text_.Fail(kContext, start, "found an escape sequence that is no character");
      return false;
    }
    text += value;
    return true;
  }
  if (c != YamlText::kEnd && IsYamlLineEnd(c)) {
    text_.TakeLineBreak();
    text += ScanQuotedBreaks(start);
    return true;
  }
  text_.Fail(kContext, start, fmt::format("found unknown escape character {}", PythonLiteral({&c, 1})));
  return false;
}

void YamlScanner::ScanQuotedSpaces(const YamlMark& start, std::u32string& text) {
  std::size_t length = 0;
  while (text_.Peek(length) == ' ' || text_.Peek(length) == '\t') ++length;
  const std::u32string blanks = text_.Take(length);
  if (text_.Peek() == YamlText::kEnd)
    return text_.Fail("while scanning a quoted scalar", start, "found unexpected end of stream");
  const char32_t line_break = text_.TakeLineBreak();
  text += line_break == YamlText::kEnd ? blanks : Folded(line_break, ScanQuotedBreaks(start));
}

std::u32string YamlScanner::ScanQuotedBreaks(const YamlMark& start) {
  std::u32string breaks;
  while (!text_.failed()) {
    if ((text_.LooksAt(U"---") || text_.LooksAt(U"...")) && IsYamlSpaceOrEnd(text_.Peek(3)))
      text_.Fail("while scanning a quoted scalar", start, "found unexpected document separator");
    while (text_.Peek() == ' ' || text_.Peek() == '\t') text_.Forward();
    const char32_t line_break = text_.TakeLineBreak();
    if (line_break == YamlText::kEnd) break;
    breaks += line_break;
  }
  return breaks;
}

YamlToken YamlScanner::ScanBlock(bool folded) {
  YamlToken token{Kind::kScalar, text_.mark(), text_.mark(), U"", false};
  text_.Forward();
  const BlockHeader header = ScanBlockHeader(token.start);
  SkipRestOfLine("while scanning a block scalar", token.start);
  const auto min_indent = static_cast<std::size_t>(indent_ + 1);
  std::size_t indent = 0;
  std::u32string breaks;
  if (header.increment == 0) {
    breaks = ScanFirstBreaks(indent);
    indent = std::max(indent, min_indent);
  } else {
    indent = std::max<std::size_t>(min_indent, 1) + header.increment - 1;
    breaks = ScanBreaks(indent);
  }
  std::u32string line_break;
  const bool top_level = min_indent == 0 && header.increment == 0;
  token.text = ScanBlockLines(folded, indent, top_level, breaks, line_break);
  if (header.keep != std::optional(false)) token.text += line_break;
  if (header.keep == std::optional(true)) {
    token.text += breaks;
  } else if (!breaks.empty()) {
    while (SkipToNextToken()) {
    }
  }
  token.end = text_.mark();
  return token;
}

// The lines up to the first that is indented less; then `line_break` holds the last line's end, and `breaks` the empty
// lines behind it.
std::u32string YamlScanner::ScanBlockLines(bool folded, std::size_t indent, bool top_level, std::u32string& breaks,
                                           std::u32string& line_break) {
  std::u32string text;
  while (text_.column() == indent && text_.Peek() != YamlText::kEnd) {
    text += breaks;
    const bool begins_with_blank = text_.Peek() == ' ' || text_.Peek() == '\t';
    std::size_t length = 0;
    while (!IsYamlLineEnd(text_.Peek(length))) ++length;
    text += text_.Take(length);
    const char32_t end = text_.TakeLineBreak();
    line_break = end == YamlText::kEnd ? U"" : std::u32string(1, end);
    breaks = ScanBreaks(indent);
    if (top_level && (AtDocumentIndicator(U"---") || AtDocumentIndicator(U"..."))) break;
    if (text_.column() != indent || text_.Peek() == YamlText::kEnd) break;
    const bool joins = folded && end == '\n' && !begins_with_blank && text_.Peek() != ' ' && text_.Peek() != '\t';
    if (!joins) {
      text += line_break;
    } else if (breaks.empty()) {
      text += ' ';
    }
  }
  return text;
}

void YamlScanner::ScanIncrement(const YamlMark& start, BlockHeader& header) {
  const char32_t c = text_.Peek();
  if (c < '0' || c > '9') return;
  if (c == '0') {
    return text_.Fail("while scanning a block scalar", start,
                      "expected indentation indicator in the range 1-9, but found 0");
  }
  header.increment = c - '0';
  text_.Forward();
}

YamlScanner::BlockHeader YamlScanner::ScanBlockHeader(const YamlMark& start) {
  BlockHeader header;
  const auto take_sign = [&] {
    const char32_t c = text_.Peek();
    if (c != '+' && c != '-') return false;
    header.keep = c == '+';
    text_.Forward();
    return true;
  };
  if (take_sign()) {
    ScanIncrement(start, header);
  } else {
    ScanIncrement(start, header);
    if (header.increment > 0) take_sign();
  }
  const char32_t c = text_.Peek();
  if (c != ' ' && !IsYamlLineEnd(c)) {
    text_.Fail("while scanning a block scalar", start,
               fmt::format("expected chomping or indentation indicators, but found {}", PythonLiteral({&c, 1})));
  }
  return header;
}

void YamlScanner::SkipRestOfLine(const char* context, const YamlMark& start) {
  while (text_.Peek() == ' ') text_.Forward();
  if (text_.Peek() == '#') {
    while (!IsYamlLineEnd(text_.Peek())) text_.Forward();
  }
  const char32_t c = text_.Peek();
  if (!IsYamlLineEnd(c)) {
    text_.Fail(context, start, fmt::format("expected a comment or a line break, but found {}", PythonLiteral({&c, 1})));
  }
  text_.TakeLineBreak();
}

std::u32string YamlScanner::ScanFirstBreaks(std::size_t& indent) {
  std::u32string breaks;
  while (true) {
    if (text_.Peek() == ' ') {
      text_.Forward();
      indent = std::max(indent, text_.column());
      continue;
    }
    const char32_t line_break = text_.TakeLineBreak();
    if (line_break == YamlText::kEnd) return breaks;
    breaks += line_break;
  }
}

std::u32string YamlScanner::ScanBreaks(std::size_t indent) {
  std::u32string breaks;
  while (true) {
    while (text_.column() < indent && text_.Peek() == ' ') text_.Forward();
    const char32_t line_break = text_.TakeLineBreak();
    if (line_break == YamlText::kEnd) return breaks;
    breaks += line_break;
  }
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
// The part of YamlScanner that reads directives, anchors and tags. StrictYAML refuses all of them, but what is wrong
// with their spelling is reported first.
#include <fmt/format.h>

#include "skill/strict_yaml_scanner.h"
#include "skill/unicode_text.h"
#include "util/text.h"

namespace upskill {
namespace {

bool IsDigitIn(char32_t c) { return c >= '0' && c <= '9'; }

bool IsWordCharacter(char32_t c) {
  return IsDigitIn(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' || c == '_';
}

bool IsAnchorCharacter(char32_t c) {
  if (c == ',' || c == '[' || c == ']' || c == '{' || c == '}') return false;
  return (c >= 0x21 && c <= 0x7E) || (c >= 0xA0 && c <= 0xD7FF) || (c >= 0xE000 && c <= 0xFFFD && c != 0xFEFF) ||
         c >= 0x10000;
}

bool IsUriCharacter(char32_t c) {
  return IsWordCharacter(c) ||
         (c != 0 && std::u32string_view(U";/?:@&=+$,.!~*'()[]%#").find(c) != std::u32string_view::npos);
}

bool IsBlankOrLineEnd(char32_t c) { return c == ' ' || IsYamlLineEnd(c); }

constexpr const char* kScanningDirective = "while scanning a directive";

}  // namespace

void YamlScanner::FailAtCharacter(const std::string& context, const YamlMark& start, std::string_view expected,
                                  char32_t found) {
  text_.Fail(context, start, fmt::format("expected {}, but found {}", expected, PythonLiteral({&found, 1})));
}

YamlToken YamlScanner::ScanDirective() {
  YamlToken token{Kind::kDirective, text_.mark(), text_.mark(), U"", false};
  text_.Forward();
  std::size_t length = 0;
  for (char32_t c = text_.Peek(); IsWordCharacter(c) || c == ':' || c == '.';) c = text_.Peek(++length);
  const std::u32string name = text_.Take(length);
  if (length == 0 || !IsBlankOrLineEnd(text_.Peek()))
    FailAtCharacter(kScanningDirective, token.start, "alphabetic or numeric character", text_.Peek());
  if (name == U"YAML") {
    token.text = U"YAML ";
    if (!ScanVersion(token.start, token.text)) return token;
  } else if (name == U"TAG") {
    while (text_.Peek() == ' ') text_.Forward();
    token.text = U"TAG " + ScanTagHandle("directive", token.start);
    if (text_.Peek() != ' ') FailAtCharacter(kScanningDirective, token.start, "' '", text_.Peek());
    while (text_.Peek() == ' ') text_.Forward();
    ScanTagUri("directive", token.start);
    if (!IsBlankOrLineEnd(text_.Peek())) FailAtCharacter(kScanningDirective, token.start, "' '", text_.Peek());
  } else {
    while (!IsYamlLineEnd(text_.Peek())) text_.Forward();
  }
  token.end = text_.mark();
  SkipRestOfLine(kScanningDirective, token.start);
  return token;
}

bool YamlScanner::ScanVersion(const YamlMark& start, std::u32string& text) {
  while (text_.Peek() == ' ') text_.Forward();
  if (!ScanNumber(start, text)) return false;
  if (text_.Peek() != '.') FailAtCharacter(kScanningDirective, start, "a digit or '.'", text_.Peek());
  text_.Forward();
  text += '.';
  if (!ScanNumber(start, text)) return false;
  if (!IsBlankOrLineEnd(text_.Peek())) FailAtCharacter(kScanningDirective, start, "a digit or ' '", text_.Peek());
  return !text_.failed();
}

// Without leading zeros.
bool YamlScanner::ScanNumber(const YamlMark& start, std::u32string& text) {
  if (!IsDigitIn(text_.Peek())) {
    FailAtCharacter(kScanningDirective, start, "a digit", text_.Peek());
    return false;
  }
  while (text_.Peek() == '0' && IsDigitIn(text_.Peek(1))) text_.Forward();
  std::size_t length = 0;
  while (IsDigitIn(text_.Peek(length))) ++length;
  text += text_.Take(length);
  return true;
}

YamlToken YamlScanner::ScanAnchor() {
  YamlToken token{Kind::kAnchor, text_.mark(), text_.mark(), U"", false};
  const bool alias = text_.Peek() == '*';
  if (alias) token.kind = Kind::kAlias;
  text_.Forward();
  std::size_t length = 0;
  while (IsAnchorCharacter(text_.Peek(length))) ++length;
  token.text = text_.Take(length);
  constexpr std::u32string_view kMayFollow = U"?:,[]{}%@`";
  const char32_t c = text_.Peek();
  if (length == 0 || (!IsYamlSpaceOrEnd(c) && kMayFollow.find(c) == std::u32string_view::npos)) {
    FailAtCharacter(alias ? "while scanning an alias" : "while scanning an anchor", token.start,
                    "alphabetic or numeric character", c);
  }
  token.end = text_.mark();
  return token;
}

YamlToken YamlScanner::ScanTag() {
  YamlToken token{Kind::kTag, text_.mark(), text_.mark(), U"", false};
  char32_t c = text_.Peek(1);
  if (c == '<') {
    text_.Forward(2);
    ScanTagUri("tag", token.start);
    if (text_.Peek() != '>') FailAtCharacter("while parsing a tag", token.start, "'>'", text_.Peek());
    text_.Forward();
  } else if (IsYamlSpaceOrEnd(c)) {
    text_.Forward();
  } else {
    for (std::size_t length = 1; !IsBlankOrLineEnd(c) && c != '!';) c = text_.Peek(++length);
    if (c == '!') {
      ScanTagHandle("tag", token.start);
    } else {
      text_.Forward();
    }
    ScanTagUri("tag", token.start);
  }
  if (!IsBlankOrLineEnd(text_.Peek())) FailAtCharacter("while scanning a tag", token.start, "' '", text_.Peek());
  token.end = text_.mark();
  return token;
}

std::u32string YamlScanner::ScanTagHandle(const char* what, const YamlMark& start) {
  const std::string context = fmt::format("while scanning a {}", what);
  if (text_.Peek() != '!') {
    FailAtCharacter(context, start, "'!'", text_.Peek());
    return {};
  }
  std::size_t length = 1;
  if (text_.Peek(1) != ' ') {
    while (IsWordCharacter(text_.Peek(length))) ++length;
    if (text_.Peek(length) != '!') {
      text_.Forward(length);
      FailAtCharacter(context, start, "'!'", text_.Peek());
      return {};
    }
    ++length;
  }
  return text_.Take(length);
}

void YamlScanner::ScanTagUri(const char* what, const YamlMark& start) {
  std::size_t length = 0;
  while (IsUriCharacter(text_.Peek())) {
    ++length;
    if (text_.Peek() == '%') {
      ScanUriEscapes(what, start);
    } else {
      text_.Forward();
    }
  }
  if (length == 0) FailAtCharacter(fmt::format("while parsing a {}", what), start, "URI", text_.Peek());
}

void YamlScanner::ScanUriEscapes(const char* what, const YamlMark& start) {
  const std::string context = fmt::format("while scanning a {}", what);
  const YamlMark mark = text_.mark();
  std::string bytes;
  while (text_.Peek() == '%') {
    text_.Forward();
    unsigned value = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const char32_t c = text_.Peek(i);
      const char32_t letter = c | 0x20U;
      if (!IsDigitIn(c) && (letter < 'a' || letter > 'f'))
        return FailAtCharacter(context, start, "URI escape sequence of 2 hexdecimal numbers", c);
      value = value * 16 + (IsDigitIn(c) ? c - '0' : letter - 'a' + 10);
    }
    bytes += static_cast<char>(static_cast<unsigned char>(value));
    text_.Forward(2);
  }
  if (FindInvalidUtf8(bytes)) text_.Fail(context, start, "the URI escape sequence isn't UTF-8", mark);
}

}  // namespace upskill

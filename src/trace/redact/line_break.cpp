// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/line_break.h"

namespace upskill {
namespace {

std::size_t SkipBlanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

// A vertical line of ASCII or of box drawing.
std::size_t SkipFrame(std::string_view text, std::size_t at) {
  constexpr std::string_view kBoxLine = "\xE2\x94\x82";
  if (text.substr(at, 1) == "|") return at + 1;
  return text.substr(at, kBoxLine.size()) == kBoxLine ? at + kBoxLine.size() : at;
}

}  // namespace

std::size_t LineBreakLength(std::string_view text) {
  text = text.substr(0, kMaxLineBreak);
  std::size_t i = SkipBlanks(text, 0);
  i = SkipFrame(text, i);
  const std::size_t slashes = i;
  while (i < text.size() && i - slashes < 8 && text[i] == '\\') ++i;
  if (i > slashes && text.substr(i, 1) == "r") {  // `\r\n` in a string
    std::size_t next = i + 1;
    while (next < text.size() && next - i < 8 && text[next] == '\\') ++next;
    if (next > i + 1 && text.substr(next, 1) == "n") i = next;
  }
  if (text.substr(i, 2) == "\r\n") ++i;
  const bool escaped = i > slashes && text.substr(i, 1) == "n";
  if (!escaped && text.substr(i, 1) != "\n") return 0;
  i = SkipBlanks(text, i + 1);
  std::size_t mark = SkipFrame(text, i);
  if (mark == i && (text.substr(i, 2) == "> " || text.substr(i, 2) == "# ")) mark = i + 1;
  return SkipBlanks(text, mark);
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "trace/redact/assignment.h"

#include <algorithm>
#include <array>
#include <string>

#include "trace/redact/line_break.h"
#include "trace/redact/secret_value.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxName = 60;
constexpr std::size_t kMaxValue = 4096;

bool IsIdentifierChar(char c) { return IsAlnumChar(c) || c == '_' || c == '-'; }

std::size_t SkipBlanksOf(std::string_view text, std::size_t at, std::size_t most) {
  const std::size_t end = std::min(text.size(), at + most);
  while (at < end && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}

// A quote at `at`, after backslashes if the text is inside of a string; empty if there is none.
std::string_view QuoteAt(std::string_view text, std::size_t at) {
  std::size_t i = at;
  while (i < text.size() && i - at < 8 && text[i] == '\\') ++i;
  return i < text.size() && (text[i] == '"' || text[i] == '\'' || text[i] == '`') ? text.substr(at, i + 1 - at)
                                                                                  : std::string_view();
}

// The end of the value behind a quote; npos if it isn't closed on its line.
std::size_t EndOfQuoted(std::string_view text, std::size_t begin, std::string_view quote) {
  const std::string_view rest = text.substr(begin, kMaxValue);
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] == '\n') return std::string_view::npos;
    if (rest[i] == '\\' && quote.size() == 1) {
      ++i;  // the next character is escaped
      continue;
    }
    if (rest.substr(i, quote.size()) == quote) return begin + i;
    if (quote.size() > 1 && rest.substr(i, 2) == "\\n") return std::string_view::npos;
  }
  return std::string_view::npos;
}

// Where the identifier that contains text[at] begins.
std::size_t NameBegin(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && at - begin < kMaxName && IsIdentifierChar(text[begin - 1])) --begin;
  // In a string, `\n` before a name looks like its first letter.
  if (begin > 0 && begin < at && text[begin - 1] == '\\' &&
      std::string_view("nrt").find(text[begin]) != std::string_view::npos) {
    ++begin;
  }
  return begin;
}

// An operator of assignment or comparison at `at`; empty if there is none.
std::string_view OperatorAt(std::string_view text, std::size_t at) {
  for (const std::string_view op :
       {":::=", "::=", "===", "!==", ":=", "=>", "?=", "+=", ".=", "||=", "==", "!=", "->", "||", "=", ":", ","}) {
    if (text.substr(at, op.size()) == op) return op == ":" && text.substr(at + 1, 1) == ":" ? std::string_view() : op;
  }
  return {};
}

// The end of "string" in `var token string = "…"`, of ": Optional[str]" in `token: Optional[str] = "…"`, if an equals
// sign and a quote follow; `at` otherwise.
std::size_t SkipType(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxType = 40;
  std::size_t i = SkipBlanksOf(text, at, 4);
  if (i < text.size() && text[i] == ':') i = SkipBlanksOf(text, i + 1, 4);
  const std::size_t from = i;
  while (i < text.size() && i - from < kMaxType &&
         (IsAlnumChar(text[i]) || std::string_view("_.[]<>|&*? ").find(text[i]) != std::string_view::npos)) {
    ++i;
  }
  if (i == from || i + 1 >= text.size() || text[i] != '=' || text[i + 1] == '=') return at;
  return QuoteAt(text, SkipBlanksOf(text, i + 1, 4)).empty() ? at : i;
}

// The rest of the line, if the text before the name and the rest look like a line of an environment file, whose values
// may hold any character.
std::size_t EndOfEnvironmentLine(std::string_view text, std::size_t name_begin, std::size_t begin) {
  std::string_view front = text.substr(0, name_begin);
  constexpr std::string_view kExport = "export ";
  if (front.ends_with(kExport)) front.remove_suffix(kExport.size());
  if (!front.empty() && front.back() != '\n' && !front.ends_with("\\n")) return begin;
  const std::string_view rest = text.substr(begin, kMaxValue);
  const std::size_t end = std::min(rest.find_first_of(" \t\r\n\"'`\\"), rest.size());
  const bool ends_line = end == rest.size() || rest[end] == '\n' || rest[end] == '\r' || rest.substr(end, 2) == "\\n";
  return ends_line ? begin + end : begin;
}

std::size_t EndOfPlain(std::string_view text, std::size_t begin, bool in_markup) {
  static const std::array<bool, 256> ends = [] {
    std::array<bool, 256> all{};
    for (const char c : std::string_view(" \t\r\n\"'`\\,;&|")) all.at(static_cast<unsigned char>(c)) = true;
    return all;
  }();
  const std::string_view rest = text.substr(begin, kMaxValue);
  std::size_t end = 0;
  while (end < rest.size() && !ends[static_cast<unsigned char>(rest[end])] && (!in_markup || rest[end] != '<')) ++end;
  const auto is_open = [&] {
    const std::string_view value = rest.substr(0, end);
    const char close = value.back();
    const char open = close == ')' ? '(' : close == ']' ? '[' : '{';
    return std::count(value.begin(), value.end(), close) <= std::count(value.begin(), value.end(), open);
  };
  while (end > 0) {
    const char last = rest[end - 1];
    if (last == '.' || last == ':' || ((last == ')' || last == ']' || last == '}') && !is_open())) {
      --end;
    } else {
      break;
    }
  }
  return begin + end;
}

// Fills in the value that begins at `at` or behind it.
std::optional<Assignment> ValueAt(std::string_view text, std::size_t name_begin, std::size_t at, std::string_view op,
                                  Assignment found) {
  std::size_t i = SkipBlanksOf(text, at, 8);
  // A value may be on the next line if it is quoted.
  if (i < text.size() && (text[i] == '\n' || text[i] == '\r')) {
    const std::size_t next = i + LineBreakLength(text.substr(i, kMaxLineBreak));
    if (QuoteAt(text, next).empty() && op != ">") return std::nullopt;
    i = next;
  }
  // r"…", b'…', f"…"
  if (i + 1 < text.size() && std::string_view("rbfuL@").find(text[i]) != std::string_view::npos &&
      !QuoteAt(text, i + 1).empty()) {
    ++i;
  }
  std::string_view quote = QuoteAt(text, i);
  if (quote.empty()) {
    // Name("…"
    std::size_t k = i;
    while (k < text.size() && k - i < kMaxName &&
           (IsAlnumChar(text[k]) || text[k] == '_' || text[k] == '.' || text[k] == ':'))
      ++k;
    if (k > i && k < text.size() && text[k] == '(' && !QuoteAt(text, k + 1).empty()) {
      quote = QuoteAt(text, k + 1);
      i = k + 1;
      found.argument = true;
    }
  }
  if (!quote.empty()) {
    const std::size_t end = EndOfQuoted(text, i + quote.size(), quote);
    found.begin = i + quote.size();
    if (end != std::string_view::npos) {
      found.end = end;
      found.quoted = true;
      found.strong = true;
      found.sentence = text.substr(found.begin, end - found.begin).find_first_of(" \t") != std::string_view::npos;
      return found;
    }
    if (found.argument) return std::nullopt;
    found.strong = true;
    found.end = EndOfPlain(text, found.begin, false);
    return found.end > found.begin ? std::optional(found) : std::nullopt;
  }
  if (found.compared || found.listed) return std::nullopt;
  found.begin = i;
  found.strong = (op == "=" && i > 0 && text[i - 1] == '=') || op == ">";
  found.spaced = op == ":" || (i > 0 && text[i - 1] != '=');
  found.end = EndOfPlain(text, i, op == ">");
  if (op == ">" &&
      text.substr(found.end + std::min<std::size_t>(LineBreakLength(text.substr(found.end, kMaxLineBreak)), 200), 2) !=
          "</")
    return std::nullopt;
  if (op == "=") found.end = std::max(found.end, EndOfEnvironmentLine(text, name_begin, i));
  return found.end > found.begin ? std::optional(found) : std::nullopt;
}

// The number of columns before `at` in its line.
std::size_t ColumnOf(std::string_view text, std::size_t at) {
  constexpr std::size_t kMax = 400;
  const std::string_view front = text.substr(at - std::min(at, kMax), std::min(at, kMax));
  std::size_t from = front.rfind('\n');
  if (const std::size_t escaped = front.rfind("\\n");
      escaped != std::string_view::npos && (from == std::string_view::npos || escaped > from)) {
    from = escaped + 1;
  }
  return from == std::string_view::npos ? front.size() : front.size() - from - 1;
}

}  // namespace

std::optional<Assignment> AssignmentAt(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t name_begin = NameBegin(text, begin);
  std::size_t at = end;
  // The identifier goes on, but a word of it doesn't: "tokens", "passed" and "author" are other words.
  if (at < text.size() && IsLetterChar(text[at]) && !(IsUpperChar(text[at]) && IsLowerChar(text[at - 1])))
    return std::nullopt;
  while (at < text.size() && at - end < kMaxName && (IsIdentifierChar(text[at]) || text[at] == '.')) ++at;
  if (at > end && at < text.size() && text[at - 1] == '.' && text[at] == '=') --at;  // `name .= value`
  Assignment found;
  found.name = text.substr(name_begin, at - name_begin);
  found.rest = text.substr(end, at - end);
  const bool flag = found.name.starts_with("--");
  const bool element = name_begin > 0 && text[name_begin - 1] == '<';
  if (element && text.substr(at, 1) == ">") return ValueAt(text, name_begin, at + 1, ">", found);
  const std::string_view quote = QuoteAt(text, at);
  at += quote.size();
  if (text.substr(at, 1) == "]") ++at;
  const std::size_t typed = quote.empty() ? SkipType(text, at) : at;
  const std::size_t op_at = SkipBlanksOf(text, typed, 20);
  const std::string_view op = OperatorAt(text, op_at);
  if (op.empty()) {
    if (flag && op_at > at && op_at < text.size() && text[op_at] != '-')
      return ValueAt(text, name_begin, op_at, " ", found);
    return std::nullopt;
  }
  found.compared = op == "==" || op == "!=" || op == "===" || op == "!==";
  found.listed = op == ",";
  if (found.listed && quote.empty()) return std::nullopt;
  if (op == "->") return std::nullopt;
  return ValueAt(text, name_begin, op_at + op.size(), op, found);
}

std::size_t EndOfWrapped(std::string_view text, std::size_t end) {
  constexpr std::size_t kLongLine = 60;
  constexpr std::size_t kMin = 6;
  while (ColumnOf(text, end) >= kLongLine) {
    const std::size_t line_end = LineBreakLength(text.substr(end, kMaxLineBreak));
    if (line_end == 0) break;
    std::size_t next = end + line_end;
    while (next < text.size() &&
           (IsAlnumChar(text[next]) || std::string_view("+/=_-").find(text[next]) != std::string_view::npos)) {
      ++next;
    }
    const std::string_view piece = text.substr(end + line_end, next - end - line_end);
    const bool ends =
        next == text.size() || std::string_view(" \t\r\n\"'\\,;)}]&").find(text[next]) != std::string_view::npos;
    if (piece.size() < kMin || !LooksLikeKeyPiece(piece) || !ends) break;
    end = next;
  }
  return end;
}

}  // namespace upskill

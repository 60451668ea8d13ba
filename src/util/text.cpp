// SPDX-License-Identifier: Apache-2.0
#include "util/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace upskill {
namespace {

// Length in bytes of the valid UTF-8 sequence at the start of `text`, 0 if there is none.
std::size_t ValidSequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  std::size_t length = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return 0;
  }
  if (text.size() < length) return 0;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
  }
  return length;
}

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 1;
  bool valid = false;
};

CodePoint DecodeAt(std::string_view text, std::size_t offset) {
  const std::string_view rest = text.substr(offset);
  const std::size_t length = ValidSequenceLength(rest);
  if (length == 0) return {};
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(rest[i])); };
  std::uint32_t value = byte(0);
  if (length == 2) value = (value & 0x1FU);
  if (length == 3) value = (value & 0x0FU);
  if (length == 4) value = (value & 0x07U);
  for (std::size_t i = 1; i < length; ++i) value = (value << 6U) | (byte(i) & 0x3FU);
  return {value, length, true};
}

// East Asian wide and emoji blocks (Unicode 15 EastAsianWidth.txt, ranges merged); combining marks take no column.
std::size_t ColumnsOf(std::uint32_t c) {
  if ((c >= 0x0300 && c <= 0x036F) || (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F)) return 0;
  const bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
                    (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                    (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1F64F) || (c >= 0x1F680 && c <= 0x1F6FF) ||
                    (c >= 0x1F900 && c <= 0x1F9FF) || (c >= 0x20000 && c <= 0x3FFFD);
  return wide ? 2 : 1;
}

bool IsBidirectionalControl(std::uint32_t c) {
  return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C;
}

}  // namespace

std::optional<std::size_t> FindInvalidUtf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = ValidSequenceLength(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::nullopt;
}

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t length = ValidSequenceLength(text.substr(i));
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out;
}

std::size_t CountCodePoints(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; }));
}

std::size_t DisplayColumns(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = DecodeAt(text, i);
    columns += point.valid ? ColumnsOf(point.value) : 1;
    i += point.length;
  }
  return columns;
}

std::string CutToColumns(std::string_view text, std::size_t columns) {
  if (DisplayColumns(text) <= columns) return std::string(text);
  if (columns == 0) return "";
  std::size_t used = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    const CodePoint point = DecodeAt(text, i);
    const std::size_t width = point.valid ? ColumnsOf(point.value) : 1;
    if (used + width > columns - 1) break;
    used += width;
    i += point.length;
  }
  return std::string(text.substr(0, i)) + "…";
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool IsVisibleAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string LastLine(std::string_view text, std::size_t columns) {
  std::string_view last;
  for (const std::string_view line : SplitLines(text)) {
    if (!Trim(line).empty()) last = Trim(line);
  }
  return ExcerptLine(last, columns);
}

std::string ToLowerAscii(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string SafeForTerminal(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const CodePoint point = DecodeAt(text, i);
    if (!point.valid) {
      out += "\xEF\xBF\xBD";
    } else if (point.value == '\n' || point.value == '\t') {
      out += static_cast<char>(point.value);
    } else if (point.value < 0x20) {
      out += fmt::format("\\x{:02x}", point.value);
    } else if ((point.value >= 0x7F && point.value < 0xA0) || IsBidirectionalControl(point.value)) {
      // As in JSON, which escapes all others itself: shown on a terminal, it is still JSON.
      out += fmt::format("\\u{:04x}", point.value);
    } else {
      out += text.substr(i, point.length);
    }
    i += point.length;
  }
  return out;
}

std::string SafeForTerminalLine(std::string_view text) {
  std::string out = SafeForTerminal(text);
  for (char& c : out) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return out;
}

std::string ExcerptLine(std::string_view text, std::size_t columns) {
  // Marks take no column, so that columns alone don't limit the size.
  constexpr std::size_t kBytesPerColumn = 16;
  const std::size_t most = (columns + 1) * kBytesPerColumn;
  const bool is_long = text.size() > most;
  if (is_long) {
    std::size_t end = most;
    while (end > most - 3 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text = text.substr(0, end);
  }
  std::string line = ReplaceInvalidUtf8(text);
  std::replace_if(line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  if (!is_long || columns == 0 || DisplayColumns(line) > columns) return CutToColumns(line, columns);
  return CutToColumns(line, columns - 1) + "…";
}

TextPosition PositionAt(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  TextPosition position;
  position.line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t line_start = before.rfind('\n');
  position.column = line_start == std::string_view::npos ? before.size() + 1 : before.size() - line_start;
  return position;
}

std::string WithThousands(long long number) {
  std::string digits = std::to_string(number);
  if (number < 0) digits.erase(0, 1);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return number < 0 ? "-" + digits : digits;
}

std::string MoneyText(double usd) {
  constexpr double kRoundsToADollar = 0.995;
  constexpr double kRoundsToTenCents = 0.0995;
  constexpr int kMostDigits = 12;
  if (usd == 0.0) return "$0";
  if (usd >= kRoundsToADollar) return fmt::format("${:.2f}", usd);
  if (usd >= kRoundsToTenCents) return fmt::format("${:.3f}", usd);
  const int two_significant = 1 - static_cast<int>(std::floor(std::log10(usd)));
  return fmt::format("${:.{}f}", usd, std::clamp(two_significant, 4, kMostDigits));
}

std::optional<std::int64_t> ParseWholeNumber(std::string_view text, std::int64_t low, std::int64_t high) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number < low || number > high) return std::nullopt;
  return number;
}

std::string BytesText(std::uint64_t bytes) {
  if (bytes < 1000) return fmt::format("{} B", bytes);
  constexpr std::array<const char*, 6> kUnits = {"kB", "MB", "GB", "TB", "PB", "EB"};
  std::size_t unit = 0;
  double size = static_cast<double>(bytes) / 1000.0;
  while (size >= 999.95) {
    size /= 1000.0;
    ++unit;
  }
  return fmt::format("{:.1f} {}", size, kUnits.at(unit));
}

std::string ShellWord(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

std::string Counted(std::size_t count, std::string_view word) {
  return fmt::format("{} {}{}", WithThousands(static_cast<long long>(count)), word, count == 1 ? "" : "s");
}

}  // namespace upskill

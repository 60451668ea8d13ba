// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// Byte offset of the first byte that isn't valid UTF-8 (RFC 3629: no surrogates, no overlong forms), or nothing.
std::optional<std::size_t> FindInvalidUtf8(std::string_view text);

// `text` with every invalid byte replaced by U+FFFD.
std::string ReplaceInvalidUtf8(std::string_view text);

// Number of code points in valid UTF-8.
std::size_t CountCodePoints(std::string_view text);

// At most `columns` terminal columns of `text` (one column per code point, two for wide East Asian characters and
// emoji), ending in `…` if something was cut.
std::string CutToColumns(std::string_view text, std::size_t columns);
std::size_t DisplayColumns(std::string_view text);

// `text` without ASCII white space at either end.
std::string_view Trim(std::string_view text);

// Of ASCII, whatever the locale.
constexpr bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsAsciiLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool IsAsciiAlphanumeric(char c) { return IsAsciiLetter(c) || IsAsciiDigit(c); }

bool IsVisibleAscii(std::string_view text);  // no spaces, no control characters

std::vector<std::string_view> SplitLines(std::string_view text);  // without line endings; CRLF and LF

// The last line with more than white space, without white space at its ends, as ExcerptLine shortens it; empty: none.
std::string LastLine(std::string_view text, std::size_t columns);

std::string ToLowerAscii(std::string_view text);

// Makes untrusted text safe for a terminal: control characters (C0 except newline and tab, DEL, C1, and the
// bidirectional controls) become visible escapes such as `\x1b`. Invalid UTF-8 is replaced. Idempotent. Called once,
// where the text is printed (TerminalText).
std::string SafeForTerminal(std::string_view text);

// The same on one line: newlines and tabs become spaces.
std::string SafeForTerminalLine(std::string_view text);

// Untrusted text for quoting in a message: valid UTF-8 on one line (newlines and tabs become spaces), at most `columns`
// wide, in at most 16 bytes per column. Not escaped for a terminal.
std::string ExcerptLine(std::string_view text, std::size_t columns);

// A word of a command line, quoted for a shell.
std::string ShellWord(const std::string& word);

// Line and column (both from 1, columns in bytes) of a byte offset.
struct TextPosition {
  std::size_t line = 1;
  std::size_t column = 1;
};
TextPosition PositionAt(std::string_view text, std::size_t offset);

// Whether any of the words occurs in the text, byte for byte.
bool ContainsAny(std::string_view text, std::initializer_list<std::string_view> words);

// 1234567 → "1,234,567".
std::string WithThousands(long long number);

// (1, "round") → "1 round", (1008, "cell") → "1,008 cells".
std::string Counted(std::size_t count, std::string_view word);

// An amount of money, at least 0: "$1.20", "$0.0031", "$0.000012", and "$0" for nothing at all.
std::string MoneyText(double usd);

// The whole number that all of `text` is, if it is from `low` to `high`.
std::optional<std::int64_t> ParseWholeNumber(std::string_view text, std::int64_t low,
                                             std::int64_t high = std::numeric_limits<std::int64_t>::max());

// A size in decimal units: 999 → "999 B", 1500000 → "1.5 MB", 98362432 → "98.4 MB".
std::string BytesText(std::uint64_t bytes);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace upskill {

// Text that is safe to write to a terminal. Untrusted text (names in files, answers of models, error messages) becomes
// TerminalText only through Escape, EscapeLine or Format, which make control characters visible. Functions that take a
// TerminalText, like Env::out, therefore never move the cursor or set a title.
class TerminalText {
 private:
  // What Format passes to fmt for an argument.
  template <typename T>
  static auto Formatted(const T& argument) {
    if constexpr (std::is_same_v<T, TerminalText>) {
      return std::string_view(argument.text_);
    } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
      return EscapeLine(argument.string()).text_;
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return EscapeLine(argument).text_;
    } else if constexpr (std::is_same_v<T, char>) {
      return EscapeLine(std::string_view(&argument, 1)).text_;
    } else {
      static_assert(std::is_arithmetic_v<T>, "format it to a string or TerminalText first");
      return argument;
    }
  }
  template <typename T>
  using FormattedAs = decltype(Formatted(std::declval<const T&>()));

 public:
  TerminalText() = default;

  // A literal of the program itself.
  template <std::size_t N>
  TerminalText(const char (&literal)[N]) : text_(literal) {}  // NOLINT: implicit by design
  template <std::size_t N>
  TerminalText(char (&buffer)[N]) = delete;

  // Several lines: keeps newlines and tabs.
  static TerminalText Escape(std::string_view text);

  // One line: newlines and tabs become spaces.
  static TerminalText EscapeLine(std::string_view text);

  // Several lines, of which all but the first are indented by two spaces, so that none looks like the program's own.
  static TerminalText EscapeIndented(std::string_view text);

  // For text that is safe by construction: our own escape sequences and drawings, encoded JSON. The caller is
  // responsible.
  static TerminalText Trusted(std::string text) {
    TerminalText trusted;
    trusted.text_ = std::move(text);
    return trusted;
  }

  // fmt::format with EscapeLine applied to every string and path in `arguments`; TerminalText is used as is.
  template <typename... Arguments>
  static TerminalText Format(fmt::format_string<FormattedAs<Arguments>...> format, const Arguments&... arguments) {
    return Trusted(fmt::format(format, Formatted(arguments)...));
  }

  // The parts that aren't empty in a row, escaped as by Format.
  template <typename Parts>
  static TerminalText Join(const Parts& parts, const TerminalText& between) {
    TerminalText joined;
    for (const auto& part : parts) {
      const TerminalText escaped = Format("{}", part);
      if (!joined.empty() && !escaped.empty()) joined += between;
      joined += escaped;
    }
    return joined;
  }

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }

  // Width on the terminal, and the text cut to a width. Both take escape sequences of our own for visible text.
  std::size_t columns() const;
  TerminalText Cut(std::size_t columns) const;

  TerminalText& operator+=(const TerminalText& more) {
    text_ += more.text_;
    return *this;
  }
  friend TerminalText operator+(TerminalText a, const TerminalText& b) { return std::move(a += b); }
  friend bool operator==(const TerminalText&, const TerminalText&) = default;
  friend std::ostream& operator<<(std::ostream& out, const TerminalText& text) { return out << text.text_; }

 private:
  std::string text_;
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "util/terminal_text.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

namespace upskill {
namespace {

TEST(TerminalText, FormatEscapesEveryText) {
  const std::string title = "\x1b]0;owned\x07";
  EXPECT_EQ(TerminalText::Format("model {}: {:>4} of {:.1f}", title, 7, 2.0).text(),
            "model \\x1b]0;owned\\x07:    7 of 2.0");
  EXPECT_EQ(TerminalText::Format("{}|{}", title.c_str(), std::filesystem::path("a\nb")).text(),
            "\\x1b]0;owned\\x07|a b");
}

TEST(TerminalText, FormatUsesTerminalTextAsIs) {
  const TerminalText red = TerminalText::Trusted("\x1b[31mno\x1b[0m");
  EXPECT_EQ(TerminalText::Format("<{}>\n", red).text(), "<\x1b[31mno\x1b[0m>\n");
}

TEST(TerminalText, EscapeKeepsLines) {
  EXPECT_EQ(TerminalText::Escape("one\n\ttwo\r").text(), "one\n\ttwo\\x0d");
  EXPECT_EQ(TerminalText::EscapeLine("one\n\ttwo\r").text(), "one  two\\x0d");
}

TEST(TerminalText, FormatEscapesSingleCharacters) {
  EXPECT_EQ(TerminalText::Format("{}{}", '\x1b', 'a').text(), "\\x1ba");
}

TEST(TerminalText, EscapeIndentedMarksLinesThatBelongToTheFirst) {
  EXPECT_EQ(TerminalText::EscapeIndented("{\nerror: all is well\n\n}\n\x1b").text(),
            "{\n  error: all is well\n\n  }\n  \\x1b");
  EXPECT_EQ(TerminalText::EscapeIndented("\nerror: first\n").text(), "\n  error: first\n");
  EXPECT_EQ(TerminalText::EscapeIndented("bad JSON\n  1 | {\n    | ^").text(), "bad JSON\n  1 | {\n    | ^");
  EXPECT_EQ(TerminalText::EscapeIndented("").text(), "");
}

TEST(TerminalText, JoinEscapesEveryPart) {
  EXPECT_EQ(TerminalText::Join(std::vector<std::string>{"a\nb", "\x07"}, ", ").text(), "a b, \\x07");
  EXPECT_EQ(TerminalText::Join(std::vector<TerminalText>{"one\n", "two\n"}, "\n").text(), "one\n\ntwo\n");
  EXPECT_TRUE(TerminalText::Join(std::vector<std::string>{}, ", ").empty());
}

TEST(TerminalText, CutsToColumns) {
  const TerminalText text = TerminalText::EscapeLine("漢字\x1b");
  EXPECT_EQ(text.columns(), 8U);
  EXPECT_EQ(text.Cut(5).text(), "漢字…");
  EXPECT_EQ(text.Cut(8), text);
}

TEST(TerminalText, OnlyLiteralsConvert) {
  static_assert(std::is_convertible_v<const char(&)[4], TerminalText>);
  static_assert(!std::is_convertible_v<char(&)[4], TerminalText>);
  static_assert(!std::is_convertible_v<std::string, TerminalText>);
  static_assert(!std::is_convertible_v<const char*, TerminalText>);
  TerminalText text = "a";
  text += "b";
  EXPECT_EQ(text + "c", TerminalText("abc"));
}

}  // namespace
}  // namespace upskill

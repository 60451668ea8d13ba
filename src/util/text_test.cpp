// SPDX-License-Identifier: Apache-2.0
#include "util/text.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Utf8, ValidAtTheEdgesOfEachLength) {
  for (const char* text : {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(FindInvalidUtf8(text), std::nullopt) << testing::PrintToString(text);
  }
  EXPECT_EQ(FindInvalidUtf8(std::string_view("a\0b", 3)), std::nullopt);
}

TEST(Utf8, InvalidAtTheEdgesOfEachLength) {
  for (const char* text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xC2\x7F", "\xC2\xC0", "\xE0\x9F\xBF", "\xE1\x80",
        "\xE1\x80\x7F", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF", "\xF0\x90\x80", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xF8\x88\x80\x80\x80", "\xFE", "\xFF"}) {
    EXPECT_EQ(FindInvalidUtf8(text), std::size_t{0}) << testing::PrintToString(text);
    EXPECT_EQ(FindInvalidUtf8("é" + std::string(text)), std::size_t{2}) << testing::PrintToString(text);
  }
}

TEST(Utf8, ReplaceInvalid) {
  EXPECT_EQ(ReplaceInvalidUtf8("gut: äöü €"), "gut: äöü €");
  EXPECT_EQ(ReplaceInvalidUtf8("a\xFF"
                               "b"),
            "a\uFFFDb");
  EXPECT_EQ(ReplaceInvalidUtf8("\xE2\x82"), "\uFFFD\uFFFD");  // a cut euro sign
  EXPECT_EQ(ReplaceInvalidUtf8("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(FindInvalidUtf8(ReplaceInvalidUtf8("\xC0\x80\xF5 ok \x80")), std::nullopt);
}

TEST(Utf8, CountCodePoints) {
  EXPECT_EQ(CountCodePoints(""), 0U);
  EXPECT_EQ(CountCodePoints("abc"), 3U);
  EXPECT_EQ(CountCodePoints("äö€"), 3U);
  EXPECT_EQ(CountCodePoints("😀"), 1U);
}

TEST(Columns, WideAndCombining) {
  EXPECT_EQ(DisplayColumns("abc"), 3U);
  EXPECT_EQ(DisplayColumns("é"), 1U);
  EXPECT_EQ(DisplayColumns("e\u0301"), 1U);
  EXPECT_EQ(DisplayColumns("漢字"), 4U);
  EXPECT_EQ(DisplayColumns("😀"), 2U);
  EXPECT_EQ(DisplayColumns("\xFF\xFE"), 2U);
}

TEST(Columns, CutKeepsWhatFits) {
  EXPECT_EQ(CutToColumns("abc", 3), "abc");
  EXPECT_EQ(CutToColumns("abcd", 3), "ab…");
  EXPECT_EQ(CutToColumns("abcd", 1), "…");
  EXPECT_EQ(CutToColumns("abcd", 0), "");
  EXPECT_EQ(CutToColumns("", 0), "");
}

TEST(Columns, CutNeverSplitsACharacter) {
  EXPECT_EQ(CutToColumns("äöüß", 3), "äö…");
  EXPECT_EQ(CutToColumns("漢字漢", 4), "漢…");  // a second wide one would leave no column for the ellipsis
  EXPECT_EQ(CutToColumns("漢字漢", 6), "漢字漢");
  for (std::size_t columns = 0; columns < 12; ++columns) {
    const std::string cut = CutToColumns("a漢é😀b\u0301字z", columns);
    EXPECT_EQ(FindInvalidUtf8(cut), std::nullopt);
    EXPECT_LE(DisplayColumns(cut), columns);
  }
}

TEST(Text, Trim) {
  EXPECT_EQ(Trim(" \t\r\n\f\va b\n "), "a b");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(Trim(""), "");
  EXPECT_EQ(Trim("\u00A0x"), "\u00A0x");  // ASCII white space only
}

TEST(Text, SplitLines) {
  EXPECT_THAT(SplitLines(""), IsEmpty());
  EXPECT_THAT(SplitLines("a"), ElementsAre("a"));
  EXPECT_THAT(SplitLines("a\n"), ElementsAre("a"));
  EXPECT_THAT(SplitLines("a\r\nb\n\nc"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(SplitLines("\n"), ElementsAre(""));
  EXPECT_THAT(SplitLines("a\rb\r"), ElementsAre("a\rb"));
}

TEST(Text, ToLowerAsciiLeavesOtherBytes) { EXPECT_EQ(ToLowerAscii("AZaz09@[É"), "azaz09@[É"); }

TEST(SafeForTerminal, EscapesControlCharacters) {
  EXPECT_EQ(SafeForTerminal("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(SafeForTerminal("a\rb\bc\x07"), "a\\x0db\\x08c\\x07");
  EXPECT_EQ(SafeForTerminal("\x7F"), "\\u007f");
  EXPECT_EQ(SafeForTerminal("\u009B31m"), "\\u009b31m");  // C1 CSI as UTF-8
  EXPECT_EQ(SafeForTerminal("\u0085"), "\\u0085");
  EXPECT_EQ(SafeForTerminal("\x9B"), "\uFFFD");  // C1 CSI as a raw byte
  EXPECT_EQ(SafeForTerminal(std::string_view("\0", 1)), "\\x00");
}

TEST(SafeForTerminal, EscapesDirectionOverrides) {
  EXPECT_EQ(SafeForTerminal("\u202Egpj.exe"), "\\u202egpj.exe");
  EXPECT_EQ(SafeForTerminal("\u2066a\u2069\u200F\u061C"), "\\u2066a\\u2069\\u200f\\u061c");
}

TEST(SafeForTerminal, LeavesOrdinaryText) {
  const std::string text = "line 1\n\tline 2: äöü 漢字 😀 \u00A0";
  EXPECT_EQ(SafeForTerminal(text), text);
  EXPECT_EQ(SafeForTerminalLine("a\nb\tc\x1b"), "a b c\\x1b");
}

TEST(Text, ExcerptLineIsValid) {
  EXPECT_EQ(ExcerptLine("a\r\nb\tc\xFF", 80), "a  b c\uFFFD");
  EXPECT_EQ(ExcerptLine("\x1b[2J", 80), "\x1b[2J");  // escaped where it is printed
  EXPECT_EQ(ExcerptLine("abcdef", 4), "abc…");
}

TEST(Text, PositionAt) {
  const auto position = [](std::string_view text, std::size_t offset) {
    const TextPosition p = PositionAt(text, offset);
    return std::pair(p.line, p.column);
  };
  using Pair = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(position("", 0), Pair(1, 1));
  EXPECT_EQ(position("ab\ncd", 1), Pair(1, 2));
  EXPECT_EQ(position("ab\ncd", 2), Pair(1, 3));
  EXPECT_EQ(position("ab\ncd", 3), Pair(2, 1));
  EXPECT_EQ(position("ab\ncd", 99), Pair(2, 3));
  EXPECT_EQ(position("\n\n", 2), Pair(3, 1));
}

TEST(Text, WithThousands) {
  EXPECT_EQ(WithThousands(0), "0");
  EXPECT_EQ(WithThousands(999), "999");
  EXPECT_EQ(WithThousands(1000), "1,000");
  EXPECT_EQ(WithThousands(1234567), "1,234,567");
  EXPECT_EQ(WithThousands(-123456), "-123,456");
  EXPECT_EQ(WithThousands(std::numeric_limits<long long>::min()), "-9,223,372,036,854,775,808");
}

TEST(Text, Counted) {
  EXPECT_EQ(Counted(0, "case"), "0 cases");
  EXPECT_EQ(Counted(1, "case"), "1 case");
  EXPECT_EQ(Counted(1008, "cell"), "1,008 cells");
}

TEST(Text, ContainsAny) {
  EXPECT_TRUE(ContainsAny("rate_limit_exceeded", {"quota", "rate_limit"}));
  EXPECT_FALSE(ContainsAny("Rate limit", {"quota", "rate_limit"}));
  EXPECT_FALSE(ContainsAny("anything", {}));
}

TEST(Text, MoneyTextNeverShowsAPriceAsFree) {
  EXPECT_EQ(MoneyText(0.0), "$0");
  EXPECT_EQ(MoneyText(1e-9), "$0.0000000010");
  EXPECT_EQ(MoneyText(0.0000123), "$0.000012");
  EXPECT_EQ(MoneyText(0.0031), "$0.0031");
  EXPECT_EQ(MoneyText(0.0994), "$0.0994");
  EXPECT_EQ(MoneyText(0.0996), "$0.100");
  EXPECT_EQ(MoneyText(0.912), "$0.912");
  EXPECT_EQ(MoneyText(0.996), "$1.00");
  EXPECT_EQ(MoneyText(12.5), "$12.50");
}

TEST(Text, ParseWholeNumberTakesAllOfTheText) {
  EXPECT_EQ(ParseWholeNumber("17", 1, 100), 17);
  EXPECT_EQ(ParseWholeNumber("-3", -3), -3);
  for (const char* text : {"", "0", "101", "1x", " 1", "1.0", "+1", "99999999999999999999"})
    EXPECT_EQ(ParseWholeNumber(text, 1, 100), std::nullopt) << text;
}

TEST(Text, BytesText) {
  EXPECT_EQ(BytesText(0), "0 B");
  EXPECT_EQ(BytesText(999), "999 B");
  EXPECT_EQ(BytesText(1000), "1.0 kB");
  EXPECT_EQ(BytesText(999'949), "999.9 kB");
  EXPECT_EQ(BytesText(999'950), "1.0 MB");
  EXPECT_EQ(BytesText(98'362'432), "98.4 MB");
  EXPECT_EQ(BytesText(std::numeric_limits<std::uint64_t>::max()), "18.4 EB");
}

TEST(Text, ShellWord) {
  EXPECT_EQ(ShellWord("runs/2026_11-a.b"), "runs/2026_11-a.b");
  EXPECT_EQ(ShellWord(""), "''");
  EXPECT_EQ(ShellWord("two words"), "'two words'");
  EXPECT_EQ(ShellWord("$(rm -rf x); it's"), "'$(rm -rf x); it'\\''s'");
}

}  // namespace
}  // namespace upskill

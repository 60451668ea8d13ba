// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/table.h"

#include <gmock/gmock.h>

#include <string>

#include "util/text.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

Table MakeTable() {
  Table table({{"name", Table::Align::kLeft, true}, {"count", Table::Align::kRight}, {"note", Table::Align::kLeft}});
  table.AddRow({"first", "7", "short"});
  table.AddRow({"a much longer second name", "1,234", ""});
  return table;
}

std::string Render(const Table& table, std::size_t columns) { return table.Render({false, columns}).text(); }

TEST(Table, AlignsColumns) {
  EXPECT_EQ(Render(MakeTable(), 100),
            "name                       count  note\n"
            "first                          7  short\n"
            "a much longer second name  1,234\n");
}

TEST(Table, WideCharactersTakeTwoColumns) {
  Table table({{"k", Table::Align::kLeft}, {"v", Table::Align::kRight}});
  table.AddRow({"日本", "1"});
  table.AddRow({"abc", "é"});
  table.AddRow({"e\u0301", "🙂"});
  EXPECT_EQ(Render(table, 80),
            "k      v\n"
            "日本   1\n"
            "abc    é\n"
            "e\u0301     🙂\n");
}

TEST(Table, CutsWhatMayBeCut) {
  const std::string text = Render(MakeTable(), 30);
  EXPECT_EQ(text,
            "name              count  note\n"
            "first                 7  short\n"
            "a much longer s…  1,234\n");
  for (const std::string_view line : SplitLines(text)) EXPECT_LE(DisplayColumns(line), 30U);
}

TEST(Table, DropsTheColumnsOfTheHighestRankFirst) {
  Table table({{"name", Table::Align::kLeft, true},
               {"count", Table::Align::kRight, false, 1},
               {"a long note", Table::Align::kLeft, false, 2}});
  table.AddRow({"a second name", "1,234", "short"});
  EXPECT_EQ(Render(table, 40), "name           count  a long note\na second name  1,234  short\n");
  EXPECT_EQ(Render(table, 30), "name           count\na second name  1,234\n");
  EXPECT_EQ(Render(table, 18), "name\na second name\n");
  EXPECT_TRUE(table.Shows(1, {false, 30}));
  EXPECT_FALSE(table.Shows(2, {false, 30}));
}

TEST(Table, IsAListWhereItIsTooNarrow) {
  EXPECT_EQ(Render(MakeTable(), 20),
            "name   first\n"
            "count  7\n"
            "note   short\n"
            "\n"
            "name   a much longe…\n"
            "count  1,234\n");
  for (const std::size_t columns : {0U, 1U, 5U, 10U}) EXPECT_THAT(Render(MakeTable(), columns), HasSubstr("name"));
}

TEST(Table, IsAListWhereNamesWouldBeCutToTheSame) {
  Table table({{"name", Table::Align::kLeft, true}, {"count"}, {"note"}});
  table.AddRow({"a long beginning and one", "1", "ten wide.."});
  EXPECT_EQ(Render(table, 36), "name               count  note\na long beginning…  1      ten wide..\n");
  table.AddRow({"a long beginning and two", "2", ""});
  EXPECT_EQ(Render(table, 36),
            "name   a long beginning and one\ncount  1\nnote   ten wide..\n\n"
            "name   a long beginning and two\ncount  2\n");
}

TEST(Table, OnlyTheHead) {
  const Table table({{"name", Table::Align::kLeft}, {"count", Table::Align::kRight}});
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(Render(table, 80), "name  count\n");
  EXPECT_FALSE(MakeTable().empty());
}

TEST(Table, TintsTheHeadOnly) {
  const std::string text = MakeTable().Render({true, 100}).text();
  EXPECT_THAT(text, testing::StartsWith("\x1b[2mname                       count  note\x1b[0m\n"));
  EXPECT_EQ(text.find("\x1b[", 10), text.find("\x1b[0m"));
  EXPECT_EQ(text.find("\x1b[", text.find("\x1b[0m") + 1), std::string::npos);
}

TEST(TableDeathTest, RowsHaveAsManyCellsAsColumns) {
  Table table({{"a", Table::Align::kLeft}});
  EXPECT_DEATH(table.AddRow({"1", "2"}), "broken invariant");
}

TEST(Bar, FillsInProportion) {
  EXPECT_EQ(Bar(0.0, 4), "░░░░");
  EXPECT_EQ(Bar(0.5, 4), "██░░");
  EXPECT_EQ(Bar(1.0, 4), "████");
  EXPECT_EQ(Bar(0.12, 4), "░░░░");
  EXPECT_EQ(Bar(0.13, 4), "█░░░");
  EXPECT_EQ(Bar(-1.0, 4), "░░░░");
  EXPECT_EQ(Bar(7.0, 4), "████");
  EXPECT_EQ(Bar(0.3, 0), "");
  EXPECT_EQ(DisplayColumns(Bar(0.3)), 20U);
}

TEST(PercentText, RoundsHalvesUp) {
  EXPECT_EQ(PercentText(0.0), "0 %");
  EXPECT_EQ(PercentText(0.125), "13 %");
  EXPECT_EQ(PercentText(2.0 / 3.0), "67 %");
  EXPECT_EQ(PercentText(1.0), "100 %");
}

TEST(Tinted, OnlyWhereColoursAreAllowed) {
  EXPECT_EQ(Tinted({false, 80}, Tint::kGood, "x").text(), "x");
  EXPECT_EQ(Tinted({true, 80}, Tint::kGood, "x").text(), "\x1b[32mx\x1b[0m");
  EXPECT_EQ(Tinted({true, 80}, Tint::kBad, "x").text(), "\x1b[31mx\x1b[0m");
}

}  // namespace
}  // namespace upskill

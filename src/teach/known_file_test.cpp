// SPDX-License-Identifier: Apache-2.0
#include "teach/known_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> LinesFrom(const KnownFile& file) {
  std::vector<std::string> lines;
  for (const KnownLine& line : file.lines) lines.push_back((line.after_gap ? "…" : "") + line.text);
  return lines;
}

FileDetail Screen(const std::vector<std::string>& outputs) {
  FileDetail detail;
  detail.path = "a.toml";
  for (const std::string& output : outputs) detail.edits.push_back({FileEdit::Kind::kPatch, "a.toml", "", output});
  return detail;
}

TEST(KnownFile, AWrittenFileIsComplete) {
  FileDetail detail;
  detail.whole = true;
  detail.content = "a = 1\n\nb = 2\n";
  const KnownFile known = KnownFileFrom(detail);
  EXPECT_TRUE(known.complete);
  EXPECT_THAT(LinesFrom(known), ElementsAre("a = 1", "", "b = 2"));
}

TEST(KnownFile, LeftOutLinesAreAGap) {
  FileDetail detail;
  detail.whole = true;
  for (const char* omission : {"[3 lines are not in the export]", "[lines 2 to 4 are not in the recording]",
                               "[above: before a later change that is not in the recording]",
                               "[below: the beginning as first written, perhaps changed since]\nold = 1\n"
                               "[end of the beginning as first written]"}) {
    detail.content = std::string("a = 1\n") + omission + "\nb = 2\n";
    const KnownFile known = KnownFileFrom(detail);
    EXPECT_FALSE(known.complete);
    EXPECT_THAT(LinesFrom(known), ElementsAre("a = 1", "…b = 2"));
  }
}

TEST(KnownFile, ANumberedDifferenceShowsTheNewLines) {
  const KnownFile known =
      KnownFileFrom(Screen({" Updated a.toml with 2 additions and 1 removal\n"
                            "  1    [general]\n"
                            "  2 -  name = \"old\"\n"
                            "  2 +  name = \"new\"\n"
                            "  3\n"
                            "...\n"
                            "  9        \"x\",\n"
                            " 10 +  y = 1\n"}));
  EXPECT_FALSE(known.complete);  // lines 4 to 8 are missing
  EXPECT_THAT(LinesFrom(known), ElementsAre("[general]", "name = \"new\"", "", "…    \"x\",", "y = 1"));
}

TEST(KnownFile, TheNotationWithoutBlanksAfterTheSign) {
  const KnownFile known =
      KnownFileFrom(Screen({"Added 1 line, removed 1 line\n"
                            " 7  a:\n"
                            " 8 -  b: 1\n"
                            " 8 +  b: 2\n"}));
  EXPECT_THAT(LinesFrom(known), ElementsAre("…a:", "  b: 2"));
}

TEST(KnownFile, WrappedLinesOfADifferenceAreJoined) {
  const KnownFile known =
      KnownFileFrom(Screen({"Updated a.cpp with 3 additions\n"
                            "  1 +  f(\"one,\n"
                            "    +  two, three,\n"
                            "    + four\");\n"
                            "  2    context(a,\n"
                            "       b);\n"
                            "  3 +  x = torch.\n"
                            "    +  float16\n"}));
  EXPECT_THAT(LinesFrom(known), ElementsAre("f(\"one, two, three, four\");", "context(a, b);", "x = torch.float16"));
}

// The first lines of the written file fill the gap before the first added line, where both versions agree.
TEST(KnownFile, TheFirstLinesFillTheFirstGap) {
  const std::vector<std::string> outputs = {
      "Wrote 8 lines to a.toml\n[general]\nname = \"old\"\n[torch]\nsrc = [\n    \"a.cpp\",\n[2 lines are not in the "
      "export]\n",
      "Updated a.toml with 2 additions and 1 removal\n"
      "  1    [general]\n"
      "  2 -  name = \"old\"\n"
      "  2 +  name = \"new\"\n"
      "  3\n"
      "  4    [torch]\n"
      "...\n"
      "  7    ]\n"
      "  8    z = 1\n"
      "  9 +  y = 2\n"};
  const KnownFile known = KnownFileFrom(Screen(outputs));
  EXPECT_TRUE(known.complete);
  EXPECT_THAT(LinesFrom(known), ElementsAre("[general]", "name = \"new\"", "", "[torch]", "src = [", "    \"a.cpp\",",
                                            "]", "z = 1", "y = 2"));
}

// The copy leaves out blank lines: here the second one of the file.
TEST(KnownFile, ABlankLineInTheGapRepeatsNoOtherLine) {
  const KnownFile known =
      KnownFileFrom(Screen({"Wrote 6 lines to a.toml\na\nb\nc\nd\n[1 line is not in the export]\n",
                            "Updated a.toml with 1 addition and 1 removal\n  1    a\n...\n  4    c\n"
                            "  5 -  d\n  5 +  e\n"}));
  EXPECT_THAT(LinesFrom(known), ElementsAre("a", "b", "c", "e"));
}

TEST(KnownFile, FirstLinesThatEndTooEarlyFillNothing) {
  const KnownFile known =
      KnownFileFrom(Screen({"Wrote 30 lines to a.toml\na\nb\n[28 lines are not in the export]\n",
                            "Updated a.toml with 1 addition\n  1    a\n  2    b\n...\n  9    c\n 10 +  d\n"}));
  EXPECT_FALSE(known.complete);
  EXPECT_THAT(LinesFrom(known), ElementsAre("a", "b", "…c", "d"));
}

TEST(KnownFile, AFileThatIsOnlySeenInEditsHasGaps) {
  FileDetail detail;
  detail.edits.push_back({FileEdit::Kind::kReplace, "a.c", "old();\n", "new();\n"});
  detail.edits.push_back({FileEdit::Kind::kPatch, "a.c", "", "@@\n-x\n+y\n+z\n"});
  const KnownFile known = KnownFileFrom(detail);
  EXPECT_FALSE(known.complete);
  EXPECT_THAT(LinesFrom(known), ElementsAre("…new();", "…y", "z"));
}

TEST(KnownFile, NothingIsKnownOfADeletedFile) { EXPECT_THAT(KnownFileFrom(FileDetail()).lines, IsEmpty()); }

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/shown_lines.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace upskill {
namespace {

std::string Lines(int first, int last, const std::string& before = "") {
  std::string text;
  for (int i = first; i <= last; ++i) text += fmt::format("{}the value of setting number {} is {}\n", before, i, i * i);
  return text;
}

TEST(ShownLines, ARunOfKnownLinesIsToldInOne) {
  ShownLines shown;
  shown.Add(Lines(1, 50), "as above");
  EXPECT_EQ(shown.WithoutRepeats("new\n" + Lines(10, 30) + "other\n"),
            "new\n[21 lines as above, from \"the value of setting number 10 is 100\" to "
            "\"the value of setting number 30 is 900\"]\nother\n");
  EXPECT_EQ(shown.WithoutRepeats(Lines(1, 50)),
            "[50 lines as above, from \"the value of setting number 1 is 1\" to "
            "\"the value of setting number 50 is 2500\"]\n");
}

TEST(ShownLines, ShortRunsAndNewLinesStay) {
  ShownLines shown;
  shown.Add(Lines(1, 50), "as above");
  for (const std::string& text : {Lines(10, 12), Lines(51, 90), std::string("\n\n{\n}\n"), std::string("no end"),
                                  std::string("\n\nafter blank lines"), std::string()})
    EXPECT_EQ(shown.WithoutRepeats(text), text);
}

TEST(ShownLines, LineNumbersInFrontDontCount) {
  ShownLines shown;
  std::string numbered;
  for (int i = 1; i <= 20; ++i) numbered += fmt::format("{:6}→{}", i, Lines(i, i));
  shown.Add(numbered, "of the final content of a.c");
  EXPECT_EQ(shown.WithoutRepeats(Lines(1, 20)),
            "[20 lines of the final content of a.c, from \"the value of setting number 1 is 1\" to "
            "\"the value of setting number 20 is 400\"]\n");
}

TEST(ShownLines, IndentationAndTheEndOfATextCount) {
  ShownLines shown;
  shown.Add(Lines(1, 9), "as above");
  shown.Add(Lines(10, 20), "as above");
  const std::string indented = Lines(1, 9, "  ");
  EXPECT_EQ(shown.WithoutRepeats(indented), indented) << "code with another indentation is other code";
  // A run over two texts is two runs.
  EXPECT_EQ(shown.WithoutRepeats(Lines(1, 20)),
            "[9 lines as above, from \"the value of setting number 1 is 1\" to "
            "\"the value of setting number 9 is 81\"]\n"
            "[11 lines as above, from \"the value of setting number 10 is 100\" to "
            "\"the value of setting number 20 is 400\"]\n");
}

TEST(ShownLines, TheLongestOfSeveralRunsIsTaken) {
  ShownLines shown;
  shown.Add(Lines(1, 10), "as above");
  shown.Add("x\n" + Lines(1, 30), "of the final content of b.c");
  EXPECT_EQ(shown.WithoutRepeats(Lines(1, 30)),
            "[30 lines of the final content of b.c, from \"the value of setting number 1 is 1\" to "
            "\"the value of setting number 30 is 900\"]\n");
}

}  // namespace
}  // namespace upskill

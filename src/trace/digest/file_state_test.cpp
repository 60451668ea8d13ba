// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/file_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "util/rng.h"
#include "util/text.h"

namespace upskill {
namespace {

using testing::HasSubstr;
using testing::Not;

FileEdit Wrote(const std::string& text) { return {FileEdit::Kind::kWrite, "f", "", text}; }
FileEdit Replaced(const std::string& before, const std::string& after) {
  return {FileEdit::Kind::kReplace, "f", before, after};
}
FileEdit Patched(const std::string& hunks) { return {FileEdit::Kind::kPatch, "f", "", hunks}; }

TEST(FileState, WritesReplacementsAndPatchesGiveTheFinalContent) {
  FileState file;
  file.Apply(Wrote("a = 1\nb = 2\nc = 3\nb = 2\n"));
  file.Apply(Replaced("b = 2", "b = 20"));
  file.Apply(Patched("@@\n a = 1\n-b = 20\n+b = 21\n+bb = 22\n c = 3\n"));
  EXPECT_TRUE(file.whole());
  EXPECT_EQ(file.Text(), "a = 1\nb = 21\nbb = 22\nc = 3\nb = 2\n");
  EXPECT_EQ(file.Replaced(), "b = 20\n") << "b = 2 is still in the file";
  FileEdit all = Replaced("b", "x");
  all.everywhere = true;
  file.Apply(all);
  EXPECT_EQ(file.Text(), "a = 1\nx = 21\nxx = 22\nc = 3\nx = 2\n");
  file.Apply(Wrote("new\n"));
  EXPECT_EQ(file.Text(), "new\n");
  EXPECT_THAT(file.Replaced(), HasSubstr("c = 3\n"));
  file.Apply({FileEdit::Kind::kDelete, "f", "", ""});
  EXPECT_EQ(file.Text(), "");
}

TEST(FileState, ReplacementsThatDoubleTheContentAreNotFollowedForever) {
  FileState file;
  file.Apply(Wrote("a = 1\n" + std::string(100, 'a') + "\n"));
  FileEdit doubling = Replaced("a", "aa");
  doubling.everywhere = true;
  for (int i = 0; i < 40; ++i) file.Apply(doubling);
  EXPECT_FALSE(file.whole());
  EXPECT_THAT(file.Text(), testing::StartsWith("[the content is not followed here"));
  EXPECT_LT(file.Text().size(), 1000U);
  file.Apply(Wrote("b = 2\n"));
  EXPECT_TRUE(file.whole()) << "what is written later is known";
  EXPECT_EQ(file.Text(), "b = 2\n");
  doubling.before = "b";
  doubling.after = "bb";
  file.Apply(doubling);
  EXPECT_EQ(file.Text(), "bb = 2\n");
}

TEST(FileState, WhatIsNotRecordedIsMarkedAndNotGuessed) {
  FileState file;
  file.Apply(Patched("@@ -3,2 +3,3 @@\n three\n+new\n four\n@@ -20,1 +21,1 @@\n-old\n+twenty\n"));
  EXPECT_FALSE(file.whole());
  EXPECT_EQ(file.Text(),
            "[lines 1 to 2 are not in the recording]\nthree\nnew\nfour\n[lines 6 to 20 are not in the recording]\n"
            "twenty\n[lines from 22 on, if any, are not in the recording]\n");
  // A later hunk moves what stands below it.
  file.Apply(Patched("@@ -1,1 +1,2 @@\n+first\n second\n"));
  EXPECT_THAT(file.Text(), HasSubstr("first\nsecond\n[line 3 is not in the recording]\nthree\nnew\nfour\n"));
  EXPECT_THAT(file.Text(), HasSubstr("[lines 7 to 21 are not in the recording]\ntwenty\n"));
}

TEST(FileState, PartsOfAnUnknownFileAreKeptAndChanged) {
  FileState file;
  file.Apply(Replaced("int f();", "int f(int n);\nint g();"));
  file.Apply(Replaced("int g();", "int h();"));
  EXPECT_THAT(file.Text(), HasSubstr("not in the recording]\nint f(int n);\nint h();\n"));
  EXPECT_THAT(file.Text(), Not(HasSubstr("int g();")));
}

TEST(FileState, TheBeginningOfAFileWithLaterHunks) {
  FileState file;
  file.WriteBeginning("[general]\nname = \"x\"");
  EXPECT_EQ(file.Text(), "[general]\nname = \"x\"\n[the rest of the file is not in the recording]\n");
  file.Apply(Patched("@@ -1,3 +1,3 @@\n [general]\n-name = \"x\"\n+name = \"y\"\n \n"));
  EXPECT_THAT(file.Text(),
              HasSubstr("[general]\nname = \"y\"\n\n[lines from 4 on, if any, are not in the recording]\n"));
  EXPECT_EQ(file.Replaced(), "name = \"x\"\n");
}

TEST(FileState, TheFirstWrittenBeginningGivesWayToLaterLines) {
  FileState file;
  file.WriteBeginning("one\ntwo\nthree\nfour\nfive");
  file.Apply(Patched("@@ -1,2 +1,2 @@\n-one\n+1\n two\n@@ -4,1 +4,2 @@\n four\n+4.5\n"));
  EXPECT_EQ(file.Text(), "1\ntwo\nthree\nfour\n4.5\n[lines from 6 on, if any, are not in the recording]\n");
  FileState other;
  other.WriteBeginning("one\ntwo");
  other.Apply(Patched("@@ -8,1 +8,1 @@\n-eight\n+8\n"));
  EXPECT_THAT(other.Text(), testing::StartsWith("[below: the beginning as first written, perhaps changed since and "
                                                "without its blank lines]\none\ntwo\n[end of the beginning"));
}

// A terminal shows the first lines of what it writes without the blank ones, and later differences in part.
TEST(FileState, WhatTheFirstVersionHadInAGapIsToldAsSuch) {
  FileState file;
  file.WriteBeginning("[general]\nname = \"a\"\n[general.cuda]\n# sm_90\n[torch]\nsrc = [\n  \"a.cpp\",");
  file.Apply(
      Patched("@@ -1,4 +1,4 @@\n [general]\n-name = \"a\"\n+name = \"b\"\n \n [general.cuda]\n"
              "@@ -10,2 +10,3 @@\n   \"a.h\",\n ]\n+[kernel.b]\n"));
  EXPECT_EQ(file.Text(),
            "[general]\nname = \"b\"\n\n[general.cuda]\n[lines 5 to 9 are not in the recording]\n"
            "[below: the beginning as first written goes on here, perhaps changed since and without its blank lines]\n"
            "# sm_90\n[torch]\nsrc = [\n  \"a.cpp\",\n[end of the beginning as first written]\n"
            "  \"a.h\",\n]\n[kernel.b]\n[lines from 13 on, if any, are not in the recording]\n");
}

TEST(FileState, WhatWasReadIsKnown) {
  FileState file;
  file.Read("one\ntwo\nthree", 1, true);
  file.Apply(Replaced("two", "2"));
  EXPECT_TRUE(file.whole());
  EXPECT_EQ(file.Text(), "one\n2\nthree\n");
}

std::string JoinedText(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// Random edits of a file of distinct lines, each recorded as a replacement or as a numbered hunk: the rebuilt content
// is the real one, whole if the first version was recorded, and otherwise every line that isn't in brackets is right.
TEST(FileState, RebuildsWhatAnyEditsMade) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    std::vector<std::string> lines;
    int next = 0;
    for (int i = 0; i < 40; ++i) lines.push_back("line " + std::to_string(next++));
    const bool known = seed % 2 == 0;
    FileState file;
    if (known) file.Apply(Wrote(JoinedText(lines)));
    for (int edit = 0; edit < 12; ++edit) {
      const std::size_t at = 1 + rng.Next() % (lines.size() - 3);
      const std::string fresh = "line " + std::to_string(next++);
      if (rng.Next() % 2 == 0) {
        file.Apply(Replaced(lines[at] + "\n", fresh + "\n"));
        if (!known)
          file.Apply(Patched("@@ -" + std::to_string(at + 1) + ",1 +" + std::to_string(at + 1) + ",1 @@\n-" +
                             lines[at] + "\n+" + fresh + "\n"));
        lines[at] = fresh;
      } else {
        const std::string number = std::to_string(at);
        file.Apply(Patched("@@ -" + number + ",3 +" + number + ",4 @@\n " + lines[at - 1] + "\n " + lines[at] + "\n+" +
                           fresh + "\n " + lines[at + 1] + "\n"));
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at) + 1, fresh);
      }
    }
    EXPECT_EQ(file.whole(), known);
    if (known) {
      EXPECT_EQ(file.Text(), JoinedText(lines)) << seed;
    }
  }
}

TEST(FileState, HostilePatchesCostLittle) {
  FileState file;
  std::string patch;
  for (int i = 0; i < 20'000; ++i) patch += "@@ -9999999,1 +" + std::to_string(i * 97 % 9'999'999) + ",1 @@\n x\n";
  file.Apply(Patched(patch));
  EXPECT_FALSE(file.Text().empty());
}

// Each line that is erased moves those after it, and each hunk is looked for in the whole file.
TEST(FileState, ManyChangesOfALargeFileCostLittle) {
  constexpr int kLines = 100'000;
  std::string text;
  std::string known = "@@ -1 +1 @@\n";
  std::string erased = "@@ -1 +1 @@\n";
  std::string hunks;
  for (int i = 0; i < kLines; ++i) {
    text += "line\n";
    known += " line\n";
    erased += "-line\n";
    hunks += "@@\n-gone\n";
  }
  FileState part;
  part.Apply(Patched(known));
  part.Apply(Patched(erased));
  EXPECT_FALSE(part.whole());
  FileState file;
  file.Apply(Wrote(text));
  file.Apply(Patched(hunks));
  EXPECT_FALSE(file.whole());
  EXPECT_TRUE(file.Text().starts_with(text));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "check/fenced_blocks.h"

#include <gmock/gmock.h>

#include <string>

#include "check/check.h"

namespace upskill {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(FencedBlocks, InfoContentAndLineBefore) {
  const auto blocks = FindFencedBlocks("Intro\n\nHere is `a.py`:\n\n```python  a.py \nx = 1\n\ny = 2\n```\nrest\n");
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_EQ(blocks[0].info, "python  a.py");
  EXPECT_EQ(blocks[0].line_before, "Here is `a.py`:");
  EXPECT_EQ(blocks[0].content, "x = 1\n\ny = 2\n");
}

TEST(FencedBlocks, FencesCloseWithTheSameMarkAndNoFewer) {
  const auto longer = FindFencedBlocks("````md\n```py\nx\n```\n~~~\n`````\n~~~\ny\n```\n~~~~\n");
  ASSERT_THAT(longer, SizeIs(2));
  EXPECT_EQ(longer[0].content, "```py\nx\n```\n~~~\n");
  EXPECT_EQ(longer[1].content, "y\n```\n");
}

TEST(FencedBlocks, AFenceWithTextBehindItClosesNothing) {
  const auto blocks = FindFencedBlocks("```\na\n``` b\nc\n```");
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_EQ(blocks[0].content, "a\n``` b\nc\n");
}

TEST(FencedBlocks, UnclosedGoesToTheEnd) {
  const auto blocks = FindFencedBlocks("```c\nint x;\n``\nlast");
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_EQ(blocks[0].content, "int x;\n``\nlast");
  ASSERT_THAT(FindFencedBlocks("```"), SizeIs(1));
  EXPECT_EQ(FindFencedBlocks("```")[0].content, "");
  EXPECT_EQ(FindFencedBlocks("```x\n")[0].content, "");
}

TEST(FencedBlocks, EmptyAndCrLfAndIndented) {
  EXPECT_EQ(FindFencedBlocks("```\n```\n")[0].content, "");
  const auto crlf = FindFencedBlocks("~~~ toml\r\na\r\n~~~\r\n");
  ASSERT_THAT(crlf, SizeIs(1));
  EXPECT_EQ(crlf[0].info, "toml");
  EXPECT_EQ(crlf[0].content, "a\r\n");
  const auto indented = FindFencedBlocks("1. x:\n     ```sh\n     ls\n     ```\n");
  ASSERT_THAT(indented, SizeIs(1));
  EXPECT_EQ(indented[0].content, "     ls\n");
}

TEST(FencedBlocks, WhatIsNoFence) {
  for (const char* text : {"", "``\na\n``\n", "```inline``` code\n", "text ```\n", "`` `\n", "\n\n"}) {
    EXPECT_THAT(FindFencedBlocks(text), IsEmpty()) << text;
  }
}

TEST(FencedBlocks, TheLineBeforeIsNotTakenFromOtherBlocks) {
  const auto blocks = FindFencedBlocks("a.txt\n```\nb.txt\n```\n```\nc\n```\n");
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_EQ(blocks[0].line_before, "a.txt");
  EXPECT_EQ(blocks[1].line_before, "");
}

TEST(FencedBlocks, ManyFencesAreQuick) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "```\n";
  EXPECT_THAT(FindFencedBlocks(text), SizeIs(50000));
}

TEST(OutputFileContent, TheLastBlockThatNamesTheFile) {
  const std::string answer =
      "First try of build.toml:\n```toml\na\n```\nBetter:\n\n```toml title=\"build.toml\"\nb\n```\nThen "
      "run:\n```sh\nmake\n```\n";
  EXPECT_EQ(OutputFileContent(answer, "build.toml"), "b\n");
}

TEST(OutputFileContent, NamesInManyShapes) {
  for (const char* opening : {"```build.toml\n", "```toml:build.toml\n", "~~~ {file=\"build.toml\"}\n",
                              "**build.toml**\n\n```toml\n", "### `build.toml`\n```\n", "Here is build.toml.\n```\n",
                              "(build.toml)\n```\n", "./build.toml\n```\n", "old/build.toml and build.toml:\n```\n"}) {
    const std::string answer = "```\nother\n```\n" + std::string(opening) + "x\n```\n~~~\n~~~\nmore\n```\nlast\n```";
    EXPECT_EQ(OutputFileContent(answer, "build.toml").substr(0, 2), "x\n") << opening;
  }
}

TEST(OutputFileContent, PartsOfOtherNamesDoNotCount) {
  for (const char* line :
       {"my-build.toml", "build.toml.bak", "old/build.toml", "build.tomlx", "../build.toml", "übuild.toml"}) {
    const std::string answer = std::string(line) + "\n```\nx\n```\n\nother\n```\ny\n```\n";
    EXPECT_EQ(OutputFileContent(answer, "build.toml"), answer) << line;
  }
}

TEST(OutputFileContent, NamesWithFolders) {
  const std::string answer = "torch-ext/a/__init__.py\n```\nx\n```\n`torch-ext/b/__init__.py`\n```\ny\n```\n";
  EXPECT_EQ(OutputFileContent(answer, "torch-ext/a/__init__.py"), "x\n");
  EXPECT_EQ(OutputFileContent(answer, "torch-ext/b/__init__.py"), "y\n");
}

TEST(OutputFileContent, ElseTheOnlyBlockElseAll) {
  EXPECT_EQ(OutputFileContent("text\n```\nx\n```\n", "f"), "x\n");
  EXPECT_EQ(OutputFileContent("a = 1", "f"), "a = 1");
  EXPECT_EQ(OutputFileContent("", "f"), "");
  const std::string two = "```\nx\n```\n```\ny\n```\n";
  EXPECT_EQ(OutputFileContent(two, "f"), two);
  EXPECT_EQ(OutputFileContent("```\nx\n```", ""), "```\nx\n```");
  EXPECT_EQ(OutputFileContent("\xFF\n```\n\xFE\n```\n", "f"), "\xFE\n");
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "check/check.h"

namespace upskill {
namespace {

TEST(OutputFileContent, TheLastBlockThatNamesTheFile) {
  const std::string answer =
      "First try of build.toml:\n```toml\na\n```\nBetter:\n\n```toml title=\"build.toml\"\nb\n```\nThen "
      "run:\n```sh\nmake\n```\n";
  EXPECT_EQ(OutputFileContent(answer, "build.toml"), "b\n");
}

TEST(OutputFileContent, ManyFormsOfNames) {
  for (const char* opening : {"```build.toml\n", "```toml:build.toml\n", "~~~ {file=\"build.toml\"}\n",
                              "**build.toml**\n\n```toml\n", "### `build.toml`\n```\n", "Here is build.toml.\n```\n",
                              "(build.toml)\n```\n", "./build.toml\n```\n", "old/build.toml and build.toml:\n```\n"}) {
    const std::string answer = "```\nother\n```\n" + std::string(opening) + "x\n```\n~~~\n~~~\nmore\n```\nlast\n```";
    EXPECT_EQ(OutputFileContent(answer, "build.toml").substr(0, 2), "x\n") << opening;
  }
}

TEST(OutputFileContent, PartsOfOtherNamesDoNotMatch) {
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

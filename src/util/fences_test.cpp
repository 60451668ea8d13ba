// SPDX-License-Identifier: Apache-2.0
#include "util/fences.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> ContentsOf(std::string_view text) {
  std::vector<std::string> contents;
  for (FencedBlock& block : FindFencedBlocks(text)) contents.push_back(std::move(block.content));
  return contents;
}

// The examples of CommonMark 0.31.2, section 4.5, with the content of <pre><code> in their HTML. Left out: 128, a block
// in a quote.
TEST(FindFencedBlocks, CommonMarkExamples) {
  struct Example {
    int number;
    const char* text;
    std::vector<std::string> contents;
  };
  const std::vector<Example> examples = {
      {119, "```\n<\n >\n```\n", {"<\n >\n"}},
      {120, "~~~\n<\n >\n~~~\n", {"<\n >\n"}},
      {121, "``\nfoo\n``\n", {}},
      {122, "```\naaa\n~~~\n```\n", {"aaa\n~~~\n"}},
      {123, "~~~\naaa\n```\n~~~\n", {"aaa\n```\n"}},
      {124, "````\naaa\n```\n``````\n", {"aaa\n```\n"}},
      {125, "~~~~\naaa\n~~~\n~~~~\n", {"aaa\n~~~\n"}},
      {126, "```\n", {""}},
      {127, "`````\n\n```\naaa\n", {"\n```\naaa\n"}},
      {129, "```\n\n  \n```\n", {"\n  \n"}},
      {130, "```\n```\n", {""}},
      {131, " ```\n aaa\naaa\n```\n", {"aaa\naaa\n"}},
      {132, "  ```\naaa\n  aaa\naaa\n  ```\n", {"aaa\naaa\naaa\n"}},
      {133, "   ```\n   aaa\n    aaa\n  aaa\n   ```\n", {"aaa\n aaa\naaa\n"}},
      {134, "    ```\n    aaa\n    ```\n", {}},
      {135, "```\naaa\n  ```\n", {"aaa\n"}},
      {136, "   ```\naaa\n  ```\n", {"aaa\n"}},
      {137, "```\naaa\n    ```\n", {"aaa\n    ```\n"}},
      {138, "``` ```\naaa\n", {}},
      {139, "~~~~~~\naaa\n~~~ ~~\n", {"aaa\n~~~ ~~\n"}},
      {140, "foo\n```\nbar\n```\nbaz\n", {"bar\n"}},
      {141, "foo\n---\n~~~\nbar\n~~~\n# baz\n", {"bar\n"}},
      {142, "```ruby\ndef foo(x)\n  return 3\nend\n```\n", {"def foo(x)\n  return 3\nend\n"}},
      {143,
       "~~~~    ruby startline=3 $%@#$\ndef foo(x)\n  return 3\nend\n~~~~~~~\n",
       {"def foo(x)\n  return 3\nend\n"}},
      {144, "````;\n````\n", {""}},
      {145, "``` aa ```\nfoo\n", {}},
      {146, "~~~ aa ``` ~~~\nfoo\n~~~\n", {"foo\n"}},
      {147, "```\n``` aaa\n```\n", {"``` aaa\n"}}};
  for (const Example& example : examples) EXPECT_EQ(ContentsOf(example.text), example.contents) << example.number;
  EXPECT_EQ(FindFencedBlocks("~~~~    ruby startline=3 $%@#$\n~~~~~~~\n")[0].info, "ruby startline=3 $%@#$");
  EXPECT_EQ(FindFencedBlocks("````;\n````\n")[0].info, ";");
  EXPECT_EQ(FindFencedBlocks("~~~ aa ``` ~~~\nfoo\n~~~\n")[0].info, "aa ``` ~~~");
}

// Of sections 5.2 and 5.3: a fenced block as the content of an item.
TEST(FindFencedBlocks, CommonMarkExamplesOfListItems) {
  EXPECT_THAT(ContentsOf("1.  foo\n\n    ```\n    bar\n    ```\n\n    baz\n\n    > bam\n"), ElementsAre("bar\n"));
  EXPECT_THAT(ContentsOf("- a\n- ```\n  b\n\n\n  ```\n- c\n"), ElementsAre("b\n\n\n"));
}

TEST(FindFencedBlocks, InfoContentAndLineBefore) {
  const auto blocks = FindFencedBlocks("Intro\n\nHere is `a.py`:\n\n```python  a.py \nx = 1\n\ny = 2\n```\nrest\n");
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_EQ(blocks[0].info, "python  a.py");
  EXPECT_EQ(blocks[0].line_before, "Here is `a.py`:");
  EXPECT_EQ(blocks[0].content, "x = 1\n\ny = 2\n");
}

TEST(FindFencedBlocks, ClosingFencesAreAtLeastAsLong) {
  EXPECT_THAT(ContentsOf("````md\n```py\nx\n```\n~~~\n`````\n~~~\ny\n```\n~~~~\n"),
              ElementsAre("```py\nx\n```\n~~~\n", "y\n```\n"));
}

TEST(FindFencedBlocks, AFenceFollowedByTextDoesNotClose) {
  EXPECT_THAT(ContentsOf("```\na\n``` b\nc\n```"), ElementsAre("a\n``` b\nc\n"));
}

TEST(FindFencedBlocks, UnclosedGoesToTheEnd) {
  EXPECT_THAT(ContentsOf("```c\nint x;\n``\nlast"), ElementsAre("int x;\n``\nlast"));
  EXPECT_THAT(ContentsOf("```"), ElementsAre(""));
  EXPECT_THAT(ContentsOf("```x\n"), ElementsAre(""));
}

TEST(FindFencedBlocks, ABlockThatIsNotClosedEndsAtTheNext) {
  const auto blocks = FindFencedBlocks("```python\na = 1\n```bash\nls\n```\ntext\n```python\nb = 2\n```\n");
  ASSERT_THAT(blocks, SizeIs(3));
  EXPECT_EQ(blocks[0].content, "a = 1\n");
  EXPECT_EQ(blocks[1].info, "bash");
  EXPECT_EQ(blocks[1].content, "ls\n");
  EXPECT_EQ(blocks[2].content, "b = 2\n");
}

TEST(FindFencedBlocks, ABlockMayHaveBlocksWithin) {
  EXPECT_THAT(ContentsOf("```markdown\n# T\n```sh\nls\n```\nEnd\n```py\n1\n```\n```\nAnd\n```py\n2\n```\n"),
              ElementsAre("# T\n```sh\nls\n```\nEnd\n```py\n1\n```\n", "2\n"));
}

TEST(FindFencedBlocks, ManyListMarkersBeforeManyBlanksTakeLittleTime) {
  std::string line;
  for (int i = 0; i < 100'000; ++i) line += "- ";
  line.append(100'000, ' ');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(ContentsOf(line + "\n```\nx\n```\n"), ElementsAre("x\n"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3)) << "12 s before";
}

TEST(FindFencedBlocks, EmptyAndCrLf) {
  EXPECT_THAT(ContentsOf("```\n```\n"), ElementsAre(""));
  const auto crlf = FindFencedBlocks("~~~ toml\r\na\r\n~~~\r\n");
  ASSERT_THAT(crlf, SizeIs(1));
  EXPECT_EQ(crlf[0].info, "toml");
  EXPECT_EQ(crlf[0].content, "a\r\n");
}

TEST(FindFencedBlocks, InListsIndentedAsModelsDo) {
  EXPECT_THAT(ContentsOf("1. x:\n     ```sh\n     ls\n     ```\n"), ElementsAre("ls\n"));
  EXPECT_THAT(ContentsOf("10. x\n    - y\n\n      ```\n      a\n      ```\n"), ElementsAre("a\n"));
  EXPECT_THAT(ContentsOf("- x\n\n  more\n\n     ```\n     a\n     ```\n"), ElementsAre("a\n"));
  EXPECT_THAT(ContentsOf("*\tx\n\t```\n\ta\n\t```\n"), ElementsAre("a\n"));
  // CommonMark would end the item, and the block with it, at the first line that is not indented.
  EXPECT_THAT(ContentsOf("1. x:\n   ```toml\n[a]\nb = 1\n```\n2. y:\n   ```sh\n   ls\n   ```\n"),
              ElementsAre("[a]\nb = 1\n", "ls\n"));
  EXPECT_THAT(ContentsOf("- x\n\nno list\n\n    ```\n    a\n    ```\n"), IsEmpty());
}

TEST(FindFencedBlocks, LinesThatAreNotFences) {
  for (const char* text : {"", "``\na\n``\n", "```inline``` code\n", "text ```\n", "`` `\n", "\n\n"}) {
    EXPECT_THAT(FindFencedBlocks(text), IsEmpty()) << text;
  }
}

TEST(FindFencedBlocks, TheLineBeforeIsNotTakenFromOtherBlocks) {
  const auto blocks = FindFencedBlocks("a.txt\n```\nb.txt\n```\n```\nc\n```\n");
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_EQ(blocks[0].line_before, "a.txt");
  EXPECT_EQ(blocks[1].line_before, "");
}

TEST(FindFencedBlocks, ManyFencesAreQuick) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "```\n";
  EXPECT_THAT(FindFencedBlocks(text), SizeIs(50000));
  std::string opened;
  for (int i = 0; i < 100000; ++i) opened += "```c\n";
  EXPECT_THAT(FindFencedBlocks(opened), SizeIs(100000));
}

TEST(FenceFor, IsLongerThanEveryRunInside) {
  EXPECT_EQ(FenceFor("a"), "```");
  EXPECT_EQ(FenceFor("``` and `````"), "``````");
  EXPECT_THAT(ContentsOf(FenceFor("```\nx\n```\n") + "\n```\nx\n```\n" + FenceFor("```\nx\n```\n")),
              ElementsAre("```\nx\n```\n"));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "check/answer_files.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

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

TEST(AnswerFiles, NamesInTheInfoStringTheLineBeforeAndTheFirstComment) {
  const std::map<std::string, std::string> files = AnswerFiles(
      "```toml build.toml\na = 1\n```\n"
      "```cpp title=\"src/relu.cu\"\nint a;\n```\n"
      "```flake.nix\n{}\n```\n"
      "**torch-ext/relu/__init__.py**:\n```python\npass\n```\n"
      "Create `a/b.txt`:\n\n```\nhi\n```\n"
      "And then\n\n```cpp\n// src/c.cpp\nint c;\n```\n"
      "at last\n\n```html\n<!-- file: x.html -->\n<p>\n```\n"
      "and\n```\n# Makefile\nall:\n```\n");
  EXPECT_THAT(
      files, ElementsAre(Pair("Makefile", "# Makefile\nall:\n"), Pair("a/b.txt", "hi\n"), Pair("build.toml", "a = 1\n"),
                         Pair("flake.nix", "{}\n"), Pair("src/c.cpp", "// src/c.cpp\nint c;\n"),
                         Pair("src/relu.cu", "int a;\n"), Pair("torch-ext/relu/__init__.py", "pass\n"),
                         Pair("x.html", "<!-- file: x.html -->\n<p>\n")));
}

TEST(AnswerFiles, BlocksWithoutANameAreNone) {
  EXPECT_THAT(AnswerFiles("```python3.11\na\n```\nUse version 1.2 as https://example.org/x.html says:\n```sh\nls\n```\n"
                          "Run it:\n```\n# Install the package\nmake\n```\n"),
              IsEmpty());
}

TEST(AnswerFiles, TheOnlyBlockIsTheFileThatIsWanted) {
  EXPECT_THAT(AnswerFiles("```\na: 1\n```\n", {"compose.yaml"}), ElementsAre(Pair("compose.yaml", "a: 1\n")));
  EXPECT_THAT(AnswerFiles("```yml\na: 1\n```\n", {"a.py", "compose.yaml"}),
              ElementsAre(Pair("compose.yaml", "a: 1\n")));
  EXPECT_THAT(AnswerFiles("```cpp\nint a;\n```\n", {"src/a.cu"}), ElementsAre(Pair("src/a.cu", "int a;\n")));
  EXPECT_THAT(AnswerFiles("```make\nall:\n```\n", {"Makefile"}), ElementsAre(Pair("Makefile", "all:\n")));
  EXPECT_THAT(AnswerFiles("```\nx\n```\n", {"a.py", "b.py"}), IsEmpty()) << "which one isn't plain";
  EXPECT_THAT(AnswerFiles("```python\nx\n```\n", {"a.py", "b.py"}), IsEmpty()) << "which one isn't plain";
  EXPECT_THAT(AnswerFiles("```sh\ndocker compose up\n```\n", {"compose.yaml"}), IsEmpty()) << "another language";
  EXPECT_THAT(AnswerFiles("```\n1\n```\n```\n2\n```\n", {"a.txt"}), IsEmpty()) << "two blocks";
  EXPECT_THAT(AnswerFiles("```py\n1\n```\n```py\n2\n```\n", {"a.py"}), IsEmpty()) << "two of its language";
  EXPECT_THAT(AnswerFiles("```py\n1\n```\n```sh\npython3 a.py\n```\n", {"a.py"}), ElementsAre(Pair("a.py", "1\n")));
  EXPECT_THAT(AnswerFiles("a.py:\n```py\n1\n```\n```py\n2\n```\n", {"a.py"}), ElementsAre(Pair("a.py", "1\n")));
  EXPECT_THAT(AnswerFiles("```b.txt\n1\n```\n", {"a.txt"}), ElementsAre(Pair("b.txt", "1\n"))) << "it has a name";
}

TEST(AnswerFiles, TheNameBeforeTheColonOfALineElseTheFirst) {
  EXPECT_THAT(AnswerFiles("Replace `old.toml` with this `new.toml`:\n```\nb\n```\n"),
              ElementsAre(Pair("new.toml", "b\n")));
  EXPECT_THAT(AnswerFiles("Put `new.toml` next to `other.nix` then\n```\nb\n```\n"),
              ElementsAre(Pair("new.toml", "b\n")));
}

TEST(AnswerFiles, OfSeveralNamesTheOnlyOneThatIsWanted) {
  EXPECT_THAT(AnswerFiles("Put `new.toml` next to `./other.nix` then\n```\nb\n```\n", {"other.nix"}),
              ElementsAre(Pair("other.nix", "b\n")));
  EXPECT_THAT(AnswerFiles("`a.py` and `b.py`:\n```\nb\n```\n", {"a.py", "b.py"}), ElementsAre(Pair("b.py", "b\n")));
}

TEST(AnswerFiles, ProductsAreNoFiles) {
  EXPECT_THAT(AnswerFiles("Save this Node.js script as `server.js`\n```\nx\n```\n"),
              ElementsAre(Pair("server.js", "x\n")));
  EXPECT_THAT(AnswerFiles("With ASP.NET:\n```\nx\n```\nas in Vue.js:\n```\ny\n```\n"), IsEmpty());
}

TEST(AnswerFiles, TypographicQuotesAndSpacesSeparateNames) {
  for (const char* line : {"\u201Cbuild.toml\u201D:", "\u00ABbuild.toml\u00BB", "File:\u00A0build.toml",
                           "\u2018build.toml\u2019", "The file\u2014build.toml\u2014is:"}) {
    const std::string answer = "```\nother\n```\n" + std::string(line) + "\n```\nx\n```\n";
    EXPECT_THAT(AnswerFiles(answer), ElementsAre(Pair("build.toml", "x\n"))) << line;
    EXPECT_EQ(OutputFileContent(answer, "build.toml"), "x\n") << line;
  }
}

TEST(AnswerFiles, ACommentIsNoPartOfJson) {
  EXPECT_THAT(AnswerFiles("```json\n// package.json\n{}\n```\nand\n```toml\n# a.toml\nb = 1\n```\n"),
              ElementsAre(Pair("a.toml", "# a.toml\nb = 1\n"), Pair("package.json", "{}\n")));
  EXPECT_THAT(AnswerFiles("```json\n// package.json\n```\n"), ElementsAre(Pair("package.json", "")));
}

TEST(AnswerFiles, TheLastBlockOfANameCounts) {
  EXPECT_THAT(AnswerFiles("```toml ./a.toml\n1\n```\nNo:\n```toml a.toml\n2\n```\n"),
              ElementsAre(Pair("a.toml", "2\n")));
}

TEST(AnswerFiles, NamesStayInTheFolder) {
  EXPECT_THAT(AnswerFiles("```sh ../a.sh\n1\n```\n```sh /etc/b.conf\n2\n```\n```sh x/../../c.sh\n3\n```\n"), IsEmpty());
}

TEST(AnswerFiles, AtMostAThousand) {
  std::string answer;
  for (std::size_t i = 0; i < kMaxAnswerFiles + 10; ++i) answer += "```txt f" + std::to_string(i) + ".txt\nx\n```\n";
  EXPECT_THAT(AnswerFiles(answer), SizeIs(kMaxAnswerFiles));
}

TEST(DataInAnswer, TheLastBlockOfTheLanguageElseTheOnlyOneElseAll) {
  EXPECT_EQ(DataInAnswer("```json\n1\n```\n```JSON\n2\n```\n```sh\n3\n```\n", "json jsonc"), "2\n");
  EXPECT_EQ(DataInAnswer("x\n```\n1\n```\n", "json"), "1\n");
  EXPECT_EQ(DataInAnswer("{}", "json"), "{}");
  EXPECT_EQ(DataInAnswer("```a\n1\n```\n```b\n2\n```", "json"), "```a\n1\n```\n```b\n2\n```");
}

TEST(AnswerFiles, ABlockThatShowsHowTheFileIsUsedIsNotTheFile) {
  const std::string script = "```bash\nprintf '%06d\\n' \"$1\"\n```\n";
  for (const char* use :
       {"Save it as `pad.sh` and run it like so:\n```bash\n./pad.sh 1234\n```\n",
        "Run it with `sh pad.sh 17`:\n```\n000017\n```\n",
        "Save as `pad.sh` and make it executable:\n```sh\nchmod +x pad.sh\n```\n",
        "To run `pad.sh`:\n```bash\n# six digits\n$ sh pad.sh 17\n```\n",
        "`pad.sh` reads a number:\n```bash\necho 17 | ./pad.sh\n```\n",
        "`pad.sh` takes a width:\n```bash\nWIDTH=5 ./pad.sh\n```\n",
        "Run `pad.sh` as root:\n```bash\nsudo ./pad.sh 17\n```\n", "Debug `pad.sh`:\n```bash\nbash -x pad.sh 17\n```\n",
        "Make `pad.sh` executable:\n```bash\nchmod 755 pad.sh\n```\n"}) {
    EXPECT_THAT(AnswerFiles("Here is `pad.sh`:\n" + script + std::string(use), {"pad.sh"}),
                ElementsAre(Pair("pad.sh", HasSubstr("printf"))))
        << use;
    EXPECT_THAT(OutputFileContent("Here is `pad.sh`:\n" + script + std::string(use), "pad.sh"), HasSubstr("printf"))
        << use;
  }
  const std::string module = "```python\ndef f(x):\n    return x\n```\n";
  for (const char* use :
       {"Usage of `f.py`:\n```python\nfrom f import f\nprint(f(1))\n```\n",
        "Try `f.py`:\n```python\n>>> from f import f\n>>> f(1)\n```\n",
        "`f.py` with `sys`:\n```python\nimport f, sys\n```\n", "Example usage:\n```python\nprint(f(1))\n```\n"}) {
    for (const char* start : {"**f.py**\n\n", "This does it:\n"}) {
      EXPECT_THAT(AnswerFiles(std::string(start) + module + std::string(use), {"f.py"}),
                  ElementsAre(Pair("f.py", HasSubstr("def f"))))
          << start << use;
    }
  }
}

TEST(AnswerFiles, AFileMayNameItselfAndComeAfterASentenceAboutItsOutput) {
  EXPECT_THAT(AnswerFiles("```python\n\"\"\"Usage:\nfrom f import f\n\"\"\"\ndef f(): pass\n```\n", {"f.py"}),
              ElementsAre(Pair("f.py", HasSubstr("def f"))));
  EXPECT_THAT(AnswerFiles("`src/json.py`:\n```python\nimport json\nx = json\n```\n", {"src/json.py"}), SizeIs(1));
  EXPECT_THAT(
      AnswerFiles("First:\n```python\ndef f(): pass\n```\nFinal, with the right output:\n```python\ndef f(): 1\n```\n",
                  {"f.py"}),
      IsEmpty());
}

TEST(AnswerFiles, AFileMaySayHowItIsRun) {
  for (const char* script :
       {"[ $# -eq 1 ] || { echo \"usage: ./pad.sh WIDTH\"; exit 1; }\n", "echo 'try sh pad.sh 5'\n",
        "echo Usage: ./pad.sh N\n", "[ -x ./pad.sh ] || exit 1\n", ": usage: ./pad.sh N\n", "cp ./pad.sh /opt\n"})
    EXPECT_THAT(AnswerFiles("`pad.sh`:\n```bash\n" + std::string(script) + "```\n", {"pad.sh"}), SizeIs(1)) << script;
  EXPECT_THAT(AnswerFiles("`a.js`:\n```js\n// Usage: ./a.js FILE\nf();\n```\n", {"a.js"}), SizeIs(1));
  EXPECT_THAT(AnswerFiles("`a.js`:\n```js\nimport a, { B } from 'a';\n```\n", {"a.js"}), SizeIs(1));
  EXPECT_THAT(AnswerFiles("`a.md`:\n```md\nRead ./a.md first.\n>>> from a import b\n```\n", {"a.md"}), SizeIs(1));
}

TEST(AnswerFiles, OfTwoFilesOneMayUseTheOther) {
  EXPECT_THAT(AnswerFiles("`f.py`:\n```python\ndef f(): pass\n```\n`test_f.py`:\n```python\nfrom f import f\n```\n",
                          {"f.py", "test_f.py"}),
              ElementsAre(Pair("f.py", HasSubstr("def f")), Pair("test_f.py", HasSubstr("import f"))));
}

TEST(AnswerFiles, CommandsAndOutputAreNotTheFileThatTheyAreAbout) {
  const std::string file = "`main.py`:\n```python\nprint(1)\n```\n";
  for (const char* rest :
       {"Run it with `python main.py`:\n```bash\npython main.py\n```\n", "Output of main.py:\n```console\n1\n```\n",
        "Before, main.py was:\n```diff\n-print(2)\n```\n"}) {
    EXPECT_EQ(AnswerFiles(file + rest).at("main.py"), "print(1)\n") << rest;
    EXPECT_EQ(OutputFileContent(file + rest, "main.py"), "print(1)\n") << rest;
  }
  EXPECT_EQ(AnswerFiles("`run.sh`:\n```bash\necho 1\n```\n").at("run.sh"), "echo 1\n");
  EXPECT_EQ(AnswerFiles("Later:\n```python main.py\nx\n```\n").at("main.py"), "x\n");
}

TEST(WithoutReasoning, LeavesTheAnswerBehindIt) {
  for (const char* answer :
       {"<think>teal? no.</think>\nred", "\n<think>\nteal\n</think>\n\nred\n", "<thinking>teal</thinking>red",
        "[THINK]teal[/THINK]red", "<think>\n\n</think>\n\n<think>teal</think>red", "teal? no.\n</think>\n\nred",
        "teal? no.</think>\nred", "It says:\n```\nteal\n```\nso no.</think>red", "no `</think>` yet\n</think>\nred",
        "<thought>teal</thought>red", "<think>teal </think> red", "teal? no. </think>\nred",
        "<reasoning>teal</reasoning>\nred", "<|channel>thought\nteal<channel|>red", "◁think▷teal◁/think▷red",
        "analysisTeal? No.assistantfinalred",
        "<|channel|>analysis<|message|>teal<|end|><|start|>assistant<|channel|>final<|message|>red<|return|>",
        "<|start|>assistant<|channel|>final <|constrain|>json<|message|>red"})
    EXPECT_EQ(WithoutReasoning(answer), "red") << answer;
  for (const char* answer : {"<think>teal, but", "<think>teal</think>", "teal\n</think>\n", "<thought>teal",
                             "<|channel|>analysis<|message|>teal"})
    EXPECT_EQ(WithoutReasoning(answer), "") << answer;
}

TEST(WithoutReasoning, KeepsTagsOfTheAnswer) {
  EXPECT_EQ(WithoutReasoning("teal?</think>{\"a\": 1}"), "{\"a\": 1}");
  EXPECT_EQ(WithoutReasoning("不是。</think>红"), "红");
  for (const char* answer :
       {"  red\n", "analysis of the assistant, final", "It ends with </think>\nor not.",
        "Close it (</think>), then write.", "A block looks so:\n```\n<think>teal\n</think>\n```\nand ends.",
        "The tag `</think>` ends it.", "```\nteal\n</think>\n```", "A model writes <think>teal</think> first.",
        "Write\n<think>\nteal\n</think>\nfirst.", "The </think> tag ends it.",
        "Answer: 42.\n\n</think> is the closing tag.", "I think </thinking is cut"})
    EXPECT_EQ(WithoutReasoning(answer), answer);
}

}  // namespace
}  // namespace upskill

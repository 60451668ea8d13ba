// SPDX-License-Identifier: Apache-2.0
// Help texts, did-you-mean, and whether docs/ and README.md name the options that exist.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/help/help_topics.h"
#include "support/command_line.h"
#include "support/source_dir.h"
#include "util/files.h"
#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

// Every command that --help lists.
const std::vector<Words> kCommands = {{},
                                      {"quickstart"},
                                      {"eval"},
                                      {"benchmark"},
                                      {"plan"},
                                      {"selftest"},
                                      {"generate"},
                                      {"desk"},
                                      {"teach"},
                                      {"improve-description"},
                                      {"list"},
                                      {"audit"},
                                      {"install"},
                                      {"uninstall"},
                                      {"update"},
                                      {"outdated"},
                                      {"verify"},
                                      {"pack"},
                                      {"trace"},
                                      {"trace", "show"},
                                      {"trace", "digest"},
                                      {"trace", "find"},
                                      {"runs"},
                                      {"report"},
                                      {"merge"},
                                      {"import"},
                                      {"compare"},
                                      {"check"},
                                      {"recheck"},
                                      {"judge-check"},
                                      {"init"},
                                      {"validate"},
                                      {"read-properties"},
                                      {"to-prompt"},
                                      {"prompts"},
                                      {"models"},
                                      {"models", "pull"},
                                      {"toolchain"},
                                      {"toolchain", "add"},
                                      {"toolchain", "remove"},
                                      {"kernel"},
                                      {"kernel", "run"},
                                      {"kernel", "check"},
                                      {"doctor"},
                                      {"import-config"},
                                      {"completion"},
                                      {"man"},
                                      {"help"}};

// The options of programs that docs/ and README.md call besides upskill.
const std::set<std::string> kOfOtherPrograms = {
    "--jinja",   "--port",        "--array",           "--output-format", "--no-index",     "--find-links",
    "--no-deps", "--only-binary", "--check",           "--package",       "--suite",        "--user",
    "--cold",    "--system",      "--force-reinstall", "--reinstall",     "--mode",         "--fuzz",
    "--only",    "--benchmark",   "--from-literal",    "--slurm",         "--device-debug", "--args"};

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : SplitLines(text)) lines.emplace_back(line);
  return lines;
}

// The words of a command line, which may be quoted in '…'.
Words ShellWordsOf(const std::string& line) {
  Words words;
  std::string word;
  bool quoted = false;
  for (const char c : line + " ") {
    if (c == '\'') quoted = !quoted;
    if (c == '\'' || (c == ' ' && quoted)) {
      if (c == ' ') word += c;
      continue;
    }
    if (c != ' ') {
      word += c;
    } else if (!word.empty()) {
      words.push_back(word);
      word.clear();
    }
  }
  return words;
}

class Help : public CommandLineTest {
 protected:
  std::string HelpOf(Words command) {
    command.emplace_back("--help");
    EXPECT_EQ(Run(command), 0) << fmt::format("{}", fmt::join(command, " "));
    EXPECT_THAT(error, IsEmpty());
    return out;
  }

  // The options that the help lists, "-m" and "--model".
  std::set<std::string> OptionsOf(const Words& command) {
    std::set<std::string> options;
    for (const std::string& line : LinesOf(HelpOf(command))) {
      std::string short_name;
      std::string long_name;
      if (RE2::PartialMatch(line, R"(^  (-\w)\b)", &short_name)) options.insert(short_name);
      if (RE2::PartialMatch(line, R"(^  (?:-\w, |    )(--[\w-]+))", &long_name)) options.insert(long_name);
    }
    return options;
  }

  // The command that a command line names, "trace show", and its other words.
  static std::pair<Words, Words> Divided(const Words& line) {
    for (const std::size_t length : {2U, 1U}) {
      const Words head(line.begin(),
                       line.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(length, line.size())));
      if (std::find(kCommands.begin(), kCommands.end(), head) != kCommands.end())
        return {head, Words(line.begin() + static_cast<std::ptrdiff_t>(head.size()), line.end())};
    }
    return {{}, line};
  }

  void ExpectThatItExists(const std::string& line) {
    const auto [command, rest] = Divided(ShellWordsOf(line));
    ASSERT_FALSE(command.empty()) << line;
    const std::set<std::string> options = OptionsOf(command);
    for (const std::string& word : rest) {
      if (word == "--") break;  // arguments follow
      if (word.size() > 1 && word.starts_with('-')) {
        EXPECT_THAT(options, Contains(word)) << line;
      }
    }
    Words whole = ShellWordsOf(line);
    whole.insert(std::find(whole.begin(), whole.end(), "--"), "--help");
    EXPECT_EQ(Run(whole), 0) << line << "\n" << error;  // every value is checked before the help is printed
  }

  std::string ErrorOf(const Words& arguments) {
    EXPECT_EQ(Run(arguments), 2) << fmt::format("{}", fmt::join(arguments, " "));
    EXPECT_THAT(out, IsEmpty());
    return LinesOf(error).front();
  }
};

TEST_F(Help, FitsEveryWidth) {
  terminal = true;
  variables["NO_COLOR"] = "1";
  for (const Words& command : kCommands) {
    for (const std::size_t width : {60U, 80U, 100U, 250U}) {
      columns = width;
      for (const std::string& line : LinesOf(HelpOf(command)))
        EXPECT_LE(DisplayColumns(line), std::min<std::size_t>(width, 100)) << line;
    }
  }
  terminal = false;
  for (const std::string& line : LinesOf(HelpOf({"eval"}))) EXPECT_LE(DisplayColumns(line), 80U) << line;
  variables["COLUMNS"] = "60";
  columns = 60;
  for (const std::string& line : LinesOf(HelpOf({"eval"}))) EXPECT_LE(DisplayColumns(line), 60U) << line;
}

TEST_F(Help, HasNoneOfTheParsersWords) {
  for (const Words& command : kCommands) {
    const std::string help = HelpOf(command);
    std::string found;
    EXPECT_FALSE(RE2::PartialMatch(
        help, R"((\bU?INT\b|\bTEXT\b|\bFLOAT\b|Excludes|REQUIRED|Needs:| in \[|Positionals|Subcommands|\(default))",
        &found))
        << found;
    EXPECT_EQ(help.find("\nExamples:"), help.rfind("\nExamples:")) << "not those of the command above";
    EXPECT_THAT(help, AllOf(HasSubstr("\nUsage:\n  upskill"), HasSubstr("\nExamples:\n"), HasSubstr("-h, --help")));
  }
}

TEST_F(Help, DescribesEveryOption) {
  terminal = true;
  variables["NO_COLOR"] = "1";
  columns = 100;
  for (const Words& command : kCommands) {
    const std::vector<std::string> lines = LinesOf(HelpOf(command));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!RE2::PartialMatch(lines[i], R"(^  (?:-\w|    --))")) continue;
      const bool beside = RE2::FullMatch(lines[i], R"( +-[^ ]+(?:, --[\w-]+)?(?: \[?[A-Z/]+\]?)?  +\w.*)");
      const bool below = i + 1 < lines.size() && RE2::PartialMatch(lines[i + 1], R"(^ {10,}\w)");
      EXPECT_TRUE(beside || below) << lines[i];
      EXPECT_FALSE(RE2::PartialMatch(lines[i], R"(\.$)")) << "a phrase, not a sentence: " << lines[i];
    }
  }
}

TEST_F(Help, PutsOptionsIntoGroups) {
  const std::map<std::string, std::vector<std::string>> groups = {
      {"eval", {"Arguments", "Models", "Cases and arms", "Sampling", "Verdict", "Budget", "Runs and cache", "Output"}},
      {"benchmark", {"Models", "Cases and arms", "Sampling", "Verdict", "Budget", "Runs and cache", "Output"}},
      {"generate", {"Sources", "Models", "Skill", "Tests", "Refinement and measurement", "Budget", "Runs and output"}},
      {"trace", {"Commands"}},
      {"plan", {"Planned run", "Assumptions", "Output"}},
      {"runs", {"Which runs", "What to show", "Output"}}};
  for (const auto& [command, titles] : groups) {
    std::size_t at = 0;
    const std::string help = HelpOf({command});
    for (const std::string& title : titles) {
      const std::size_t found = help.find("\n" + title + ":\n", at);
      ASSERT_NE(found, std::string::npos) << command << ": " << title;
      at = found;
    }
    EXPECT_EQ(help.find("\nOptions:") != std::string::npos, command == "trace") << command;
  }
}

TEST_F(Help, ShowsMetavariablesAndDefaults) {
  EXPECT_THAT(HelpOf({"eval"}),
              AllOf(HasSubstr("  upskill eval SKILL... [OPTIONS]\n"), HasSubstr("  -m, --model MODEL  "),
                    HasSubstr("      --max-tokens N  "), HasSubstr("Maximum tokens per answer [default: 512]\n"),
                    HasSubstr("--max-cost USD "), HasSubstr("--resume [RUN]  "), Not(HasSubstr("--m "))));
  EXPECT_THAT(HelpOf({"merge"}), HasSubstr("  upskill merge RUN... -o DIR [OPTIONS]\n"));
  EXPECT_THAT(HelpOf({"generate"}),
              AllOf(HasSubstr("  upskill generate [TASK] [OPTIONS]\n"), HasSubstr("-j, --jobs N ")));
  EXPECT_THAT(HelpOf({"trace"}), HasSubstr("  upskill trace COMMAND ...\n"));
}

TEST_F(Help, ExamplesParse) {
  for (const Words& command : kCommands) {
    std::string help = HelpOf(command);
    RE2::GlobalReplace(&help, R"( \\\n +)", " ");
    std::size_t examples = 0;
    for (const std::string& line : LinesOf(help)) {
      std::string rest;
      if (!RE2::FullMatch(line, R"(    upskill (.*))", &rest)) continue;
      ++examples;
      ExpectThatItExists(rest);
    }
    EXPECT_GE(examples, 2U) << fmt::format("{}", fmt::join(command, " "));
  }
}

TEST_F(Help, HeadingsAreBoldOnATerminal) {
  terminal = true;
  EXPECT_THAT(HelpOf({"eval"}), AllOf(HasSubstr("\x1b[1mUsage:\x1b[0m"), HasSubstr("\x1b[1mExamples:\x1b[0m")));
  variables["NO_COLOR"] = "1";
  EXPECT_THAT(HelpOf({"eval"}), Not(HasSubstr("\x1b")));
}

TEST_F(Help, HelpCommandAndTopics) {
  for (const Words& command : kCommands) {
    const std::string expected = HelpOf(command);
    Words arguments = {"help"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    EXPECT_EQ(Run(arguments), 0);
    EXPECT_EQ(out, expected);
  }
  const std::string all = HelpOf({});
  for (const HelpTopic& topic : HelpTopics()) {
    EXPECT_THAT(all, HasSubstr(fmt::format("  {} ", topic.name)));
    EXPECT_EQ(Run({"help", std::string(topic.name)}), 0);
    const std::vector<std::string> lines = LinesOf(out);
    EXPECT_LE(lines.size(), 40U) << topic.name;
    for (const std::string& line : lines) {
      EXPECT_LE(DisplayColumns(line), 80U) << line;
      std::string example;
      if (RE2::FullMatch(line, R"(  upskill (.*?)(?:   .*)?)", &example)) ExpectThatItExists(example);
    }
  }
  EXPECT_EQ(Run({"help", "topics"}), 0);
  for (const HelpTopic& topic : HelpTopics()) EXPECT_THAT(out, HasSubstr("\n  " + std::string(topic.name)));
  EXPECT_EQ(ErrorOf({"help", "verdict"}), "error: no help on 'verdict'; did you mean 'verdicts'?");
  EXPECT_EQ(ErrorOf({"help", "trace", "shw"}), "error: no help on 'trace shw'; did you mean 'trace show'?");
  EXPECT_EQ(ErrorOf({"help", "exit-codes", "extra"}),
            "error: no help on 'exit-codes extra'; did you mean 'exit-codes'?");
  EXPECT_EQ(ErrorOf({"help", "tracee", "show"}), "error: no help on 'tracee show'; did you mean 'trace show'?");
  EXPECT_EQ(ErrorOf({"help", "dance\x1b"}), "error: no help on 'dance\\x1b'");
}

TEST_F(Help, NothingAtAllSaysWhatToDoFirst) {
  EXPECT_EQ(Run({}), 2);
  EXPECT_THAT(out, IsEmpty());
  for (const char* text : {"upskill quickstart", "upskill eval ", "upskill trace find",
                           "upskill generate --from latest", "upskill --help"})
    EXPECT_THAT(error, HasSubstr(text));
}

TEST_F(Help, DidYouMean) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"evla", "x"}, "unknown command 'evla'; did you mean 'eval'?"},
      {{"dance"}, "unknown command 'dance'"},
      {{"trace", "shw", "f"}, "unknown command 'shw' for upskill trace; did you mean 'show'?"},
      {{"trace"}, "missing command: one of show, digest, find"},
      {{"models", "pul"}, "unknown command 'pul' for upskill models; did you mean 'pull'?"},
      {{"eval", "x", "--max-cots", "2"}, "unknown option '--max-cots' for upskill eval; did you mean '--max-cost'?"},
      {{"eval", "--max-cots=2", "x"}, "unknown option '--max-cots' for upskill eval; did you mean '--max-cost'?"},
      {{"eval", "--max-cots"}, "unknown option '--max-cots' for upskill eval; did you mean '--max-cost'?"},
      {{"eval", "x", "-runs", "3"}, "unknown option '-runs' for upskill eval; did you mean '--runs'?"},
      {{"eval", "x", "--frobnicate"}, "unknown option '--frobnicate' for upskill eval"},
      {{"eval", "x", "--metric", "cost"}, "unknown option '--metric' for upskill eval; it is an option of `runs`"},
      {{"eval", "x", "--events"}, "unknown option '--events' for upskill eval; it is an option of `trace show`"},
      {{"eval", "x", "--log", "f"}, "'--log' goes before the command: upskill --log ... eval"},
      {{"trace", "find", "--log", "f"}, "'--log' goes before the command: upskill --log ... trace find"},
      {{"--runs", "3", "eval", "x"}, "'--runs' goes after the command: upskill eval --runs"},
      {{"--csv", "f"}, "'--csv' goes after a command: it is an option of `runs`"},
      {{"--verison"}, "unknown option '--verison'; did you mean '--version'?"},
      {{"runs", "--metric", "sucess"},
       "--metric must be one of success, tokens, cost, time, not 'sucess'; did you mean 'success'?"},
      {{"eval", "x", "--color", "pink"}, "--color must be one of auto, always, never, not 'pink'"},
      {{"generate", "x", "--accept", "nt-worse"},
       "--accept must be one of helps, not-worse, any, not 'nt-worse'; did you mean 'not-worse'?"},
      {{"models", "list"},
       "unknown command 'list' for upskill models; `upskill models` alone lists, and its commands are pull"},
      {{"toolchain", "list"},
       "unknown command 'list' for upskill toolchain; `upskill toolchain` alone lists, and its commands are add, "
       "remove"},
      {{"eval", "x", "--mode", "workspac"},
       "--mode must be one of answer, workspace, not 'workspac'; did you mean 'workspace'?"},
      {{"eval", "x", "--load", "ondemand"},
       "--load must be one of body, on-demand, not 'ondemand'; did you mean 'on-demand'?"},
      {{"list", "extra"}, "unexpected argument 'extra' for upskill list"}};
  for (const auto& [arguments, message] : cases) EXPECT_EQ(ErrorOf(arguments), "error: " + message);
}

TEST_F(Help, OtherUsageErrorsSayWhatIsExpected) {
  const std::vector<std::pair<Words, std::string>> cases = {
      {{"eval"}, "missing argument: SKILL"},
      {{"merge", "x"}, "missing option: --output"},
      {{"eval", "x", "-m"}, "--model needs a value: -m, --model MODEL"},
      {{"generate", "x", "--cases", "8", "--cases", "9"}, "--cases may be given only once"},
      {{"eval", "x", "--max-cost", "1", "--batch"},
       "--batch can't be combined with --max-cost: a batch is sent and paid for as a whole"},
      {{"eval", "x", "--resume", "y", "--refresh"},
       "--refresh can't be combined with --resume: a resumed run keeps its original options"},
      {{"eval", "x", "--runs", "0"}, "--runs must be a whole number from 1 to 100,000, not '0'"},
      {{"eval", "x", "--runs", "2.5"}, "--runs must be a whole number from 1 to 100,000, not '2.5'"},
      {{"eval", "x", "--seed", "many"}, "--seed must be a number, not 'many'"},
      {{"eval", "x", "--temperature", "nan"}, "--temperature must be a number from 0 to 5, not 'nan'"},
      {{"eval", "x", "--max-cost", "-1"}, "--max-cost must be a positive number, not '-1'"},
      {{"eval", "x", "--max-tokens-total", "0"}, "--max-tokens-total must be a whole number of at least 1, not '0'"},
      {{"generate", "x", "--max-cost", "-1"}, "--max-cost must be a number of at least 0, not '-1'"},
      {{"eval", "x", "--timeout", "5x"}, "--timeout must be a time such as 90s, 10m or 2h, at most 8760h, not '5x'"},
      {{"eval", "x", "--timeout", "0"}, "--timeout must be a time such as 90s, 10m or 2h, at most 8760h, not '0'"}};
  for (const auto& [arguments, message] : cases) {
    EXPECT_EQ(ErrorOf(arguments), "error: " + message);
    EXPECT_THAT(error, AllOf(HasSubstr("\nusage: upskill "), HasSubstr("--help`\n")));
  }
}

TEST(NearestName, CountsSwapsAndKeepsItsDistance) {
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("abc", "abc"), 0U);
  EXPECT_EQ(EditDistance("eval", "evla"), 1U);
  EXPECT_EQ(EditDistance("ca", "abc"), 3U) << "optimal string alignment";
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  const std::vector<std::string> names = {"eval", "runs", "--max-tokens-total", "-j"};
  EXPECT_EQ(NearestName("run", names), "runs");
  EXPECT_EQ(NearestName("EVAL", names), "eval");
  EXPECT_EQ(NearestName("--mx-token-totals", names), "--max-tokens-total");
  EXPECT_EQ(NearestName("ls", names), std::nullopt);
  EXPECT_EQ(NearestName("-k", names), std::nullopt);
  EXPECT_EQ(NearestName("", names), std::nullopt);
  EXPECT_EQ(NearestName(std::string(100'000, 'x'), names), std::nullopt);
}

// docs/ and README.md, by name.
std::map<std::string, std::string> Documents() {
  std::map<std::string, std::string> documents;
  const fs::path root = SourceDir();
  documents["README.md"] = *ReadFile(root / "README.md");
  for (const auto& entry : fs::directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") documents[entry.path().filename().string()] = *ReadFile(entry.path());
  return documents;
}

TEST_F(Help, KnowsEveryCommand) {
  std::size_t found = 0;
  bool topics = false;
  for (const std::string& line : LinesOf(HelpOf({}))) {
    topics = topics || line == "Help topics:";
    std::string name;
    if (topics || !RE2::FullMatch(line, R"(  ([a-z]+)  +[A-Z].*)", &name)) continue;
    ++found;
    EXPECT_THAT(kCommands, testing::Contains(Words{name})) << "so that it is in docs/commands.md";
  }
  EXPECT_GE(found, 12U);
}

// docs/commands.md is the help of every command.
TEST_F(Help, IsInTheDocumentation) {
  std::string expected =
      "# Commands\n\nWhat `upskill COMMAND --help` prints. `upskill help TOPIC` has short texts on further subjects.\n";
  for (const Words& command : kCommands) {
    const std::string name = fmt::format("upskill{}{}", command.empty() ? "" : " ", fmt::join(command, " "));
    expected += fmt::format("\n## {}\n\n```\n{}```\n", name, HelpOf(command));
  }
  const fs::path file = SourceDir() / "docs" / "commands.md";
  if (std::getenv("UPSKILL_WRITE_DOCS") != nullptr) {
    ASSERT_TRUE(WriteFileAtomically(file, expected).ok());
  }
  const Result<std::string> found = ReadFile(file);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(*found == expected) << "docs/commands.md differs from --help; to write it: UPSKILL_WRITE_DOCS=1 "
                                     "upskill_cli_test --gtest_filter=Help.IsInTheDocumentation";
}

TEST_F(Help, EveryOptionOfTheDocumentationExists) {
  std::set<std::string> known = kOfOtherPrograms;
  for (const Words& command : kCommands) known.merge(OptionsOf(command));
  std::set<std::string> unknown;
  for (const auto& [name, text] : Documents()) {
    if (name == "from-python.md")
      continue;  // lists the options of the Python tool, which tests/from_python_test.py types
    std::string option;
    for (re2::StringPiece rest = text; RE2::FindAndConsume(&rest, R"((?:^|[\s`'(\[])(--[a-z][\w-]*))", &option);)
      if (!known.contains(option)) unknown.insert(name + ": " + option);
  }
  EXPECT_THAT(unknown, IsEmpty());
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
// What is completed, and whether bash completes it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "support/command_line.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class CompletionOfWords : public CommandLineTest {
 protected:
  // The words without their descriptions.
  std::vector<std::string> After(std::vector<std::string> words) {
    words.insert(words.begin(), {"complete", "--"});
    EXPECT_EQ(Run(words), 0) << error;
    EXPECT_EQ(error, "");
    std::vector<std::string> found;
    for (const std::string_view line : SplitLines(out)) {
      if (!line.empty()) found.emplace_back(line.substr(0, line.find('\t')));
    }
    return found;
  }

  void Configure() {
    folder.Write("config.yaml",
                 "skills_dir: " + (folder.path() / "skills").string() + "\nruns_dir: " + runs().string() + "\n");
  }
};

TEST_F(CompletionOfWords, Commands) {
  EXPECT_THAT(After({"ev"}), ElementsAre("eval"));
  EXPECT_THAT(After({""}),
              AllOf(Contains("eval"), Contains("trace"), Contains("completion"), Not(Contains("complete"))));
  EXPECT_THAT(After({"trace", ""}), ElementsAre("show", "digest", "find"));
  EXPECT_THAT(After({"--log", "f", "tra"}), ElementsAre("trace"));
  EXPECT_THAT(After({"help", "verd"}), ElementsAre("verdicts"));
  EXPECT_THAT(After({"help", "trace", "s"}), ElementsAre("show"));
  EXPECT_THAT(After({"no-such-command", ""}), IsEmpty());
}

TEST_F(CompletionOfWords, Options) {
  EXPECT_THAT(After({"eval", "x", "--max"}),
              ElementsAre("--max-turns", "--max-tokens", "--max-cost", "--max-tokens-total"));
  EXPECT_THAT(After({"trace", "find", "--"}), Not(Contains("--max-cost")));
  EXPECT_THAT(After({"--tr"}), ElementsAre("--trust-config"));
  EXPECT_THAT(After({"eval", "--", "--max"}), ElementsAre(":files")) << "after -- there are no options";
  ASSERT_EQ(Run({"complete", "--", "eval", "--max-to"}), 0);
  EXPECT_THAT(out, StartsWith("--max-tokens\tMaximum tokens per answer\n"));
}

TEST_F(CompletionOfWords, ValuesOfOptions) {
  EXPECT_THAT(After({"eval", "x", "--color", "a"}), ElementsAre("auto", "always"));
  EXPECT_THAT(After({"eval", "x", "--color=n"}), ElementsAre("--color=never"));
  EXPECT_THAT(After({"install", "x", "--agent", "cla"}), ElementsAre("claude-code"));
  EXPECT_THAT(After({"report", "latest", "-o", ""}), ElementsAre(":files"));
  EXPECT_THAT(After({"runs", "-d", ""}), ElementsAre(":folders"));
  EXPECT_THAT(After({"eval", "x", "-m", "hai"}), ElementsAre("haiku"));
  EXPECT_THAT(After({"eval", "x", "--runs", ""}), IsEmpty());
  EXPECT_THAT(After({"completion", ""}), ElementsAre("bash", "zsh", "fish"));
}

TEST_F(CompletionOfWords, SkillsAndRuns) {
  Configure();
  folder.Write("skills/pdf-tools/SKILL.md", "");
  folder.Write("skills/no-skill/README.md", "");
  folder.Write("runs/2026_01_02_03_04_05-aaaa/plan.json", "{}");
  folder.Write("runs/2026_02_02_03_04_05-bbbb/plan.json", "{}");
  fs::create_directories(runs() / "notes");
  const std::string skill = (folder.path() / "skills" / "pdf-tools").string();
  EXPECT_THAT(After({"eval", skill.substr(0, skill.size() - 3)}), ElementsAre(skill, ":files"));
  EXPECT_THAT(After({"report", ""}),
              ElementsAre("latest", "2026_02_02_03_04_05-bbbb", "2026_01_02_03_04_05-aaaa", ":folders"));
  EXPECT_THAT(After({"compare", "latest", "2026_01"}), ElementsAre("2026_01_02_03_04_05-aaaa", ":folders"));
}

TEST_F(CompletionOfWords, LeavesOutNamesThatAShellWouldTakeForSomethingElse) {
  Configure();
  for (const char* name :
       {"a b", "$(touch owned)", "`id`", "a;b", "a\nb", "a\tb", ":files", "~root", "-x", "a'b", "\xff"}) {
    fs::create_directories(runs() / name);
    folder.Write("runs/" + std::string(name) + "/plan.json", "{}");
  }
  folder.Write("runs/häuser/plan.json", "{}");
  EXPECT_THAT(After({"report", ""}), ElementsAre("latest", "häuser", "-x", ":folders"));
}

// Types `line` in bash, which has sourced the script, and returns what it would offer.
std::vector<std::string> OfferedByBash(const fs::path& script, const std::string& program, const std::string& line) {
  const std::string command = "PATH=" + program + ":$PATH; source " + script.string() +
                              "; COMP_LINE=$1; COMP_POINT=${#1}; _upskill; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const std::string quoted = "bash --norc -c " + ShellWord(command) + " bash " + ShellWord(line);
  FILE* const pipe = ::popen(quoted.c_str(), "r");
  std::string out;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
  ::pclose(pipe);
  std::vector<std::string> offered;
  for (const std::string_view word : SplitLines(out))
    if (!word.empty()) offered.emplace_back(word);
  return offered;
}

TEST_F(CompletionOfWords, TheScriptForBash) {
  ASSERT_EQ(Run({"completion", "bash"}), 0);
  const fs::path script = folder.Write("upskill.bash", out);
  // A program that says what it was asked, and one answer of each kind.
  const fs::path program =
      folder.Write("bin/upskill", "#!/bin/sh\nprintf '%s|' \"$@\" >" + (folder.path() / "asked").string() +
                                      "\nprintf 'llama:org/repo:Q4\\ta model\\n--color=never\\n'\n");
  fs::permissions(program, fs::perms::owner_all);
  const auto offered = [&](const std::string& line) {
    return OfferedByBash(script, program.parent_path().string(), line);
  };
  const auto asked = [&] { return *ReadFile(folder.path() / "asked"); };
  EXPECT_THAT(offered("upskill eval "), ElementsAre("llama:org/repo:Q4", "--color=never"));
  EXPECT_EQ(asked(), "complete|--|eval||");
  EXPECT_THAT(offered("upskill eval -m llama:org/re"), Contains("org/repo:Q4"))
      << "bash replaces what follows the colon";
  EXPECT_THAT(offered("upskill eval --color=ne"), Contains("never"));
  EXPECT_EQ(asked(), "complete|--|eval|--color=ne|");
  offered("upskill eval '$(touch " + (folder.path() / "owned").string() + ")' `id` *");
  EXPECT_FALSE(fs::exists(folder.path() / "owned"));
  EXPECT_THAT(asked(), AllOf(HasSubstr("|`id`|"), HasSubstr("|*|"))) << "nothing of the line is evaluated";
}

}  // namespace
}  // namespace upskill

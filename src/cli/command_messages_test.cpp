// SPDX-License-Identifier: Apache-2.0
// What commands say when something is missing, limited or wrong, and their exit codes.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "eval/journal.h"
#include "support/command_line.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kStudent = "sim:base=0,skill=1";

class CommandMessages : public CommandLineTest {
 protected:
  CommandMessages() {
    folder.Write("skills/adding/SKILL.md", "---\nname: adding\ndescription: How to add.\n---\nAdd the numbers.\n");
    folder.Write("skills/adding/tests.json", R"([
      {"id": "one", "input": "one and one", "expected": {"contains": "number 2"}},
      {"id": "two", "input": "two and two", "expected": {"contains": "number 4"}}])");
  }

  std::string skill() const { return (folder.path() / "skills/adding").string(); }

  int Eval(std::vector<std::string> more, const std::string& model = kStudent) {
    more.insert(more.begin(), {"eval", skill(), "--runs-dir", runs().string(), "-m", model});
    return Run(more);
  }
};

TEST_F(CommandMessages, AnEmptyGateIsAnErrorOfTheCommandLine) {
  for (const char* gate : {"", " "}) {
    EXPECT_EQ(Eval({"--gate", gate}), 2);
    EXPECT_THAT(error, AllOf(StartsWith("error: --gate: the gate is empty; "), HasSubstr("helps:haiku,glm")));
  }
  EXPECT_FALSE(fs::exists(runs()));
}

// The limits of a run hold for its continuation, and the gate is still asked for.
TEST_F(CommandMessages, TheResumeCommandKeepsLimitsAndGate) {
  const std::string model = "sim:base=0,skill=1,cost=0.01,error=1";
  EXPECT_EQ(
      Eval({"--max-cost", "0.05", "--max-tokens-total", "100000", "--timeout", "10m", "--gate", "helps:*; pass>80%"},
           model),
      3);
  EXPECT_THAT(error, HasSubstr(" --max-cost 0.05 --max-tokens-total 100000 --timeout 600s --gate 'helps:*; pass>80%' "
                               "--runs-dir " +
                               runs().string() + " --resume "));
}

TEST_F(CommandMessages, AFailedRunShowsItsFirstError) {
  EXPECT_EQ(Eval({}, "sim:error=1"), 3);
  EXPECT_THAT(error, HasSubstr("first error: sim: simulated error; -v shows all\n"));
  EXPECT_EQ(Eval({"-v"}, "sim:error=1"), 3);
  EXPECT_THAT(error, AllOf(HasSubstr("first error: sim: simulated error\n"), Not(HasSubstr("-v shows"))));
  EXPECT_EQ(Eval({}), 0);
  EXPECT_THAT(error, Not(HasSubstr("first error")));
}

TEST_F(CommandMessages, StoppingWhenDecidedNeedsAnArmToCompareWith) {
  EXPECT_EQ(Eval({"--no-baseline", "--stop-when-decided"}), 2);
  EXPECT_THAT(error,
              HasSubstr("error: --stop-when-decided needs an arm to compare with: leave out --no-baseline, or add "
                        "--against\n"));
  EXPECT_EQ(Eval({"--no-baseline", "--placebo", "--stop-when-decided"}), 2) << "a placebo decides nothing";
  folder.Write("old/adding/SKILL.md", "---\nname: adding\ndescription: How to add.\n---\nAdd.\n");
  EXPECT_EQ(Eval({"--no-baseline", "--against", (folder.path() / "old/adding").string(), "--stop-when-decided"},
                 "sim:base=0,previous=0,skill=1"),
            0)
      << error;
}

TEST_F(CommandMessages, AGateWithoutABaselineSaysWhatIsMissing) {
  EXPECT_EQ(Eval({"--no-baseline", "--gate", "helps:*; lift>1; pass>50%"}), 1);
  EXPECT_THAT(error,
              AllOf(HasSubstr("helps:* · sim:base=0,skill=1: unknown: the run has no baseline to compare with\n"),
                    HasSubstr("lift>1 · sim:base=0,skill=1: unknown: the run has no baseline to compare with\n"),
                    HasSubstr("holds  pass>50%")));
}

TEST_F(CommandMessages, TheHintAtFailedCasesNamesACommandThatHasTheOption) {
  EXPECT_EQ(Eval({}, "sim:base=0,skill=0"), 0);
  EXPECT_THAT(out, HasSubstr("2 cases never passed (`upskill eval -v` shows why): one, two\n"));
  EXPECT_EQ(Eval({"-v"}, "sim:base=0,skill=0"), 0);
  EXPECT_THAT(out, HasSubstr("2 cases never passed: one, two\n"));
  ASSERT_EQ(Run({"report", "latest", "-d", runs().string()}), 0);
  EXPECT_THAT(out, HasSubstr("(`upskill eval -v` shows why)"));
}

// One run, one word for its verdict in every view.
TEST_F(CommandMessages, WithoutALiftNoViewHasAVerdict) {
  ASSERT_EQ(Eval({"--no-baseline"}), 0);
  const std::string dir = runs().string();
  ASSERT_EQ(Run({"report", "latest", "-d", dir, "--format", "md"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr(" | – | "), Not(HasSubstr("undecided"))));
  ASSERT_EQ(Run({"report", "latest", "-d", dir, "--json"}), 0);
  EXPECT_TRUE(OutAsJson().at("students").at(0).at("verdict").is_null());
  ASSERT_EQ(Run({"report", "latest", "-d", dir, "--format", "xml"}), 0);
  EXPECT_THAT(out, Not(HasSubstr("undecided")));
  ASSERT_EQ(Run({"report", "latest", "-d", dir, "--format", "html"}), 0);
  EXPECT_THAT(out, HasSubstr("\"word\":null"));
  ASSERT_EQ(Run({"runs", "-d", dir, "-a"}), 0);
  EXPECT_THAT(out, Not(HasSubstr("undecided")));
  ASSERT_EQ(Run({"runs", "-d", dir, "--matrix", "--json"}), 0);
  EXPECT_TRUE(OutAsJson().at("cells").at(0).at("verdict").is_null());
  ASSERT_EQ(Run({"runs", "-d", dir, "--matrix"}), 0);
  EXPECT_THAT(out, Not(HasSubstr("  ?\n")));
}

TEST_F(CommandMessages, AnIncompleteRunIsUndecidedInEveryView) {
  ASSERT_EQ(Eval({"--runs", "2"}), 0);
  const fs::path run = FindRuns(runs()).back();
  const std::string lines = *ReadFile(run / "samples.jsonl");
  const std::size_t third = lines.find('\n', lines.find('\n') + 1) + 1;  // one case in both arms
  ASSERT_TRUE(WriteFileAtomically(run / "samples.jsonl", lines.substr(0, third)).ok());
  const std::string dir = runs().string();
  ASSERT_EQ(Run({"report", "latest", "-d", dir}), 0);
  EXPECT_THAT(out, HasSubstr("undecided"));
  ASSERT_EQ(Run({"runs", "-d", dir, "-a"}), 0);
  EXPECT_THAT(out, HasSubstr("undecided"));
  ASSERT_EQ(Run({"runs", "-d", dir, "--csv", "-"}), 0);
  EXPECT_THAT(out, HasSubstr(",undecided\r\n"));
  ASSERT_EQ(Run({"report", "latest", "-d", dir, "--json"}), 0);
  EXPECT_EQ(OutAsJson().at("students").at(0).at("verdict"), "undecided");
}

TEST_F(CommandMessages, ASkillWithoutCasesSaysHowToGiveSome) {
  fs::remove(folder.path() / "skills/adding/tests.json");
  for (const char* command : {"eval", "plan"}) {
    EXPECT_EQ(Run({command, skill(), "-m", kStudent}), 2);
    EXPECT_THAT(error,
                HasSubstr("with cases; write one (`upskill help files` shows the format), or name one with -t FILE"));
  }
}

TEST_F(CommandMessages, MissingRunsAndGenerations) {
  const std::string dir = runs().string();
  EXPECT_EQ(Run({"report", "latest", "-d", dir}), 2);
  EXPECT_EQ(error, "error: no runs in " + dir + "\n");
  ASSERT_EQ(Eval({}), 0);
  EXPECT_EQ(Run({"report", "x", "-d", dir}), 2);
  EXPECT_EQ(error, fmt::format("error: no run 'x' in {0}; `upskill runs -d {0}` lists its runs\n", dir));
  EXPECT_EQ(Run({"generate", "--runs-dir", dir, "--resume"}), 2);
  EXPECT_EQ(error, fmt::format("error: no generations in {}/generations; `upskill generate` starts one\n", dir));
}

TEST_F(CommandMessages, MergingARunIntoItself) {
  ASSERT_EQ(Eval({"--shard", "1/2"}), 0);
  const std::string run = FindRuns(runs()).back().string();
  EXPECT_EQ(Run({"merge", run, "-o", run}), 2);
  EXPECT_EQ(error, "error: the only run given is the output folder itself; name the shards to merge\n");
  EXPECT_EQ(Run({"merge", run, "-o", (folder.path() / "whole").string()}), 3);
  EXPECT_THAT(out, HasSubstr("merged 1 run: 2 samples, 0 of them in more than one run\n"));
  EXPECT_THAT(error, StartsWith("2 unanswered cells: merge the remaining shards into "));
}

TEST_F(CommandMessages, ALogThatCannotBeOpenedIsAnError) {
  const std::string log = (folder.path() / "none/log").string();
  EXPECT_EQ(Run({"--log", log, "list", "-d", (folder.path() / "skills").string()}), 2);
  EXPECT_EQ(error,
            fmt::format("error: opening the log file {}: No such file or directory; name another with --log\n", log));
  EXPECT_THAT(out, IsEmpty());
}

TEST_F(CommandMessages, TheNameOfASkillIsCheckedBeforeAnythingIsWritten) {
  for (const char* name : {"Two Words", "trailing-", "a--b", "über"}) {
    EXPECT_EQ(Run({"generate", "Add numbers", "--from", "x.jsonl", "--name", name, "--runs-dir", runs().string()}), 2);
    EXPECT_THAT(error, StartsWith(fmt::format("error: --name: the name '{}' ", name)));
  }
  EXPECT_FALSE(fs::exists(runs()));
}

TEST_F(CommandMessages, ATimeoutOfMoreThanAYear) {
  for (const char* time : {"1e10", "2562048h", "99999999999999999999h", "nan", "inf"}) {
    EXPECT_EQ(Eval({"--timeout", time}), 2) << time;
    EXPECT_THAT(error, HasSubstr("--timeout must be a time such as 90s, 10m or 2h, at most 8760h")) << time;
  }
}

TEST_F(CommandMessages, ASkillFromNothing) {
  EXPECT_EQ(Run({"generate", "Add numbers"}), 2);
  EXPECT_THAT(error,
              EndsWith("error: without a teacher model, a skill can only be extracted from a trace: give a teacher (-m "
                       "MODEL), or a trace with --from\n"));
  EXPECT_EQ(Run({"generate", "--from", skill(), "--runs-dir", runs().string()}), 2);
  EXPECT_EQ(error, "error: improving a skill needs a teacher model: give -m MODEL\n");
}

TEST_F(CommandMessages, AModelThatIsNotThereSaysHowToGetIt) {
  variables["HF_HUB_CACHE"] = (folder.path() / "hub").string();
  EXPECT_EQ(Eval({}, "llama:Org/Repo:Q8_0"), 2);
  EXPECT_EQ(error,
            fmt::format("error: model 'llama:Org/Repo:Q8_0': neither a file nor in the cache {}; `upskill models "
                        "pull Org/Repo:Q8_0` downloads it\n",
                        (folder.path() / "hub").string()));
}

TEST_F(CommandMessages, SelftestCallsItsRunsSimulations) {
  for (const char* option : {"--simulations", "--runs"}) {
    ASSERT_EQ(Run({"selftest", option, "10", "--cases", "3", "--rounds", "2"}), 0) << error;
    EXPECT_THAT(out,
                AllOf(StartsWith("10 runs per line"),
                      EndsWith("passed: false `helps` and `hurts` verdicts are not significantly more frequent than "
                               "5 % (alpha)\n")));
  }
  ASSERT_EQ(Run({"selftest", "--help"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("--simulations N"), Not(HasSubstr("--runs"))));
}

TEST_F(CommandMessages, BenchmarkDocumentsTheOptionOfItsResumeCommand) {
  EXPECT_EQ(Run({"benchmark", skill(), "-m", "sim:error=1", "-o", runs().string()}), 3);
  EXPECT_THAT(error, HasSubstr(" --runs-dir " + runs().string()));
  ASSERT_EQ(Run({"benchmark", "--help"}), 0);
  EXPECT_THAT(out, HasSubstr("-o, --runs-dir DIR"));
}

}  // namespace
}  // namespace upskill

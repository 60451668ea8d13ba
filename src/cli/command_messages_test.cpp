// SPDX-License-Identifier: Apache-2.0
// What commands say when something is missing, limited or wrong, and their exit codes.
#include "cli/command_messages_test.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "eval/journal/journal.h"
#include "eval/plan/plan.h"
#include "support/loopback_server.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(CommandMessages, AnEqualsSignAfterALetterIsLeftOut) {
  EXPECT_EQ(Run({"eval", skill(), "-m=" + std::string(kStudent), "-j=4", "--runs-dir", runs().string()}), 0) << error;
  EXPECT_EQ(Run({"eval", skill(), "-m", kStudent, "-j=many"}), 2);
  EXPECT_THAT(error, HasSubstr("not 'many'"));
  EXPECT_EQ(Run({"validate", "--", "-x=4"}), 2);
  EXPECT_THAT(error, HasSubstr("'-x=4'")) << "a file of that name";
}

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
      Eval({"--max-cost", "0.05", "--max-tokens-total", "100000", "--timeout", "10m", "--gate", "lift>-99; tokens<80%"},
           model),
      3);
  EXPECT_THAT(error,
              HasSubstr(" --gate 'lift>-99; tokens<80%' --max-cost 0.05 --max-tokens-total 100000 --timeout 600s "
                        "--runs-dir " +
                        runs().string() + " --resume "));
}

TEST_F(CommandMessages, TheResumeCommandHasWhatTheRunNeeds) {
  EXPECT_EQ(Eval({"-j", "3", "--mcp-url", "http://h/a b", "--mcp-env", "KEY"}, "cmd:false"), 3);
  EXPECT_THAT(error, HasSubstr(" -j 3 --mcp-url 'http://h/a b' --mcp-env KEY --runs-dir "));
  // Of several skills, each has what is left of the time; the command has what was given.
  EXPECT_EQ(Run({"eval", skill(), skill(), "--runs-dir", runs().string(), "-m", "cmd:false", "--timeout", "100s"}), 3);
  EXPECT_THAT(error, HasSubstr(" --timeout 100s "));
}

TEST_F(CommandMessages, ALimitWithoutRoomForAnAnswerIsRaised) {
  EXPECT_EQ(Eval({"--max-tokens-total", "3"}, "sim:base=0,skill=1"), 3);
  EXPECT_THAT(error, AllOf(HasSubstr("The limit has no room for a single answer. Continue with this one or a higher "
                                     "one:\n"),
                           Not(HasSubstr("--max-tokens-total 3 "))));
}

TEST_F(CommandMessages, WhyNothingWasAnsweredComesFirst) {
  EXPECT_EQ(Eval({}, "cmd:false"), 3);
  EXPECT_LT(error.find("exit"), error.find("0 of "));
}

TEST_F(CommandMessages, AKeyIsUsedOnlyWithALimitOfCost) {
  variables["ANTHROPIC_API_KEY"] = "sk-ant-none-of-anybody";
  variables["UPSKILL_EMBEDDED_MODEL"] = (folder.path() / "none.gguf").string();
  EXPECT_EQ(Run({"eval", skill(), "--runs-dir", runs().string()}), 2);
  EXPECT_THAT(error, AllOf(StartsWith("using smollm2-135m, "), HasSubstr("ANTHROPIC_API_KEY: -m haiku --max-cost 1\n"),
                           HasSubstr("none.gguf")));
  const loopback::Server server([](const loopback::Request& /*request*/) {
    return loopback::Answer(401, R"({"error":{"message":"no such key"}})");
  });
  variables["ANTHROPIC_BASE_URL"] = server.url();
  EXPECT_EQ(Run({"eval", skill(), "--runs-dir", runs().string(), "--max-cost", "1"}), 3);
  EXPECT_THAT(error,
              StartsWith("using haiku, with the key from ANTHROPIC_API_KEY; the built-in model: -m smollm2-135m\n"));
  // A model that was chosen needs no line.
  EXPECT_EQ(Run({"eval", skill(), "--runs-dir", runs().string(), "-m", "sim:base=0,skill=1", "--no-cache"}), 0);
  EXPECT_THAT(error, Not(HasSubstr("ANTHROPIC_API_KEY")));
}

TEST_F(CommandMessages, ABaseUrlNeedsAModel) {
  EXPECT_EQ(Run({"eval", skill(), "--base-url", "http://127.0.0.1:1/v1", "--runs-dir", runs().string()}), 2);
  EXPECT_THAT(error, HasSubstr("--base-url needs -m"));
}

TEST_F(CommandMessages, TeachTakesItsModelsFromAKey) {
  const std::string cases = folder.Write("reports.json", "{}").string();
  EXPECT_EQ(Run({"teach", cases}), 2);
  EXPECT_THAT(error, HasSubstr("--teacher and --student"));
  variables["ANTHROPIC_API_KEY"] = "sk-ant-none-of-anybody";
  EXPECT_EQ(Run({"teach", cases}), 2);
  EXPECT_THAT(error, HasSubstr("--teacher opus --student haiku --max-cost 5"));
  EXPECT_EQ(Run({"teach", cases, "--max-cost", "5", "--runs-dir", runs().string()}), 2);
  EXPECT_THAT(error, AllOf(StartsWith("using opus to teach haiku, "), HasSubstr("reports.json")));
}

TEST_F(CommandMessages, ABatchIsNoPlaceForWorkspaces) {
  variables["ANTHROPIC_API_KEY"] = "none";
  EXPECT_EQ(Eval({"--batch", "--mode", "workspace"}, "haiku"), 2);
  EXPECT_THAT(error, HasSubstr("--batch can't do cases in a workspace"));
}

TEST_F(CommandMessages, AFailedRunShowsItsFirstError) {
  EXPECT_EQ(Eval({}, "sim:error=1"), 3);
  EXPECT_THAT(error, HasSubstr("first error: sim: simulated error\n"));
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
  EXPECT_EQ(Eval({"--no-baseline", "--gate", "helps:*"}), 2);
  EXPECT_THAT(error, HasSubstr("gate clause 'helps:*': the run has nothing to compare the skill with; leave out "
                               "--no-baseline, or add --against DIR\n"));
  EXPECT_EQ(Eval({"--no-baseline", "--gate", "pass>50%@estimate"}), 0);
  EXPECT_THAT(error, HasSubstr("holds  pass>50%@estimate"));
}

TEST_F(CommandMessages, TheHintAtFailedCasesIsACommand) {
  EXPECT_EQ(Eval({}, "sim:base=0,skill=0"), 0);
  EXPECT_THAT(out, HasSubstr("2 cases never passed: one, two\n  show their answers: upskill eval "));
  EXPECT_THAT(out, HasSubstr(" --resume " + FindRuns(runs()).back().filename().string() + " -v\n"));
  EXPECT_EQ(Eval({"-v"}, "sim:base=0,skill=0"), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("2 cases never passed: one, two\n"), Not(HasSubstr(" --resume "))));
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
  folder.Write("skills/adding/tests.json", "[]");
  EXPECT_EQ(Run({"plan", skill(), "-m", kStudent}), 2);
  EXPECT_THAT(error,
              HasSubstr("tests.json: no cases; write one (`upskill help files` shows the format), or name one "));
}

TEST_F(CommandMessages, PermissionsThatNoCaseUsesAreNamed) {
  EXPECT_EQ(Eval({"--mcp-url", "https://tools.example"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("warning: --mcp-url isn't used: no case has an MCP server at a URL\n"));
}

TEST_F(CommandMessages, MissingRunsAndGenerations) {
  const std::string dir = runs().string();
  EXPECT_EQ(Run({"report", "latest", "-d", dir}), 2);
  EXPECT_EQ(error, "error: no runs in the folder '" + dir + "'; `upskill eval SKILL` creates one\n");
  ASSERT_EQ(Eval({}), 0);
  EXPECT_EQ(Run({"report", "x", "-d", dir}), 2);
  EXPECT_EQ(error, fmt::format("error: no run 'x' in {0}; `upskill runs -d {0}` lists its runs\n", dir));
  EXPECT_EQ(Run({"generate", "--runs-dir", dir, "--resume"}), 2);
  EXPECT_EQ(error, fmt::format("error: no generations in {}/generations; `upskill generate` starts one\n", dir));
}

// Only the command line names servers: a run's folder may come from elsewhere.
TEST_F(CommandMessages, ResumingWithoutTheServerSaysHowToNameIt) {
  ASSERT_EQ(Eval({}), 0);
  const fs::path plan = FindRuns(runs()).back() / "plan.json";
  Json json = *ParseJson(*ReadFile(plan), "plan");
  json.at("students").at(0)["model"] = "foo";
  json.at("students").at(0)["identity"] = "generic.foo at http://gpu1:8000/v1, http://gpu2:8000/v1";
  ASSERT_TRUE(WriteFileAtomically(plan, DumpJson(json)).ok());
  const std::string run = plan.parent_path().filename().string();
  EXPECT_EQ(Run({"eval", skill(), "--runs-dir", runs().string(), "--resume", run}), 2);
  EXPECT_EQ(
      error,
      fmt::format("error: run {} sent requests for model 'foo' to a server given on the command line; add --base-url "
                  "http://gpu1:8000/v1 --base-url http://gpu2:8000/v1\n",
                  run));
  EXPECT_EQ(Run({"eval", skill(), "--runs-dir", runs().string(), "--resume", run, "--base-url", "http://gpu3:8000/v1"}),
            2);
  EXPECT_EQ(error, fmt::format("error: model 'foo' has changed since run {} started; start a new run, or name the "
                               "servers that it used: --base-url http://gpu1:8000/v1 --base-url http://gpu2:8000/v1\n",
                               run));
}

// Written by a version that didn't mask, or while another provider was used.
TEST_F(CommandMessages, AnOldRunIsShownWithoutTodaysKeys) {
  ASSERT_EQ(Eval({}), 0);
  const fs::path journal = FindRuns(runs()).back() / "samples.jsonl";
  std::string text = *ReadFile(journal);
  const std::string secret = "sk-of-another-time ";
  for (std::size_t at = text.find("number 2"); at != std::string::npos;
       at = text.find("number 2", at + secret.size() + 1))
    text.insert(at, secret);
  folder.Write(journal.lexically_relative(folder.path()).string(), text);
  variables["GROQ_API_KEY"] = "sk-of-another-time";
  for (const char* format : {"csv", "html"}) {
    ASSERT_EQ(Run({"report", "latest", "-d", runs().string(), "--format", format}), 0) << error;
    EXPECT_THAT(out, AllOf(HasSubstr("*** number 2"), Not(HasSubstr("sk-of-another-time")))) << format;
  }
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

// As `merge shards/*` does, when a run has been written there.
TEST_F(CommandMessages, MergingLeavesOutFiles) {
  ASSERT_EQ(Eval({"--shard", "1/2"}), 0);
  ASSERT_EQ(Eval({"--shard", "2/2"}), 0);
  std::vector<std::string> merge = {"merge", "-o", (folder.path() / "whole").string()};
  for (const auto& entry : fs::directory_iterator(runs())) {
    if (!entry.path().filename().string().starts_with('.')) merge.push_back(entry.path().string());
  }
  const std::string results = (runs() / "results.csv").string();
  ASSERT_THAT(merge, testing::Contains(results));
  EXPECT_EQ(Run(merge), 0) << error;
  EXPECT_EQ(error, "note: " + results + " is a file, not a run, and is left out\n");
  EXPECT_EQ(Run({"merge", "-o", (folder.path() / "none").string(), results}), 2);
  EXPECT_THAT(error, HasSubstr("error: no runs in the given folders\n"));
}

TEST_F(CommandMessages, EachShardIsResumedByItsName) {
  const std::string failing = "sim:base=0,skill=1,error=1";
  for (const char* shard : {"1/2", "2/2"}) {
    EXPECT_EQ(Eval({"--shard", shard}, failing), 3);
    EXPECT_THAT(out, HasSubstr(fmt::format(" · shard {} of 2\n", shard[0])));
  }
  EXPECT_EQ(Run({"runs", "-a", "-d", runs().string()}), 0);
  for (const fs::path& run : FindRuns(runs())) {
    const int shard = LoadPlan(run)->shard.index + 1;
    const std::string name = run.filename().string();
    EXPECT_THAT(out, HasSubstr(fmt::format("{} shard {}/2", name, shard)));
  }
  for (const fs::path& run : FindRuns(runs())) {
    EXPECT_EQ(Eval({"--resume", run.filename().string()}, failing), 3);
    EXPECT_THAT(out, HasSubstr(fmt::format("shard {} of 2\n", LoadPlan(run)->shard.index + 1)));
  }
}

TEST_F(CommandMessages, TimeOutsAreCountedAndTakeTheWordBack) {
  const std::string model = "sim:base=0.6,skill=0.6,lost=0.5,seed=1";
  ASSERT_EQ(Eval({"--runs", "150", "--json"}, model), 0) << error;
  const Json student = ParseJson(out, "out")->at("students").at(0);
  EXPECT_EQ(student.at("verdict"), "undecided");
  EXPECT_EQ(student.at("undecided_because"), "errors");
  EXPECT_EQ(student.at("verdict_without_errors"), "helps");
  const int lost = student.at("with_skill").at("errors_by_kind").at("timeout");
  EXPECT_EQ(student.at("with_skill").at("attempts"), 300 + lost);
  EXPECT_EQ(student.at("baseline").at("attempts"), 300);
  ASSERT_EQ(Eval({"--runs", "150"}, model), 0);  // from the cache, which keeps the failed attempts
  EXPECT_THAT(out, HasSubstr("undecided because of errors"));
  EXPECT_THAT(out, HasSubstr(fmt::format(
                       "{} timeouts with the skill; had they been failures, there would be no verdict", lost)));
  EXPECT_THAT(out, HasSubstr(fmt::format("with skill: {} of {} requests, repeats included, failed", lost, 300 + lost)));
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
  EXPECT_THAT(error, HasSubstr("error: writing a skill needs a teacher model; each of these works:\n"
                               "  upskill generate 'Add numbers' -m desk:desk\n"));
  EXPECT_THAT(error, AllOf(HasSubstr("ANTHROPIC_API_KEY"), HasSubstr("-m 'cmd:claude -p'\n"), HasSubstr("-m opus\n"),
                           HasSubstr("--base-url http://localhost:8080/v1\n")));
  EXPECT_EQ(Run({"generate", "--from", skill(), "--runs-dir", runs().string()}), 2);
  EXPECT_THAT(error, HasSubstr("-m 'cmd:claude -p'\n"));
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
  ASSERT_EQ(Run({"selftest", "--runs", "10", "--cases", "2", "--rounds", "1"}), 0) << error;
  EXPECT_THAT(out, AllOf(StartsWith("10 runs per line"),
                         EndsWith("passed: false verdicts are not significantly more frequent than 5 % (alpha)\n")));
  ASSERT_EQ(Run({"selftest", "--help"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("--simulations N"), Not(HasSubstr("--runs"))));
}

TEST_F(CommandMessages, NotesOfSeveralModelsFollowABlankLine) {
  ASSERT_EQ(Run({"eval", skill(), "-m", kStudent, "-m", "sim:base=0,skill=1,seed=3", "--runs-dir", runs().string()}), 0)
      << error;
  EXPECT_THAT(out, HasSubstr(fmt::format("\n\n{}: output ", kStudent)));
}

TEST_F(CommandMessages, EvalNamesAWrongAnswerThatIsNone) {
  const std::string file =
      folder.Write("w.json", R"([{"input": "a", "expected": {"contains": "x"}, "wrong": [["b"]]}])").string();
  EXPECT_EQ(Run({"eval", skill(), "-m", kStudent, "-t", file, "--runs-dir", runs().string()}), 2);
  EXPECT_THAT(error, HasSubstr("w.json:1: case 1: \"wrong\" entry 1: it is a list; an entry is {\"name\": "));
}

TEST_F(CommandMessages, HelpPointsToPages) {
  for (const char* name : {"slurm", "activation", "workspaces"}) {
    EXPECT_EQ(Run({"help", name}), 0) << error;
    EXPECT_THAT(out, AllOf(HasSubstr(": docs/"), HasSubstr(".md\n\n  upskill eval SKILL --"))) << name;
  }
}

TEST_F(CommandMessages, BenchmarkDocumentsTheOptionOfItsResumeCommand) {
  EXPECT_EQ(Run({"benchmark", skill(), "-m", "sim:base=1,error=0.9", "-o", runs().string()}), 3);
  EXPECT_THAT(error, HasSubstr(" --runs-dir " + runs().string()));
  ASSERT_EQ(Run({"benchmark", "--help"}), 0);
  EXPECT_THAT(out, HasSubstr("-d, --runs-dir DIR"));
}

}  // namespace
}  // namespace upskill

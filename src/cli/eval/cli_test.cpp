// SPDX-License-Identifier: Apache-2.0
// Whole command lines in process, with simulated students.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "eval/journal/journal.h"
#include "support/command_line.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kSkill = "---\nname: arithmetic\ndescription: How to add.\n---\nAdd the numbers.\n";
constexpr const char* kCases = R"([
  {"id": "one", "input": "one and one", "expected": {"contains": "number 2"}},
  {"id": "two", "input": "two and two", "expected": {"contains": "number 4"}},
  {"id": "three", "input": "three and three", "expected": {"contains": "number 6"}}])";
const std::string kGood = "sim:base=0,skill=1";

class Cli : public CommandLineTest {
 protected:
  Cli() {
    folder.Write("skills/arithmetic/SKILL.md", kSkill);
    folder.Write("skills/arithmetic/tests.json", kCases);
  }

  // eval of the skill with `more` arguments.
  int Eval(std::vector<std::string> more, const std::string& model = kGood) {
    std::vector<std::string> arguments = {"eval", skill(), "--runs-dir", runs().string()};
    if (!model.empty()) arguments.insert(arguments.end(), {"-m", model});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  std::string skill() const { return (folder.path() / "skills/arithmetic").string(); }
};

TEST_F(Cli, HelpOfEveryCommand) {
  EXPECT_EQ(Run({"--help"}), 0);
  for (const char* command : {"eval", "benchmark", "runs", "list"}) EXPECT_THAT(out, HasSubstr(command));
  EXPECT_THAT(out, HasSubstr("Exit codes"));
  for (const char* command : {"eval", "benchmark", "runs", "plot", "list"}) {
    EXPECT_EQ(Run({command, "--help"}), 0) << command;
    EXPECT_THAT(out, HasSubstr("--json")) << command;
    EXPECT_THAT(error, IsEmpty());
  }
}

TEST_F(Cli, Version) {
  EXPECT_EQ(Run({"--version"}), 0);
  EXPECT_THAT(out, StartsWith("upskill "));
}

TEST_F(Cli, UsageErrors) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"frobnicate"},
                                             {"eval"},
                                             {"eval", skill(), "--frobnicate"},
                                             {"list", "extra"},
                                             {"eval", skill(), "--runs", "0"},
                                             {"eval", skill(), "-j", "0"},
                                             {"eval", skill(), "--temperature", "hot"},
                                             {"eval", skill(), "--color", "pink"},
                                             {"benchmark", skill()},
                                             {"runs", "--metric", "joy"},
                                             {"eval", skill(), "-m"}}) {
    EXPECT_EQ(Run(arguments), 2) << fmt::format("{}", fmt::join(arguments, " "));
    EXPECT_THAT(error, AllOf(StartsWith("error: "), HasSubstr("--help")));
    EXPECT_THAT(out, IsEmpty());
  }
  EXPECT_EQ(Run({"eval", skill(), "--evil\x1b[2J"}), 2);
  EXPECT_THAT(error, Not(HasSubstr("\x1b")));
}

TEST_F(Cli, EvalEndToEnd) {
  EXPECT_EQ(Eval({"--runs", "2"}), 0) << error;
  EXPECT_THAT(out,
              AllOf(HasSubstr("arithmetic · skill about 6 tokens · 3 cases × 2 rounds × 2 arms = 12 cells"),
                    HasSubstr("model  sim:base=0,skill=1 (simulated"), HasSubstr("  0 %   0/6\n"),
                    HasSubstr("100 %   6/6"), HasSubstr("+100 points (likely "), HasSubstr("helps on these 3 cases;"),
                    HasSubstr("\nUse sim:base=0,skill=1 with this skill on these 3 cases: 6 of 6 answers passed"),
                    HasSubstr("run 20")));
  EXPECT_THAT(out, AllOf(Not(HasSubstr("from the cache")), Not(HasSubstr("\x1b"))));
  const std::vector<fs::path> found = FindRuns(runs());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(ReadJournal(found[0])->samples, SizeIs(12));
  EXPECT_THAT(out, HasSubstr(found[0].string()));
}

TEST_F(Cli, TheSecondEvalComesFromTheCache) {
  ASSERT_EQ(Eval({}), 0);
  const std::string first = FindRuns(runs())[0].filename().string();
  ASSERT_EQ(Eval({}), 0);
  EXPECT_THAT(out, HasSubstr("6 of 6 cells from the cache (run " + first + "); no requests were sent"));
  EXPECT_THAT(out, HasSubstr("+100 points"));
  ASSERT_EQ(Eval({"--runs", "2"}), 0);
  EXPECT_THAT(out, HasSubstr("6 of 12 cells from the cache (run " + first + ")\n"));
  ASSERT_EQ(Eval({"--no-cache"}), 0);
  EXPECT_THAT(out, Not(HasSubstr("from the cache")));
  EXPECT_THAT(FindRuns(runs()), SizeIs(4));
}

TEST_F(Cli, EvalJson) {
  ASSERT_EQ(Eval({"--json", "-v"}), 0);
  const Json json = OutAsJson();
  for (const char* key : {"run", "skill", "cases", "rounds", "students", "complete"})
    EXPECT_TRUE(json.contains(key)) << key;
  EXPECT_EQ(json.at("complete"), true);
  const Json& student = json.at("students").at(0);
  for (const char* key : {"model", "verdict", "e_value", "lift", "lift_low", "lift_high", "baseline", "with_skill",
                          "tokens", "cost_usd", "cells_skipped", "cells_from_cache"}) {
    EXPECT_TRUE(student.contains(key)) << key;
  }
  EXPECT_EQ(student.at("lift"), 1.0);
  EXPECT_EQ(student.at("cells_from_cache"), 0);
  EXPECT_EQ(student.at("baseline").at("rate"), 0.0);
  ASSERT_EQ(Eval({"--json"}), 0);
  EXPECT_EQ(OutAsJson().at("students").at(0).at("cells_from_cache"), 6);
}

TEST_F(Cli, NoBaseline) {
  ASSERT_EQ(Eval({"--no-baseline", "--json"}), 0);
  EXPECT_TRUE(OutAsJson().at("students").at(0).at("baseline").is_null());
  EXPECT_TRUE(OutAsJson().at("students").at(0).at("lift").is_null());
  ASSERT_EQ(Eval({"--no-baseline"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("1 arm = 3 cells"), Not(HasSubstr("baseline"))));
}

TEST_F(Cli, NoLogRunsLeavesNothing) {
  ASSERT_EQ(Eval({"--no-log-runs"}), 0);
  EXPECT_FALSE(fs::exists(runs()));
  EXPECT_THAT(out, AllOf(HasSubstr("+100 points"), Not(HasSubstr("run 2026"))));
  ASSERT_EQ(Eval({"--no-log-runs", "--json"}), 0);
  EXPECT_TRUE(OutAsJson().at("run").is_null());
}

TEST_F(Cli, SeveralModels) {
  ASSERT_EQ(Eval({"-m", "sim:base=1,skill=0", "--json"}), 0);
  const Json json = OutAsJson();
  ASSERT_EQ(json.at("students").size(), 2U);
  EXPECT_EQ(json.at("students").at(0).at("lift"), 1.0);
  EXPECT_EQ(json.at("students").at(1).at("lift"), -1.0);
  ASSERT_EQ(Eval({"-m", "sim:base=1,skill=0"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("× 2 models = 12 cells"), HasSubstr("100 % → 0 %  -100 (")));
}

TEST_F(Cli, TheSameModelTwiceIsRefused) {
  EXPECT_EQ(Eval({"-m", kGood}), 2);
  EXPECT_THAT(error, HasSubstr("are the same"));
  EXPECT_FALSE(fs::exists(runs()));
}

TEST_F(Cli, VerboseShowsFailedChecks) {
  ASSERT_EQ(Eval({"-v"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("two · two and two"), HasSubstr("0 of 1 passed"),
                         HasSubstr("1× contains \"number 4\": not found"), HasSubstr("│ I do not know.")));
  ASSERT_EQ(Eval({}), 0);
  EXPECT_THAT(out, Not(HasSubstr("missing")));
}

TEST_F(Cli, Colours) {
  terminal = true;
  ASSERT_EQ(Eval({}), 0);
  EXPECT_THAT(out, HasSubstr("\x1b[1m"));
  variables["NO_COLOR"] = "1";
  ASSERT_EQ(Eval({}), 0);
  EXPECT_THAT(out, Not(HasSubstr("\x1b")));
  ASSERT_EQ(Eval({"--color", "always"}), 0);
  EXPECT_THAT(out, HasSubstr("\x1b[1m"));
  variables.clear();
  variables["UPSKILL_CONFIG"] = (folder.path() / "config.yaml").string();
  ASSERT_EQ(Eval({"--color", "never"}), 0);
  EXPECT_THAT(out, Not(HasSubstr("\x1b")));
  terminal = false;
  ASSERT_EQ(Eval({}), 0);
  EXPECT_THAT(out, Not(HasSubstr("\x1b")));
}

TEST_F(Cli, QuietSaysNothingOnStderr) {
  folder.Write("skills/arithmetic/tests.json", R"([{"input": "say yes", "expected": {"contains": "yes"}}])");
  terminal = true;
  ASSERT_EQ(Eval({}), 0);
  EXPECT_THAT(error, AllOf(HasSubstr("warning: "), HasSubstr("occurs in the input"), HasSubstr("\r\x1b[K")));
  ASSERT_EQ(Eval({"-q"}), 0);
  EXPECT_THAT(error, IsEmpty());
}

TEST_F(Cli, ErrorsLeaveARunIncomplete) {
  const std::string model = "sim:base=1,error=1";
  EXPECT_EQ(Eval({}, model), 3);
  const std::string run = FindRuns(runs())[0].filename().string();
  EXPECT_THAT(error, HasSubstr(fmt::format("0 of 6 cells answered, 6 unanswered (6 with errors). Continue with:\n"
                                           "  upskill eval {} -m {} --runs-dir {} --resume {}\n",
                                           skill(), model, runs().string(), run)));
  EXPECT_THAT(out, AllOf(HasSubstr("3 errors"), HasSubstr("–")));
  EXPECT_EQ(Eval({"--resume", "latest"}, model), 3);
  EXPECT_THAT(FindRuns(runs()), SizeIs(1));
  EXPECT_EQ(Eval({"--json", "--no-log-runs"}, model), 3);
  EXPECT_EQ(OutAsJson().at("complete"), false);
  EXPECT_TRUE(OutAsJson().at("students").at(0).at("baseline").at("rate").is_null());
  EXPECT_THAT(error, Not(HasSubstr("--resume")));  // nothing was stored that could go on
}

TEST_F(Cli, TheResumeLineIsForAShell) {
  fs::rename(skill(), folder.path() / "my skill");
  EXPECT_EQ(Run({"eval", (folder.path() / "my skill").string(), "-m", "sim:error=1", "--runs-dir",
                 (folder.path() / "it's").string()}),
            3);
  EXPECT_THAT(error, AllOf(HasSubstr("upskill eval '" + (folder.path() / "my skill").string() + "' -m sim:error=1"),
                           HasSubstr("it'\\''s'")));
}

TEST_F(Cli, AnInterruptedRunGoesOn) {
  stop = 1;
  EXPECT_EQ(Eval({}), 130);
  EXPECT_THAT(error, AllOf(HasSubstr("stopping"), HasSubstr("0 of 6 cells answered, 6 unanswered. Continue with:")));
  stop = 0;
  EXPECT_EQ(Eval({"--resume"}), 0) << error;
  EXPECT_THAT(out, HasSubstr("+100 points"));
  EXPECT_THAT(FindRuns(runs()), SizeIs(1));
  EXPECT_EQ(Eval({"--resume", "latest"}), 0);
  EXPECT_THAT(out, HasSubstr("6 of 6 cells from this run; no requests were sent"));
  EXPECT_THAT(ReadJournal(FindRuns(runs())[0])->samples, SizeIs(6));
}

TEST_F(Cli, ResumeRefusesWhatDoesNotFit) {
  EXPECT_EQ(Eval({"--resume", "latest"}), 2);
  EXPECT_THAT(error, HasSubstr("no run to resume in " + runs().string() + "; leave out --resume to start one"));
  ASSERT_EQ(Eval({}), 0);
  folder.Write("skills/other/SKILL.md", "---\nname: other\ndescription: d\n---\nbody\n");
  EXPECT_EQ(
      Run({"eval", (folder.path() / "skills/other").string(), "--runs-dir", runs().string(), "--resume", "latest"}), 2);
  EXPECT_THAT(error, HasSubstr("measures the skill 'arithmetic', not 'other'"));
  folder.Write("skills/arithmetic/SKILL.md", std::string(kSkill) + "More.\n");
  EXPECT_EQ(Eval({"--resume", "latest"}), 0);
  EXPECT_THAT(error, HasSubstr("the skill has changed"));
  folder.Write("runs/" + FindRuns(runs())[0].filename().string() + "/plan.json", "{\"schema\": 99}");
  EXPECT_EQ(Eval({"--resume", "latest"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("plan.json"), HasSubstr("schema 99")));
}

TEST_F(Cli, ResumeIgnoresNoOption) {
  ASSERT_EQ(Eval({}), 0);
  EXPECT_EQ(Eval({"--resume", "latest", "--no-baseline"}), 2);
  EXPECT_THAT(error, HasSubstr("--no-baseline"));
  EXPECT_EQ(Eval({"--resume", "latest", "--no-log-runs"}), 2);
  EXPECT_THAT(error, HasSubstr("can't be combined with --no-log-runs"));
  EXPECT_EQ(Eval({"--resume", "latest", "--log-runs"}), 0) << error;
}

TEST_F(Cli, EvalErrors) {
  EXPECT_EQ(Run({"eval", (folder.path() / "none").string()}), 2);
  EXPECT_THAT(error, HasSubstr("No such file or directory"));
  for (const auto& [model, message] :
       {std::pair("gpt-99", "unknown model 'gpt-99'; if a server of yours has it, add --base-url URL;"),
        {"agent:codex", "no 'codex' in PATH"},
        {"sim:base=0.5?threads=2", "after the colon"},
        {"llama:/none/x.gguf", "/none/x.gguf"},
        {"x.gguf?speed=9", "unknown setting 'speed'"},
        {"x.gguf?threads=0", ""}}) {
    EXPECT_EQ(Eval({}, model), 2);
    EXPECT_THAT(error, HasSubstr(message));
  }
  EXPECT_EQ(Eval({"-t", folder.Write("bad.json", "[1,\n").string()}), 2);
  EXPECT_THAT(error, HasSubstr("bad.json:2:1"));
  EXPECT_EQ(Run({"eval", skill(), "-m", kGood, "--runs-dir", (folder.path() / "config.yaml" / "runs").string()}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("the runs folder: "), HasSubstr("Not a directory"), Not(HasSubstr("ledger"))));
  EXPECT_FALSE(fs::exists(runs()));
}

TEST_F(Cli, AnotherFileOfCases) {
  const fs::path tests =
      folder.Write("more.json", R"({"tests": [{"input": "q", "expected": {"contains": "answer"}}]})");
  ASSERT_EQ(Eval({"-t", tests.string(), "--json"}), 0);
  EXPECT_EQ(OutAsJson().at("cases"), 1);
}

TEST_F(Cli, ACaseThatNoSimulatedStudentCanPass) {
  folder.Write("skills/arithmetic/tests.json", R"([
    {"input": "a", "checks": [{"type": "regex", "pattern": "x"}]}, {"input": "b", "checks": [{"type": "regex", "pattern": "y"}]},
    {"input": "c", "checks": [{"type": "regex", "pattern": "z"}]}, {"input": "d", "checks": [{"type": "regex", "pattern": "w"}]}])");
  EXPECT_EQ(Eval({"-j", "1"}, "sim:base=1,skill=1"), 3);
  EXPECT_THAT(error, AllOf(HasSubstr("error: model sim:base=1,skill=1: sim: no passing answer"),
                           HasSubstr("8 unanswered (3 with errors)")));
}

TEST_F(Cli, BenchmarkPutsTheTableFirst) {
  ASSERT_EQ(Run({"benchmark", skill(), "-m", kGood, "-o", runs().string()}), 0);
  EXPECT_THAT(out, HasSubstr("3 cases × 3 rounds × 2 arms = 18 cells"));
  EXPECT_LT(out.find("pass rate"), out.find("█"));
  ASSERT_EQ(Eval({}), 0);
  EXPECT_GT(out.find("pass rate"), out.find("█"));
}

TEST_F(Cli, Configuration) {
  folder.Write("config.yaml",
               fmt::format("eval_model: 'sim:base=0,skill=1'\nskills_dir: {0}/skills\nruns_dir: {0}/runs\nunknown: 1\n",
                           folder.path().string()));
  ASSERT_EQ(Run({"eval", skill()}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("model  sim:base=0,skill=1"), Not(HasSubstr("no -m given"))));
  EXPECT_THAT(FindRuns(runs()), SizeIs(1));
  ASSERT_EQ(Run({"list"}), 0);
  EXPECT_THAT(out, HasSubstr("arithmetic"));
  ASSERT_EQ(Run({"runs"}), 0);
}

TEST_F(Cli, ConfigurationErrors) {
  folder.Write("config.yaml", "eval_model: x\nskills_dir: [a, b\nruns_dir: }\n");
  EXPECT_EQ(Run({"list"}), 2);
  EXPECT_THAT(error, testing::ContainsRegex("config.yaml:[23]:[0-9]+: "));
  for (const char* value : {"0", "many", "51", "1.5", "[2]"}) {
    folder.Write("config.yaml", fmt::format("eval_model: x\nmax_refine_attempts: {}\n", value));
    EXPECT_EQ(Run({"list"}), 2) << value;
    EXPECT_THAT(error, HasSubstr("config.yaml:2:22: max_refine_attempts must be a whole number from 1 to 50")) << value;
  }
  folder.Write("config.yaml", "- a\n- b\n");
  EXPECT_EQ(Run({"runs"}), 2);
  EXPECT_THAT(error, HasSubstr("expected a mapping of keys to values"));
  variables["UPSKILL_CONFIG"] = "/none/\x1b.yaml";
  EXPECT_EQ(Eval({}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("UPSKILL_CONFIG names /none/"), Not(HasSubstr("\x1b"))));
  variables["UPSKILL_CONFIG"] = folder.path().string();
  EXPECT_EQ(Eval({}), 2);
  EXPECT_THAT(error, HasSubstr("Is a directory"));
}

TEST_F(Cli, List) {
  folder.Write("skills/broken/SKILL.md", "no frontmatter");
  folder.Write("skills/notes.txt", "no skill");
  const std::string dir = (folder.path() / "skills").string();
  ASSERT_EQ(Run({"list", "-d", dir}), 0);
  EXPECT_THAT(out, StartsWith(dir + "\n├── arithmetic · about 6 tokens · 3 cases\n│   How to add.\n└── broken · "));
  EXPECT_THAT(out, HasSubstr("broken · can't be read\n    " + dir.substr(0, 20)));
  EXPECT_THAT(error, IsEmpty());
  ASSERT_EQ(Run({"list", "-d", dir, "-v"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("about 6 tokens · 3 cases"), HasSubstr("folder " + dir + "/arithmetic")));
  ASSERT_EQ(Run({"list", "-d", dir, "--json"}), 0);
  const Json json = OutAsJson();
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json.at(0).at("name"), "arithmetic");
  EXPECT_EQ(json.at(0).at("cases"), 3);
  EXPECT_TRUE(json.at(1).contains("error"));
  EXPECT_EQ(Run({"list", "-d", (folder.path() / "none").string()}), 1);
  EXPECT_THAT(error, HasSubstr("not found; name another with -d DIR"));
  fs::create_directory(folder.path() / "empty");
  EXPECT_EQ(Run({"list", "-d", (folder.path() / "empty").string()}), 0);
  EXPECT_THAT(error, HasSubstr("no skills in"));
}

TEST_F(Cli, Runs) {
  EXPECT_EQ(Run({"runs", "-d", runs().string()}), 1);
  EXPECT_THAT(error, AllOf(HasSubstr("not found; name another with -d DIR"), HasSubstr("upskill eval")));
  fs::create_directory(runs());
  EXPECT_EQ(Run({"runs", "-d", runs().string()}), 0) << "an empty list, as of `list` and `trace find`";
  EXPECT_THAT(error, HasSubstr("no runs in"));
  EXPECT_THAT(out, IsEmpty());
  ASSERT_EQ(Eval({}), 0);
  ASSERT_EQ(Eval({"-m", "sim:base=1,skill=0"}), 0);
  const auto show = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"runs", "-d", runs().string()});
    return Run(more);
  };
  ASSERT_EQ(show({}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("arithmetic\n"), HasSubstr("+100 points"), HasSubstr("-100 points")));
  ASSERT_EQ(show({"-a"}), 0);
  EXPECT_THAT(out, AllOf(StartsWith("run "), HasSubstr("100 % (3/3)")));
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 4);
  ASSERT_EQ(show({"--metric", "tokens"}), 0);
  EXPECT_THAT(out, HasSubstr("tokens per answer"));
  ASSERT_EQ(show({"--csv", "-"}), 0);
  EXPECT_THAT(out, StartsWith("run,created,skill,model,arm,"));
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 7);
  const fs::path csv = folder.path() / "runs.csv";
  ASSERT_EQ(show({"--csv", csv.string()}), 0);
  EXPECT_THAT(out, HasSubstr("3 rows written"));
  EXPECT_THAT(*ReadFile(csv), StartsWith("run,created"));
  EXPECT_EQ(show({"--csv", (csv / "below").string()}), 2);
  ASSERT_EQ(show({"--json"}), 0);
  EXPECT_EQ(OutAsJson().size(), 2U);
  EXPECT_EQ(OutAsJson().at(1).at("students").size(), 2U);
  ASSERT_EQ(Run({"plot", "-d", runs().string()}), 0);
}

TEST_F(Cli, RunsFilters) {
  ASSERT_EQ(Eval({}), 0);
  ASSERT_EQ(Eval({}, "sim:base=1,skill=0"), 0);
  const auto show = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"runs", "-d", runs().string(), "--json"});
    EXPECT_EQ(Run(more), 0);
    return OutAsJson();
  };
  const Json only = show({"-m", kGood});
  ASSERT_EQ(only.size(), 1U);
  EXPECT_EQ(only.at(0).at("students").at(0).at("model"), kGood);
  EXPECT_EQ(show({"-s", "arithmetic"}).size(), 2U);
  EXPECT_EQ(show({"-s", "other"}).size(), 0U);
  EXPECT_EQ(show({"-s", "other", "-s", "arithmetic", "-m", kGood, "-m", "sim:base=1,skill=0"}).size(), 2U);
  EXPECT_EQ(Run({"runs", "-d", runs().string(), "-m", "none"}), 0);
}

TEST_F(Cli, DamagedRunsAreNamedAndLeftOut) {
  ASSERT_EQ(Eval({}), 0);
  const std::string good = FindRuns(runs())[0].filename().string();
  folder.Write("runs/evil\x1b[2J-0001/plan.json", "{");
  std::string lines = *ReadFile(runs() / good / "samples.jsonl");
  folder.Write("runs/" + good + "/samples.jsonl", "damaged\n" + lines);
  ASSERT_EQ(Run({"runs", "-d", runs().string()}), 0);
  EXPECT_THAT(error,
              AllOf(HasSubstr("warning: skipped: "), HasSubstr("1 line of samples.jsonl"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(out, HasSubstr("+100 points"));
}

TEST_F(Cli, HostileNamesNeverReachTheTerminal) {
  fs::create_directory(folder.path() / "s");
  folder.Write("s/SKILL.md", "---\nname: \"evil\\e[2J\"\ndescription: \"d\\e[2J\"\n---\nbody\n");
  folder.Write("s/tests.json",
               R"([{"id": "\u001b[2J", "input": "i\u001b[2J", "expected": {"contains": "\u001b[2Jx"}}])");
  const int code = Run({"eval", (folder.path() / "s").string(), "-m", kGood, "--runs-dir", runs().string(), "-v"});
  EXPECT_THAT(out + error, Not(HasSubstr("\x1b")));
  if (code != 2) {
    EXPECT_EQ(Run({"runs", "-d", runs().string(), "-a"}), 0);
    EXPECT_THAT(out + error, Not(HasSubstr("\x1b")));
  }
  Run({"list", "-v", "-d", folder.path().string()});
  EXPECT_THAT(out + error, Not(HasSubstr("\x1b")));
}

TEST_F(Cli, TheEmbeddedModelIsTheDefault) {
  variables["UPSKILL_EMBEDDED_MODEL"] = "/none/embedded.gguf";
  EXPECT_EQ(Eval({}, ""), 2);
  EXPECT_THAT(error, HasSubstr("/none/embedded.gguf"));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
// Gates and contrasts as a user sees them: exit codes, messages, JSON, and what --resume remembers.
#include <fmt/format.h>
#include <gmock/gmock.h>

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
using ::testing::Not;

const std::string kGains = "sim:base=0,skill=1,previous=1";

class EvalGate : public CommandLineTest {
 protected:
  EvalGate() {
    folder.Write("skills/adding/SKILL.md", "---\nname: adding\ndescription: How to add.\n---\nAdd the numbers.\n");
    folder.Write("old/adding/SKILL.md", "---\nname: adding\ndescription: How to add.\n---\nAdd.\n");
    Json cases = Json::array();
    for (int i = 0; i < 12; ++i) {
      cases.push_back({{"id", fmt::format("case {}", i)},
                       {"input", fmt::format("{} and {}", i, i)},
                       {"expected", {{"contains", fmt::format("number {}", 2 * i)}}}});
    }
    folder.Write("skills/adding/tests.json", DumpJson(cases));
  }

  int Eval(std::vector<std::string> more, const std::vector<std::string>& models = {kGains}) {
    std::vector<std::string> command = {"eval", (folder.path() / "skills/adding").string(), "--runs-dir",
                                        runs().string()};
    for (const std::string& model : models) command.insert(command.end(), {"-m", model});
    command.insert(command.end(), more.begin(), more.end());
    return Run(command);
  }

  std::string old_version() const { return (folder.path() / "old/adding").string(); }
};

// A skill that loses against the previous version used to pass the gate.
TEST_F(EvalGate, TheComparisonWithThePreviousVersionCounts) {
  const std::vector<std::string> worse = {"sim:base=0,skill=0.5,previous=1"};
  EXPECT_EQ(Eval({"--against", old_version(), "--runs", "5", "--gate", "not-hurts:*"}, worse), 1);
  EXPECT_THAT(error, AllOf(HasSubstr("holds  not-hurts:* · "), HasSubstr(" vs baseline: "), HasSubstr("FAILS"),
                           HasSubstr(" vs previous: -")));
  EXPECT_EQ(Eval({"--against", old_version(), "--runs", "5", "--gate", "not-hurts:* vs baseline"}, worse), 0) << error;
  EXPECT_EQ(Eval({"--gate", "helps:* vs previous"}, worse), 2);
  EXPECT_THAT(error, HasSubstr("the run has no arm 'previous'; add --against DIR"));
}

// They were an error, or said to need more rounds.
TEST_F(EvalGate, EqualVersionsCostNothingAndHold) {
  folder.Write("old/adding/SKILL.md", "---\nname: adding\ndescription: Adding.\n---\nAdd the numbers.\n");
  const std::string gate =
      "helps:* vs baseline; not-hurts:* vs previous; lift vs previous>-1; tokens vs previous<+1%; no-effect:* vs "
      "previous; not-worse:" +
      kGains + "+skill vs " + kGains + "+previous";
  EXPECT_EQ(Eval({"--against", old_version(), "--gate", "helps:* vs baseline; not-hurts:* vs previous"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("nothing has changed"));
  EXPECT_THAT(out, HasSubstr("24 cells")) << out;
  EXPECT_EQ(Eval({"--against", old_version(), "--gate", "helps:* vs previous"}), 1);
  EXPECT_EQ(Eval({"--against", old_version(), "--gate", "helps:*"}), 0) << "all that is compared";
  EXPECT_EQ(Eval({"--against", old_version(), "--gate", gate}), 0) << error;
  EXPECT_EQ(Eval({"--resume"}), 0) << "with its gate" << error;
  EXPECT_EQ(Eval({"--against", old_version() + "/SKILL.md", "--gate", gate}), 0) << error;
  EXPECT_EQ(Eval({"--against", old_version(), "--no-baseline", "--stop-when-decided", "--gate", "not-hurts:*"}), 0)
      << error;
  folder.Write("old/adding/SKILL.md", "---\nname: adding\ndescription: Adding.\n---\nAdd the number.\n");
  EXPECT_EQ(Eval({"--against", old_version(), "--gate", "not-hurts:* vs previous"}), 1) << "too few answers";
}

TEST_F(EvalGate, AFolderOfSkillsHasThePreviousVersions) {
  folder.Write("skills/new/SKILL.md", "---\nname: new\ndescription: New.\n---\nNew.\n");
  folder.Write("skills/new/tests.json", *ReadFile(folder.path() / "skills/adding/tests.json"));
  const std::vector<std::string> command = {"eval",
                                            (folder.path() / "skills").string(),
                                            "--runs-dir",
                                            runs().string(),
                                            "-m",
                                            "sim:base=0,skill=0.3,previous=1",
                                            "--runs=5",
                                            "--gate",
                                            "helps:* vs baseline; not-hurts:* vs previous",
                                            "--against"};
  const auto against = [&](const std::string& place) {
    std::vector<std::string> words = command;
    words.push_back((folder.path() / place).string());
    return words;
  };
  EXPECT_EQ(Run(against("old")), 1);
  EXPECT_THAT(error, AllOf(HasSubstr("FAILS  not-hurts:* vs previous"), HasSubstr("new has no earlier version"),
                           HasSubstr("holds  not-hurts:* vs previous · sim:base=0,skill=0.3,previous=1 vs baseline")));
  EXPECT_EQ(Run(against("old/adding")), 2) << "one skill for two";
  EXPECT_EQ(Run({"eval", (folder.path() / "old").string(), "-t", (folder.path() / "skills/adding/tests.json").string(),
                 "--against", (folder.path() / "skills").string(), "--runs-dir", runs().string(), "-m", kGains}),
            0)
      << "a folder with one skill" << error;
  folder.Write("old/again/SKILL.md", "---\nname: adding\ndescription: How to add.\n---\nAdd.\n");
  EXPECT_EQ(Run(against("old")), 2);
  EXPECT_THAT(error, HasSubstr("there are several skills 'adding'"));
  EXPECT_EQ(Run(against("nowhere")), 2);
}

TEST_F(EvalGate, AGateThatCannotHoldCostsNothing) {
  EXPECT_EQ(Eval({"--gate", "pass>90%"}), 2);
  EXPECT_THAT(error, HasSubstr("12 cases × 1 round are too few for it to hold, whatever the answers are; it needs "
                               "--runs 3, or more cases"));
  for (const fs::directory_entry& entry : fs::directory_iterator(runs()))
    EXPECT_FALSE(entry.is_directory()) << "no run was begun: " << entry.path();
  EXPECT_EQ(Eval({"--gate", "pass>0.9"}), 2);
  EXPECT_THAT(error, HasSubstr("write pass>90%"));
  EXPECT_EQ(Eval({"--gate", "not-hurts:*"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("it can only hold if the skill helps"));
}

TEST_F(EvalGate, JsonHasTheGate) {
  EXPECT_EQ(Eval({"--json", "--gate", "lift>10; pass>95%@estimate; tokens<-99%"}), 1);
  const Json gate = OutAsJson().at("gate");
  EXPECT_EQ(gate.at("holds"), false);
  ASSERT_EQ(gate.at("clauses").size(), 3U);
  EXPECT_EQ(gate.at("clauses").at(0).at("clause"), "lift>10");
  EXPECT_EQ(gate.at("clauses").at(0).at("against"), "baseline");
  EXPECT_EQ(gate.at("clauses").at(0).at("holds"), true);
  EXPECT_TRUE(gate.at("clauses").at(1).at("against").is_null());
  EXPECT_EQ(gate.at("clauses").at(2).at("holds"), false);
  EXPECT_EQ(Eval({"--json"}), 0);
  EXPECT_TRUE(OutAsJson().at("gate").is_null());
  EXPECT_EQ(Eval({"--json", "--gate", "lift>10"}, {"sim:error=1"}), 3);
  EXPECT_TRUE(OutAsJson().at("gate").at("holds").is_null());
}

// A bare --resume used to drop the gate and the budget.
TEST_F(EvalGate, ResumeRemembersGateAndLimits) {
  EXPECT_EQ(Eval({"--gate", "hurts:*", "--max-tokens-total", "100"}), 3);
  const fs::path run = FindRuns(runs())[0];
  EXPECT_EQ(LoadPlan(run)->terms.gate, "hurts:*");
  EXPECT_EQ(Eval({"--resume"}), 3);
  EXPECT_THAT(error, HasSubstr(fmt::format("note: as when run {} started: --gate 'hurts:*' --max-tokens-total 100\n",
                                           run.filename().string())));
  EXPECT_EQ(Eval({"--resume", "--max-tokens-total", "1000000"}), 1);
  EXPECT_THAT(error, HasSubstr("FAILS  hurts:*"));
  EXPECT_EQ(Eval({"--resume", "--max-tokens-total", "1000000", "--gate", "helps:*"}), 0) << error;
  // From now on, these are the run's.
  EXPECT_EQ(LoadPlan(run)->terms.gate, "helps:*");
  EXPECT_EQ(LoadPlan(run)->terms.max_tokens, 1'000'000);
  EXPECT_EQ(Eval({"--resume"}), 0) << error;
}

TEST_F(EvalGate, ChoicesOfOneRun) {
  const std::vector<std::string> models = {"sim:base=0,skill=1,seed=1", "sim:base=1,skill=1,seed=2"};
  const std::string clause = fmt::format("not-worse:{}+skill vs {}:10", models[0], models[1]);
  EXPECT_EQ(Eval({"--runs", "4", "--gate", clause}, models), 0) << error;
  EXPECT_THAT(error, HasSubstr("holds  " + clause + ": 0.0 points, at least -"));
  EXPECT_THAT(out, HasSubstr("best value: not shown: "));
  ASSERT_EQ(Run({"compare", "latest", "latest", "-d", runs().string(), "--choices", models[1], models[0] + "+skill",
                 "--margin", "10"}),
            0)
      << error;
  EXPECT_THAT(out, HasSubstr("B is not worse by more than 10 points\n"));
  ASSERT_EQ(Run({"compare", "latest", "latest", "-d", runs().string(), "--choices", models[0], models[0] + "+skill",
                 "--json"}),
            0);
  EXPECT_EQ(OutAsJson().at("contrasts").at(0).at("result"), "better");
  EXPECT_EQ(Run({"compare", "latest", "latest", "-d", runs().string(), "--choices", "kimi", models[0]}), 2);
  EXPECT_THAT(error, HasSubstr("has no model 'kimi'"));
  EXPECT_EQ(Run({"compare", "latest", "latest", "-d", runs().string()}), 2);
  EXPECT_THAT(error, HasSubstr("--choices compares two choices of it"));
}

TEST_F(EvalGate, TheSweetSpotIsTested) {
  const std::vector<std::string> models = {"sim:base=0,skill=1,cost=0.001,seed=1",
                                           "sim:base=1,skill=1,cost=0.1,seed=2"};
  ASSERT_EQ(Eval({"--runs", "20", "--no-cache"}, models), 0) << error;
  EXPECT_THAT(out, HasSubstr("is not worse than any other choice\n  by more than 5 points (95 % sure)"));
  ASSERT_EQ(Run({"runs", "--matrix", "-d", runs().string()}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("best value: "), Not(HasSubstr("not shown: "))));
  ASSERT_EQ(Run({"runs", "--matrix", "-d", runs().string(), "--within", "0.5", "--json"}), 0);
  const Json spot = OutAsJson().at("sweet_spots").at(0);
  EXPECT_TRUE(spot.at("sweet_spot").is_null());
  EXPECT_GT(spot.at("more_rounds").get<int>(), 10);
}

TEST_F(EvalGate, ResumeTakesWhatTheRunWasStartedWithAndNamesWhatDiffers) {
  const std::vector<std::string> same = {
      "--against",  old_version(), "--no-baseline", "--seed",       "3",  "--margin",      "7",  "--mode", "answer",
      "--no-cache", "--shard",     "1/2",           "--max-tokens", "64", "--temperature", "0.3"};
  ASSERT_EQ(Eval(same), 0) << error;
  std::vector<std::string> resumed = same;
  resumed.insert(resumed.end(), {"--resume", "latest"});
  EXPECT_EQ(Eval(resumed), 0) << error;
  const auto differs = [&](std::vector<std::string> option) {
    option.insert(option.end(), {"--resume", "latest"});
    EXPECT_EQ(Eval(option), 2);
    return error;
  };
  EXPECT_THAT(differs({"--seed", "4"}), HasSubstr("--seed 3, not 4"));
  EXPECT_THAT(differs({"--max-tokens", "1024"}), HasSubstr("--max-tokens 64, not 1024"));
  EXPECT_THAT(differs({"--placebo"}), HasSubstr("--placebo"));
  EXPECT_THAT(differs({"--against", (folder.path() / "skills/adding").string()}), HasSubstr("--against"));
}

}  // namespace
}  // namespace upskill

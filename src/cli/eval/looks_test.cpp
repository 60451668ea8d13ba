// SPDX-License-Identifier: Apache-2.0
// Looks at verdicts are counted: whole command lines with simulated students.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "eval/journal/journal.h"
#include "eval/plan/plan.h"
#include "support/command_line.h"
#include "support/generate_fixture.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class Looks : public CommandLineTest {
 protected:
  Looks() {
    Json cases = Json::array();
    for (int i = 1; i <= 6; ++i) {
      cases.push_back({{"id", fmt::format("case {}", i)},
                       {"input", fmt::format("question {}", i)},
                       {"expected", {{"contains", fmt::format("answer {}", i)}}},
                       {"split", i <= 4 ? "train" : "test"}});
    }
    folder.Write("skill/tests.json", DumpJson(cases));
    Edit("first");
  }

  void Edit(const std::string& version) {
    folder.Write("skill/SKILL.md", "---\nname: skill\ndescription: How to answer.\n---\nAnswer, " + version + ".\n");
  }

  Json Eval(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        "eval", skill(), "-m", "sim:base=0.3,skill=0.6,seed=1", "--runs-dir", runs().string(), "--runs", "3", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(Run(arguments), 0) << error;
    return OutAsJson();
  }
  int LookOf(const std::vector<std::string>& more = {}) { return Eval(more).at("alpha").at("look").get<int>(); }

  std::string skill() const { return (folder.path() / "skill").string(); }
  fs::path ledger() const { return runs() / "ledger.jsonl"; }
};

TEST_F(Looks, VersionsShareAlpha) {
  const Json first = Eval();
  EXPECT_EQ(first.at("alpha").at("look"), 1);
  EXPECT_EQ(first.at("alpha").at("used"), 0.04);
  EXPECT_EQ(LookOf(), 1) << "the same run again, from the cache";
  Edit("second");
  EXPECT_EQ(LookOf(), 2);
  Edit("third");
  ASSERT_EQ(Run({"eval", skill(), "-m", "sim:base=0.3,skill=0.6,seed=1", "--runs-dir", runs().string()}), 0);
  EXPECT_THAT(
      out,
      HasSubstr("third look at these cases, with the third version of this skill (the last with a verdict: run 2"));
  const std::size_t details = out.find("\ndetails  alpha 0.17 % instead of 5 %");
  ASSERT_NE(details, std::string::npos) << out;
  EXPECT_EQ(out.find("alpha"), out.find("alpha", details)) << "not before the result";
  EXPECT_THAT(out, HasSubstr("4 of 6 cases were used to write this skill; lift on the other 2:"));
}

TEST_F(Looks, OtherSeedsAreCombined) {
  const Json first = Eval();
  const Json second = Eval({"--seed", "5"});
  EXPECT_EQ(second.at("alpha").at("combined_with"), Json::array({first.at("run")}));
  EXPECT_TRUE(second.at("students").at(0).at("combined_e_value").is_number());
}

TEST_F(Looks, AskingAgainIsALook) {
  Eval();
  EXPECT_EQ(LookOf({"--refresh"}), 2);
  EXPECT_EQ(LookOf({"--no-cache"}), 3);
}

// Too few answers for a verdict, which are reused although the checks have changed.
TEST_F(Looks, AtReusedAnswersAreNotCalledLooksAtOthers) {
  const std::vector<std::string> eval = {"eval", skill(), "-m", "cmd:cat", "--runs-dir", runs().string()};
  for (const char* expected : {"first", "second"}) {
    folder.Write("skill/tests.json",
                 DumpJson(Json::array({{{"input", "question"}, {"expected", {{"contains", expected}}}}})));
    ASSERT_EQ(Run(eval), 0) << error;
  }
  EXPECT_THAT(out, AllOf(HasSubstr("second look at these cases"), HasSubstr("2 of 2 cells from the cache"),
                         Not(HasSubstr("other answers")), Not(HasSubstr("new answers"))));
}

// A run with changed checks takes the next seed; the same run again finds those answers in the cache.
TEST_F(Looks, AtChangedChecksMayReuseTheAnswersOfTheNextSeed) {
  Eval();
  Json cases = *ParseJson(*ReadFile(folder.path() / "skill/tests.json"), "tests");
  cases.at(0)["expected"]["contains"] = "answer one";
  folder.Write("skill/tests.json", DumpJson(cases));
  const Json changed = Eval();
  EXPECT_THAT(error, HasSubstr("another seed (1 instead of 0)"));
  EXPECT_EQ(Eval().at("alpha").at("look"), changed.at("alpha").at("look"));
  EXPECT_THAT(error, Not(HasSubstr("new answers")));
}

TEST_F(Looks, NeedAnAnswer) {
  const std::vector<std::string> failing = {"eval", skill(), "-m",         "cmd:false",     "--runs",
                                            "3",    "-q",    "--runs-dir", runs().string(), "--refresh"};
  ASSERT_EQ(Run(failing), 3);
  const Result<Plan> first = LoadPlan(FindRuns(runs()).back());
  ASSERT_EQ(Run(failing), 3);
  const Result<Plan> second = LoadPlan(FindRuns(runs()).back());
  EXPECT_EQ(second->share.look, 1);
  EXPECT_THAT(*ReadFile(ledger()), Not(HasSubstr("\"event\":\"look\"")));
  ASSERT_EQ(Run({"eval", skill(), "-m", "cmd:false", "-q", "--runs-dir", runs().string(), "--resume", first->run}), 3);
  EXPECT_EQ(LoadPlan(runs() / first->run)->share.look, 1);
}

TEST_F(Looks, CanBeIgnored) {
  Eval();
  Edit("second");
  const Json ignored = Eval({"--no-ledger"});
  EXPECT_EQ(ignored.at("alpha").at("look"), nullptr);
  EXPECT_EQ(ignored.at("alpha").at("used"), 0.05);
  EXPECT_EQ(LookOf(), 2);
  Edit("third");
  folder.Write("config.yaml", "ledger: false\n");
  EXPECT_EQ(Eval().at("alpha").at("look"), nullptr);
  folder.Write("config.yaml", "ledger: perhaps\n");
  EXPECT_EQ(Run({"list"}), 2);
  EXPECT_THAT(error, HasSubstr("ledger must be true or false"));
}

TEST_F(Looks, ThatCannotBeCountedStartNoRun) {
  Eval();
  fs::rename(ledger(), folder.path() / "elsewhere");
  fs::create_symlink(folder.path() / "elsewhere", ledger());
  Edit("second");
  EXPECT_EQ(Run({"eval", skill(), "-m", "sim:", "--runs-dir", runs().string()}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("counting this look at the tests"), HasSubstr("symbolic link")));
  std::size_t folders = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs())) folders += entry.is_directory() ? 1 : 0;
  EXPECT_EQ(folders, 1U) << "only the first run's";
}

TEST_F(Looks, WithoutALogTheyLeaveNoTrace) {
  EXPECT_EQ(LookOf({"--no-log-runs"}), 1);
  EXPECT_FALSE(fs::exists(ledger()));
  Eval();
  Edit("second");
  EXPECT_EQ(LookOf({"--no-log-runs"}), 2);
  Edit("third");
  EXPECT_EQ(LookOf(), 2);
}

// Otherwise a damaged ledger would make the error rates look better than they are.
TEST_F(Looks, UnreadableLinesAreTold) {
  Eval();
  {
    std::ofstream file(ledger(), std::ios::app);
    file << "{\"schema\": 1, \"event\": \"start\", \"run\": \"x\", \"rounds\": -3}\n";
  }
  Eval();
  EXPECT_THAT(error, HasSubstr("1 line of " + ledger().string() + " could not be read: earlier looks"));
  EXPECT_EQ(LookOf({"-q"}), 1);
  EXPECT_EQ(error, "");
  fs::remove(ledger());
  fs::create_directory(ledger());
  EXPECT_EQ(Run({"eval", skill(), "-m", "sim:base=0.3", "--runs-dir", runs().string()}), 2);
  EXPECT_THAT(error, HasSubstr("--no-ledger ignores them"));
}

TEST_F(Looks, ComparisonsShareAlpha) {
  const Json run = Eval({"--placebo"});
  EXPECT_EQ(run.at("alpha").at("comparisons"), 2);
  EXPECT_EQ(run.at("alpha").at("used"), 0.02);
}

TEST_F(Looks, AreListed) {
  const std::string run = Eval().at("run");
  EXPECT_EQ(Run({"runs", "--ledger", "--runs-dir", runs().string()}), 0);
  EXPECT_THAT(out, HasSubstr(run));
  EXPECT_EQ(Run({"runs", "--ledger", "--json", "--runs-dir", runs().string()}), 0);
  const Json list = OutAsJson();
  ASSERT_THAT(list, SizeIs(1));
  EXPECT_EQ(list.at(0).at("look"), 1);
  EXPECT_EQ(list.at(0).at("students").at(0).at("complete_rounds"), 3);
}

class LooksOfGenerate : public GenerateCli {
 protected:
  // `alpha` of the verdict on the held-out tests.
  Json AlphaOf(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"Add numbers", "--name", "adding", "--eval-model", "sim:base=0.1,skill=0.9",
                                          "--overwrite", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(GenerateBy(teacher_.url(), arguments), 0) << error;
    const Json document = OutAsJson();
    skill_folder_ = document.at("skill").get<std::string>();
    return document.at("result").at("alpha");
  }

  // What the skill that was just written says.
  Json TestLooks() const {
    return ParseJson(*ReadFile(skill_folder_ / "skill_meta.json"), "meta")->at("metadata").at("test_looks");
  }

  fs::path skill_folder_;
  const TeacherServer teacher_{""};
};

TEST_F(LooksOfGenerate, CanBeIgnored) {
  const fs::path ledger = runs() / "ledger.jsonl";
  const Json first = AlphaOf({"--no-ledger"});
  EXPECT_EQ(first.at("look"), nullptr);
  EXPECT_EQ(first.at("used"), 0.05);
  EXPECT_FALSE(fs::exists(ledger));
  EXPECT_EQ(TestLooks(), 0);
  const Json counted = AlphaOf({});
  EXPECT_EQ(TestLooks(), 1);
  EXPECT_EQ(counted.at("look"), 1) << "the run before left no trace";
  EXPECT_EQ(counted.at("used"), 0.04);
  const Result<std::string> before = ReadFile(ledger);
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(AlphaOf({"--no-ledger"}).at("used"), 0.05);
  EXPECT_EQ(*ReadFile(ledger), *before);
}

TEST_F(Looks, ReportsUseTheShareOfTheRun) {
  Eval();
  Edit("second");
  const Json second = Eval();
  fs::remove(ledger());
  EXPECT_EQ(Run({"report", second.at("run").get<std::string>(), "--format", "json", "--runs-dir", runs().string()}), 0);
  EXPECT_EQ(OutAsJson().at("alpha"), second.at("alpha"));
}

}  // namespace
}  // namespace upskill

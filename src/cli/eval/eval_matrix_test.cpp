// SPDX-License-Identifier: Apache-2.0
// `eval` of several skills, with simulated students.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "eval/journal/journal.h"
#include "eval/journal/run_data.h"
#include "support/command_line.h"
#include "support/git_repository.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class EvalMatrix : public CommandLineTest {
 protected:
  EvalMatrix() {
    for (const std::string name : {"one", "two", "three"}) {
      folder.Write("skills/" + name + "/SKILL.md",
                   fmt::format("---\nname: {}\ndescription: d\n---\nRule {}.\n", name, name));
      folder.Write("skills/" + name + "/tests.json", Cases("question"));
    }
    folder.Write("config.yaml", "runs_dir: " + runs().string() + "\n");
  }

  static std::string Cases(const std::string& question) {
    Json cases = Json::array();
    for (int i = 0; i < 8; ++i)
      cases.push_back({{"input", fmt::format("{} {}", question, i)}, {"expected", {{"contains", "x"}}}});
    return DumpJson(cases);
  }

  std::string Path(const std::string& skill) const { return (folder.path() / "skills" / skill).string(); }
  int Eval(const std::vector<std::string>& skills, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"eval"};
    for (const std::string& skill : skills) arguments.push_back(Path(skill));
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  // Of a run's answers: those that came from another.
  std::size_t Reused(const fs::path& run) {
    const Result<RunData> data = RunData::Read(run);
    EXPECT_TRUE(data.ok());
    std::size_t reused = 0;
    for (const SamplePtr& sample : data->samples()) reused += sample->cached_from.empty() ? 0 : 1;
    return reused;
  }
};

TEST_F(EvalMatrix, EverySkillHasARunAndAllShareTheirBaselines) {
  ASSERT_EQ(Eval({"one", "two", "one/../one"}, {"-m", "sim:base=0,skill=1"}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("skill 1 of 2: " + Path("one")), HasSubstr("skill 2 of 2: " + Path("two")),
                         HasSubstr("helps"), HasSubstr("upskill report ")));
  EXPECT_THAT(out, HasSubstr("✓ 2 of 2 verdicts hold for the whole table"));
  const std::vector<fs::path> found = FindRuns(runs());
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(Reused(found[0]), 0U);
  EXPECT_EQ(Reused(found[1]), 8U) << "the answers without a skill";
}

TEST_F(EvalMatrix, PrintsOneDocument) {
  ASSERT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1", "--json", "-q"}), 0) << error;
  const Json document = OutAsJson();
  EXPECT_THAT(document.at("runs"), SizeIs(2));
  EXPECT_THAT(document.at("not_begun"), SizeIs(0));
  EXPECT_THAT(DumpJson(document), HasSubstr("\"two\""));
}

TEST_F(EvalMatrix, OneBudgetIsForAll) {
  EXPECT_EQ(Eval({"one", "two", "three"}, {"-m", "sim:base=0,skill=1,cost=0.01", "--max-cost", "0.2"}), 3);
  EXPECT_THAT(error, HasSubstr("not begun: " + Path("three") + "; run the same command again to resume"));
  EXPECT_THAT(FindRuns(runs()), SizeIs(2)) << "16 and 8 answers at a cent each don't fit";
  // What is there isn't paid for again.
  EXPECT_EQ(Eval({"one", "two", "three"}, {"-m", "sim:base=0,skill=1,cost=0.01", "--max-cost", "0.2"}), 0) << error;
  EXPECT_THAT(error, HasSubstr(", which lacks answers"));
  EXPECT_THAT(FindRuns(runs()), SizeIs(3)) << "the first is finished, the second goes on, the third is new";
}

TEST_F(EvalMatrix, TheSameCommandMakesNoNewRunsOfFinishedSkills) {
  ASSERT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1"}), 0) << error;
  const std::vector<fs::path> first = FindRuns(runs());
  ASSERT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1"}), 0) << error;
  EXPECT_EQ(FindRuns(runs()), first);
  EXPECT_THAT(out, AllOf(HasSubstr("16 of 16 cells from this run; no requests were sent"), HasSubstr("helps")));
  EXPECT_THAT(error, Not(HasSubstr("goes on")));
  folder.Write("skills/two/tests.json", Cases("another question"));
  ASSERT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1"}), 0) << error;
  EXPECT_THAT(FindRuns(runs()), SizeIs(3)) << "the cases of the second have changed";
  ASSERT_EQ(Eval({"one"}, {"-m", "sim:base=0,skill=1", "--no-cache", "-o", (folder.path() / "t.md").string()}), 0);
  EXPECT_THAT(FindRuns(runs()), SizeIs(4)) << "new answers are asked for";
}

TEST_F(EvalMatrix, WhatHasChangedBeginsAnew) {
  EXPECT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1,cost=0.01", "--max-cost", "0.2"}), 3);
  folder.Write("skills/two/SKILL.md", "---\nname: two\ndescription: d\n---\nAnother rule.\n");
  EXPECT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1,cost=0.01"}), 0) << error;
  EXPECT_THAT(error, Not(HasSubstr("goes on")));
  EXPECT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1,cost=0.01", "--seed", "2", "--max-cost", "0.2"}), 3);
  EXPECT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1,cost=0.01", "--seed", "3"}), 0) << error;
  EXPECT_THAT(error, Not(HasSubstr("goes on"))) << "other samples are asked";
}

TEST_F(EvalMatrix, WritesTheTable) {
  for (const std::string name : {"table.html", "table.md", "table.csv", "table.json"}) {
    const std::string file = (folder.path() / name).string();
    ASSERT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1", "-m", "sim:base=0.5,skill=0.5", "-o", file}), 0)
        << error;
    EXPECT_THAT(out, HasSubstr(file + " written: 2 skills, 2 models"));
    const Result<std::string> text = ReadFile(file);
    ASSERT_TRUE(text.ok());
    EXPECT_THAT(*text, HasSubstr("two"));
  }
  const std::string one = (folder.path() / "one.csv").string();
  ASSERT_EQ(Eval({"one"}, {"-m", "sim:base=0,skill=1", "-o", one}), 0) << error;
  EXPECT_TRUE(fs::exists(one)) << "also of one skill";
  EXPECT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1", "-o", "table.pdf"}), 2);
  EXPECT_THAT(error, HasSubstr("-o table.pdf: can't tell the format from this name"));
  const std::string later = (folder.path() / "later.html").string();
  ASSERT_EQ(Run({"runs", "--matrix", "-o", later}), 0) << error;
  EXPECT_TRUE(fs::exists(later));
}

TEST_F(EvalMatrix, ASkillThatCannotBeMeasuredDoesNotStopTheOthers) {
  fs::remove(folder.path() / "skills/one/tests.json");
  EXPECT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1"}), 2);
  EXPECT_THAT(FindRuns(runs()), SizeIs(1));
  EXPECT_THAT(out, AllOf(HasSubstr("helps"), HasSubstr("could not be measured: " + Path("one"))));
}

TEST_F(EvalMatrix, IsNotResumedAsOneRun) {
  EXPECT_EQ(Eval({"one", "two"}, {"--resume", "latest"}), 2);
  EXPECT_THAT(error, HasSubstr("run the same command again"));
}

TEST_F(EvalMatrix, WhatChangedNeedsARepository) {
  EXPECT_EQ(Eval({"one"}, {"-m", "sim:base=0,skill=1", "--changed-since", "main"}), 2);
  EXPECT_THAT(error, HasSubstr("--changed-since main: " + Path("one") + " isn't in a git repository\n"));
}

TEST_F(EvalMatrix, OnlyWhatChanged) {
  CommitAll(folder.path() / "skills");
  folder.Write("skills/two/SKILL.md", "---\nname: two\ndescription: d\n---\nAnother rule.\n");
  folder.Write("skills/three/references/new.md", "new");
  ASSERT_EQ(Eval({"one", "two", "three"}, {"-m", "sim:base=0,skill=1", "--changed-since", "HEAD"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("2 of 3 skills changed since HEAD"));
  EXPECT_THAT(out, AllOf(Not(HasSubstr(Path("one"))), HasSubstr(Path("two")), HasSubstr(Path("three"))));
  CommitAll(folder.path() / "skills");
  ASSERT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1", "--changed-since", "HEAD"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("0 of 2 skills changed since HEAD"));
  EXPECT_EQ(Eval({"one"}, {"-m", "sim:base=0,skill=1", "--changed-since", "no-such-branch"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("no-such-branch isn't in this clone"), HasSubstr("git fetch")));
  EXPECT_EQ(Eval({"none"}, {"-m", "sim:base=0,skill=1", "--ci", "no-such-branch"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("--ci no-such-branch: no-such-branch isn't in this clone"),
                           HasSubstr("none: No such file or directory")));
}

TEST_F(EvalMatrix, BeforeAllCommitsNothingWasThere) {
  CommitAll(folder.path() / "skills");
  ASSERT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1", "--changed-since", std::string(40, '0')}), 0) << error;
  EXPECT_THAT(error, HasSubstr("2 of 2 skills changed since 0000"));
}

TEST_F(EvalMatrix, ThePreviousVersionsAreInGit) {
  CommitAll(folder.path() / "skills");
  folder.Write("skills/two/SKILL.md", "---\nname: two\ndescription: d\n---\nAnother rule.\n");
  const std::vector<std::string> options = {"-m", "sim:base=0,skill=0.1,previous=1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), options.begin(), options.end());
    return more;
  };
  EXPECT_EQ(Eval({"one", "two"}, with({"--ci", "HEAD"})), 1);
  EXPECT_THAT(error, AllOf(HasSubstr("1 of 2 skills changed since HEAD"), HasSubstr("FAILS  not-regressed"),
                           HasSubstr("100 % →")));
  EXPECT_THAT(error + out, Not(HasSubstr("upskill-previous-"))) << "a folder that is gone";
  EXPECT_EQ(Eval({"one", "two"}, with({"--against", "git:HEAD", "--gate", "not-regressed", "--runs=2"})), 1);
  EXPECT_THAT(error,
              HasSubstr("holds  not-regressed · sim:base=0,skill=0.1,previous=1 vs previous: nothing has changed"));
  EXPECT_EQ(RunGit(folder.path() / "skills", "git status --porcelain"), "M two/SKILL.md") << "git's index is as it was";
  EXPECT_EQ(Eval({"one"}, with({"--against", "git:no-such-branch"})), 2);
  EXPECT_THAT(error, AllOf(HasSubstr(": no-such-branch isn't in this clone"), HasSubstr("git fetch")));
  EXPECT_EQ(Eval({"one"}, with({"--ci", "HEAD", "--against", Path("two")})), 2);
}

TEST_F(EvalMatrix, ARenamedSkillIsComparedWithWhatItWasAndADeletedOneIsNamed) {
  const std::string rules = "Use the second port.\nName the host.\nWrite the report in two sentences.\n";
  folder.Write("skills/two/SKILL.md", "---\nname: two\ndescription: d\n---\n" + rules);
  CommitAll(folder.path() / "skills");
  fs::rename(Path("two"), Path("second"));
  folder.Write("skills/second/SKILL.md", "---\nname: second\ndescription: d\n---\n" + rules + "Be brief.\n");
  fs::remove_all(Path("three"));
  CommitAll(folder.path() / "skills");
  EXPECT_EQ(Eval({"."}, {"-m", "sim:base=0,skill=0.1,previous=1", "--ci", "HEAD~1"}), 1);
  EXPECT_THAT(error, AllOf(HasSubstr("second was named two in HEAD~1"), HasSubstr("FAILS  not-regressed"),
                           HasSubstr("three was deleted since HEAD~1"), Not(HasSubstr("two was deleted"))));
  EXPECT_EQ(Eval({"."}, {"-m", "sim:base=0,skill=0.1,previous=1", "--ci", "HEAD~1", "--json"}), 1);
  const Json gates = Json::parse(out)["gates"];
  ASSERT_EQ(gates.size(), 1U);
  EXPECT_EQ(gates[0]["skill"], "second");
  EXPECT_EQ(gates[0]["gate"]["holds"], false);
  EXPECT_FALSE(gates[0]["broken"].empty());
  fs::remove_all(Path("second"));
  EXPECT_EQ(Eval({"second"}, {"-m", "sim:base=0,skill=1", "--ci", "HEAD"}), 0) << "deleted itself";
  folder.Write("skills/group/README.md", "None yet.");
  folder.Write("skills/group/last/SKILL.md", "---\nname: last\ndescription: d\n---\n" + rules);
  CommitAll(folder.path() / "skills");
  fs::remove_all(Path("group/last"));
  EXPECT_EQ(Eval({"group"}, {"-m", "sim:base=0,skill=1", "--ci", "HEAD"}), 0) << "a folder whose last skill is gone";
}

// What can't be compared must not pass as unchanged.
TEST_F(EvalMatrix, AReferenceIsOneCommit) {
  CommitAll(folder.path() / "skills");
  for (const char* reference : {"", "HEAD..HEAD", "^HEAD", "0", "000"})
    EXPECT_EQ(Eval({"one"}, {"-m", "sim:base=0,skill=1", "--ci", reference}), 2) << reference;
  EXPECT_EQ(Eval({"one"}, {"-m", "sim:base=0,skill=1", "--against", "git:"}), 2);
  EXPECT_EQ(Eval({"no-such-skill"}, {"-m", "sim:base=0,skill=1", "--ci", "HEAD"}), 2);
}

TEST_F(EvalMatrix, WhatChangedElsewhereSinceTheBranchBeganIsNoChange) {
  CommitAll(folder.path() / "skills");
  RunGit(folder.path() / "skills", "git checkout -q -b ahead; echo More. >>one/SKILL.md");
  CommitAll(folder.path() / "skills");
  RunGit(folder.path() / "skills", "git checkout -q main; echo More. >>two/SKILL.md");
  EXPECT_EQ(Eval({"one", "two"}, {"-m", "sim:base=0,skill=1,previous=1", "--ci", "ahead"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("1 of 2 skills changed since ahead"));
}

TEST_F(EvalMatrix, CasesThatWereRemovedAreMeasuredAllTheSame) {
  folder.Write("skills/index/SKILL.md", "---\nname: index\ndescription: d\n---\nA rule.\n");
  folder.Write("skills/index/tests.json", Cases("question"));
  CommitAll(folder.path() / "skills");
  Json cases = Json::parse(Cases("question"));
  cases[0]["expected"]["contains"] = "y";
  cases.erase(cases.begin() + 2, cases.end());
  folder.Write("skills/index/tests.json", DumpJson(cases));
  folder.Write("skills/index/SKILL.md", "---\nname: index\ndescription: d\n---\nAnother rule.\n");
  EXPECT_EQ(Eval({"index"}, {"-m", "sim:base=0,skill=0,previous=1", "--ci", "HEAD"}), 1) << error;
  EXPECT_THAT(error, AllOf(HasSubstr("6 of the previous version's 8 cases were removed"),
                           HasSubstr("case-3, case-4, case-5, case-6, case-7, case-8"),
                           HasSubstr("1 of the previous version's 8 cases was changed")));
  EXPECT_THAT(LoadPlan(FindRuns(runs()).back())->suite.cases, SizeIs(8));
  EXPECT_EQ(Eval({"index"}, {"-m", "sim:base=0,skill=0,previous=1", "--ci", "HEAD", "-t", Path("index/tests.json")}),
            1);
  EXPECT_THAT(LoadPlan(FindRuns(runs()).back())->suite.cases, SizeIs(2));
}

TEST_F(EvalMatrix, SaysThatRemovedCasesAreNotMeasuredWhereTheyCannotBeRead) {
  folder.Write("skills/index/SKILL.md", "---\nname: index\ndescription: d\n---\nA rule.\n");
  folder.Write("skills/index/tests.json", R"([{"input": 1}])");
  CommitAll(folder.path() / "skills");
  folder.Write("skills/index/tests.json", Cases("question"));
  EXPECT_EQ(Eval({"index"}, {"-m", "sim:base=0,skill=1,previous=1", "--ci", "HEAD"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("removed cases aren't measured"));
  Json broken = Json::parse(Cases("question"));
  broken.push_back({{"id", "old"}, {"input", "q"}, {"checks", Json::array({{{"type", "command"}, {"run", "x"}}})}});
  folder.Write("skills/index/tests.json", DumpJson(broken));
  CommitAll(folder.path() / "skills");
  folder.Write("skills/index/tests.json", Cases("question"));
  EXPECT_EQ(Eval({"index"}, {"-m", "sim:base=0,skill=1,previous=1", "--ci", "HEAD"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("case old of the previous version is left out"));
}

// A skill that is new, or was moved, is compared with no skill.
TEST_F(EvalMatrix, ANewSkillIsComparedWithNone) {
  CommitAll(folder.path() / "skills");
  RunGit(folder.path() / "skills", "cp -r one four; sed -i 's/name: one/name: four/' four/SKILL.md");
  EXPECT_EQ(Eval({"four"}, {"-m", "sim:base=0,skill=1", "--ci", "HEAD"}), 0) << error;
  EXPECT_THAT(error, AllOf(HasSubstr("four has no earlier version"), HasSubstr("vs baseline")));
  EXPECT_EQ(Eval({"four"}, {"-m", "sim:base=1,skill=0", "--ci", "HEAD"}), 1) << "worse than none";
}

}  // namespace
}  // namespace upskill

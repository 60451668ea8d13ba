// SPDX-License-Identifier: Apache-2.0
// `report`, `compare` and `runs` as whole command lines in process, on runs of simulated students.
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
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kReportedSkill = "---\nname: arithmetic\ndescription: How to add.\n---\nAdd the numbers.\n";
// Eight cases: as many wins in one round decide, and seven do.
std::string Cases(const std::vector<std::string>& numbers = {"one", "two", "three", "four", "five", "six", "seven",
                                                             "eight"}) {
  Json cases = Json::array();
  for (const std::string& number : numbers) {
    cases.push_back(
        {{"id", number}, {"input", number + " and one more"}, {"expected", {{"contains", "after " + number}}}});
  }
  return DumpJson(cases);
}
constexpr const char* kReportedStudent = "sim:base=0,skill=1";
constexpr const char* kBad = "sim:base=1,skill=0";

class Reports : public CommandLineTest {
 protected:
  Reports() {
    folder.Write("skills/arithmetic/SKILL.md", kReportedSkill);
    folder.Write("skills/arithmetic/tests.json", Cases());
    folder.Write("config.yaml", "runs_dir: " + runs().string() + "\n");
  }

  // Runs an evaluation and returns its folder.
  fs::path Eval(const std::vector<std::string>& models, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"eval", (folder.path() / "skills/arithmetic").string(), "-q"};
    for (const std::string& model : models) arguments.insert(arguments.end(), {"-m", model});
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(Run(arguments), 0) << error;
    return FindRuns(runs()).back();
  }

  // The report of a run in a file with this name.
  std::string FileOf(const std::string& name, const std::string& run = "latest") {
    const fs::path file = folder.path() / name;
    EXPECT_EQ(Run({"report", run, "-o", file.string()}), 0) << error;
    const Result<std::string> text = ReadFile(file);
    return text ? *text : "";
  }
};

TEST_F(Reports, HelpNamesWhatThereIs) {
  ASSERT_EQ(Run({"report", "--help"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr(".html"), HasSubstr("JUnit"), HasSubstr("--format"), HasSubstr("latest")));
  ASSERT_EQ(Run({"compare", "--help"}), 0);
  EXPECT_THAT(out, HasSubstr("--json"));
  ASSERT_EQ(Run({"runs", "--help"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("--matrix"), HasSubstr("--metric"), HasSubstr("--csv")));
}

TEST_F(Reports, TheFormatFollowsTheFilesEnding) {
  Eval({kReportedStudent}, {"--runs", "3"});
  EXPECT_THAT(FileOf("r.html"), AllOf(StartsWith("<!doctype html>"), HasSubstr("arithmetic")));
  EXPECT_THAT(out, AllOf(HasSubstr("r.html written: 1 run, 48 answers, "), EndsWith("kB\n")));
  EXPECT_THAT(FileOf("r.md"), AllOf(StartsWith("### arithmetic\n"), HasSubstr("helps")));
  EXPECT_THAT(FileOf("r.csv"), StartsWith("run,model,case,arm,round,"));
  EXPECT_THAT(FileOf("r.XML"), HasSubstr("<testsuites"));
  const std::string json = FileOf("r.json");
  ASSERT_EQ(Run({"report", "latest", "--json"}), 0);
  EXPECT_EQ(out, json);
  EXPECT_EQ(OutAsJson().at("students").at(0).at("verdict"), "helps");
  ASSERT_EQ(Run({"report", "latest", "-o", "-", "--format", "md"}), 0);
  EXPECT_THAT(out, StartsWith("### arithmetic\n"));
}

TEST_F(Reports, TextIsWhatEvalPrinted) {
  const fs::path run = Eval({kReportedStudent}, {"--runs", "3"});
  const std::string printed = out;
  const std::string digits = run.filename().string().substr(run.filename().string().size() - 4);
  EXPECT_THAT(printed, HasSubstr("\nupskill report " + digits + " -o report.html\n"));
  for (const std::string& name : {std::string("latest"), digits, run.filename().string(), run.string()}) {
    ASSERT_EQ(Run({"report", name}), 0) << name << error;
    const std::string bars = out.substr(out.find("\nsim:"), out.find("\nrun ") - out.find("\nsim:"));
    EXPECT_THAT(printed, HasSubstr(bars));
    EXPECT_THAT(error, IsEmpty());
  }
}

TEST_F(Reports, SeveralRuns) {
  Eval({kReportedStudent});
  Eval({kReportedStudent, kBad});
  ASSERT_EQ(Run({"report", runs().string()}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("1 round × 2 arms = 16 cells"), HasSubstr("× 2 models = 32 cells"),
                         HasSubstr("best value: ")));
  ASSERT_EQ(Run({"report", runs().string(), "--json"}), 0);
  EXPECT_EQ(OutAsJson().size(), 2U);
  const std::string csv = FileOf("all.csv", runs().string());
  std::size_t rows = 0;
  for (std::size_t at = csv.find("\r\n"); at != std::string::npos; at = csv.find("\r\n", at + 2)) ++rows;
  EXPECT_EQ(rows, 1U + 16U + 32U);
  EXPECT_THAT(out, HasSubstr("2 runs, 48 answers"));
}

TEST_F(Reports, ReportErrors) {
  EXPECT_EQ(Run({"report"}), 2);
  EXPECT_EQ(Run({"report", "latest"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("no runs in the folder '" + runs().string() + "'"), Not(HasSubstr("\x1b"))));
  Eval({kReportedStudent});
  EXPECT_EQ(Run({"report", "latest", "-o", "report.docx"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("report.docx"), HasSubstr(".html")));
  EXPECT_EQ(Run({"report", "latest", "-o", "report"}), 2);
  EXPECT_EQ(Run({"report", "latest", "--format", "docx"}), 2);
  EXPECT_EQ(Run({"report", "latest", "-o", (folder.path() / "none/below/r.md").string()}), 2);
  EXPECT_EQ(Run({"report", "evil\x1b[2J"}), 2);
  EXPECT_THAT(error, Not(HasSubstr("\x1b")));
  EXPECT_EQ(Run({"report", folder.path().string()}), 2);
  EXPECT_THAT(error, HasSubstr("no plan.json"));
}

// A run of another version is named with what this program reads; nothing is written.
TEST_F(Reports, ARunOfAnotherSchemaIsRefused) {
  const fs::path run = Eval({kReportedStudent});
  Json plan = *ParseJson(*ReadFile(run / "plan.json"), "plan.json");
  plan["schema"] = 99;
  ASSERT_TRUE(WriteFileAtomically(run / "plan.json", DumpJson(plan)).ok());
  const fs::path file = folder.path() / "r.html";
  EXPECT_EQ(Run({"report", "latest", "-o", file.string()}), 2);
  EXPECT_THAT(error, AllOf(StartsWith("error: "), HasSubstr("written by a newer upskill (schema 99; upskill "),
                           HasSubstr(" reads schema 1)")));
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(Run({"compare", "latest", "latest"}), 2);
  EXPECT_EQ(Run({"runs"}), 0);
  EXPECT_THAT(error, AllOf(HasSubstr("schema 99"), HasSubstr("no runs in ")));
}

TEST_F(Reports, AHalfWrittenRunIsExplained) {
  const fs::path run = Eval({kReportedStudent}, {"--runs", "2"});
  const std::string lines = *ReadFile(run / "samples.jsonl");
  const std::size_t half = lines.find('\n', lines.size() / 2) + 20;
  ASSERT_TRUE(WriteFileAtomically(run / "samples.jsonl", lines.substr(0, half)).ok());  // torn within a line
  ASSERT_EQ(Run({"report", "latest"}), 0);
  EXPECT_THAT(error, AllOf(HasSubstr("is incomplete: "), HasSubstr(" of 32 cells are unanswered"),
                           Not(HasSubstr("could not be read"))));
  ASSERT_TRUE(WriteFileAtomically(run / "samples.jsonl", lines.substr(0, half) + "\n").ok());
  ASSERT_EQ(Run({"report", "latest"}), 0);
  EXPECT_THAT(error, AllOf(HasSubstr("1 line of samples.jsonl could not be read"), HasSubstr("is incomplete: "),
                           HasSubstr(" of 32 cells are unanswered")));
  EXPECT_THAT(FileOf("r.md"), HasSubstr("**Incomplete:**"));
  EXPECT_THAT(FileOf("r.xml"), HasSubstr("<error"));
  ASSERT_TRUE(WriteFileAtomically(run / "samples.jsonl", "").ok());
  EXPECT_THAT(FileOf("empty.html"), HasSubstr("</html>"));

  const std::string plan = *ReadFile(run / "plan.json");
  ASSERT_TRUE(WriteFileAtomically(run / "plan.json", plan.substr(0, plan.size() / 2)).ok());
  EXPECT_EQ(Run({"report", "latest"}), 2);
  EXPECT_THAT(error, AllOf(StartsWith("error: "), HasSubstr("plan.json")));
  fs::remove(run / "plan.json");
  EXPECT_EQ(Run({"report", run.string()}), 0);  // what the Python tool's readers know is still there
  EXPECT_THAT(out, HasSubstr("arithmetic"));
  fs::remove_all(run);
  folder.Write("runs/" + run.filename().string() + "/samples.jsonl", lines);
  EXPECT_EQ(Run({"report", run.string()}), 2);
  EXPECT_THAT(error, HasSubstr("no plan.json in it"));
}

TEST_F(Reports, Compare) {
  const fs::path before = Eval({"sim:base=0.4,skill=0.6,seed=3"}, {"--runs", "4"});
  const fs::path after = Eval({"sim:base=0.4,skill=0.6,seed=3"}, {"--runs", "4", "--refresh", "--seed", "7"});
  ASSERT_NE(before, after);
  ASSERT_EQ(Run({"compare", before.string(), "latest"}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("A " + before.filename().string() + "\nB " + after.filename().string()),
                         HasSubstr("with skill"), HasSubstr("undecided")));
  ASSERT_EQ(Run({"compare", before.filename().string(), after.filename().string(), "--json"}), 0);
  EXPECT_EQ(OutAsJson().at("students").size(), 1U);
}

TEST_F(Reports, CompareRefusesWhatCannotBeCompared) {
  const fs::path before = Eval({kReportedStudent});
  EXPECT_EQ(Run({"compare", "latest", "latest"}), 2);
  EXPECT_THAT(error, HasSubstr("the same run"));
  EXPECT_EQ(Run({"compare", before.string(), before.filename().string()}), 2);
  EXPECT_THAT(error, HasSubstr("the same run"));
  fs::create_directories(folder.path() / "elsewhere");
  const fs::path copy = folder.path() / "elsewhere" / before.filename();
  fs::copy(before, copy, fs::copy_options::recursive);
  EXPECT_EQ(Run({"compare", before.string(), copy.string()}), 0) << "another run of the same name: " << error;
  std::string cases = Cases();
  cases.replace(cases.find("after three"), 11, "after trois");
  folder.Write("skills/arithmetic/tests.json", cases);
  const fs::path after = Eval({kReportedStudent});
  EXPECT_EQ(Run({"compare", before.string(), after.string()}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("can't be compared"), HasSubstr("case 'three' has different checks")));
  EXPECT_THAT(out, IsEmpty());
  EXPECT_EQ(Run({"compare", runs().string(), after.string()}), 2);
  EXPECT_THAT(error, HasSubstr("contains 2 runs"));
  EXPECT_EQ(Run({"compare", "none", "latest"}), 2);
}

TEST_F(Reports, UnknownGates) {
  for (const char* gate :
       {"wins:*", "helps", "tokens<", "tokens<x%", "", ";", "helps:other-model", "lift>10 points of joy"}) {
    EXPECT_EQ(
        Run({"eval", (folder.path() / "skills/arithmetic").string(), "-m", kReportedStudent, "-q", "--gate", gate}), 2)
        << gate << error;
    EXPECT_THAT(error, StartsWith("error: ")) << gate;
  }
}

TEST_F(Reports, StoppingWhenDecidedSavesMostOfTheCells) {
  folder.Write("skills/arithmetic/tests.json", Cases({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}));
  for (const char* seed : {"1", "2", "3", "4", "5"}) {
    const std::string model = std::string("sim:base=0.4,skill=0.85,seed=") + seed;
    Eval({model}, {"--runs", "10", "--json", "--no-cache", "--no-ledger"});
    const Json whole = OutAsJson().at("students").at(0);
    Eval({model}, {"--runs", "10", "--json", "--no-cache", "--no-ledger", "--stop-when-decided"});
    const Json stopped = OutAsJson().at("students").at(0);
    EXPECT_EQ(whole.at("verdict"), "helps") << seed;
    EXPECT_EQ(stopped.at("verdict"), "helps") << seed;
    const int asked = stopped.at("baseline").at("total").get<int>() + stopped.at("with_skill").at("total").get<int>();
    EXPECT_LE(asked, 0.4 * 240) << seed;
    EXPECT_EQ(stopped.at("cells_skipped"), 240 - asked) << seed;
  }
}

TEST_F(Reports, MergingARunThatStoppedWhenDecidedIsComplete) {
  const fs::path run = Eval({"sim:base=0.2,skill=0.95"}, {"--stop-when-decided"});
  ASSERT_GT(LoadPlan(run)->rounds * 16, static_cast<int>(ReadJournal(run)->samples.size())) << "cells were left out";
  EXPECT_EQ(Run({"merge", run.string(), "-o", (folder.path() / "whole").string()}), 0);
  EXPECT_EQ(error, "");
}

TEST_F(Reports, Matrix) {
  Eval({kReportedStudent, kBad}, {"--runs", "3"});
  ASSERT_EQ(Run({"runs", "--matrix"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("\nskill "), HasSubstr("▲ +100"), HasSubstr("▼ -100"), HasSubstr("best value: ")));
  ASSERT_EQ(Run({"runs", "--matrix", "--json"}), 0);
  EXPECT_EQ(OutAsJson().at("cells").size(), 2U);
  ASSERT_EQ(Run({"runs", "--matrix", "-m", kBad, "--json"}), 0);
  EXPECT_EQ(OutAsJson().at("cells").at(0).at("model"), kBad);
  EXPECT_EQ(Run({"runs", "--matrix", "-s", "other"}), 0);
  EXPECT_THAT(error, HasSubstr("no runs of this skill and model in "));
  for (const char* metric : {"success", "tokens", "cost", "time"}) {
    ASSERT_EQ(Run({"runs", "--metric", metric}), 0) << metric;
    EXPECT_THAT(out, AllOf(HasSubstr("baseline"), HasSubstr("with skill"), HasSubstr("helps"), HasSubstr("hurts")))
        << metric;
  }
  // What a run says that doesn't compare the skill with no skill isn't in the matrix.
  folder.Write("old/arithmetic/SKILL.md", "---\nname: arithmetic\ndescription: How to add.\n---\nAdd them.\n");
  Eval({kReportedStudent}, {"--no-baseline", "--runs", "1"});
  Eval({kReportedStudent}, {"--no-baseline", "--against", (folder.path() / "old/arithmetic").string()});
  ASSERT_EQ(Run({"runs", "--matrix"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("▲ +100"), HasSubstr("▼ -100")));
  ASSERT_EQ(Run({"runs", "-m", kReportedStudent}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("previous"), Not(HasSubstr("baseline"))));
}

TEST_F(Reports, FilesForOtherProgramsAreWrittenAndRead) {
  const fs::path run = Eval({kReportedStudent}, {"--runs", "2"});
  for (const char* file : {"batch_summary.json", "run_1/run_metadata.json", "run_2/run_result.json",
                           "agentskills/benchmark.json", "agentskills/eval-1-one/with_skill/run-2/grading.json",
                           "agentskills/eval-3-three/without_skill/run-1/outputs/answer.md", "../results.csv"}) {
    EXPECT_TRUE(fs::exists(run / file)) << file;
  }
  ASSERT_EQ(Run({"report", (run / "agentskills/benchmark.json").string()}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("with_skill"), HasSubstr("100 % ± 0"), HasSubstr("+100 points")));

  // The same run as the Python tool would have left it.
  fs::create_directories(folder.path() / "python/2026_01_22_13_10");
  for (const char* name : {"batch_summary.json", "run_1", "run_2"})
    fs::copy(run / name, folder.path() / "python/2026_01_22_13_10" / name, fs::copy_options::recursive);
  ASSERT_EQ(Run({"runs", "-d", (folder.path() / "python").string(), "-a"}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("2026_01_22_13_10"), HasSubstr("0 % (0/16)"), HasSubstr("100 % (16/16)")));
  const std::string python = (folder.path() / "python/2026_01_22_13_10").string();
  ASSERT_EQ(Run({"report", python}), 0) << error;
  EXPECT_THAT(out, HasSubstr("100 % (16/16)"));
  EXPECT_THAT(FileOf("p.csv", python), StartsWith("run,created,skill,"));
  EXPECT_EQ(Run({"report", python, "-o", (folder.path() / "p.html").string()}), 2);
  EXPECT_THAT(error, HasSubstr("has no answers"));
  EXPECT_EQ(Run({"compare", python, "latest"}), 2);
  EXPECT_THAT(error, HasSubstr("Python tool"));
}

TEST_F(Reports, HostileTextStaysText) {
  folder.Write("skills/arithmetic/tests.json",
               "[{\"id\": \"</script>\\u001b[2J\\u202e\", \"input\": \"=cmd|'/c calc'!A1\", \"expected\": "
               "{\"contains\": \"number 2\"}}]");
  Eval({kBad});
  ASSERT_EQ(Run({"report", "latest"}), 0);
  EXPECT_THAT(out + error, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\u202e"))));
  for (const char* name : {"r.html", "r.md", "r.xml"}) {
    EXPECT_THAT(FileOf(name), AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("</script>\\x1b")))) << name;
  }
  EXPECT_THAT(FileOf("r.csv"), HasSubstr("</script>\\x1b[2J\\u202e,"));  // docs/reports.md
  terminal = true;
  ASSERT_EQ(Run({"report", "latest", "--format", "csv"}), 0);
  EXPECT_THAT(out, AllOf(StartsWith("run,model,"), Not(HasSubstr("\x1b")), Not(HasSubstr("\u202e"))));
}

TEST_F(Reports, CasesForClaudeCodeAreThoseOfTheRun) {
  Eval({kReportedStudent});
  folder.Write("plugin/.claude-plugin/plugin.json", R"({"name": "sums"})");
  const std::string evals = (folder.path() / "plugin/evals").string();
  ASSERT_EQ(Run({"report", "latest", "--format", "plugin-eval", "-o", evals}), 0) << error;
  EXPECT_THAT(out, HasSubstr("8 cases"));
  EXPECT_EQ(Run({"check", (folder.path() / "plugin").string()}), 3) << "no answers to try";
  EXPECT_THAT(out, HasSubstr("eight"));
  EXPECT_EQ(Run({"report", "latest", "--format", "plugin-eval"}), 2);
  EXPECT_THAT(error, HasSubstr("-o DIR"));
}

}  // namespace
}  // namespace upskill

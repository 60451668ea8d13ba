// SPDX-License-Identifier: Apache-2.0
// `list`: skills with their last verdicts, files and installations.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
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

const std::string kHelping = "sim:base=0,skill=1";
const std::string kHurting = "sim:base=1,skill=0";

std::string SkillNamed(const std::string& name, const std::string& body) {
  return fmt::format("---\nname: {}\ndescription: How to add.\n---\n{}\n", name, body);
}

class ListCommand : public CommandLineTest {
 protected:
  ListCommand() { WriteSkill("arithmetic", "Add the numbers."); }

  void WriteSkill(const std::string& name, const std::string& body) {
    folder.Write("skills/" + name + "/SKILL.md", SkillNamed(name, body));
    folder.Write("skills/" + name + "/tests.json",
                 R"([{"input": "one and one", "expected": {"contains": "number 2"}},
                     {"input": "two and two", "expected": {"contains": "number 4"}}])");
  }

  void Eval(const std::string& model, const std::string& rounds = "1") {
    const std::string skill = (skills() / "arithmetic").string();
    ASSERT_EQ(Run({"eval", skill, "--runs-dir", runs().string(), "-m", model, "--runs", rounds}), 0) << error;
  }

  void List(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"list", "-d", skills().string(), "--runs-dir", runs().string()});
    ASSERT_EQ(Run(more), 0) << error;
  }

  Json Verdicts() {
    List({"--json"});
    return OutAsJson().at(0).at("verdicts");
  }

  fs::path skills() const { return folder.path() / "skills"; }
};

TEST_F(ListCommand, ShowsTheNewestVerdictOfEachModel) {
  Eval(kHelping);
  Eval(kHurting);
  Eval(kHelping, "5");
  List();
  const std::string newest = FindRuns(runs()).back().filename().string();
  EXPECT_THAT(out, AllOf(HasSubstr(kHelping + ": "),
                         HasSubstr("helps on these 2 cases, +100 points · run " + newest.substr(newest.size() - 4)),
                         HasSubstr(kHurting + ": "), HasSubstr(", -100 points"), Not(HasSubstr("changed"))));
  const Json verdicts = Verdicts();
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_EQ(verdicts.at(0).at("model"), kHelping);
  EXPECT_EQ(verdicts.at(0).at("run"), newest);
  EXPECT_EQ(verdicts.at(0).at("lift"), 1.0);
  EXPECT_EQ(verdicts.at(1).at("model"), kHurting);
}

TEST_F(ListCommand, SaysThatTheSkillHasChangedSince) {
  Eval(kHelping);
  WriteSkill("arithmetic", "Add them.");
  List();
  EXPECT_THAT(out, HasSubstr("the skill has changed since"));
  EXPECT_EQ(Verdicts().at(0).at("skill_changed"), true);
}

TEST_F(ListCommand, PrefersRunsOfTheSkillsPresentText) {
  Eval(kHelping);
  WriteSkill("arithmetic", "Add them.");
  Eval(kHelping);
  WriteSkill("arithmetic", "Add the numbers.");
  ASSERT_EQ(Verdicts().size(), 1U);
  EXPECT_EQ(Verdicts().at(0).at("skill_changed"), false);
  EXPECT_EQ(Verdicts().at(0).at("run"), FindRuns(runs()).front().filename().string());
}

TEST_F(ListCommand, FindsTheRunsOfARenamedSkillByItsText) {
  Eval(kHelping);
  fs::remove_all(skills() / "arithmetic");
  WriteSkill("sums", "Add the numbers.");
  EXPECT_EQ(Verdicts().at(0).at("skill_changed"), false);
  fs::remove_all(skills() / "sums");
  WriteSkill("sums", "Something else.");
  EXPECT_EQ(Verdicts().size(), 0U);
}

TEST_F(ListCommand, NamesDamagedRunsAndShowsTheOthers) {
  Eval(kHelping);
  folder.Write("runs/evil\x1b[2J-0001/plan.json", "{");
  folder.Write(
      "runs/2999_01_01_00_00_00-0002/plan.json",
      R"({"schema": 1, "run": "x", "skill": {"name": "arithmetic", "sha256": "x"}, "students": [{"model": "m"}]})");
  folder.Write("runs/2999_01_01_00_00_00-0003/plan.json", R"({"skill": 3})");
  List();
  EXPECT_THAT(out, AllOf(HasSubstr("+100 points"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(error, AllOf(HasSubstr("warning: run skipped: "), HasSubstr("-0001/plan.json"),
                           HasSubstr("-0002/plan.json"), HasSubstr("-0003/plan.json: skill"), Not(HasSubstr("\x1b"))));
}

TEST_F(ListCommand, ReadsNoAnswersThatAreNotShown) {
  Eval(kHelping);
  const fs::path older = FindRuns(runs()).front();
  Eval(kHelping);
  fs::remove(older / "samples.jsonl");
  fs::create_directory(older / "samples.jsonl");  // reading it is an error
  List();
  EXPECT_EQ(error, "");
  EXPECT_THAT(out, HasSubstr("+100 points"));
}

TEST_F(ListCommand, NamesFilesAndUnreadableCases) {
  for (const char* name : {"a.md", "b.md", "c.md", "d.md"})
    folder.Write(std::string("skills/arithmetic/references/") + name, "x");
  folder.Write("skills/arithmetic/scripts/deep/run.sh", "x");
  folder.Write("skills/arithmetic/tests.json", "[{");
  List();
  EXPECT_THAT(out, AllOf(HasSubstr("├── references/ a.md, b.md, c.md and 1 more\n"),
                         HasSubstr("├── scripts/ deep/run.sh\n"), HasSubstr("└── its cases can't be read\n")));
  List({"-v"});
  EXPECT_THAT(out, AllOf(HasSubstr("│   └── d.md\n"), HasSubstr("└── deep/run.sh\n"), HasSubstr("tests.json")));
  EXPECT_THAT(out, HasSubstr("references/ (4 files)\n"));
}

TEST_F(ListCommand, SaysWhereASkillIsInstalled) {
  ASSERT_EQ(Run({"install", (skills() / "arithmetic").string(), "--agent", "claude-code", "--user"}), 0) << error;
  List();
  EXPECT_THAT(out, HasSubstr("└── installed for Claude Code\n"));
  List({"--json"});
  const Json installed = OutAsJson().at(0).at("installed");
  ASSERT_EQ(installed.size(), 1U);
  EXPECT_EQ(installed.at(0).at("changed"), false);
  ASSERT_TRUE(WriteFileAtomically(fs::path(installed.at(0).at("folder").get<std::string>()) / "SKILL.md", "changed"));
  List({"-v"});
  EXPECT_THAT(out, HasSubstr("(changed since: SKILL.md was changed)"));
}

TEST_F(ListCommand, KeepsToTheColumnsWhenItIsShort) {
  folder.Write("skills/arithmetic/SKILL.md",
               fmt::format("---\nname: arithmetic\ndescription: {}\n---\nAdd.\n", std::string(300, 'w')));
  columns = 60;
  List();
  EXPECT_THAT(out, HasSubstr("w…\n"));
  List({"-v"});
  EXPECT_THAT(out, HasSubstr(std::string(300, 'w')));
}

// One session with a call of the tool, a command, and a subagent's read of two files; and an old one.
TEST_F(ListCommand, UsageCountsWhatSessionsSay) {
  const auto line = [](const std::string& day, const std::string& message, const std::string& type = "assistant") {
    return fmt::format(R"({{"type": "{}", "timestamp": "2026-11-{}T10:00:00Z", "sessionId": "s", "message": {}}})",
                       type, day, message) +
           "\n";
  };
  const auto call = [](const std::string& tool, const std::string& input) {
    return fmt::format(R"({{"role": "assistant", "id": "m", "content": [{{"type": "tool_use", "id": "t{}", )"
                       R"("name": "{}", "input": {}}}]}})",
                       tool, tool, input);
  };
  const std::string skills = "home/.claude/skills/";
  folder.Write(skills + "greet/SKILL.md", SkillNamed("greet", "Say hello."));
  folder.Write(skills + "add/SKILL.md",
               "---\nname: add\ndescription: Adds two numbers.\nwhen_to_use: For sums.\n---\nAdd them.\n");
  folder.Write(skills + "quiet/SKILL.md",
               "---\nname: quiet\ndescription: Only its user calls it.\ndisable-model-invocation: true\n---\nSh.\n");
  folder.Write("home/.claude/projects/p/s.jsonl",
               line("20", call("Skill", R"({"skill": "greet"})")) + line("01", call("Skill", R"({"skill": "add"})")) +
                   line("20", call("Bash", R"({"command": "cat /x/greet/SKILL.md /x/quiet/SKILL.md"})")) +
                   line("20", call("Read", R"({"file_path": "/x/skills/add/references/a.md"})")));
  Run({"list", "--agent", "claude-code", "--usage", "--days", "10", "--json"});
  const Json report = OutAsJson();
  ASSERT_EQ(report["skills"].size(), 3U) << out << error;
  std::map<std::string, Json> by_name;
  for (const Json& skill : report["skills"]) by_name[skill["name"].get<std::string>()] = skill;
  EXPECT_EQ(by_name["greet"]["uses"]["total"], 2);
  EXPECT_EQ(by_name["greet"]["uses"]["sessions"], 1);
  EXPECT_EQ(by_name["quiet"]["uses"]["total"], 1);
  EXPECT_EQ(by_name["quiet"]["tokens"], 0);
  EXPECT_EQ(by_name["add"]["uses"]["total"], 0) << "too long ago, and a reference isn't the skill";
  EXPECT_EQ(by_name["add"]["listed"], "- add: Adds two numbers. - For sums.");
  EXPECT_THAT(report["result"].get<std::string>(), HasSubstr("1 wasn't used in 10 days"));

  variables["SLASH_COMMAND_TOOL_CHAR_BUDGET"] = "40";
  EXPECT_EQ(Run({"list", "--agent", "claude-code", "--usage"}), 0) << error;
  EXPECT_THAT(out, HasSubstr("listed without its description"));
  EXPECT_EQ(Run({"list", "--agent", "cursor", "--usage"}), 0) << error;
  EXPECT_THAT(out, HasSubstr("upskill can't read its sessions"));
  EXPECT_EQ(Run({"list", "--usage"}), 2);
  EXPECT_EQ(Run({"list", "--agent", "all", "--usage"}), 2);
}

}  // namespace
}  // namespace upskill

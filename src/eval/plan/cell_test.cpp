// SPDX-License-Identifier: Apache-2.0
#include "eval/plan/cell.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "eval/plan/prompts.h"
#include "support/plan_fixture.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::vector<std::string> Order(const Plan& plan) {
  std::vector<std::string> order;
  for (const Cell& cell : CellsOf(plan)) {
    order.push_back(fmt::format("{} r{} {} {}", plan.students[cell.student].name, cell.round,
                                plan.suite.cases[cell.case_index].id, ArmName(cell.arm)));
  }
  return order;
}

std::string KeyOf(const Plan& plan, Arm arm, std::size_t case_index = 0, int round = 0) {
  for (const Cell& cell : CellsOf(plan)) {
    if (cell.student == 0 && cell.arm == arm && cell.case_index == case_index && cell.round == round) return cell.key;
  }
  ADD_FAILURE();
  return "";
}

TEST(CellsOf, StudentRoundCaseArm) {
  EXPECT_THAT(Order(MakeTestPlan(2, 2, {"a", "b"})),
              ElementsAre("a r0 case-1 baseline", "a r0 case-1 skill", "a r0 case-2 baseline", "a r0 case-2 skill",
                          "a r1 case-1 baseline", "a r1 case-1 skill", "a r1 case-2 baseline", "a r1 case-2 skill",
                          "b r0 case-1 baseline", "b r0 case-1 skill", "b r0 case-2 baseline", "b r0 case-2 skill",
                          "b r1 case-1 baseline", "b r1 case-1 skill", "b r1 case-2 baseline", "b r1 case-2 skill"));
}

TEST(CellsOf, KeysDifferWithinAPlan) {
  const std::vector<Cell> cells = CellsOf(MakeTestPlan(3, 3, {"a", "b"}));
  std::set<std::string> keys;
  for (const Cell& cell : cells) {
    EXPECT_THAT(cell.key, MatchesRegex("[0-9a-f]+"));
    EXPECT_EQ(cell.key.size(), 64U);
    keys.insert(cell.key);
  }
  EXPECT_EQ(keys.size(), cells.size());
}

TEST(CellKey, IsPersisted) {
  // Changing what goes into a key invalidates every stored answer: only ever do it on purpose, with a new key version.
  EXPECT_EQ(KeyOf(MakeTestPlan(1), Arm::kBaseline), "6c103d99963eb891ee27b8b04384ef48fe4efdb7c4a2551b46422056b03ab52e");
}

TEST(CellKey, TheBaselineLeavesOutTheSkill) {
  const Plan plan = MakeTestPlan(1);
  Plan other = plan;
  other.skill = {"another", "elsewhere", "Another body.", "0", "", ""};
  EXPECT_EQ(KeyOf(plan, Arm::kBaseline), KeyOf(other, Arm::kBaseline));
  EXPECT_NE(KeyOf(plan, Arm::kSkill), KeyOf(other, Arm::kSkill));
  other.arms = {Arm::kSkill};
  other.skill = plan.skill;
  EXPECT_EQ(KeyOf(plan, Arm::kSkill), KeyOf(other, Arm::kSkill));
}

TEST(CellKey, CoversAllThatReachesTheModel) {
  const Plan plan = MakeTestPlan(2);
  std::vector<Plan> others(7, plan);
  others[0].sampling.temperature = 0.8;
  others[1].sampling.max_tokens = 100;
  others[2].sampling.seed = 1;
  others[3].students[0].identity = "fake:other";
  others[4].system_prompt = "Be brief.";
  others[5].suite.cases[0].input += "?";
  others[6].suite.cases[0].files.emplace_back("a.txt", "text");
  for (const Arm arm : plan.arms) {
    std::set<std::string> keys = {KeyOf(plan, arm)};
    for (const Plan& other : others) keys.insert(KeyOf(other, arm));
    EXPECT_EQ(keys.size(), 8U);
  }
}

TEST(CellKey, LeavesOutWhatTheModelNeverSees) {
  const Plan plan = MakeTestPlan(2);
  Plan other = plan;
  other.students[0].spec = "fake?threads=2";
  other.students[0].name = "another name";
  other.run = "2026";
  other.suite.cases[0].id = "renamed";
  other.suite.cases[0].checks[0].values = {"another"};
  other.suite.cases[0].reference = "reference";
  std::swap(other.suite.cases[0], other.suite.cases[1]);
  other.rounds = 9;
  for (const Arm arm : plan.arms) EXPECT_EQ(KeyOf(plan, arm, 0), KeyOf(other, arm, 1));
}

TEST(CellKey, ASimulatedStudentDependsOnThePassingAnswer) {
  Plan plan = MakeTestPlan(1);
  plan.students[0].identity = "sim:1:base=0.5";
  Plan other = plan;
  other.suite.cases[0].checks[0].values = {"another"};
  EXPECT_NE(KeyOf(plan, Arm::kBaseline), KeyOf(other, Arm::kBaseline));
}

TEST(CellKey, EqualInputsHaveEqualKeys) {
  Plan plan = MakeTestPlan(2);
  plan.suite.cases[1].input = plan.suite.cases[0].input;
  EXPECT_EQ(KeyOf(plan, Arm::kBaseline, 0), KeyOf(plan, Arm::kBaseline, 1));
}

TEST(RequestFor, ArmsDifferInTheSkillOnly) {
  const Plan plan = MakeTestPlan(1);
  const ChatRequest baseline = RequestFor(plan, {0, Arm::kBaseline, 0, 0, ""}, 0);
  const ChatRequest skill = RequestFor(plan, {0, Arm::kSkill, 0, 0, ""}, 0);
  EXPECT_EQ(baseline.system, "You are a helpful assistant. Answer the request.");
  EXPECT_EQ(skill.system, baseline.system + "\n\n<skill name=\"test-skill\">\nAnswer right.\n</skill>");
  ASSERT_EQ(baseline.messages.size(), 1U);
  EXPECT_EQ(baseline.messages[0].role, Role::kUser);
  EXPECT_EQ(baseline.messages[0].text, "question 1");
  EXPECT_EQ(skill.messages[0].text, baseline.messages[0].text);
  EXPECT_EQ(skill.sampling.seed, baseline.sampling.seed);
  EXPECT_EQ(skill.sampling.max_tokens, plan.sampling.max_tokens);
  EXPECT_TRUE(baseline.simulation.is_null());
}

TEST(RequestFor, SeedsDifferByRoundCaseAndRun) {
  Plan plan = MakeTestPlan(2, 2);
  std::set<std::uint64_t> seeds;
  for (const std::uint64_t seed : {0, 1, 2}) {
    plan.sampling.seed = seed;
    for (const Cell& cell : CellsOf(plan)) seeds.insert(RequestFor(plan, cell, 0).sampling.seed);
  }
  EXPECT_EQ(seeds.size(), 3U * 2U * 2U);
}

TEST(RequestFor, TheAttemptAndTheRoundReachTheSimulatedStudentOnly) {
  Plan plan = MakeTestPlan(1);
  const Cell cell{0, Arm::kSkill, 0, 0, ""};
  EXPECT_EQ(RequestFor(plan, cell, 3).sampling.seed, RequestFor(plan, cell, 0).sampling.seed);
  plan.students[0].identity = "sim:1:";
  EXPECT_EQ(RequestFor(plan, cell, 3).simulation,
            Json({{"arm", "skill"}, {"attempt", 3}, {"passing_answer", "right 1\n"}, {"round", 0}}));
}

TEST(UserMessage, FilesFollowAsFencedBlocks) {
  Case test_case;
  test_case.input = "Fix it";
  EXPECT_EQ(UserMessage(test_case), "Fix it");
  test_case.files = {{"a.toml", "x = 1"}, {"b.md", "````\ncode\n````"}};
  EXPECT_EQ(UserMessage(test_case), "Fix it\n\n```a.toml\nx = 1\n```\n\n`````b.md\n````\ncode\n````\n`````");
}

TEST(PassingAnswer, FromReferenceOrExpectedTexts) {
  Case test_case;
  test_case.checks = {{"contains", {"a", "b"}, ""}, {"any_of", {"c", "d"}, ""}, {"not_contains", {"e"}, ""}};
  EXPECT_EQ(PassingAnswer(test_case), "a\nb\nc\n");
  test_case.checks.push_back({"regex", {}, "x+"});
  EXPECT_EQ(PassingAnswer(test_case), "");
  test_case.reference = "the reference";
  EXPECT_EQ(PassingAnswer(test_case), "the reference");
  test_case.reference = "";
  test_case.checks = {{"equals", {"42"}, ""}};
  EXPECT_EQ(PassingAnswer(test_case), "42");
}

TEST(Plan, RoundTrip) {
  Plan plan = MakeTestPlan(2, 3, {"a", "b"});
  plan.run = "2026_11_21_10_12_33-abcd";
  plan.created = "2026-11-21T10:12:33Z";
  plan.sampling = {0.25, 77, 0xFFFFFFFFFFFFFFFFULL};
  plan.arms = {Arm::kSkill};
  const Json json = PlanToJson(plan);
  EXPECT_EQ(json.at("schema"), 1);
  const Result<Plan> back = PlanFromJson(*ParseJson(DumpJson(json), "plan.json"), "plan.json");
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(PlanToJson(*back), json);
  EXPECT_EQ(back->sampling.seed, plan.sampling.seed);
  EXPECT_EQ(Order(*back), Order(plan));
  EXPECT_EQ(KeyOf(*back, Arm::kSkill, 1, 2), KeyOf(plan, Arm::kSkill, 1, 2));
}

TEST(Plan, RemembersTheRoundsThatWerePlannedFirst) {
  Plan plan = MakeTestPlan(1, 20);
  EXPECT_EQ(plan.first_planned_rounds(), 20);
  EXPECT_FALSE(PlanToJson(plan).contains("planned_rounds"));
  plan.planned_rounds = 3;
  const Json json = PlanToJson(plan);
  EXPECT_EQ(PlanFromJson(json, "p").value().first_planned_rounds(), 3);
  Json old = json;
  old.erase("planned_rounds");
  EXPECT_EQ(PlanFromJson(old, "p").value().first_planned_rounds(), 20);
  Json bad = json;
  bad["planned_rounds"] = -1;
  EXPECT_FALSE(PlanFromJson(bad, "p").ok());
}

TEST(Plan, UnknownFieldsOfCasesSurvive) {
  Plan plan = MakeTestPlan(1);
  plan.suite = *ParseSuite(R"({"metadata": {"x": 1}, "tests": [{"id": "i", "input": "q", "note": [1],
    "expected": {"contains": "r"}}]})",
                           "s.json");
  const Json document = PlanToJson(plan).at("suite").at("document");
  EXPECT_EQ(document.at("metadata").at("x"), 1);
  EXPECT_EQ(document.at("tests").at(0).at("note"), Json::array({1}));
}

TEST(Plan, RejectsOtherSchemas) {
  Json json = PlanToJson(MakeTestPlan(1));
  for (const Json& schema : {Json(2), Json(0), Json(-1), Json("1"), Json(nullptr)}) {
    json["schema"] = schema;
    const Result<Plan> plan = PlanFromJson(json, "p.json");
    ASSERT_FALSE(plan.ok()) << schema;
    EXPECT_THAT(plan.error().message, AllOf(HasSubstr("p.json"), HasSubstr("schema")));
  }
}

TEST(Plan, OfANewerProgramIsNamedAsSuch) {
  Json json = PlanToJson(MakeTestPlan(1));
  json["schema"] = 9;
  EXPECT_THAT(
      PlanFromJson(json, "p.json").error().message,
      AllOf(HasSubstr("p.json: written by a newer upskill (schema 9; upskill "), HasSubstr(" reads schema 1)")));
}

TEST(Plan, RejectsMissingAndMalformedFields) {
  const Json good = PlanToJson(MakeTestPlan(1));
  ASSERT_TRUE(PlanFromJson(good, "p").ok());
  for (const char* key : {"run", "skill", "suite", "students", "arms", "rounds", "sampling", "system_prompt"}) {
    Json json = good;
    json.erase(key);
    EXPECT_THAT(PlanFromJson(json, "p").error().message, AllOf(HasSubstr(key), Not(HasSubstr("exception")))) << key;
    json[key] = Json::array({7});
    EXPECT_THAT(PlanFromJson(json, "p").error().message, AllOf(HasSubstr(key), Not(HasSubstr("exception")))) << key;
  }
  for (const Json& arms : {Json::array(), Json({"placebo-2"}), Json({"skill", "skill"})}) {
    Json json = good;
    json["arms"] = arms;
    EXPECT_FALSE(PlanFromJson(json, "p").ok()) << arms;
  }
  Json student = good;
  student["students"][0]["name"] = 5;
  EXPECT_EQ(PlanFromJson(student, "p").error().message,
            "p: students[0].name: expected a string, not a number. The file isn't as upskill wrote it: restore it, or "
            "start a new run");
  Json twice = good;
  twice["students"].push_back(good.at("students").at(0));
  EXPECT_THAT(PlanFromJson(twice, "p").error().message, HasSubstr("'fake' is listed twice"));
  for (const int rounds : {0, -3, 2000000000}) {
    Json json = good;
    json["rounds"] = rounds;
    EXPECT_FALSE(PlanFromJson(json, "p").ok()) << rounds;
  }
  Json without = good;
  without["students"] = Json::array();
  EXPECT_FALSE(PlanFromJson(without, "p").ok());
  for (const Json& other : {Json::array(), Json(1), Json()}) EXPECT_FALSE(PlanFromJson(other, "p").ok());
}

TEST(Plan, LoadNamesTheFile) {
  const TempFolder folder;
  EXPECT_EQ(LoadPlan(folder.path()).error().kind, ErrorKind::kNotFound);
  folder.Write("plan.json", "{\"schema\": 1,\n oops");
  EXPECT_THAT(LoadPlan(folder.path()).error().message, HasSubstr("plan.json:2:"));
}

TEST(Arm, NamesGoBothWays) {
  for (const Arm arm : {Arm::kBaseline, Arm::kSkill}) EXPECT_EQ(*ArmFromName(ArmName(arm)), arm);
  EXPECT_FALSE(ArmFromName("Skill").ok());
}

}  // namespace
}  // namespace upskill

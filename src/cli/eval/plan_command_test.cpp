// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/command_messages_test.h"
#include "eval/journal/journal.h"
#include "eval/plan/plan.h"
#include "util/files.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(CommandMessages, PlanTakesABaselineInPercentOrAsAFraction) {
  for (const char* baseline : {"40%", "40", "0.4", "40 %"}) {
    ASSERT_EQ(Run({"plan", skill(), "-m", kStudent, "--baseline", baseline}), 0) << error;
    EXPECT_THAT(out, HasSubstr("baseline as given: 40 % for every case")) << baseline;
  }
  ASSERT_EQ(Run({"plan", skill(), "-m", kStudent, "--baseline", "0.5%"}), 0) << error;
  EXPECT_THAT(out, HasSubstr("as given: 0.5 %"));
  EXPECT_EQ(Run({"plan", skill(), "-m", kStudent, "--baseline", "1"}), 2);
  EXPECT_THAT(error, HasSubstr("--baseline must be written as 1% or 100%, not '1'"));
  for (const char* baseline : {"101%", "-1", "half", "nan", "%"}) {
    EXPECT_EQ(Run({"plan", skill(), "-m", kStudent, "--baseline", baseline}), 2) << baseline;
    EXPECT_THAT(error, HasSubstr("must be a rate such as 40% or 0.4")) << baseline;
  }
}

TEST_F(CommandMessages, PlanTakesTheModelsOfAServer) {
  EXPECT_EQ(Run({"plan", skill(), "-m", "my-model", "--base-url", "http://localhost:1"}), 0) << error;
  EXPECT_EQ(Run({"plan", skill(), "-m", "my-model"}), 2);
}

TEST_F(CommandMessages, PlanTellsWhatEachWordTakes) {
  ASSERT_EQ(Run({"plan", skill(), "-m", kStudent, "--baseline", "20%", "--margin", "10", "--json"}), 0) << error;
  const Json json = Json::parse(out);
  const Json& student = json.at("students").at(0);
  EXPECT_DOUBLE_EQ(student.at("no_effect").at("margin").get<double>(), 0.1);
  EXPECT_GT(student.at("no_effect").at("for_power").at("rounds").get<double>(), 20.0);
  const Json& most = student.at("to_see").back();
  EXPECT_DOUBLE_EQ(most.at("lift").get<double>(), 0.6);
  EXPECT_GE(most.at("cases_in_general").get<int>(), 6);
}

TEST_F(CommandMessages, PlanCountsTheLooksThatThereWere) {
  const auto planned = [&] {
    EXPECT_EQ(Run({"plan", skill(), "-m", kStudent, "--baseline", "20%", "-d", runs().string(), "--json"}), 0) << error;
    return Json::parse(out).at("students").at(0);
  };
  const auto rounds = [](const Json& student) {
    return student.at("to_see").at(2).at("for_power").at("rounds").get<double>();
  };
  const Json first = planned();
  EXPECT_EQ(first.at("look"), 1);
  EXPECT_TRUE(first.at("continues_rounds").is_null());
  ASSERT_EQ(Run({"eval", skill(), "-m", kStudent, "--runs", "1", "--runs-dir", runs().string()}), 0) << error;
  const Json after_a_pilot = planned();
  EXPECT_EQ(after_a_pilot.at("look"), 1);
  EXPECT_EQ(after_a_pilot.at("continues_rounds"), 1);
  EXPECT_GE(rounds(after_a_pilot), rounds(first));
  ASSERT_EQ(Run({"plan", skill(), "-m", kStudent, "-d", runs().string()}), 0) << error;
  EXPECT_THAT(out, HasSubstr("goes on after 1 round"));
  const std::string text = *ReadFile(fs::path(skill()) / "SKILL.md");
  ASSERT_TRUE(WriteFileAtomically(fs::path(skill()) / "SKILL.md", text + "\nOne more rule.\n").ok());
  const Json edited = planned();
  EXPECT_EQ(edited.at("look"), 2);
  EXPECT_GT(rounds(edited), rounds(first));
}

// With 8 times as many tokens, the default model takes 8 times as long: in process, that is all that counts.
TEST_F(CommandMessages, PlannedTimesDependOnTheTokensOfAnswers) {
  const auto seconds = [&](const char* tokens) {
    EXPECT_EQ(Run({"plan", skill(), "--baseline", "20%", "--max-tokens", tokens, "--json"}), 0) << error;
    return Json::parse(out).at("students").at(0).at("to_see").back().at("for_power").at("seconds").get<double>();
  };
  EXPECT_NEAR(seconds("256"), 8.0 * seconds("32"), 1e-9);
  ASSERT_EQ(Run({"plan", skill(), "--baseline", "20%"}), 0) << error;
  EXPECT_THAT(out, HasSubstr("`time` is rough: a guess of "));
}

TEST_F(CommandMessages, PlanDoesNotCallCommandsFree) {
  for (const char* model : {"cmd:claude -p", "desk:somewhere"}) {
    ASSERT_EQ(Run({"plan", skill(), "-m", model, "--baseline", "20%"}), 0) << error;
    EXPECT_THAT(out, AllOf(HasSubstr("price unknown"), Not(HasSubstr("free")))) << model;
  }
  variables["UPSKILL_MODELS"] =
      folder
          .Write("models.toml",
                 "[[price]]\nproviders = [\"cmd\"]\nmodels = [\"claude -p*\"]\ninput = 3.0\noutput = 15.0\n")
          .string();
  ASSERT_EQ(Run({"plan", skill(), "-m", "cmd:claude -p", "--baseline", "20%"}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("$"), Not(HasSubstr("price unknown")))) << error;
}

TEST_F(CommandMessages, PlanFitsANarrowTerminal) {
  columns = 80;
  ASSERT_EQ(Run({"plan", skill(), "-m", kStudent, "--baseline", "20%"}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("to see  rounds  requests"), HasSubstr("in general"), HasSubstr("free"),
                         Not(HasSubstr("--stop-when-decided"))));
  for (const std::string_view line : SplitLines(out)) EXPECT_LE(DisplayColumns(line), 80U) << line;
}

// Five copies of a case cost their requests and show nothing new.
TEST_F(CommandMessages, PlanCountsCasesWithTheSameInputOnce) {
  const auto plan_of = [&](const char* name, int copies) {
    Json tests = Json::array();
    for (const char* input : {"one", "two", "three", "four"}) {
      for (int copy = 0; copy < copies; ++copy)
        tests.push_back({{"id", fmt::format("{}-{}", input, copy)},
                         {"input", input},
                         {"expected", {{"contains", fmt::format("word {}", copy)}}}});
    }
    const std::string file = folder.Write(name, DumpJson(tests)).string();
    EXPECT_EQ(Run({"plan", skill(), "-m", kStudent, "-t", file, "--runs", "10", "--json"}), 0) << error;
    const Json json = Json::parse(out);
    EXPECT_EQ(Run({"plan", skill(), "-m", kStudent, "-t", file}), 0) << error;
    return json;
  };
  const Json once = plan_of("once.json", 1);
  EXPECT_THAT(out, HasSubstr(" · 4 cases · baseline"));
  const Json often = plan_of("often.json", 5);
  EXPECT_THAT(out, HasSubstr("20 cases with 4 different inputs, each of which counts once · baseline"));
  EXPECT_EQ(often.at("distinct_inputs"), 4);
  const Json& a = once.at("students").at(0);
  const Json& b = often.at("students").at(0);
  EXPECT_EQ(a.at("detectable_lift"), b.at("detectable_lift"));
  EXPECT_EQ(a.at("no_effect").at("for_power").at("rounds"), b.at("no_effect").at("for_power").at("rounds"));
  const Json& need = a.at("to_see").at(3).at("for_power");
  const Json& same = b.at("to_see").at(3).at("for_power");
  EXPECT_EQ(need.at("rounds"), same.at("rounds"));
  EXPECT_EQ(5 * need.at("requests").get<int>(), same.at("requests").get<int>());
}

}  // namespace
}  // namespace upskill

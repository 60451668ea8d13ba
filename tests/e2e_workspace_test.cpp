// SPDX-License-Identifier: Apache-2.0
// Students that work in a workspace, with the real binary: scripted servers in three wire formats, a simulated student,
// the embedded model; limits, kill -9 and --resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "eval/journal/journal.h"
#include "sandbox/sandbox.h"
#include "support/loopback_server.h"
#include "support/subprocess.h"
#include "support/workspace_fixture.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using loopback::Request;
using loopback::Script;
using ::testing::HasSubstr;

TEST_F(Workspace, OpenAiChat) {
  const loopback::Server server([](const Request& request) { return AnswerInItsFormat(request, SumUp, 2); });
  ExpectSumsUp(Shell("", "eval s -m generic.m --base-url " + server.url() + "/v1"));
}

TEST_F(Workspace, OpenAiResponses) {
  const loopback::Server server([](const Request& request) { return AnswerInItsFormat(request, SumUp, 2); });
  ExpectSumsUp(Shell("", "eval s -m openresponses.m --base-url " + server.url() + "/v1"));
}

TEST_F(Workspace, Anthropic) {
  const loopback::Server server([](const Request& request) { return AnswerInItsFormat(request, SumUp, 2); });
  ExpectSumsUp(Shell("ANTHROPIC_API_KEY=sk-test-key-1 ANTHROPIC_BASE_URL=" + server.url(),
                     "eval s -m anthropic.claude-haiku-4-5"));
}

TEST_F(Workspace, SimulatedStudentWritesItsFiles) {
  const ProcessOutcome outcome = Shell("", "eval s -m sim:base=0,skill=1 --load on-demand");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("read in 1 of 1 answer"));
  std::map<std::string, Sample> samples = Samples();
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_TRUE(samples.at("skill").passed());
  EXPECT_FALSE(samples.at("baseline").passed());
  const SkillUse& use = *samples.at("skill").response.work->skill;
  EXPECT_EQ(use.read, std::vector<std::string>{"SKILL.md"});
  EXPECT_GT(use.always_tokens, 0);
  EXPECT_GT(use.loaded_tokens, 0);
  EXPECT_GT(use.unread_tokens, 0);
  EXPECT_FALSE(samples.at("baseline").response.work->skill.has_value());
  // The same again is in the cache; with the whole body in the prompt it is another question.
  EXPECT_EQ(Shell("", "eval s -m sim:base=0,skill=1 --load on-demand").exit_code, 0);
  EXPECT_FALSE(Samples().at("skill").cached_from.empty());
  EXPECT_EQ(Shell("", "eval s -m sim:base=0,skill=1").exit_code, 0);
  EXPECT_TRUE(Samples().at("skill").cached_from.empty());
}

TEST_F(Workspace, ASkillThatIsNotReachedForDoesNotHelp) {
  const ProcessOutcome outcome = Shell("", "eval s -m sim:base=0,skill=1,reach=0 --load on-demand");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("read in 0 of 1 answer"));
  EXPECT_FALSE(Samples().at("skill").passed());
}

TEST_F(Workspace, EmbeddedModelKeepsToTheProtocol) {
  const ProcessOutcome outcome =
      Shell("", "eval s -m llama:" UPSKILL_DEFAULT_MODEL " --max-turns 2 --max-tokens 80 --temperature 0");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.error;
  std::map<std::string, Sample> samples = Samples();
  ASSERT_EQ(samples.size(), 2U) << outcome.out << outcome.error;
  for (const auto& [arm, sample] : samples) {
    ASSERT_TRUE(sample.response.work.has_value()) << arm;
    EXPECT_GE(sample.response.work->turns, 1);
    for (const auto& [tool, count] : sample.response.work->tools)
      EXPECT_THAT((std::vector<std::string>{"bash", "read_file", "write_file", "edit_file", "list_files", "grep"}),
                  testing::Contains(tool));
  }
}

// The ways in which models are asked, each with its own form of calls and results.
struct Asked {
  const char* name;
  const char* model;
  bool by_variable;  // the server's URL is in ANTHROPIC_BASE_URL
};

class WorkspaceIn : public Workspace, public testing::WithParamInterface<Asked> {
 protected:
  static std::string Variables(const loopback::Server& server) {
    if (!GetParam().by_variable) return "";
    return "ANTHROPIC_API_KEY=sk-test-key-1 ANTHROPIC_BASE_URL=" + server.url();
  }

  static std::string Line(const loopback::Server& server, const std::string& options) {
    std::string line = std::string("eval s -m ") + GetParam().model + " " + options;
    if (!GetParam().by_variable) line += " --base-url " + server.url() + "/v1";
    return line;
  }

  ProcessOutcome Eval(const loopback::Server& server, const std::string& options) {
    return Shell(Variables(server), Line(server, options));
  }
};

INSTANTIATE_TEST_SUITE_P(Workspace, WorkspaceIn,
                         testing::Values(Asked{"chat", "generic.m", false},
                                         Asked{"responses", "openresponses.m", false},
                                         Asked{"anthropic", "anthropic.claude-haiku-4-5", true}),
                         [](const testing::TestParamInfo<Asked>& asked) { return std::string(asked.param.name); });

TEST_P(WorkspaceIn, EndsAtItsTurns) {
  const loopback::Server server([](const Request& request) {
    return AnswerInItsFormat(
        request,
        [](bool, std::size_t turn) {
          return ScriptedTurn{{{"bash", {{"command", "echo " + std::to_string(turn)}}}}, ""};
        },
        1);
  });
  const ProcessOutcome outcome = Eval(server, "--no-baseline --max-turns 3");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("1 at the limit of turns"));
  EXPECT_EQ(server.request_count(), 3U);
  EXPECT_EQ(Samples().at("skill").response.work->limit, "turns");
}

TEST_P(WorkspaceIn, MuchOutputAndSlowCommandsAreAnswers) {
  const loopback::Server server([](const Request& request) {
    return AnswerInItsFormat(
        request,
        [](bool, std::size_t turn) {
          if (turn == 0) return ScriptedTurn{{{"bash", {{"command", "head -c 5000000 /dev/zero | tr '\\0' x"}}}}, ""};
          if (turn == 1)
            return ScriptedTurn{{{"bash", {{"command", "echo 6 > sum.txt; sleep 60"}, {"timeout_seconds", 1}}}}, ""};
          return ScriptedTurn{{}, "done"};
        },
        1);
  });
  const ProcessOutcome outcome = Eval(server, "--no-baseline");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  const Sample sample = Samples().at("skill");
  EXPECT_TRUE(sample.passed());
  EXPECT_EQ(sample.response.work->tool_errors, 1);
  EXPECT_LT(server.requests().back().body.size(), 100'000U);
}

TEST_P(WorkspaceIn, NoTurnIsPaidTwiceAfterAKill) {
  std::atomic<bool> holds = true;
  const loopback::Server server([&](const Request& request) {
    if (ResultsIn(request) == 2 && holds) return loopback::Silence();
    return AnswerInItsFormat(
        request,
        [](bool, std::size_t now) {
          if (now < 3) return ScriptedTurn{{{"bash", {{"command", "date +%N >> log; echo 6 > sum.txt"}}}}, ""};
          return ScriptedTurn{{}, "done"};
        },
        1);
  });
  // Killed once the third request is under way; exec keeps the process's number.
  std::jthread killer([&] {
    for (int i = 0; i < 12'000 && server.request_count() < 3; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    RunShell("kill -KILL $(cat pid)", folder_.path());
  });
  RunShell(Variables(server) + " bash -c 'echo $$ > pid; exec \"$UPSKILL\" " + Line(server, "--no-baseline -q") + "'",
           folder_.path());
  killer.join();
  EXPECT_EQ(server.request_count(), 3U);
  holds = false;
  const ProcessOutcome outcome = Eval(server, "-q --resume");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  const Sample sample = Samples().at("skill");
  EXPECT_TRUE(sample.passed());
  EXPECT_EQ(sample.response.work->turns, 4);
  EXPECT_EQ(sample.response.usage.input, 40);
  // Only the request without an answer came twice: commands that would print something else weren't run again.
  std::map<std::string, int> times;
  for (const Request& request : server.requests()) ++times[request.body];
  EXPECT_EQ(server.request_count(), 5U);
  EXPECT_EQ(times.size(), 4U);
}

TEST_P(WorkspaceIn, EndsAtItsTime) {
  const loopback::Server server([](const Request& request) {
    return AnswerInItsFormat(
        request,
        [](bool, std::size_t) { return ScriptedTurn{{{"bash", {{"command", "echo 6 > sum.txt; sleep 30"}}}}, ""}; }, 1);
  });
  const ProcessOutcome outcome = Eval(server, "--no-baseline --case-timeout 2s");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("1 at the limit of time"));
  const Sample sample = Samples().at("skill");
  EXPECT_TRUE(sample.passed());  // what was written until then counts
  EXPECT_EQ(sample.response.work->limit, "time");
}

TEST_F(Workspace, ABudgetEndsARunBetweenTwoTurns) {
  const loopback::Server server([](const Request& request) {
    return AnswerInItsFormat(
        request, [](bool, std::size_t) { return ScriptedTurn{{{"list_files", Json::object()}}, ""}; }, 1);
  });
  // A turn is estimated at about 1,500 tokens and takes 15.
  const ProcessOutcome outcome =
      Shell("", "eval s -m generic.m --no-baseline --max-tokens-total 1600 --base-url " + server.url() + "/v1");
  EXPECT_EQ(outcome.exit_code, 3) << outcome.out << outcome.error;
  EXPECT_GT(server.request_count(), 1U);
  EXPECT_LT(server.request_count(), 20U);
}

TEST_F(Workspace, ModelsWithoutToolsAreRefused) {
  const ProcessOutcome outcome = Shell("", "eval s -m cmd:cat");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("takes no tools"));
  EXPECT_EQ(Shell("", "eval s -m sim:base=0,skill=1 --mode answer").exit_code, 0);
  EXPECT_FALSE(Samples().at("skill").response.work.has_value());
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "eval/journal/journal.h"
#include "sandbox/sandbox.h"
#include "support/loopback_server.h"
#include "support/subprocess.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {

struct ScriptedCall {
  std::string name;
  Json arguments;
};

// What a scripted model does in a turn: calls, or a last text.
struct ScriptedTurn {
  std::vector<ScriptedCall> calls;
  std::string text;
};
using TurnScript = std::function<ScriptedTurn(bool has_skill, std::size_t turn)>;

inline std::size_t CountOf(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

inline Json ChatAnswer(const ScriptedTurn& turn) {
  Json message = {{"role", "assistant"}, {"content", turn.text}};
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    message["tool_calls"].push_back(
        {{"id", "call" + std::to_string(i)},
         {"type", "function"},
         {"function", {{"name", turn.calls[i].name}, {"arguments", DumpJson(turn.calls[i].arguments)}}}});
  }
  const std::string finish = turn.calls.empty() ? "stop" : "tool_calls";
  return {{"model", "m"},
          {"choices", Json::array({{{"index", 0}, {"finish_reason", finish}, {"message", std::move(message)}}})},
          {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 5}}}};
}

inline Json AnthropicAnswer(const ScriptedTurn& turn) {
  Json content = Json::array();
  if (!turn.text.empty()) content.push_back({{"type", "text"}, {"text", turn.text}});
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    content.push_back({{"type", "tool_use"},
                       {"id", "call" + std::to_string(i)},
                       {"name", turn.calls[i].name},
                       {"input", turn.calls[i].arguments}});
  }
  return {{"type", "message"},
          {"role", "assistant"},
          {"model", "m"},
          {"content", std::move(content)},
          {"stop_reason", turn.calls.empty() ? "end_turn" : "tool_use"},
          {"usage", {{"input_tokens", 10}, {"output_tokens", 5}}}};
}

inline Json ResponsesAnswer(const ScriptedTurn& turn) {
  Json output = Json::array();
  if (!turn.text.empty()) {
    output.push_back({{"type", "message"},
                      {"role", "assistant"},
                      {"status", "completed"},
                      {"content", Json::array({{{"type", "output_text"}, {"text", turn.text}}})}});
  }
  for (std::size_t i = 0; i < turn.calls.size(); ++i) {
    output.push_back({{"type", "function_call"},
                      {"call_id", "call" + std::to_string(i)},
                      {"name", turn.calls[i].name},
                      {"arguments", DumpJson(turn.calls[i].arguments)}});
  }
  return {{"object", "response"},
          {"model", "m"},
          {"status", "completed"},
          {"output", std::move(output)},
          {"usage", {{"input_tokens", 10}, {"output_tokens", 5}}}};
}

// The results of tools that a request has.
inline std::size_t ResultsIn(const loopback::Request& request) {
  if (request.path.ends_with("/messages")) return CountOf(request.body, R"("type":"tool_result")");
  if (request.path.ends_with("/responses")) return CountOf(request.body, R"("type":"function_call_output")");
  return CountOf(request.body, R"("role":"tool")");
}

// Knows the turn from the request: each result of the turns before it is there.
inline loopback::Script AnswerInItsFormat(const loopback::Request& request, const TurnScript& script,
                                          std::size_t calls_per_turn) {
  const bool has_skill = request.body.find("<skill name=") != std::string::npos ||
                         request.body.find("<available_skills>") != std::string::npos;
  const ScriptedTurn turn = script(has_skill, ResultsIn(request) / calls_per_turn);
  if (request.path.ends_with("/messages")) return loopback::Answer(200, DumpJson(AnthropicAnswer(turn)));
  if (request.path.ends_with("/responses")) return loopback::Answer(200, DumpJson(ResponsesAnswer(turn)));
  return loopback::Answer(200, DumpJson(ChatAnswer(turn)));
}

// A skill that adds numbers up, a case that is done in a workspace, and the real binary.
class Workspace : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status available = DefaultSandbox().Available(); !available.ok())
      GTEST_SKIP() << available.error().message;
    folder_.Write("s/SKILL.md", "---\nname: s\ndescription: Adds numbers up.\n---\n\nAdd all of them. [sim 1]\n");
    folder_.Write("s/scripts/add.sh", "#!/bin/sh\necho 6\n");
    folder_.Write("s/references/more.md", "More about numbers.\n");
    Json one = {{"id", "sum"},
                {"input", "Write the sum of numbers.txt into sum.txt."},
                {"mode", "workspace"},
                {"context", {{"files", {{"numbers.txt", "1\n2\n3\n"}}}}},
                {"reference", "Done.\n\n```text sum.txt\n6\n```\n"},
                {"checks", Json::array({{{"type", "command"}, {"command", "test \"$(cat sum.txt)\" = 6"}},
                                        {{"type", "contains"}, {"file", "sum.txt"}, {"values", {"6"}}}})}};
    folder_.Write("s/tests.json", DumpJson({{"cases", Json::array({one})}}));
  }

  // Sums up with the skill, and writes a wrong number without it; the first command fails.
  static ScriptedTurn SumUp(bool has_skill, std::size_t turn) {
    if (turn > 0) return {{}, "The sum is in sum.txt."};
    return {{{"bash", {{"command", "cat numbers.txt; exit 3"}}},
             {"write_file", {{"path", "sum.txt"}, {"content", has_skill ? "6\n" : "7\n"}}}},
            "I look."};
  }

  ProcessOutcome Shell(const std::string& variables, const std::string& arguments) {
    return RunShell(variables + " \"$UPSKILL\" " + arguments, folder_.path());
  }

  std::map<std::string, Sample> Samples() const {
    std::map<std::string, Sample> by_arm;
    const Result<std::filesystem::path> run = ResolveRun(folder_.path() / "runs", "latest");
    if (!run.ok()) return by_arm;
    Result<JournalContent> content = ReadJournal(*run);
    if (!content.ok()) return by_arm;
    for (Sample& sample : content->samples) {
      if (sample.ok()) by_arm[ArmName(sample.arm)] = std::move(sample);
    }
    return by_arm;
  }

  void ExpectSumsUp(const ProcessOutcome& outcome) const {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.error;
    EXPECT_THAT(outcome.out, testing::HasSubstr("skill: 2.0 per answer, 1 tool error"));
    std::map<std::string, Sample> samples = Samples();
    ASSERT_EQ(samples.size(), 2U) << outcome.out << outcome.error;
    EXPECT_TRUE(samples.at("skill").passed());
    EXPECT_FALSE(samples.at("baseline").passed());
    for (const auto& [arm, sample] : samples) {
      ASSERT_TRUE(sample.response.work.has_value()) << arm;
      const WorkRecord& work = *sample.response.work;
      EXPECT_EQ(work.turns, 2) << arm;
      EXPECT_EQ(work.tool_errors, 1) << arm;
      EXPECT_EQ(sample.response.text, "The sum is in sum.txt.");
      EXPECT_EQ(sample.response.usage.input, 20);
      ASSERT_EQ(work.transcript.size(), 2U);
      EXPECT_EQ(work.transcript[0].at("calls")[0].at("result"), "1\n2\n3\n[exit code 3]\n");
    }
  }

  TempFolder folder_;
};

}  // namespace upskill

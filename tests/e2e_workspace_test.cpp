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

#include "eval/journal.h"
#include "sandbox/sandbox.h"
#include "support/loopback_server.h"
#include "support/subprocess.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using loopback::Request;
using loopback::Script;
using ::testing::AllOf;
using ::testing::HasSubstr;

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

std::size_t CountOf(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

Json ChatAnswer(const ScriptedTurn& turn) {
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

Json AnthropicAnswer(const ScriptedTurn& turn) {
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

Json ResponsesAnswer(const ScriptedTurn& turn) {
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
std::size_t ResultsIn(const Request& request) {
  if (request.path.ends_with("/messages")) return CountOf(request.body, R"("type":"tool_result")");
  if (request.path.ends_with("/responses")) return CountOf(request.body, R"("type":"function_call_output")");
  return CountOf(request.body, R"("role":"tool")");
}

// Knows the turn from the request: each result of the turns before it is there.
Script AnswerInItsFormat(const Request& request, const TurnScript& script, std::size_t calls_per_turn) {
  const bool has_skill = request.body.find("<skill name=") != std::string::npos ||
                         request.body.find("<available_skills>") != std::string::npos;
  const ScriptedTurn turn = script(has_skill, ResultsIn(request) / calls_per_turn);
  if (request.path.ends_with("/messages")) return loopback::Answer(200, DumpJson(AnthropicAnswer(turn)));
  if (request.path.ends_with("/responses")) return loopback::Answer(200, DumpJson(ResponsesAnswer(turn)));
  return loopback::Answer(200, DumpJson(ChatAnswer(turn)));
}

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
    const Result<fs::path> run = ResolveRun(folder_.path() / "runs", "latest");
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
    EXPECT_THAT(outcome.out, HasSubstr("skill: 2.0 per answer, 1 tool error"));
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

// A server that adds numbers up, counts its calls, and fails without numbers.
constexpr const char* kSumServer = R"py(
import json, sys
calls = 0
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if "id" not in message:
        continue
    result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "sums", "version": "1"}}
    if method == "tools/list":
        result = {"tools": [{"name": "add", "description": "Adds up.", "inputSchema": {
            "type": "object", "properties": {"numbers": {"type": "array", "items": {"type": "integer"}}}}}]}
    elif method == "tools/call":
        calls += 1
        numbers = message["params"]["arguments"].get("numbers")
        text = "no numbers" if numbers is None else "call %d: %d" % (calls, sum(numbers))
        result = {"content": [{"type": "text", "text": text}], "isError": numbers is None}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
)py";

TEST_F(Workspace, HasTheToolsOfMcpServers) {
  if (!DefaultSandbox().HasProgram("python3")) GTEST_SKIP() << "no python3 in the sandbox";
  Json suite = {
      {"mcp", Json::array({{{"name", "sums"}, {"command", "python3 sums.py"}, {"files", {{"sums.py", kSumServer}}}}})},
      {"cases", Json::array()}};
  for (const char* id : {"one", "two"}) {
    suite["cases"].push_back({{"id", id},
                              {"input", std::string("Add up ") + id},
                              {"mode", "workspace"},
                              {"checks", Json::array({{{"type", "contains"}, {"text", "call 2: 6"}}})}});
  }
  folder_.Write("s/tests.json", DumpJson(suite));
  const loopback::Server server([](const Request& request) {
    std::string last;
    if (const std::size_t at = request.body.rfind("call 2: "); at != std::string::npos)
      last = request.body.substr(at, 9);
    return AnswerInItsFormat(
        request,
        [&](bool, std::size_t turn) {
          if (turn == 0) return ScriptedTurn{{{"sums_add", Json::object()}}, ""};
          if (turn == 1) return ScriptedTurn{{{"sums_add", {{"numbers", {1, 2, 3}}}}}, ""};
          return ScriptedTurn{{}, last};
        },
        1);
  });
  const std::string eval = "eval s -m generic.m --no-baseline --base-url " + server.url() + "/v1";
  const ProcessOutcome outcome = Shell("", eval);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.error;
  // One server for each case: the second call of each is its own.
  EXPECT_THAT(outcome.out, HasSubstr("2/2"));
  EXPECT_THAT(server.requests().front().body, HasSubstr("sums_add"));
  EXPECT_EQ(Samples().at("skill").response.work->tool_errors, 1);
  suite["mcp"][0]["command"] = "echo none >&2; exit 5";
  folder_.Write("s/tests.json", DumpJson(suite));
  const ProcessOutcome failed = Shell("", eval);
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_THAT(failed.error, HasSubstr("MCP server sums: it ended with exit code 5: none"));
  suite["mcp"][0].erase("command");
  folder_.Write("s/tests.json", DumpJson(suite));
  EXPECT_THAT(Shell("", eval).error, HasSubstr("\"command\" must be a command line"));
}

// An MCP server at a URL, as far as the tool loop needs one. `fails`: calls are answered with this status.
Script McpAnswer(const Request& request, int fails) {
  if (request.method == "DELETE") return loopback::Answer(200, "");
  const Json message = ParseJson(request.body, "the request").value();
  const std::string method = StringAt(message, "method");
  if (!message.contains("id")) return loopback::Answer(202, "");
  Json result = {{"protocolVersion", "2025-06-18"}, {"serverInfo", {{"name", "sums"}, {"version", "1"}}}};
  if (method == "tools/list")
    result = {{"tools", Json::array({{{"name", "add"},
                                      {"inputSchema", {{"type", "object"}, {"properties", Json::object()}}}}})}};
  if (method == "tools/call") {
    if (fails != 0) return loopback::Answer(fails, "");
    result = {{"content", Json::array({{{"type", "text"}, {"text", "the sum is 6"}}})}};
  }
  const std::string answer = DumpJson({{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", result}});
  if (method == "initialize") return loopback::Answer(200, answer, {{"Mcp-Session-Id", "s"}});
  return loopback::Sse({"data: " + answer + "\n\n"});
}

TEST_F(Workspace, HasTheToolsOfMcpServersAtUrls) {
  std::atomic<int> fails = 0;
  const loopback::Server mcp([&](const Request& request) { return McpAnswer(request, fails); });
  const std::string url = mcp.url() + "/mcp";
  Json suite = {{"mcp", Json::array({{{"name", "sums"},
                                      {"url", url},
                                      {"headers", {{"Authorization", "Bearer ${SUMS_TOKEN}"}, {"X-Mode", "fast"}}}}})},
                {"cases", Json::array({{{"id", "one"},
                                        {"input", "Add up"},
                                        {"mode", "workspace"},
                                        {"checks", Json::array({{{"type", "contains"}, {"text", "6"}}})}}})}};
  folder_.Write("s/tests.json", DumpJson(suite));
  const loopback::Server server([](const Request& request) {
    const bool told = request.body.find("the sum is 6") != std::string::npos;
    return AnswerInItsFormat(
        request,
        [&](bool, std::size_t turn) {
          if (turn == 0) return ScriptedTurn{{{"sums_add", Json::object()}}, ""};
          return ScriptedTurn{{}, told ? "6" : "unknown"};
        },
        1);
  });
  const std::string token = "SUMS_TOKEN=a-token-of-the-tests";
  const std::string eval = "eval s -m generic.m --no-baseline --base-url " + server.url() + "/v1";
  const std::string allowed = eval + " --mcp-url " + url + " --mcp-env SUMS_TOKEN";
  // Nobody is asked anything that the user hasn't allowed.
  const ProcessOutcome unasked = Shell(token, eval);
  EXPECT_EQ(unasked.exit_code, 2);
  EXPECT_THAT(unasked.error, AllOf(HasSubstr("MCP server sums"), HasSubstr("give --mcp-url " + url)));
  const ProcessOutcome without_variable = Shell(token, eval + " --mcp-url " + url);
  EXPECT_EQ(without_variable.exit_code, 2);
  EXPECT_THAT(without_variable.error, HasSubstr("give --mcp-env SUMS_TOKEN"));
  const ProcessOutcome unset = Shell("", allowed);
  EXPECT_EQ(unset.exit_code, 2);
  EXPECT_THAT(unset.error, HasSubstr("SUMS_TOKEN is not set"));
  EXPECT_EQ(mcp.request_count() + server.request_count(), 0U);

  const ProcessOutcome outcome = Shell(token, allowed);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("1/1"));
  for (const Request& request : mcp.requests()) {
    EXPECT_EQ(request.headers.at("authorization"), "Bearer a-token-of-the-tests");
    EXPECT_EQ(request.headers.at("x-mode"), "fast");
  }
  EXPECT_EQ(mcp.requests().back().method, "DELETE");
  EXPECT_THAT(server.requests().front().body, HasSubstr("sums_add"));
  EXPECT_EQ(RunShell("grep -r a-token-of-the-tests runs", folder_.path()).exit_code, 1);

  // A server that fails says nothing of the student.
  fails = 403;
  const ProcessOutcome failed = Shell(token, allowed + " --no-cache");
  EXPECT_EQ(failed.exit_code, 3) << failed.out;
  EXPECT_THAT(failed.error, AllOf(HasSubstr("MCP server sums"), HasSubstr("403")));

  suite["mcp"][0]["headers"]["Authorization"] = "Bearer literal";
  folder_.Write("s/tests.json", DumpJson(suite));
  EXPECT_THAT(Shell(token, allowed).error, HasSubstr("name the environment variable that has it"));
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

// SPDX-License-Identifier: Apache-2.0
// Real agent programs, installed by tests/agents/run, with a scripted model on the loopback interface.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "model/workspace.h"
#include "program/program_model.h"
#include "program/program_place.h"
#include "support/source_dir.h"
#include "util/clock.h"
#include "util/spawn_settings.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// tests/support/scripted_model.py with a script.
class ScriptedModel {
 public:
  explicit ScriptedModel(const std::string& script) {
    const std::string program = (SourceDir() / "tests" / "support" / "scripted_model.py").string();
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const Fd read(ends[0]);
    SpawnSettings settings;
    ::posix_spawn_file_actions_adddup2(&settings.actions, ends[1], STDOUT_FILENO);
    std::vector<std::string> words = {"python3", program, folder_.Write("script.json", script).string()};
    EXPECT_EQ(
        ::posix_spawnp(&pid_, "python3", &settings.actions, &settings.attributes, PointersTo(words).data(), environ),
        0);
    ::close(ends[1]);
    char byte = 0;
    while (::read(read.get(), &byte, 1) == 1 && byte != '\n') url_ += byte;
  }
  ~ScriptedModel() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ScriptedModel(const ScriptedModel&) = delete;
  ScriptedModel& operator=(const ScriptedModel&) = delete;

  const std::string& url() const { return url_; }

 private:
  TempFolder folder_;
  std::string url_;
  pid_t pid_ = -1;
};

class AgentProgramTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const Status available = DefaultSandbox().Available(); !available.ok())
      GTEST_SKIP() << available.error().message;
    const char* const folder = std::getenv("UPSKILL_AGENT_PROGRAMS");
    if (folder == nullptr || *folder == '\0')
      GTEST_SKIP() << "UPSKILL_AGENT_PROGRAMS doesn't name a folder of programs";
    const Result<std::vector<AgentProgram>> programs = LoadPrograms(std::nullopt, "");
    ASSERT_TRUE(programs.ok()) << programs.error().message;
    const Result<AgentProgram> program = FindProgram(*programs, GetParam());
    ASSERT_TRUE(program.ok()) << program.error().message;
    options_.program = *program;
    const Result<ProgramPlace> place = FindProgramPlace(*program, [&](const std::string& name) {
      const char* const value = std::getenv(name.c_str());
      // Codex brings a program with it that others need.
      return std::optional(std::string(folder) + "/node_modules/.bin:" + (value == nullptr ? "" : value) + ":" +
                           folder +
                           "/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex-path");
    });
    if (!place.ok()) GTEST_SKIP() << place.error().message;
    options_.place = *place;
    options_.client = std::make_shared<HttpClient>();
    options_.clock = &clock_;
  }

  // With each of the protocols that the program speaks.
  Result<ChatResponse> Run(const ScriptedModel& server, Protocol protocol, const WorkspaceTask& task) {
    ProgramModelOptions options = options_;
    options.endpoint.protocol = protocol;
    options.endpoint.base_urls = {server.url() + BasePathOf(protocol)};
    options.endpoint.model = "scripted";
    options.endpoint.local = true;
    Result<std::unique_ptr<Model>> model = MakeProgramModel(std::move(options));
    if (!model) return model.error();
    ChatRequest request;
    request.messages.push_back({Role::kUser, "Write hello.txt, then run a command."});
    request.task = std::make_shared<const WorkspaceTask>(task);
    return Generate(**model, std::move(request));
  }

  ProgramModelOptions options_;
  SystemClock clock_;
};

constexpr const char* kWork =
    R"({"turns": [{"say": "I write it.", "write": ["hello.txt", "hello"]}, {"run": "cat missing.txt"}, {"say": "All done."}]})";
constexpr const char* kWorkWithSkill =
    R"({"turns": [{"skill": "greeting"}, {"write": ["hello.txt", "hello"]}, {"say": "All done."}]})";

TEST_P(AgentProgramTest, WritesAFileAndHasACommandFail) {
  const ScriptedModel server(kWork);
  WorkspaceTask task;
  task.files = {{"notes.md", "# Notes\n"}};
  task.time_limit = std::chrono::seconds(300);
  for (const auto& [protocol, name] : options_.program.protocols) {
    const Result<ChatResponse> answer = Run(server, protocol, task);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ(answer->text, "All done.");
    ASSERT_TRUE(answer->work);
    ASSERT_EQ(answer->work->changes.written.count("hello.txt"), 1U);
    EXPECT_EQ(Trim(answer->work->changes.written.at("hello.txt")), "hello");
    EXPECT_EQ(answer->work->turns, 3);
    EXPECT_EQ(answer->work->tool_calls, 2);
    EXPECT_EQ(answer->work->tool_errors, 1) << DumpJson(answer->work->transcript);
    EXPECT_THAT(DumpJson(answer->work->transcript), HasSubstr("No such file"));
    EXPECT_EQ(answer->work->transcript.size(), 3U) << DumpJson(answer->work->transcript);
    EXPECT_THAT(DumpJson(answer->work->transcript), AllOf(HasSubstr("hello.txt"), HasSubstr("All done.")));
    EXPECT_GE(answer->usage.input, 300);
    EXPECT_GE(answer->usage.output, 30);
  }
}

TEST_P(AgentProgramTest, ReadsASkillThatIsInstalledAndNoOther) {
  const ScriptedModel server(kWorkWithSkill);
  WorkspaceTask task;
  task.time_limit = std::chrono::seconds(300);
  task.load = SkillLoad::kOnDemand;
  task.skill = SkillFolder{
      "greeting",
      "How to greet people in files.",
      {{"SKILL.md", "---\nname: greeting\ndescription: How to greet people in files.\n---\n\nSay hello.\n"}}};
  const Protocol protocol = options_.program.protocols.front().first;
  Result<ChatResponse> answer = Run(server, protocol, task);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_TRUE(answer->work && answer->work->skill);
  EXPECT_THAT(answer->work->skill->read, testing::ElementsAre("SKILL.md")) << DumpJson(answer->work->transcript);
  // Claude Code puts the skill's text into a message of its own, which is no tool's result.
  if (options_.program.id != "claude-code") {
    EXPECT_THAT(DumpJson(answer->work->transcript), HasSubstr("Say hello."));
  }
  EXPECT_EQ(answer->work->changes.written.size(), 1U);

  // Among others, as `eval --activation` has it.
  task.others = {
      {"charts", "Draws charts.", {{"SKILL.md", "---\nname: charts\ndescription: Draws charts.\n---\n\nDraw.\n"}}}};
  answer = Run(server, protocol, task);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_TRUE(answer->work && answer->work->skill);
  EXPECT_THAT(answer->work->skill->read, testing::ElementsAre("SKILL.md")) << DumpJson(answer->work->transcript);
  EXPECT_TRUE(answer->work->skill->others.empty());
  std::swap(*task.skill, task.others.front());
  answer = Run(server, protocol, task);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  ASSERT_TRUE(answer->work && answer->work->skill);
  EXPECT_TRUE(answer->work->skill->read.empty());
  EXPECT_THAT(answer->work->skill->others, testing::ElementsAre("greeting"));

  task.skill.reset();
  task.others.clear();
  answer = Run(server, protocol, task);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_FALSE(answer->work->skill);
  EXPECT_THAT(DumpJson(answer->work->transcript), testing::Not(HasSubstr("Say hello.")));
}

// Adds numbers up and counts its calls; it finds its own file and the case's.
constexpr const char* kSumServer = R"py(
import json, sys
calls = 0
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, result = message["method"], {}
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "sums", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "add", "description": "Adds numbers up.", "inputSchema": {
            "type": "object", "properties": {"numbers": {"type": "array", "items": {"type": "integer"}}},
            "required": ["numbers"]}}]}
    elif method == "tools/call":
        calls += 1
        total = sum(message["params"]["arguments"]["numbers"])
        result = {"content": [{"type": "text", "text": "call %d: %d, %s" % (calls, total, open("notes.md").read())}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
)py";

TEST_P(AgentProgramTest, UsesAnMcpServer) {
  // Claude Code and Qwen Code offer such tools only when they have been searched for, Qwen Code through another tool.
  const std::string search = R"({"query": "select:mcp__sums__add", "max_results": 5}]}, )";
  const auto add = [&](const std::string& numbers) {
    const std::string values = R"({"numbers": )" + numbers + "}";
    return options_.program.id == "qwen"
               ? R"({"tool": ["tool", "call", {"name": "mcp__sums__add", "arguments": )" + values + "}]}, "
               : R"({"tool": ["sums", "add", )" + values + "]}, ";
  };
  const ScriptedModel server(R"({"turns": [)" +
                             (options_.program.id == "claude-code" ? R"({"tool": ["Tool", "Search", )" + search
                              : options_.program.id == "qwen"      ? R"({"tool": ["tool", "search", )" + search
                                                                   : "") +
                             add("[1, 2, 3]") + add("[40]") + R"({"say": "All done."}]})");
  WorkspaceTask task;
  task.files = {{"notes.md", "# Notes"}};
  task.servers = {{"sums", "python3 \"$(echo sums.py)\"", {{"sums.py", kSumServer}}, false, "", {}}};
  task.time_limit = std::chrono::seconds(300);
  const Result<ChatResponse> answer = Run(server, options_.program.protocols.front().first, task);
  if (!options_.program.servers) {
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::kPermanent);
    EXPECT_THAT(answer.error().message, HasSubstr("MCP server sums: Pi can't be given MCP servers"));
    return;
  }
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->text, "All done.");
  ASSERT_TRUE(answer->work);
  EXPECT_THAT(DumpJson(answer->work->transcript),
              AllOf(HasSubstr("call 1: 6, # Notes"), HasSubstr("call 2: 40, # Notes")));
  ASSERT_EQ(answer->work->tools.count("sums_add"), 1U) << DumpJson(answer->work->transcript);
  EXPECT_EQ(answer->work->tools.at("sums_add"), 2);
  EXPECT_TRUE(answer->work->changes.empty());
}

TEST_P(AgentProgramTest, FailsWithItsModel) {
  const ScriptedModel server(R"({"turns": [], "status": 401})");
  WorkspaceTask task;
  task.time_limit = std::chrono::seconds(300);
  const Result<ChatResponse> answer = Run(server, options_.program.protocols.front().first, task);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kPermanent) << answer.error().message;
  EXPECT_THAT(answer.error().message, HasSubstr("none of its requests to the model was answered: HTTP 401"));
}

TEST_P(AgentProgramTest, GivesUpWithItsModel) {
  const ScriptedModel server(R"({"turns": [{"say": "I can't do this."}]})");
  const Result<ChatResponse> answer = Run(server, options_.program.protocols.front().first, {});
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->text, "I can't do this.");
  EXPECT_TRUE(answer->work && answer->work->changes.empty());
  EXPECT_EQ(answer->work->turns, 1);
}

TEST_P(AgentProgramTest, IsEndedInTheMiddleOfACommand) {
  const ScriptedModel server(R"({"turns": [{"run": "tail -f /dev/null"}]})");  // Claude Code refuses to sleep
  WorkspaceTask task;
  task.time_limit = std::chrono::seconds(15);
  const Result<ChatResponse> answer = Run(server, options_.program.protocols.front().first, task);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().cause, ErrorCause::kTimeout) << answer.error().message;
}

INSTANTIATE_TEST_SUITE_P(Programs, AgentProgramTest,
                         testing::Values("codex", "opencode", "pi", "gemini", "qwen", "claude-code"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace upskill

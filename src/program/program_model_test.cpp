// SPDX-License-Identifier: Apache-2.0
#include "program/program_model.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/workspace.h"
#include "program/program_place.h"
#include "support/fake_agent.h"
#include "support/loopback_server.h"
#include "util/clock.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

SkillFolder TestSkill() {
  return {"greeting",
          "How to greet",
          {{"SKILL.md", "---\nname: greeting\ndescription: How to greet\n---\n\nSay hi.\n"},
           {"references/more.md", "More.\n"}}};
}

// A fake agent with a model that says the lines of a script, the one after as many as the agent has tool results.
class ProgramModelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status available = DefaultSandbox().Available(); !available.ok())
      GTEST_SKIP() << available.error().message;
  }

  loopback::Script Next(const loopback::Request& request) {
    if (status_ != 200) return loopback::Answer(status_, R"({"error":{"message":"it is out of order"}})");
    std::size_t turn = 0;
    for (std::size_t at = request.body.find("\"tool_call_id\""); at != std::string::npos;
         at = request.body.find("\"tool_call_id\"", at + 1))
      ++turn;
    if (turn >= fails_after_) return loopback::Answer(500, R"({"error":{"message":"it broke"}})");
    return loopback::ChatCompletion(lines_[std::min(turn, lines_.size() - 1)], 100, 10);
  }

  // `after`: what follows the agent on its command line.
  std::unique_ptr<Model> Open(const std::string& after = "") {
    ProgramModelOptions options;
    const Result<std::vector<AgentProgram>> programs = LoadPrograms(FakeAgent::Description(), "agents.toml");
    EXPECT_TRUE(programs.ok()) << programs.error().message;
    options.program = *FindProgram(*programs, "fake");
    options.program.command += after;
    Result<ProgramPlace> place = FindProgramPlace(options.program, [&](const std::string& name) {
      return name == "PATH" ? std::optional(agent_.folder().string()) : std::nullopt;
    });
    EXPECT_TRUE(place.ok()) << place.error().message;
    options.place = *place;
    options.endpoint.protocol = Protocol::kChat;
    options.endpoint.base_urls = {server_.url() + "/upstream"};
    options.endpoint.model = "tiny";
    options.endpoint.key = std::pair("authorization", Secret("Bearer real-key-1234567"));
    options.endpoint.price = Price{1.0, 10.0, 0.0, 0.0, "2026-11-24", 0.0};
    options.client = std::make_shared<HttpClient>();
    options.clock = &clock_;
    Result<std::unique_ptr<Model>> model = MakeProgramModel(std::move(options));
    EXPECT_TRUE(model.ok()) << model.error().message;
    return *std::move(model);
  }

  Result<ChatResponse> Run(Model& model) {
    ChatRequest request;
    request.messages.push_back({Role::kUser, "Greet."});
    request.task = std::make_shared<const WorkspaceTask>(task_);
    return Generate(model, std::move(request));
  }
  Result<ChatResponse> Run() { return Run(*Open()); }

  std::vector<std::string> lines_;
  int status_ = 200;
  std::size_t fails_after_ = 1000;
  WorkspaceTask task_;
  FakeAgent agent_;
  SystemClock clock_;
  loopback::Server server_{[this](const loopback::Request& request) { return Next(request); }};
};

TEST_F(ProgramModelTest, WorksInAWorkspace) {
  lines_ = {"write out.txt hello", "run ls; false", "done All is well."};
  task_.files = {{"in.txt", "in\n"}, {"old.txt", "old\n"}};
  const Result<ChatResponse> answer = Run();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->text, "All is well.");
  ASSERT_TRUE(answer->work);
  EXPECT_EQ(answer->work->changes.written, (WorkspaceFiles{{"out.txt", "hello\n"}}));
  EXPECT_THAT(answer->work->changes.removed, IsEmpty());
  EXPECT_EQ(answer->work->turns, 3);
  EXPECT_EQ(answer->work->tools, (std::map<std::string, int>{{"bash", 1}, {"write", 1}}));
  EXPECT_EQ(answer->work->tool_calls, 2);
  EXPECT_EQ(answer->work->transcript.size(), 3U);
  EXPECT_THAT(DumpJson(answer->work->transcript), AllOf(HasSubstr("in.txt"), HasSubstr("All is well.")));
  EXPECT_EQ(answer->usage.input, 300);
  EXPECT_EQ(answer->usage.output, 30);
  EXPECT_DOUBLE_EQ(answer->cost_usd.value_or(0), 300e-6 + 300e-6);
  EXPECT_FALSE(answer->work->skill);
}

TEST_F(ProgramModelTest, GivesTheKeyToTheModelAlone) {
  lines_ = {"run env; cat /proc/*/environ", "done"};
  const Result<ChatResponse> answer = Run();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_THAT(DumpJson(answer->work->transcript),
              AllOf(HasSubstr("UPSKILL_FAKE_KEY=dummy"), Not(HasSubstr("real-key"))));
  ASSERT_EQ(server_.request_count(), 2U);
  const loopback::Request request = server_.requests().front();
  EXPECT_EQ(request.path, "/upstream/chat/completions");
  EXPECT_EQ(request.headers.at("authorization"), "Bearer real-key-1234567");
}

TEST_F(ProgramModelTest, FindsASkillThatIsInstalled) {
  lines_ = {"read .agents/skills/greeting/SKILL.md", "done hi"};
  task_.skill = TestSkill();
  task_.load = SkillLoad::kOnDemand;
  Result<ChatResponse> answer = Run();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_THAT(server_.requests().front().body, AllOf(HasSubstr("skills: greeting"), Not(HasSubstr("Say hi."))));
  EXPECT_THAT(server_.requests().back().body, HasSubstr("Say hi."));
  ASSERT_TRUE(answer->work->skill);
  EXPECT_THAT(answer->work->skill->read, testing::ElementsAre("SKILL.md"));
  EXPECT_GT(answer->work->skill->loaded_tokens, 0);
  EXPECT_EQ(answer->work->skill->unread_tokens, 2);
  EXPECT_TRUE(answer->work->changes.empty());

  task_.load = SkillLoad::kBody;
  answer = Run();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_THAT(server_.requests()[2].body, AllOf(HasSubstr("Say hi."), HasSubstr("skills: \"")));
}

TEST_F(ProgramModelTest, IsToldOfMcpServers) {
  lines_ = {"read .fake/servers", "run sh /tmp/upskill/servers/first.sh; sh /tmp/upskill/servers/two-2.sh", "done"};
  task_.files = {{"data.txt", "of the case"}};
  task_.servers = {
      {"first", "cat data.txt \"own.txt\"; pwd; echo x > data.txt", {{"own.txt", " and its own"}}, false, "", {}},
      {"two-2", "ls", {}, true, "", {}}};
  const Result<ChatResponse> answer = Run();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  const Json& turns = answer->work->transcript;
  ASSERT_EQ(turns.size(), 3U);
  EXPECT_THAT(DumpJson(turns[0]),
              HasSubstr("{first=/tmp/upskill/servers/first.sh, two-2=/tmp/upskill/servers/two-2.sh}"));
  EXPECT_THAT(DumpJson(turns[1]), HasSubstr("of the case and its own/tmp/upskill/servers/first data.txt"));
  EXPECT_TRUE(answer->work->changes.empty());
  task_.servers.clear();
  lines_ = {"read .fake/servers", "done"};
  const Result<ChatResponse> without = Run();
  ASSERT_TRUE(without.ok()) << without.error().message;
  EXPECT_THAT(DumpJson(without->work->transcript), HasSubstr("\"{}\""));
}

TEST_F(ProgramModelTest, HasNoWayToAServerAtAUrl) {
  lines_ = {"done"};
  task_.servers = {{"far", "", {}, false, "http://127.0.0.1:1/mcp", {}}};
  const Result<ChatResponse> answer = Run();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(answer.error().message, HasSubstr("MCP server far: it is at a URL"));
  EXPECT_EQ(server_.request_count(), 0U);
}

TEST_F(ProgramModelTest, EndsAProgramThatHangs) {
  lines_ = {"write out.txt x", "hang"};
  task_.time_limit = std::chrono::seconds(2);
  const Result<ChatResponse> answer = Run();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(answer.error().cause, ErrorCause::kTimeout);
  EXPECT_EQ(answer.error().message, "Fake Agent had not finished after 2 s and was ended");
  EXPECT_EQ(answer.error().used_tokens, 220);
}

TEST_F(ProgramModelTest, TakesFailedRequestsForAnErrorWhateverTheExitCodeIs) {
  status_ = 401;
  Result<ChatResponse> answer = Run();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(answer.error().message, AllOf(HasSubstr("Fake Agent: none of its requests to the model was answered"),
                                            HasSubstr("out of order")));
  status_ = 503;
  answer = Run();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
  status_ = 200;
  lines_ = {"write out.txt x"};
  fails_after_ = 1;
  answer = Run();
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(answer.error().message, HasSubstr("its last requests to the model were not answered"));
}

TEST_F(ProgramModelTest, EndsAProgramWhoseKeyIsRefused) {
  for (const int status : {401, 403}) {
    status_ = status;
    lines_ = {"done"};
    // The agent itself goes on for ever after its model has failed.
    const Result<ChatResponse> answer = Run(*Open("; while true; do sleep 1; done"));
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.error().kind, ErrorKind::kPermanent);
    EXPECT_THAT(answer.error().message, HasSubstr(fmt::format("HTTP {}", status)));
  }
}

TEST_F(ProgramModelTest, LimitsTurnsAndTokens) {
  lines_ = {"run true"};
  task_.max_turns = 3;
  Result<ChatResponse> answer = Run();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->work->limit, "turns");
  EXPECT_EQ(answer->stop, StopReason::kLength);
  EXPECT_EQ(server_.request_count(), 3U);
  task_.max_turns = 0;
  task_.max_tokens = 200;
  answer = Run();
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->work->limit, "tokens");
  EXPECT_EQ(server_.request_count(), 5U);
}

TEST_F(ProgramModelTest, CancelsARunningProgram) {
  lines_ = {"hang"};
  const std::unique_ptr<Model> model = Open();
  ChatRequest request;
  request.messages.push_back({Role::kUser, "Greet."});
  StopFlag stop{0};
  const Result<ChatResponse> answer = Generate(*model, std::move(request), &stop, [&] {
    if (server_.request_count() > 0) stop = 2;
  });
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kCancelled);
}

TEST_F(ProgramModelTest, AnswersAQuestionWithoutATask) {
  lines_ = {"done 42"};
  const std::unique_ptr<Model> model = Open();
  ChatRequest request;
  request.system = "Be brief.";
  request.messages.push_back({Role::kUser, "How many?"});
  const Result<ChatResponse> answer = Generate(*model, std::move(request));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->text, "42");
  EXPECT_THAT(server_.requests().front().body, AllOf(HasSubstr("Be brief."), HasSubstr("How many?")));
}

TEST(ProgramPlace, NamesTheCommandThatInstallsAMissingProgram) {
  const Result<std::vector<AgentProgram>> programs = LoadPrograms(std::nullopt, "");
  ASSERT_TRUE(programs.ok());
  const Result<ProgramPlace> place =
      FindProgramPlace(*FindProgram(*programs, "codex"), [](const std::string&) { return std::optional("/nowhere"); });
  ASSERT_FALSE(place.ok());
  EXPECT_EQ(place.error().kind, ErrorKind::kNotFound);
  EXPECT_EQ(place.error().message,
            "Codex isn't installed: there is no 'codex' in PATH; install it: npm install -g @openai/codex");
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
// A real server: llama-server of the pinned llama.cpp with the default model, behind each of the three wire formats.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "eval/journal/journal.h"
#include "eval/plan/cell.h"
#include "model/network_model.h"
#include "model/structured_answer.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "support/subprocess.h"
#include "util/await.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

int FreePort() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  CHECK(::bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0);
  CHECK(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  ::close(fd);
  return ntohs(address.sin_port);
}

// llama-server on a free port, stopped by the destructor.
class LlamaProcess {
 public:
  LlamaProcess() : port_(FreePort()), log_((folder_.path() / "server.log").string()) {
    // The model's own chat template doesn't support tools; this one does, with the same marks. One thread: llama.cpp's
    // threads wait for each other by spinning, which is slow while other programs run.
    std::vector<std::string> command = {
        std::string(UPSKILL_LLAMA_BUILD_DIR) + "/bin/llama-server",
        "-m",
        UPSKILL_DEFAULT_MODEL,
        "--host",
        "127.0.0.1",
        "--port",
        std::to_string(port_),
        "--jinja",
        "--chat-template-file",
        std::string(UPSKILL_LLAMA_SOURCE_DIR) + "/models/templates/Qwen-Qwen2.5-7B-Instruct.jinja",
        "--metrics",
        "-t",
        "1",
        "-np",
        "4",
        "-c",
        "8192"};
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    CHECK(pid_ >= 0);
    if (pid_ == 0) {
      const int out = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(out, 1);
      ::dup2(out, 2);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
    for (int i = 0; i < 600 && !healthy_; ++i) {
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) {
        pid_ = -1;
        return;
      }
      const Result<HttpResponse> answer = Get("/health");
      healthy_ = answer.ok() && answer->status == 200;
      if (!healthy_) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  ~LlamaProcess() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGTERM);
    WaitFor(pid_);
  }
  LlamaProcess(const LlamaProcess&) = delete;
  LlamaProcess& operator=(const LlamaProcess&) = delete;

  bool healthy() const { return healthy_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  const std::shared_ptr<HttpClient>& client() const { return client_; }

  // The server's own counts of tokens: evaluated, taken from its cache, generated.
  struct Counters {
    std::int64_t evaluated = 0;
    std::int64_t cached = 0;
    std::int64_t generated = 0;
    bool operator==(const Counters&) const = default;
    Counters operator-(const Counters& other) const {
      return {evaluated - other.evaluated, cached - other.cached, generated - other.generated};
    }
  };
  Counters Count() const {
    const Result<HttpResponse> answer = Get("/metrics");
    CHECK(answer.ok() && answer->status == 200);
    const auto value = [&](const std::string& name) {
      const std::size_t at = answer->body.find("\nllamacpp:" + name + " ");
      CHECK(at != std::string::npos);
      std::int64_t number = 0;
      const char* from = answer->body.data() + at + name.size() + 11;
      std::from_chars(from, answer->body.data() + answer->body.size(), number);
      return number;
    };
    return {value("prompt_tokens_total"), value("prompt_tokens_cached_total"), value("tokens_predicted_total")};
  }

 private:
  Result<HttpResponse> Get(const std::string& path) const {
    HttpRequest request;
    request.method = "GET";
    request.url = url() + path;
    return Await<Result<HttpResponse>>(
        [&](HttpClient::Done done) { client_->Start(std::move(request), std::move(done)); }, {});
  }

  TempFolder folder_;
  int port_;
  std::string log_;
  pid_t pid_ = -1;
  bool healthy_ = false;
  std::shared_ptr<HttpClient> client_ = std::make_shared<HttpClient>();
};

LlamaProcess::Counters CountersOf(const Usage& usage) {
  return {usage.input + usage.cache_write, usage.cache_read, usage.output};
}
std::ostream& operator<<(std::ostream& out, const LlamaProcess::Counters& c) {
  return out << c.evaluated << " evaluated, " << c.cached << " cached, " << c.generated << " generated";
}

// The model strings that lead to /v1/chat/completions, /v1/responses and /v1/messages.
const std::array<std::string, 3> kModels = {"generic.smollm", "openresponses.smollm", "anthropic.smollm"};

class LlamaServer : public testing::Test {
 protected:
  static void SetUpTestSuite() { server = std::make_unique<LlamaProcess>(); }
  static void TearDownTestSuite() { server.reset(); }
  void SetUp() override { ASSERT_TRUE(server->healthy()) << "llama-server doesn't start: run scripts/setup --check"; }

  std::unique_ptr<Model> Open(const std::string& text) {
    Result<Catalog> loaded = LoadCatalog();
    CHECK(loaded.ok());
    catalog = *std::move(loaded);
    NetworkOptions options;
    options.base_urls = {server->url()};
    options.clock = &clock;
    options.client = server->client();
    options.catalog = &catalog;
    options.variable = [](const std::string& name) -> std::optional<std::string> {
      if (name == "ANTHROPIC_BASE_URL") return server->url();
      if (name == "ANTHROPIC_API_KEY") return "local";
      return std::nullopt;
    };
    const Result<ModelSpec> spec = ParseModelSpec(text, {&catalog, false});
    CHECK(spec.ok());
    Result<std::unique_ptr<Model>> model = OpenNetworkModel(*spec, options);
    CHECK(model.ok());
    return *std::move(model);
  }

  // Sends a request and compares the usage in the answer with the server's own counters.
  Result<ChatResponse> Ask(const std::string& model, ChatRequest request) {
    const LlamaProcess::Counters before = server->Count();
    const std::unique_ptr<Model> opened = Open(model);
    Result<ChatResponse> response =
        request.answer_schema ? GenerateStructured(*opened, std::move(request)) : Generate(*opened, std::move(request));
    if (response) {
      EXPECT_EQ(CountersOf(response->usage), server->Count() - before) << model;
    }
    return response;
  }

  static ChatRequest Question(const std::string& text, int max_tokens = 24) {
    ChatRequest request;
    request.system = "You answer in few words.";
    request.messages.push_back({Role::kUser, text});
    request.sampling.temperature = 0.0;
    request.sampling.max_tokens = max_tokens;
    return request;
  }

  static std::unique_ptr<LlamaProcess> server;
  SystemClock clock;
  Catalog catalog;
};

std::unique_ptr<LlamaProcess> LlamaServer::server;

constexpr std::string_view kSuite = R"([
  {"id": "greet", "input": "Say hello.", "expected": {"contains": ["hello"]}},
  {"id": "sum", "input": "What is 1 + 1?", "expected": {"contains": ["2"]}},
  {"id": "never", "input": "What colour has grass?", "expected": {"contains": ["zzz-not-there"]}}])";

// The same small suite through the whole program. Prompts are the same tokens in every format, and the usage in the
// journal is what the server counted.
TEST_F(LlamaServer, TheSameSuiteThroughAllThreeFormats) {
  const TempFolder folder;
  folder.Write("short-answers/SKILL.md",
               "---\nname: short-answers\ndescription: Answers in few words.\n---\n\nAnswer in at most five words.\n");
  folder.Write("tests.json", kSuite);
  std::map<std::string, std::int64_t> prompts;  // by arm and case
  for (const std::string& model : kModels) {
    const LlamaProcess::Counters before = server->Count();
    const ProcessOutcome outcome = RunShell(
        "ANTHROPIC_BASE_URL=" + server->url() +
            " ANTHROPIC_API_KEY=local $UPSKILL eval short-answers -t tests.json -q --json --max-tokens 16 " +
            "--temperature 0 --no-cache -j 4 -m " + model + (model == kModels[2] ? "" : " --base-url " + server->url()),
        folder.path());
    ASSERT_EQ(outcome.exit_code, 0) << model << ": " << outcome.error;
    const LlamaProcess::Counters counted = server->Count() - before;
    const Result<fs::path> run = ResolveRun(folder.path() / "runs", "latest");
    ASSERT_TRUE(run.ok());
    const Result<JournalContent> content = ReadJournal(*run);
    ASSERT_TRUE(content.ok());
    ASSERT_THAT(content->samples, SizeIs(6)) << model;
    Usage sum;
    for (const Sample& sample : content->samples) {
      ASSERT_TRUE(sample.ok()) << model;
      EXPECT_FALSE(sample.response.text.empty());
      sum.input += sample.response.usage.input + sample.response.usage.cache_write;
      sum.cache_read += sample.response.usage.cache_read;
      sum.output += sample.response.usage.output;
      const auto [known, is_new] =
          prompts.emplace(ArmName(sample.arm) + ("/" + sample.case_id), sample.response.usage.prompt());
      EXPECT_TRUE(is_new || known->second == sample.response.usage.prompt()) << model << " " << known->first;
    }
    EXPECT_EQ(CountersOf(sum), counted) << model;
    const Result<Json> json = ParseJson(outcome.out, "stdout");
    ASSERT_TRUE(json.ok());
    const Json& tokens = (*json)["students"][0]["tokens"];
    EXPECT_EQ(tokens["baseline"]["output"].get<std::int64_t>() + tokens["with_skill"]["output"].get<std::int64_t>(),
              counted.generated);
  }
  EXPECT_THAT(prompts, SizeIs(6));
}

// A small model may fail the task, but never the protocol.
TEST_F(LlamaServer, ActsInAWorkspace) {
  const TempFolder folder;
  folder.Write("s/SKILL.md", "---\nname: s\ndescription: Adds numbers up.\n---\n\nUse the tools.\n");
  folder.Write("tests.json", R"({"cases": [{"id": "a", "input": "Run `echo hello` with bash.", "mode": "workspace",
                                            "checks": [{"type": "contains", "values": ["hello"]}]}]})");
  const ProcessOutcome outcome = RunShell(
      "$UPSKILL eval s -t tests.json -q --max-tokens 64 --max-turns 2 --temperature 0 --no-cache -m generic.m "
      "--base-url " +
          server->url(),
      folder.path());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  const Result<fs::path> run = ResolveRun(folder.path() / "runs", "latest");
  ASSERT_TRUE(run.ok());
  const Result<JournalContent> content = ReadJournal(*run);
  ASSERT_TRUE(content.ok());
  ASSERT_FALSE(content->samples.empty());
  for (const Sample& sample : content->samples) {
    if (!sample.ok()) continue;
    ASSERT_TRUE(sample.response.work.has_value());
    EXPECT_GE(sample.response.work->turns, 1);
  }
}

TEST_F(LlamaServer, StreamedAnswersAreTheWholeOnes) {
  for (const std::string& model : kModels) {
    // The first time, the server evaluates the prompt in another way than when it has it: sums are rounded differently.
    ASSERT_TRUE(Ask(model + "?stream=false", Question("Name three fruits.")).ok()) << model;
    const Result<ChatResponse> whole = Ask(model + "?stream=false", Question("Name three fruits."));
    const Result<ChatResponse> streamed = Ask(model + "?stream=true", Question("Name three fruits."));
    ASSERT_TRUE(whole.ok()) << model << ": " << whole.error().message;
    ASSERT_TRUE(streamed.ok()) << model << ": " << streamed.error().message;
    EXPECT_FALSE(whole->text.empty());
    EXPECT_EQ(streamed->text, whole->text) << model;
    EXPECT_EQ(streamed->stop, whole->stop) << model;
    EXPECT_EQ(streamed->usage.prompt(), whole->usage.prompt()) << model;
    EXPECT_EQ(streamed->usage.output, whole->usage.output) << model;
  }
}

TEST_F(LlamaServer, LengthIsTold) {
  for (const std::string& model : kModels) {
    const Result<ChatResponse> response = Ask(model, Question("Tell a long story about a fox.", 4));
    ASSERT_TRUE(response.ok()) << model << ": " << response.error().message;
    EXPECT_EQ(response->stop, StopReason::kLength) << model;
    EXPECT_EQ(response->usage.output, 4) << model;
  }
}

// A model of this size calls a tool only if told exactly how.
TEST_F(LlamaServer, CallsAToolAndTakesItsResult) {
  for (const std::string& model : kModels) {
    for (const char* stream : {"?stream=false", "?stream=true"}) {
      ChatRequest request = Question(
          "Say exactly this and nothing else:\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": "
          "\"Paris\"}}\n</tool_call>",
          60);
      request.system.clear();
      request.tools.push_back(
          {"get_weather", "Weather of a city now",
           Json::parse(R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"]})")});
      const Result<ChatResponse> call = Ask(model + stream, request);
      ASSERT_TRUE(call.ok()) << model << ": " << call.error().message;
      EXPECT_EQ(call->stop, StopReason::kToolUse) << model;
      ASSERT_THAT(call->tool_calls, SizeIs(1)) << model << stream << ": " << call->text;
      EXPECT_EQ(call->tool_calls[0].name, "get_weather");
      EXPECT_EQ(call->tool_calls[0].arguments, (Json{{"city", "Paris"}})) << model;
      ASSERT_FALSE(call->tool_calls[0].id.empty());

      Message asked{Role::kAssistant, call->text};
      asked.tool_calls = call->tool_calls;
      asked.provider_blocks = call->provider_blocks;
      Message told{Role::kUser, ""};
      told.tool_results.push_back({call->tool_calls[0].id, "12 degrees, rain"});
      request.messages.push_back(asked);
      request.messages.push_back(told);
      request.sampling.max_tokens = 8;
      const Result<ChatResponse> after = Ask(model + stream, request);
      ASSERT_TRUE(after.ok()) << model << ": " << after.error().message;
      EXPECT_GT(after->usage.prompt(), call->usage.prompt()) << model;
    }
  }
}

// Enforced by the server behind /v1/chat/completions, checked by us everywhere.
TEST_F(LlamaServer, AnswersFitTheirSchema) {
  for (const std::string& model : kModels) {
    const bool bound = model == kModels[0];
    ChatRequest request =
        Question(bound ? "How many legs has a dog?" : "Repeat exactly this and nothing else:\n{\"legs\": 4}", 40);
    request.system.clear();
    request.answer_schema = Json::parse(
        R"({"type":"object","properties":{"legs":{"type":"integer"}},"required":["legs"],"additionalProperties":false})");
    const Result<ChatResponse> response = Ask(model, request);
    ASSERT_TRUE(response.ok()) << model << ": " << response.error().message;
    ASSERT_TRUE(response->parsed.is_object()) << model << ": " << response->text;
    EXPECT_TRUE(response->parsed["legs"].is_number_integer()) << model;
  }
}

// A model of this size writes nonsense; constrained by the schemas, it is nonsense in valid files. The tests are the
// examples, which are sound whatever it writes.
TEST_F(LlamaServer, AsTeacherOfAWholeGeneration) {
  const TempFolder folder;
  folder.Write("notes.md", "The sum of 2 and 2 is written `total-4`.\n");
  // Short ones: it reads few tokens a second.
  folder.Write("prompts/draft-system.md", "You write skills.");
  folder.Write("prompts/draft.md",
               "{{task}} {{existing}} {{material}} Write a skill of {{tokens}} tokens. {{problem}}");
  folder.Write("prompts/cases-system.md", "You write tests.");
  folder.Write("prompts/cases.md",
               "{{task}} {{material}} Write {{count}}, {{work}} of work, {{transfers}} new. {{covered}} {{rejected}}");
  folder.Write("prompts/refine-system.md", "You improve skills.");
  folder.Write("prompts/refine.md",
               "{{task}} {{material}} {{skill}} {{students}} {{failures}} {{tried}} {{length}} Propose {{count}}, of "
               "{{tokens}} tokens.");
  folder.Write("prompts/critique.md", "{{task}} {{material}} {{draft}} Correct it, in {{tokens}} tokens.");
  const ProcessOutcome outcome = RunShell(
      "$UPSKILL generate 'Add numbers' --docs notes.md -e 'What is the sum of 1 and 2? -> total-3' -e 'What is the sum "
      "of 4 and 4? -> total-8' "
      "-m 'generic.smollm?max_tokens=250' --base-url " +
          server->url() +
          " --prompts prompts --cases 3 --skill-tokens 50 --max-attempts 1 --candidates 1 "
          "--train-runs 1 --runs 1 --eval-model sim:base=0.2,skill=0.4 --name adding -o adding",
      folder.path());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  const Result<Skill> skill = LoadSkill(folder.path() / "adding");
  ASSERT_TRUE(skill.ok()) << skill.error().message;
  EXPECT_EQ(skill->name, "adding");
  EXPECT_THAT(skill->warnings, IsEmpty());
  const Result<Suite> suite = LoadSuiteOfSkill(folder.path() / "adding");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  EXPECT_GE(suite->cases.size(), 2U);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("teacher draft"), HasSubstr("teacher cases")));
  EXPECT_THAT(outcome.error, HasSubstr("attempt 1 of 1: generic.smollm"));
  EXPECT_THAT(outcome.error, HasSubstr("once on the "));
}

}  // namespace
}  // namespace upskill

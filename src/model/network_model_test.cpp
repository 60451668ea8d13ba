// SPDX-License-Identifier: Apache-2.0
#include "model/network_model.h"

#include <gmock/gmock.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/network_model_test.h"
#include "support/fake_network.h"
#include "util/json.h"

namespace upskill {
namespace {

using loopback::Answer;
using loopback::Request;
using loopback::Script;
using loopback::Server;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string MessagesBody(const std::string& text) {
  return DumpJson({{"model", "claude-haiku-4-5-20251001"},
                   {"content", Json::array({{{"type", "text"}, {"text", text}}})},
                   {"stop_reason", "end_turn"},
                   {"usage", {{"input_tokens", 1'000'000}, {"output_tokens", 100'000}}}});
}

TEST(NetworkModel, Answers) {
  Rig rig([](const Request&) { return Answer(200, ChatBody("hello"), {{"x-request-id", "req_7"}}); });
  const Result<ChatResponse> response = rig.Ask();
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->text, "hello");
  EXPECT_EQ(response->usage.input, 10);
  EXPECT_EQ(response->served_model, "served");
  EXPECT_EQ(response->request_id, "req_7");
  EXPECT_GT(response->seconds, 0.0);
  EXPECT_FALSE(response->cost_usd.has_value());
  const Request request = rig.server.requests().at(0);
  EXPECT_EQ(request.path, "/v1/chat/completions");
  EXPECT_EQ(request.headers.at("authorization"), "Bearer local");
  EXPECT_EQ(request.headers.at("content-type"), "application/json");
}

TEST(NetworkModel, NamesTheModelsThatTheServerHas) {
  Rig rig(
      [](const Request& request) {
        if (request.path == "/v1/models") return Answer(200, R"({"data":[{"id":"qwen2.5:7b"},{"id":"llama3"}]})");
        return Answer(404, R"({"error":{"message":"no such model"}})");
      },
      "generic.qwen2.5:7");
  const Result<ChatResponse> response = rig.Ask();
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(response.error().message, AllOf(HasSubstr("did you mean 'qwen2.5:7b'?"), HasSubstr("llama3")));
}

TEST(NetworkModel, NamesTheOptionForAServerWithoutAnthropicsApi) {
  const auto told_after = [](const std::string& refusal) {
    Rig rig(
        [refusal](const Request& request) {
          if (request.path == "/v1/models") return Answer(200, R"({"data":[{"id":"llama3"}]})");
          return Answer(404, refusal);
        },
        "haiku");
    return rig.Ask().error().message;
  };
  EXPECT_THAT(told_after(R"({"detail":"Not Found"})"),
              ContainsRegex("-m llama3 --base-url http://127.0.0.1:[0-9]+/v1"));
  EXPECT_THAT(told_after(R"({"error":{"type":"not_found_error","message":"model: claude-haiku-4-5"}})"),
              AllOf(HasSubstr("no model 'claude-haiku-4-5'"), Not(HasSubstr("--base-url"))));
}

TEST(NetworkModel, NamesTheAddressThatDoesNotExist) {
  Rig rig([](const Request&) { return Answer(404, "not found"); });
  const Result<ChatResponse> response = rig.Ask();
  ASSERT_FALSE(response.ok());
  EXPECT_THAT(response.error().message, HasSubstr("/v1/chat/completions was called"));
}

TEST(NetworkModel, NamesTheVariableOfTheKeyThatTheServerWants) {
  Rig rig([](const Request&) { return Answer(401, R"({"error":{"message":"no key"}})"); });
  const Result<ChatResponse> response = rig.Ask();
  ASSERT_FALSE(response.ok());
  EXPECT_THAT(response.error().message, HasSubstr("GENERIC_API_KEY"));
}

TEST(NetworkModel, AnthropicHeadersAndIdentity) {
  Rig rig([](const Request&) { return Answer(200, MessagesBody("hello")); }, "haiku.low?temperature=0.5");
  ASSERT_TRUE(rig.Ask().ok());
  const Request request = rig.server.requests().at(0);
  EXPECT_EQ(request.path, "/v1/messages");
  EXPECT_EQ(request.headers.at("x-api-key"), "sk-test-key-1");
  EXPECT_EQ(request.headers.at("anthropic-version"), "2023-06-01");
  EXPECT_FALSE(request.headers.contains("authorization"));
  const ModelInfo& info = rig.model->info();
  EXPECT_EQ(info.name, "haiku.low?temperature=0.5");
  EXPECT_THAT(info.identity, AllOf(HasSubstr("anthropic.claude-haiku-4-5?reasoning=low&temperature=0.5"),
                                   HasSubstr(" at http://127.0.0.1:"), Not(HasSubstr("sk-test"))));
  EXPECT_TRUE(info.local);  // the base URL says so
  EXPECT_FALSE(info.warm_up);
  EXPECT_EQ(rig.model->Window(), 64);
}

TEST(NetworkModel, RemoteModelsHaveAPriceAndWarmUp) {
  const Server server([](const Request&) { return Script{}; });
  TestNetwork network(server);
  network.variables.erase("ANTHROPIC_BASE_URL");
  network.options.parallel = 7;
  const auto model = OpenNetworkModel(network.Spec("haiku"), network.options);
  ASSERT_TRUE(model.ok());
  const ModelInfo& info = (*model)->info();
  EXPECT_EQ(info.identity, "anthropic.claude-haiku-4-5 at https://api.anthropic.com");
  EXPECT_EQ(info.detail, "anthropic, claude-haiku-4-5");
  EXPECT_FALSE(info.local);
  EXPECT_TRUE(info.warm_up);
  ASSERT_TRUE(info.price.has_value());
  EXPECT_EQ(info.price->output, 5.0);
  EXPECT_EQ((*model)->Window(), 7);
}

TEST(NetworkModel, APoolHasRequestsToChooseFrom) {
  const Server server([](const Request&) { return Script{}; });
  TestNetwork network(server);
  network.options.base_urls = {server.url() + "/v1", server.url() + "/v2"};
  network.options.parallel = 7;
  const auto model = OpenNetworkModel(network.Spec("generic.any"), network.options);
  ASSERT_TRUE(model.ok());
  EXPECT_EQ((*model)->Window(), 14);
}

TEST(NetworkModel, ReportsTheMaximumOutputTokens) {
  const Server server([](const Request&) { return Script{}; });
  const TestNetwork network(server);
  const auto longest = [&](const char* text) {
    const auto model = OpenNetworkModel(network.Spec(text), network.options);
    EXPECT_TRUE(model.ok()) << text;
    return model ? (*model)->MaxOutputTokens(Question("hi", 300)) : 0;
  };
  EXPECT_EQ(longest("generic.m"), 300);
  EXPECT_EQ(longest("generic.m?max_tokens=77"), 77);
  EXPECT_EQ(longest("openai.gpt-5-mini"), 300);
  EXPECT_EQ(longest("responses.gpt-5-mini"), 300);
  EXPECT_EQ(longest("haiku.low"), 300 + 2'048) << "reasoning has room of its own";
}

TEST(NetworkModel, OpeningErrors) {
  const Server server([](const Request&) { return Script{}; });
  TestNetwork network(server);
  network.variables.erase("ANTHROPIC_API_KEY");
  const auto no_key = OpenNetworkModel(network.Spec("haiku"), network.options);
  ASSERT_FALSE(no_key.ok());
  EXPECT_THAT(no_key.error().message,
              HasSubstr("no key for provider 'anthropic' (model 'haiku'): set ANTHROPIC_API_KEY"));
  for (const char* url : {"ftp://x", "", "http://", "http://x/v1?key=1", "x"}) {
    network.options.base_urls = {url};
    const auto bad = OpenNetworkModel(network.Spec("generic.m"), network.options);
    ASSERT_FALSE(bad.ok()) << url;
    EXPECT_EQ(bad.error().kind, ErrorKind::kInput);
    EXPECT_THAT(bad.error().message, HasSubstr("model 'generic.m': the base URL"));
  }
  network.options.base_urls = {"localhost:18099"};
  EXPECT_THAT(OpenNetworkModel(network.Spec("generic.m"), network.options).error().message,
              HasSubstr("('localhost:18099'); did you mean http://localhost:18099?"));
}

TEST(NetworkModel, ABaseUrlWithoutAPathMeansV1) {
  const Server server([](const Request&) { return Answer(200, ChatBody("x")); });
  TestNetwork network(server);
  network.options.base_urls = {server.url() + "/"};
  const auto model = OpenNetworkModel(network.Spec("generic.m"), network.options);
  ASSERT_TRUE(model.ok());
  ASSERT_TRUE(Generate(**model, Question("hi")).ok());
  EXPECT_EQ(server.requests().at(0).path, "/v1/chat/completions");
}

std::string Event(const std::string& data) { return "data: " + data + "\n\n"; }

TEST(NetworkModel, LongAnswersAreStreamed) {
  Rig rig([](const Request&) {
    return loopback::Sse(
        {": keep-alive\n\n", Event(R"({"model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]})").substr(0, 20),
         Event(R"({"model":"m","choices":[{"index":0,"delta":{"content":"Hel"}}]})").substr(20),
         Event(R"({"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]})"),
         Event(R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}})"), "data: [DONE]\n\n"});
  });
  const Result<ChatResponse> response = rig.Ask(Question("hi", 8000));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->text, "Hello");
  EXPECT_EQ(response->usage.output, 2);
  EXPECT_EQ(rig.Body(0)["stream"], true);
}

TEST(NetworkModel, StreamsThatEndEarlyAreUnavailable) {
  Rig rig([](const Request&) { return loopback::Sse({Event(R"({"choices":[{"delta":{"content":"half"}}]})")}); },
          "generic.m?stream=true");
  const Result<ChatResponse> response = rig.Ask();
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(response.error().message, HasSubstr("ended before the answer was complete"));
}

TEST(NetworkModel, ErrorsInAStreamKeepTheirKind) {
  Rig rig(
      [](const Request&) {
        return loopback::Sse({Event(R"({"error":{"code":402,"message":"out of credits"}})"), Event("{}"), Event("{}")});
      },
      "generic.m?stream=true");
  const Result<ChatResponse> response = rig.Ask();
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(response.error().message, HasSubstr("out of credits"));
}

TEST(NetworkModel, AServerThatDoesNotStreamIsUnderstood) {
  Rig rig([](const Request&) { return Answer(200, ChatBody("whole")); }, "generic.m?stream=true");
  const Result<ChatResponse> response = rig.Ask();
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->text, "whole");
}

TEST(NetworkModel, AnswersThatAreNotJson) {
  for (const char* text : {"generic.m", "generic.m?stream=true"}) {
    Rig rig(
        [](const Request&) {
          return loopback::Chunked(200, {"<html>", "proxy says no</html>"}, {{"Content-Type", "text/html"}});
        },
        text);
    const Result<ChatResponse> response = rig.Ask();
    ASSERT_FALSE(response.ok());
    EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable);
    EXPECT_THAT(response.error().message, AllOf(HasSubstr("<html>proxy says no</html>"), HasSubstr("text/html")));
  }
}

TEST(NetworkModel, BrokenConnectionsAreUnavailable) {
  Rig rig([](const Request&) { return loopback::CutInBody(ChatBody("x")); });
  EXPECT_EQ(rig.Ask().error().kind, ErrorKind::kUnavailable);
}

TEST(NetworkModel, HttpErrorsKeepTheKeyOut) {
  Rig rig(
      [](const Request& request) {
        return Answer(401, R"({"error":{"message":"Incorrect API key provided: )" +
                               request.headers.at("authorization").substr(7) + "\"}}");
      },
      "gpt-4o");
  const Result<ChatResponse> response = rig.Ask();
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(response.error().message,
              AllOf(HasSubstr("401"), HasSubstr("Incorrect API key"), Not(HasSubstr("sk-test")),
                    HasSubstr("; the key is from OPENAI_API_KEY: put a valid one there")));
}

TEST(NetworkModel, ARejectedParameterIsLeftOutFromThenOn) {
  Rig rig([](const Request& request) {
    const Json body = Json::parse(request.body);
    if (body.contains("max_tokens")) {
      return Answer(
          400,
          R"({"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","param":"max_tokens"}})");
    }
    if (body.contains("temperature"))
      return Answer(
          400, R"({"error":{"message":"Unsupported value: 'temperature' does not support 0.7 with this model."}})");
    return Answer(200, ChatBody("ok"));
  });
  ChatRequest request = Question("hi");
  request.sampling.temperature = 0.7;
  ASSERT_TRUE(rig.Ask(request).ok());
  EXPECT_EQ(rig.server.request_count(), 3U);
  ASSERT_TRUE(rig.Ask(request).ok());
  EXPECT_EQ(rig.server.request_count(), 4U);
  EXPECT_EQ(rig.Body(3)["max_completion_tokens"], 100);
}

TEST(NetworkModel, TheSystemTextMovesIntoTheQuestionWhereItsRoleIsRejected) {
  Rig rig([](const Request& request) {
    if (Json::parse(request.body)["messages"][0]["role"] == "system")
      return Answer(400, R"({"object":"error","message":"System role not supported","code":400})");
    return Answer(200, ChatBody("ok"));
  });
  ChatRequest request = Question("hi");
  request.system = "be brief";
  ASSERT_TRUE(rig.Ask(request).ok());
  ASSERT_TRUE(rig.Ask(request).ok());
  EXPECT_EQ(rig.server.request_count(), 3U);
  EXPECT_EQ(rig.Body(2)["messages"], Json::parse(R"([{"role": "user", "content": "be brief\n\nhi"}])"));
}

TEST(NetworkModel, ConcurrentRequestsLearnTogether) {
  Rig rig([](const Request& request) {
    if (Json::parse(request.body).contains("seed"))
      return Answer(400, R"({"error":{"message":"Unknown parameter: 'seed'."}})");
    return Answer(200, ChatBody("ok"));
  });
  std::vector<std::future<bool>> answers;
  for (int i = 0; i < 100; ++i) {
    const auto promise = std::make_shared<std::promise<bool>>();
    answers.push_back(promise->get_future());
    rig.model->Start(Question("hi"),
                     [promise](const Result<ChatResponse>& response) { promise->set_value(response.ok()); });
  }
  for (std::future<bool>& answer : answers) EXPECT_TRUE(answer.get());
}

TEST(NetworkModel, ATruncatedResponseReportedAsCompleted) {
  Rig rig(
      [](const Request&) {
        return Answer(
            200,
            R"({"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"once upon"}]}],)"
            R"("usage":{"input_tokens":3,"output_tokens":4}})");
      },
      "openresponses.m");
  EXPECT_EQ(rig.Ask(Question("tell", 4))->stop, StopReason::kLength);
  EXPECT_EQ(rig.Ask(Question("tell", 5))->stop, StopReason::kEnd);
}

TEST(NetworkModel, OtherBadRequestsConcernTheRequest) {
  Rig rig([](const Request&) { return Answer(400, R"({"error":{"message":"context_length_exceeded"}})"); });
  EXPECT_EQ(rig.Ask().error().kind, ErrorKind::kInput);
  EXPECT_EQ(rig.server.request_count(), 1U);
}

TEST(NetworkModel, CancelEndsEveryRequest) {
  Rig rig([](const Request&) { return loopback::Silence(); });
  std::vector<std::future<ErrorKind>> ends;
  for (int i = 0; i < 100; ++i) {
    const auto promise = std::make_shared<std::promise<ErrorKind>>();
    ends.push_back(promise->get_future());
    rig.model->Start(Question("hi"), [promise](const Result<ChatResponse>& response) {
      EXPECT_FALSE(response.ok());
      promise->set_value(response ? ErrorKind::kInput : response.error().kind);
    });
  }
  rig.model->Cancel(Model::CancelScope::kWaiting);  // at most 64 are on the wire
  rig.model->Cancel(Model::CancelScope::kRunning);
  for (std::future<ErrorKind>& end : ends) EXPECT_EQ(end.get(), ErrorKind::kCancelled);
}

TEST(NetworkModel, TheDestructorEndsWhatRuns) {
  std::atomic<int> ended = 0;
  {
    Rig rig([](const Request&) { return loopback::Silence(); });
    for (int i = 0; i < 10; ++i) rig.model->Start(Question("hi"), [&ended](const Result<ChatResponse>&) { ++ended; });
    rig.model.reset();
    EXPECT_EQ(ended, 10);
  }
}

// Everything that may lead to another model: scheme, host, port and path.
TEST(NetworkModel, TheIdentityContainsTheWholeBaseUrl) {
  const Server server([](const Request&) { return Script{}; });
  TestNetwork network(server);
  const auto identity = [&](const std::vector<std::string>& urls) {
    network.options.base_urls = urls;
    const auto model = OpenNetworkModel(network.Spec("generic.m"), network.options);
    EXPECT_TRUE(model.ok());
    return model ? (*model)->info().identity : "";
  };
  EXPECT_EQ(identity({"http://Gpu1:8000/team-a/v1/"}), "generic.m at http://gpu1:8000/team-a/v1");
  EXPECT_EQ(identity({"http://gpu1:8000/team-b/v1"}), "generic.m at http://gpu1:8000/team-b/v1");
  EXPECT_EQ(identity({"https://gpu1:8000/team-b/v1"}), "generic.m at https://gpu1:8000/team-b/v1");
  EXPECT_EQ(identity({"http://gpu2:8000", "http://gpu1:8000"}),
            "generic.m at http://gpu1:8000/v1, http://gpu2:8000/v1");
  EXPECT_EQ(identity({"http://gpu1:8000", "http://gpu2:8000"}),
            "generic.m at http://gpu1:8000/v1, http://gpu2:8000/v1");
}

// A gateway on this machine may ask for money.
TEST(NetworkModel, AServerOnThisMachineIsFreeOnlyIfDeclared) {
  const Server server([](const Request&) { return Answer(200, ChatBody("hello")); });
  TestNetwork network(server);
  const auto open = [&] {
    auto model = OpenNetworkModel(network.Spec("generic.m"), network.options);
    EXPECT_TRUE(model.ok());
    return std::move(model).value();
  };
  EXPECT_TRUE(open()->info().local);
  EXPECT_FALSE(KnownPrice(open()->info()).has_value());
  const Result<Catalog> free = LoadCatalog(
      CatalogText{"[[price]]\nproviders = [\"generic\"]\nmodels = [\"*\"]\ninput = 0\noutput = 0\n", "models.toml"});
  ASSERT_TRUE(free.ok());
  network.catalog = *free;
  const std::unique_ptr<Model> model = open();
  EXPECT_EQ(KnownPrice(model->info())->output, 0.0);
  EXPECT_EQ(Generate(*model, Question("hi"))->cost_usd, 0.0);
}

TEST(NetworkModel, ATakerThatThrowsHarmsNobodyElse) {
  Rig rig([](const Request&) { return Answer(200, ChatBody("hello")); });
  std::promise<void> called;
  rig.model->Start(Question("hi"), [&](const Result<ChatResponse>&) {
    called.set_value();
    throw std::runtime_error("no room for the answer");
  });
  called.get_future().get();
  EXPECT_TRUE(rig.Ask().ok());
  rig.model.reset();  // doesn't wait for the first request
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
// What providers say never brings a key into an answer or an error, and keys stay off insecure connections.
#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "model/network_model.h"
#include "support/fake_network.h"

namespace upskill {
namespace {

using loopback::Answer;
using loopback::Request;
using loopback::Server;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kKey = "sk-test-key-2";
const std::string kEscapedKey = R"(\u0073k-test\u002dkey-2)";

std::string ChatWith(const std::string& model, const std::string& content) {
  return R"({"model":")" + model + R"(","choices":[{"index":0,"finish_reason":"stop","message":)" +
         R"({"role":"assistant","content":")" + content + R"("}}],"usage":{"prompt_tokens":1,"completion_tokens":1}})";
}

Result<ChatResponse> AnswerOf(const Server& server, const std::string& model = "gpt-4o") {
  const TestNetwork network(server);
  Result<std::unique_ptr<Model>> opened = OpenNetworkModel(network.Spec(model), network.options);
  if (!opened) return opened.error();
  ChatRequest request;
  request.messages.push_back({Role::kUser, "hi"});
  return Generate(**opened, std::move(request));
}

std::string ErrorFrom(int status, const std::string& body, const loopback::Headers& headers = {}) {
  const Server server([&](const Request&) { return Answer(status, body, headers); });
  const Result<ChatResponse> response = AnswerOf(server);
  EXPECT_FALSE(response.ok());
  return response ? "" : response.error().message;
}

TEST(NetworkSecrets, ErrorsOfEveryKind) {
  for (const std::string& key : {kKey, kEscapedKey}) {
    const auto masked = AllOf(HasSubstr("***"), Not(HasSubstr("sk-test")), Not(HasSubstr("u0073")));
    EXPECT_THAT(ErrorFrom(200, R"({"error":{"message":"invalid key )" + key + R"("}})"), masked);
    EXPECT_THAT(ErrorFrom(200, R"({"error":{"reason":"invalid key )" + key + R"("}})"), masked);
    EXPECT_THAT(ErrorFrom(401, R"({"error":{"message":"invalid key )" + key + R"("}})"), masked);
    EXPECT_THAT(ErrorFrom(400, R"({"error":{"code":")" + key + R"(","message":"bad"}})"), masked);
    EXPECT_THAT(ErrorFrom(400, R"({"detail":")" + std::string(290, 'x') + key + R"("})"), Not(HasSubstr("sk-t")));
  }
  EXPECT_THAT(ErrorFrom(200, "<html>" + kKey), AllOf(HasSubstr("<html>***"), Not(HasSubstr("sk-test"))));
  EXPECT_THAT(ErrorFrom(200, "no", {{"Content-Type", "text/" + kKey}}), Not(HasSubstr("sk-test")));
  EXPECT_THAT(ErrorFrom(500, "", {{"X-Request-Id", kKey}}), HasSubstr("[request ***]"));
}

TEST(NetworkSecrets, AnswersOfEveryKind) {
  for (const std::string& key : {kKey, kEscapedKey}) {
    const Server server(
        [&](const Request&) { return Answer(200, ChatWith("m-" + key, "say " + key), {{"X-Request-Id", kKey}}); });
    const Result<ChatResponse> response = AnswerOf(server);
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->text, "say ***");
    EXPECT_EQ(response->served_model, "m-***");
    EXPECT_EQ(response->request_id, "***");
  }
}

std::string DeltaEvent(const std::string& content, const std::string& more = "") {
  return R"(data: {"model":"m","choices":[{"index":0,"delta":{"content":")" + content + R"("})" + more + "}]}\n\n";
}

TEST(NetworkSecrets, AKeyInSeveralEventsOfAStream) {
  for (std::size_t i = 1; i < kKey.size(); ++i) {
    const Server server([&](const Request&) {
      return loopback::Sse({DeltaEvent("say " + kKey.substr(0, i)),
                            DeltaEvent(kKey.substr(i), R"(,"finish_reason":"stop")"), "data: [DONE]\n\n"});
    });
    const Result<ChatResponse> response = AnswerOf(server, "gpt-4o?stream=true");
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_EQ(response->text, "say ***") << i;
  }
  const Server server(
      [&](const Request&) { return loopback::Sse({R"(data: {"error":{"message":"bad )" + kEscapedKey + "\"}}\n\n"}); });
  const Result<ChatResponse> response = AnswerOf(server, "gpt-4o?stream=true");
  ASSERT_FALSE(response.ok());
  EXPECT_THAT(response.error().message, HasSubstr("bad ***"));
}

class InsecureHttp : public testing::Test {
 protected:
  std::string OpeningError(const std::string& model) {
    const Result<std::unique_ptr<Model>> opened = OpenNetworkModel(network.Spec(model), network.options);
    return opened ? "" : opened.error().message;
  }

  const Server server{[](const Request&) { return loopback::Script{}; }};
  TestNetwork network{server};
};

TEST_F(InsecureHttp, NoKeyIsSentToAnotherMachine) {
  EXPECT_EQ(OpeningError("gpt-4o"), "");  // this machine
  network.variables["OPENAI_BASE_URL"] = "http://gpu1:8080/v1";
  EXPECT_EQ(OpeningError("gpt-4o"),
            "model 'gpt-4o': the key for 'openai' would be sent to gpu1:8080 unencrypted; use https://, or set "
            "UPSKILL_ALLOW_INSECURE_HTTP=1 if you trust the network in between");
  network.options.needs_key = false;  // nothing is sent
  EXPECT_EQ(OpeningError("gpt-4o"), "");
  network.options.needs_key = true;
  network.variables["UPSKILL_ALLOW_INSECURE_HTTP"] = "1";
  EXPECT_EQ(OpeningError("gpt-4o"), "");
  network.variables["UPSKILL_ALLOW_INSECURE_HTTP"] = "0";
  EXPECT_NE(OpeningError("gpt-4o"), "");
  network.variables["OPENAI_BASE_URL"] = "https://gpu1:8080/v1";
  EXPECT_EQ(OpeningError("gpt-4o"), "");
}

TEST_F(InsecureHttp, ServersWithoutAKeyAreFine) {
  network.options.base_urls = {server.url() + "/v1", "http://gpu2:8000/v1"};
  EXPECT_EQ(OpeningError("generic.m"), "");
  network.variables["GENERIC_API_KEY"] = "my-key-for-all";
  EXPECT_THAT(OpeningError("generic.m"), AllOf(HasSubstr("gpu2:8000"), Not(HasSubstr("my-key"))));
  network.variables.erase("GENERIC_API_KEY");
  network.options.base_urls = {"http://user:pass-word@gpu2:8000/v1"};
  EXPECT_THAT(OpeningError("generic.m"),
              AllOf(HasSubstr("the password in the base URL would be sent to gpu2:8000"), Not(HasSubstr("pass-"))));
}

}  // namespace
}  // namespace upskill

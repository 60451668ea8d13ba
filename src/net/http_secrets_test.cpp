// SPDX-License-Identifier: Apache-2.0
// Servers that repeat what they were sent: no secret comes back to the caller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "net/http_client.h"
#include "net/url.h"
#include "support/http_outcomes.h"
#include "support/loopback_server.h"
#include "util/base64.h"

namespace upskill {
namespace {

using loopback::Answer;
using loopback::Request;
using loopback::Server;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

const std::string kKey = "sk-net-secret-key-1";

HttpRequest WithKey(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.body = "{}";
  request.secret_headers = {{"Authorization", Secret("Bearer " + kKey)}};
  return request;
}

// What a request's reader got, piece by piece.
std::string StreamOf(HttpRequest request) {
  std::string text;
  request.on_data = [&](std::string_view piece) {
    text += piece;
    return true;
  };
  const Result<HttpResponse> response = Fetch(std::move(request));
  EXPECT_TRUE(response.ok()) << response.error().message;
  return text;
}

TEST(HttpSecrets, NoResponseRepeatsAKey) {
  for (const int status : {200, 302, 400, 401, 500}) {
    const Server server([&](const Request& request) {
      const std::string key = request.headers.at("authorization").substr(7);
      return Answer(status, "key " + key + ", again " + EncodeBase64("user:" + key),
                    {{"X-Request-Id", "r-" + key}, {"Location", "https://" + key + ".example/"}, {"X-" + key, "1"}});
    });
    const Result<HttpResponse> response = Fetch(WithKey(server.url()));
    ASSERT_TRUE(response.ok()) << response.error().message;
    EXPECT_THAT(response->body, AllOf(HasSubstr("key ***, again "), Not(HasSubstr(EncodeBase64(kKey).substr(4, 16)))));
    EXPECT_THAT(response->body, Not(HasSubstr(EncodeBase64("user:" + kKey).substr(8, 16))));
    EXPECT_EQ(HeaderOf(*response, "x-request-id"), "r-***");
    for (const auto& [name, value] : response->headers) EXPECT_THAT(name + value, Not(HasSubstr("sk-net"))) << status;
  }
}

TEST(HttpSecrets, NorThePasswordOfAUrl) {
  const Server server([&](const Request& request) {
    return Answer(200, request.headers.at("authorization") + " p/ass-word-2 p%2Fass-word-2",
                  {{"X-Seen", request.headers.at("authorization")}});
  });
  HttpRequest request = WithKey("http://user:p%2Fass-word-2@" + server.url().substr(7));
  request.secret_headers.clear();
  const Result<HttpResponse> response = Fetch(std::move(request));
  ASSERT_TRUE(response.ok()) << response.error().message;
  const std::string encoded = EncodeBase64("user:p/ass-word-2");
  EXPECT_EQ(server.requests().at(0).headers.at("authorization"), "Basic " + encoded);
  EXPECT_THAT(response->body, AllOf(HasSubstr("*** ***"), Not(HasSubstr("ass-word"))));
  EXPECT_THAT(response->body, Not(HasSubstr(encoded.substr(8, 12))));
  EXPECT_THAT(*HeaderOf(*response, "x-seen"), Not(HasSubstr(encoded.substr(8, 12))));
}

TEST(HttpSecrets, NorAStreamThatIsCutAnywhere) {
  for (std::size_t i = 1; i < kKey.size(); ++i) {
    const Server server([&](const Request&) {
      return loopback::Chunked(200, {"data: " + kKey.substr(0, i), kKey.substr(i) + "\n\n", "sk-net-"});
    });
    EXPECT_EQ(StreamOf(WithKey(server.url())), "data: ***\n\nsk-net-") << i;
  }
}

TEST(HttpSecrets, BinaryDataIsLeftAlone) {
  const Server server([](const Request&) { return loopback::Chunked(200, {"\x01" + kKey, "\x02"}); });
  HttpRequest request = WithKey(server.url());
  request.is_binary = true;
  EXPECT_EQ(StreamOf(std::move(request)), "\x01" + kKey + "\x02");
}

TEST(HttpSecrets, AnErrorPageThatIsCutInAKeyLosesItsStart) {
  constexpr std::size_t kMax = 1U << 20U;
  const Server server([](const Request&) { return Answer(500, std::string(kMax - 6, 'x') + kKey + kKey); });
  const Result<HttpResponse> response = Fetch(WithKey(server.url()));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->body.size(), kMax - 6);
  EXPECT_TRUE(response->body.ends_with("xxx"));
}

TEST(HttpSecrets, NoBodyCarriesOneAway) {
  const Server server([](const Request&) { return Answer(200, "{}"); });
  HttpRequest request = WithKey(server.url());
  request.body = R"({"prompt":"my key is )" + kKey + R"("})";
  ASSERT_TRUE(Fetch(std::move(request)).ok());
  HttpRequest form = WithKey(server.url());
  form.parts = {{"file", "batch.jsonl", "{\"prompt\":\"" + kKey + "\"}\n"}};
  ASSERT_TRUE(Fetch(std::move(form)).ok());
  EXPECT_EQ(server.requests().at(0).body, R"({"prompt":"my key is ***"})");
  EXPECT_EQ(server.requests().at(0).headers.at("authorization"), "Bearer " + kKey);
  EXPECT_THAT(server.requests().at(1).body, AllOf(HasSubstr(R"("prompt":"***")"), Not(HasSubstr("sk-net"))));
}

// The proxy only opens a tunnel, which it refuses here.
TEST(HttpSecrets, AProxyDoesNotSeeTheKeyOfASecureConnection) {
  const Server proxy([](const Request&) { return Answer(403, "no"); });
  setenv("https_proxy", proxy.url().c_str(), 1);  // NOLINT(concurrency-mt-unsafe): no client exists yet
  const Result<HttpResponse> response = Fetch(WithKey("https://far.invalid/v1"));
  unsetenv("https_proxy");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_FALSE(response.ok());
  ASSERT_EQ(proxy.request_count(), 1U);
  const Request seen = proxy.requests().at(0);
  EXPECT_EQ(seen.method, "CONNECT");
  EXPECT_THAT(seen.headers, Not(Contains(Key("authorization"))));
  for (const auto& [name, value] : seen.headers) EXPECT_THAT(value, Not(HasSubstr("sk-net"))) << name;
}

TEST(HttpSecrets, QuotedTextIsMaskedBeforeItIsCut) {
  ASSERT_FALSE(Fetch(WithKey(loopback::DeadUrl())).ok());  // from here on the key is known
  for (std::size_t before = 270; before < 300; ++before) {
    EXPECT_THAT(ServerText(std::string(before, 'x') + kKey), Not(HasSubstr("xsk"))) << before;
  }
}

TEST(ParseHttpUrl, TheSecretOfAUrl) {
  const auto password = [](const std::string& url) { return ParseHttpUrl(url)->password.reveal(); };
  EXPECT_EQ(password("https://host/v1"), "");
  EXPECT_EQ(password("https://user:p%40ss@host/v1"), "p@ss");
  EXPECT_EQ(password("https://token@host/v1"), "token");
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "net/http_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <stdexcept>
#include <thread>

#include "support/http_outcomes.h"
#include "support/loopback_server.h"

namespace upskill {
namespace {

using loopback::Request;
using std::chrono::milliseconds;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

HttpRequest Post(const std::string& url, std::string body = "{}") {
  HttpRequest request;
  request.url = url;
  request.body = std::move(body);
  return request;
}

TEST(HttpClient, SendsAndReceives) {
  const loopback::Server server(
      [](const Request&) { return loopback::Answer(201, R"({"a":1})", {{"X-Request-Id", "r1"}}); });
  HttpRequest request = Post(server.url() + "/v1/chat?x=1", R"({"q":2})");
  request.headers = {{"content-type", "application/json"}, {"X-Empty", ""}};
  request.secret_headers = {{"Authorization", Secret("Bearer k-123")}};
  const auto response = Fetch(std::move(request));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, R"({"a":1})");
  EXPECT_EQ(HeaderOf(*response, "x-request-id"), "r1");
  EXPECT_EQ(HeaderOf(*response, "absent"), std::nullopt);
  EXPECT_GT(response->seconds, 0.0);

  const Request seen = server.requests().at(0);
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.path, "/v1/chat?x=1");
  EXPECT_EQ(seen.body, R"({"q":2})");
  EXPECT_EQ(seen.headers.at("authorization"), "Bearer k-123");
  EXPECT_EQ(seen.headers.at("x-empty"), "");
  EXPECT_EQ(seen.headers.at("content-type"), "application/json");
  EXPECT_EQ(seen.headers.count("expect"), 0U);
  EXPECT_THAT(seen.headers.at("accept-encoding"), HasSubstr("gzip"));
}

TEST(HttpClient, SendsOtherMethods) {
  const loopback::Server server([](const Request&) { return loopback::Answer(200, "x"); });
  for (const char* method : {"GET", "DELETE", "PUT"}) {
    HttpRequest request = Post(server.url() + "/m", "");
    request.method = method;
    ASSERT_TRUE(Fetch(request).ok()) << method;
    EXPECT_EQ(server.requests().back().method, method);
  }
}

TEST(HttpClient, SendsLargeBodies) {
  const loopback::Server server([](const Request&) { return loopback::Answer(200, "x"); });
  const std::string body(5U << 20U, 'b');
  ASSERT_TRUE(Fetch(Post(server.url(), body)).ok());
  EXPECT_TRUE(server.requests().at(0).body == body);
}

TEST(HttpClient, SendsMultipartForms) {
  const loopback::Server server([](const Request&) { return loopback::Answer(200, "x"); });
  HttpRequest request = Post(server.url() + "/files", "");
  const std::string content = "line 1\n" + std::string(200'000, 'z');
  request.parts = {{"purpose", "", "batch"}, {"file", "in.jsonl", content}};
  ASSERT_TRUE(Fetch(std::move(request)).ok());
  const Request seen = server.requests().at(0);
  EXPECT_THAT(seen.headers.at("content-type"), HasSubstr("multipart/form-data; boundary="));
  EXPECT_THAT(seen.body, HasSubstr("name=\"purpose\"\r\n\r\nbatch\r\n"));
  EXPECT_THAT(seen.body, HasSubstr("name=\"file\"; filename=\"in.jsonl\""));
  EXPECT_NE(seen.body.find(content), std::string::npos);
}

TEST(HttpClient, KeepsConnectionsAlive) {
  const loopback::Server server([](const Request&) { return loopback::Answer(200, "x"); });
  HttpClient client;
  for (std::size_t i = 0; i < 5; ++i) {
    TestOutcomes outcomes;
    client.Start(Post(server.url()), outcomes.Take());
    ASSERT_TRUE(outcomes.Get().ok());
  }
  EXPECT_EQ(server.connections(), 1U);
}

TEST(HttpClient, ResendsWhatAClosedConnectionDidNotAccept) {
  // The server closes each connection when its second request comes in, as if it had been idle for too long.
  std::map<std::size_t, int> seen;
  const loopback::Server server([&](const Request& request) {
    return ++seen[request.connection] > 1 ? loopback::CutBeforeHeaders() : loopback::Answer(200, "x");
  });
  HttpClient client;
  for (int i = 0; i < 4; ++i) {
    TestOutcomes outcomes;
    client.Start(Post(server.url()), outcomes.Take());
    const auto response = outcomes.Get();
    ASSERT_TRUE(response.ok()) << response.error().message;
  }
  EXPECT_EQ(server.connections(), 4U);
}

TEST(HttpClient, ReadsChunkedAndCompressedResponses) {
  const loopback::Server server([](const Request& request) {
    return request.path == "/gzip" ? loopback::Gzip(200, "packed text")
                                   : loopback::Chunked(200, {"one ", "two ", "three"});
  });
  EXPECT_EQ(Fetch(Post(server.url() + "/gzip"))->body, "packed text");
  EXPECT_EQ(Fetch(Post(server.url() + "/chunked"))->body, "one two three");
}

TEST(HttpClient, ReadsTheFinalResponseAfterInterimOnes) {
  const loopback::Server server([](const Request&) {
    return loopback::Script{loopback::Send("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n"),
                            loopback::Send("HTTP/1.1 200 OK\r\nX-Late: 2\r\nContent-Length: 1\r\n\r\ny")};
  });
  const auto response = Fetch(Post(server.url()));
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(HeaderOf(*response, "x-early"), std::nullopt);
  EXPECT_EQ(HeaderOf(*response, "x-late"), "2");
}

TEST(HttpClient, StreamsPieces) {
  const loopback::Server server(
      [](const Request&) { return loopback::Sse({"data: 1\n\n", "data: 2\n\n"}, milliseconds(20)); });
  HttpRequest request = Post(server.url());
  std::vector<std::string> pieces;
  request.on_data = [&](std::string_view piece) {
    pieces.emplace_back(piece);
    return true;
  };
  const auto response = Fetch(std::move(request));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->body, "");
  EXPECT_EQ(pieces, (std::vector<std::string>{"data: 1\n\n", "data: 2\n\n"}));
}

TEST(HttpClient, StreamsNothingOfAnError) {
  const loopback::Server server([](const Request&) { return loopback::Answer(400, "bad"); });
  HttpRequest request = Post(server.url());
  request.on_data = [](std::string_view) {
    ADD_FAILURE();
    return true;
  };
  EXPECT_EQ(Fetch(std::move(request))->body, "bad");
}

TEST(HttpClient, EndsAStreamThatItsReaderCancels) {
  const loopback::Server server([](const Request&) { return loopback::Sse({"1", "2"}, milliseconds(5)); });
  HttpRequest request = Post(server.url());
  int pieces = 0;
  request.on_data = [&](std::string_view) { return ++pieces == 0; };
  const auto response = Fetch(std::move(request));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kPermanent);
  EXPECT_EQ(pieces, 1);
}

TEST(HttpClient, UsesAProxyButNotForThisMachine) {
  const loopback::Server proxy([](const Request&) { return loopback::Answer(200, "by proxy"); });
  const loopback::Server server([](const Request&) { return loopback::Answer(200, "direct"); });
  setenv("http_proxy", proxy.url().c_str(), 1);  // NOLINT(concurrency-mt-unsafe): no client exists yet
  const auto direct = Fetch(Post(server.url()));
  const auto far = Fetch(Post("http://far.invalid/v1"));
  unsetenv("http_proxy");  // NOLINT(concurrency-mt-unsafe)
  EXPECT_EQ(direct->body, "direct");
  EXPECT_EQ(far->body, "by proxy");
  EXPECT_EQ(proxy.requests().at(0).path, "http://far.invalid/v1");
}

TEST(HttpClient, ReportsWhenARequestIsSent) {
  const loopback::Server server([](const Request&) { return loopback::Answer(200, "x"); });
  int connected = 0;
  HttpRequest request = Post(server.url());
  request.on_connected = [&] { ++connected; };
  ASSERT_TRUE(Fetch(request).ok());
  EXPECT_EQ(connected, 1);
  request.url = loopback::DeadUrl();
  ASSERT_FALSE(Fetch(request).ok());
  EXPECT_EQ(connected, 1);
}

TEST(HttpClient, CallsTimersUnlessCancelled) {
  HttpClient client;
  std::promise<std::thread::id> called;
  const auto cancelled = client.After(milliseconds(1), [] { ADD_FAILURE(); });
  client.Cancel(cancelled);
  client.After(milliseconds(10), [&] { called.set_value(std::this_thread::get_id()); });
  EXPECT_NE(called.get_future().get(), std::this_thread::get_id());
}

TEST(HttpClient, RunsPostedWorkBeforeItEnds) {
  int called = 0;
  {
    HttpClient client;
    for (int i = 0; i < 100; ++i) {
      client.Post([&] { ++called; });
    }
    client.After(std::chrono::hours(1), [] { ADD_FAILURE(); });
  }
  EXPECT_EQ(called, 100);
}

TEST(HttpClient, CancelsHalfOfAThousand) {
  const loopback::Server server([](const Request&) {
    return loopback::Script{loopback::Wait(milliseconds(100)), loopback::Answer(200, "x").front()};
  });
  constexpr std::size_t kCount = 1000;
  TestOutcomes outcomes;
  HttpClient client;
  std::vector<HttpClient::Ticket> tickets;
  tickets.reserve(kCount);
  for (std::size_t i = 0; i < kCount; ++i) tickets.push_back(client.Start(Post(server.url()), outcomes.Take(i)));
  for (std::size_t i = 0; i < kCount; i += 2) client.Cancel(tickets[i]);
  outcomes.Wait(kCount);
  for (const auto ticket : tickets) client.Cancel(ticket);  // over: ignored
  for (std::size_t i = 0; i < kCount; ++i) {
    const auto result = outcomes.Get(i);
    if (i % 2 == 1) {
      ASSERT_TRUE(result.ok()) << result.error().message;
    } else if (!result) {
      ASSERT_EQ(result.error().kind, ErrorKind::kCancelled);
    }
  }
}

TEST(HttpClient, DestructorCancelsWhatIsInFlight) {
  const loopback::Server server([](const Request&) { return loopback::Silence(); });
  TestOutcomes outcomes;
  {
    HttpClient client;
    for (std::size_t i = 0; i < 50; ++i) client.Start(Post(server.url()), outcomes.Take(i));
  }
  EXPECT_THAT(outcomes.calls(), Each(1U));
  EXPECT_EQ(outcomes.Get(7).error().kind, ErrorKind::kCancelled);
}

TEST(HttpClient, DestructorEndsRequestsThatCallbacksStart) {
  const loopback::Server server([](const Request&) { return loopback::Silence(); });
  TestOutcomes outcomes;
  {
    HttpClient client;
    client.Start(Post(server.url()),
                 [&, first = outcomes.Take(0), second = outcomes.Take(1)](Result<HttpResponse> result) {
                   client.Start(Post(server.url()), second);
                   first(std::move(result));
                 });
  }
  EXPECT_EQ(outcomes.Get(1).error().kind, ErrorKind::kCancelled);
}

TEST(HttpClient, RejectsInvalidUrls) {
  for (const char* url : {"", "file:///etc/passwd", "ftp://x/", "127.0.0.1 x", "http://", "http://a b/", "gopher://x",
                          "http://x:99999/"}) {
    const auto response = Fetch(Post(url));
    ASSERT_FALSE(response.ok()) << url;
    EXPECT_EQ(response.error().kind, ErrorKind::kPermanent) << url;
  }
}

TEST(HttpClient, RejectsHeadersThatSmuggleOthers) {
  HttpRequest request = Post(loopback::DeadUrl());
  request.secret_headers = {{"x-api-key", Secret("sk-secret\r\nX-Evil: 1")}};
  const auto response = Fetch(std::move(request));
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(response.error().message, HasSubstr("x-api-key"));
  EXPECT_THAT(response.error().message, Not(HasSubstr("sk-secret")));
}

TEST(HttpClient, SurvivesCallbacksThatThrow) {
  const loopback::Server server([](const Request&) { return loopback::Answer(200, "{}"); });
  HttpClient client;
  std::promise<void> called;
  client.Start(Post(server.url()), [&](const Result<HttpResponse>&) {
    called.set_value();
    throw std::runtime_error("no room for the answer");
  });
  called.get_future().get();
  client.Post([] { throw std::runtime_error("no work today"); });
  client.After(milliseconds(0), [] { throw 7; });
  TestOutcomes outcomes;
  client.Start(Post(server.url()), outcomes.Take());
  EXPECT_TRUE(outcomes.Get().ok());
}

TEST(HttpClient, AReaderThatThrowsFailsItsRequestOnly) {
  const loopback::Server server([](const Request&) { return loopback::Answer(200, "{}"); });
  HttpClient client;
  TestOutcomes outcomes;
  HttpRequest request = Post(server.url());
  request.on_data = [](std::string_view) -> bool { throw std::runtime_error("bad piece"); };
  client.Start(std::move(request), outcomes.Take(0));
  HttpRequest other = Post(server.url());
  other.on_connected = [] { throw std::runtime_error("bad connection"); };
  client.Start(std::move(other), outcomes.Take(1));
  client.Start(Post(server.url()), outcomes.Take(2));
  outcomes.Wait(3);
  ASSERT_FALSE(outcomes.Get(0).ok());
  EXPECT_THAT(outcomes.Get(0).error().message, HasSubstr("could not be processed: bad piece"));
  ASSERT_FALSE(outcomes.Get(1).ok());
  EXPECT_THAT(outcomes.Get(1).error().message, HasSubstr("could not be processed: bad connection"));
  EXPECT_TRUE(outcomes.Get(2).ok());
}

}  // namespace
}  // namespace upskill

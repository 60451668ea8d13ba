// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "support/http_outcomes.h"
#include "support/loopback_server.h"

namespace upskill {
namespace {

using loopback::Request;
using loopback::Script;
using std::chrono::milliseconds;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

TEST_F(EndpointTest, AppendsThePathToTheBaseUrl) {
  const loopback::Server server([](const Request&) { return loopback::Answer(200, "ok"); });
  Endpoint endpoint = Make({server.url() + "/v1"});
  TestOutcomes outcomes;
  endpoint.Start("/chat/completions", Question(), outcomes.Take());
  EXPECT_EQ(outcomes.Get()->body, "ok");
  EXPECT_EQ(server.requests().at(0).path, "/v1/chat/completions");
}

TEST_F(EndpointTest, WaitsOutRateLimits) {
  const std::string date = "Thu, 01 Jan 2026 05:00:00 GMT";  // hours ahead of our clock
  for (const Script& script :
       {loopback::RateLimit(), loopback::RateLimit({{"Retry-After-Ms", "5"}}),
        loopback::RateLimit({{"Retry-After", "0.01"}}), loopback::RateLimit({{"Retry-After", date}, {"Date", date}}),
        loopback::Answer(529, ""), loopback::Answer(503, "", {{"Retry-After", "0"}})}) {
    const auto result = AskOnce(script);
    ASSERT_TRUE(result.ok()) << script.front().bytes << result.error().message;
    EXPECT_EQ(result->body, "later");
  }
}

TEST_F(EndpointTest, WaitsAsLongAsTheServerAsks) {
  const auto before = std::chrono::steady_clock::now();
  ASSERT_TRUE(AskOnce(loopback::RateLimit({{"Retry-After-Ms", "120"}})).ok());
  EXPECT_GE(std::chrono::steady_clock::now() - before, milliseconds(120));
}

TEST_F(EndpointTest, LeavesOtherErrorsToTheCaller) {
  for (const int status : {408, 409, 500, 502, 503, 504}) {
    const auto result = AskOnce(loopback::Answer(status, R"({"error":{"message":"oops"}})"));
    ASSERT_FALSE(result.ok()) << status;
    EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable) << status;
    EXPECT_THAT(result.error().message, HasSubstr("oops"));
  }
  EXPECT_EQ(AskOnce(loopback::CutBeforeHeaders()).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(AskOnce(loopback::CutInBody("half of it")).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(AskOnce(loopback::Answer(401, "")).error().kind, ErrorKind::kPermanent);
  EXPECT_EQ(AskOnce(loopback::Answer(400, "")).error().kind, ErrorKind::kInput);
  EXPECT_EQ(AskOnce(loopback::RateLimit({{"x-should-retry", "false"}})).error().kind, ErrorKind::kPermanent);
  EXPECT_EQ(AskOnce(loopback::Answer(429, R"({"error":{"type":"insufficient_quota"}})")).error().kind,
            ErrorKind::kPermanent);
}

TEST_F(EndpointTest, PassesTheRequestedDelayWithAnError) {
  const auto result = AskOnce(loopback::Answer(500, "", {{"Retry-After", "3"}}));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().retry_after, milliseconds(3000));
}

TEST_F(EndpointTest, NamesTheTargetOfARedirect) {
  const loopback::Server thief([](const Request&) { return loopback::Answer(200, "{}"); });
  const auto result = AskOnce(loopback::Redirect(thief.url() + "/steal?k=secret"));
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(result.error().message, HasSubstr(thief.url() + "; use that address as its base URL"));
  EXPECT_EQ(thief.connections(), 0U);
}

TEST_F(EndpointTest, MasksKeysThatTheServerRepeats) {
  const std::string body = R"({"error":{"message":"bad key sk-secret-key!"}})";
  const auto result = AskOnce(loopback::Answer(401, body, {{"request-id", "sk-secret-key"}}));
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, Not(HasSubstr("sk-secret-key")));
  EXPECT_THAT(result.error().message, HasSubstr("bad key ***!"));
}

TEST_F(EndpointTest, FailsWhenAServerOnlyAsksToWait) {
  const loopback::Server server([&](const Request&) {
    clock_.Advance(std::chrono::seconds(200));
    return loopback::RateLimit({{"Retry-After-Ms", "1"}});
  });
  Endpoint endpoint = Make({server.url()});
  TestOutcomes outcomes;
  endpoint.Start("/v1", Question(), outcomes.Take());
  const auto result = outcomes.Get();
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(result.error().message, HasSubstr("rate limited for"));
  EXPECT_EQ(server.request_count(), 6U);  // pushed back at 0, 200, 400, 600 and 800 s; over at 1000 s
}

TEST_F(EndpointTest, ResponsesToOthersExtendTheLimit) {
  // One request is pushed back six times, as above, but another one is answered between.
  std::atomic<int> count = 0;
  const loopback::Server server([&](const Request&) {
    clock_.Advance(std::chrono::seconds(200));
    const int number = count++;
    return number % 2 == 0 || number > 20 ? loopback::Answer(200, "x") : loopback::RateLimit({{"Retry-After-Ms", "1"}});
  });
  Endpoint endpoint = Make({server.url()}, 2);
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < 16; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i));
  outcomes.Wait(16);
  for (std::size_t i = 0; i < 16; ++i) EXPECT_TRUE(outcomes.Get(i).ok()) << i;
}

TEST_F(EndpointTest, NeverExceedsItsMaximum) {
  const loopback::Server server(
      [](const Request&) { return Script{loopback::Wait(milliseconds(5)), loopback::Answer(200, "x").front()}; });
  Endpoint endpoint = Make({server.url()}, 7);
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < 100; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i));
  outcomes.Wait(100);
  EXPECT_EQ(server.max_concurrent(), 7U);
  EXPECT_EQ(endpoint.concurrency(), 7);
}

TEST_F(EndpointTest, AdaptsToTheServersCapacity) {
  // More than four at once are turned away.
  std::atomic<int> busy = 0;
  const loopback::Server server([&](const Request&) {
    const int at_once = ++busy;
    client_->After(milliseconds(6), [&] { --busy; });
    if (at_once <= 4) return Script{loopback::Wait(milliseconds(4)), loopback::Answer(200, "x").front()};
    return loopback::RateLimit();
  });
  Endpoint endpoint = Make({server.url()}, 64);
  TestOutcomes outcomes;
  constexpr std::size_t kCount = 200;
  for (std::size_t i = 0; i < kCount; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i));
  outcomes.Wait(kCount);
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_TRUE(outcomes.Get(i).ok());
  EXPECT_LT(endpoint.concurrency(), 33);
  client_.reset();  // the endpoint ends it then, and with it the timers that use `busy`
}

TEST_F(EndpointTest, CancelsWaitingAndSentRequests) {
  const loopback::Server server([](const Request&) { return loopback::Silence(); });
  Endpoint endpoint = Make({server.url()}, 2);
  TestOutcomes outcomes;
  std::vector<Endpoint::Ticket> tickets;
  tickets.reserve(6);
  for (std::size_t i = 0; i < 6; ++i) tickets.push_back(endpoint.Start("/v1", Question(), outcomes.Take(i)));
  endpoint.Cancel(tickets[5]);
  outcomes.Wait(1);
  EXPECT_EQ(outcomes.Get(5).error().kind, ErrorKind::kCancelled);
  endpoint.CancelWaiting();
  outcomes.Wait(4);
  EXPECT_EQ(outcomes.calls(), (std::vector<std::size_t>{0, 0, 1, 1, 1, 1}));
  endpoint.Cancel(tickets[0]);
  outcomes.Wait(5);
  EXPECT_EQ(outcomes.Get(0).error().kind, ErrorKind::kCancelled);
  endpoint.CancelAll();
  outcomes.Wait(6);
  endpoint.Cancel(tickets[0]);  // over
  endpoint.Cancel(12345);       // unknown
  EXPECT_THAT(outcomes.calls(), Each(1U));
}

TEST_F(EndpointTest, CancelsRequestsWaitingForARateLimit) {
  const loopback::Server server([](const Request&) { return loopback::RateLimit({{"Retry-After", "60"}}); });
  Endpoint endpoint = Make({server.url()}, 4);
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < 8; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i));
  while (server.request_count() < 4) std::this_thread::yield();
  endpoint.CancelAll();
  outcomes.Wait(8);
  EXPECT_THAT(outcomes.calls(), Each(1U));
  EXPECT_EQ(outcomes.Get(0).error().kind, ErrorKind::kCancelled);
}

TEST_F(EndpointTest, CallbacksMayStartAndCancel) {
  const loopback::Server server([](const Request&) { return loopback::Answer(200, "x"); });
  Endpoint endpoint = Make({server.url()}, 2);
  TestOutcomes outcomes;
  std::atomic<int> left = 50;
  std::function<void(Result<HttpResponse>)> next = [&](const Result<HttpResponse>& result) {
    if (--left > 0) {
      endpoint.Start("/v1", Question(), next);
      endpoint.Cancel(endpoint.Start("/v1", Question(), [](const Result<HttpResponse>&) {}));
      EXPECT_GT(endpoint.concurrency(), 0);
    } else {
      outcomes.Take()(result);
    }
  };
  endpoint.Start("/v1", Question(), next);
  EXPECT_TRUE(outcomes.Get().ok());
}

TEST_F(EndpointTest, DestructionEndsEveryRequestOnce) {
  const loopback::Server server(
      [](const Request& request) { return request.path == "/limit" ? loopback::RateLimit() : loopback::Silence(); });
  TestOutcomes outcomes;
  {
    Endpoint endpoint = Make({server.url()}, 4);
    client_.reset();  // so the endpoint ends the client
    for (std::size_t i = 0; i < 20; ++i) endpoint.Start(i % 2 == 0 ? "/limit" : "/v1", Question(), outcomes.Take(i));
  }
  EXPECT_EQ(outcomes.count(), 20U);
  EXPECT_THAT(outcomes.calls(), Each(1U));
}

TEST_F(EndpointTest, ManyThreadsStartAndCancelAThousand) {
  const loopback::Server server([](const Request& request) {
    if (request.connection % 7 == 3) return loopback::RateLimit({{"Retry-After-Ms", "1"}});
    return request.connection % 11 == 5 ? loopback::CutBeforeHeaders() : loopback::Answer(200, "x");
  });
  Endpoint endpoint = Make({server.url(), server.url(), loopback::DeadUrl()}, 64);
  TestOutcomes outcomes;
  constexpr std::size_t kThreads = 4;
  constexpr std::size_t kEach = 250;
  {
    std::vector<std::jthread> threads;
    threads.reserve(kThreads);
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::size_t i = 0; i < kEach; ++i) {
          const auto ticket = endpoint.Start("/v1", Question(), outcomes.Take(thread * kEach + i));
          if (i % 2 == 0) endpoint.Cancel(ticket);
        }
      });
    }
  }
  clock_.Advance(std::chrono::hours(1));
  outcomes.Wait(kThreads * kEach);
  EXPECT_THAT(outcomes.calls(), Each(1U));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.h"

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

// Its steady time moves only when told: the time limit is reached at once or never.
class TestClock : public Clock {
 public:
  Steady Now() const override { return Steady(milliseconds(now_ms_.load())); }
  Wall WallNow() const override { return Wall(std::chrono::seconds(1'767'225'600)); }
  void Advance(milliseconds time) { now_ms_ += time.count(); }

 private:
  std::atomic<std::int64_t> now_ms_{1'000'000};
};

class EndpointTest : public testing::Test {
 protected:
  static EndpointOptions Options(std::vector<std::string> urls, int max_in_flight = 8) {
    EndpointOptions options;
    options.base_urls = std::move(urls);
    options.max_in_flight = max_in_flight;
    options.backoff_unit = milliseconds(10);
    return options;
  }
  Endpoint Make(std::vector<std::string> urls, int max_in_flight = 8) {
    return {client_, Options(std::move(urls), max_in_flight), clock_};
  }

  static HttpRequest Question() {
    HttpRequest request;
    request.body = "{}";
    request.secret_headers = {{"Authorization", Secret("Bearer sk-secret-key")}};
    return request;
  }

  // One request to a server that answers the first time with `script`, later with 200.
  Result<HttpResponse> AskOnce(const Script& script) {
    std::atomic<int> count = 0;
    const loopback::Server server(
        [&](const Request&) { return count++ == 0 ? script : loopback::Answer(200, "later"); });
    Endpoint endpoint = Make({server.url()});
    TestOutcomes outcomes;
    endpoint.Start("/v1", Question(), outcomes.Take());
    return outcomes.Get();
  }

  TestClock clock_;
  std::shared_ptr<HttpClient> client_ = std::make_shared<HttpClient>();
};

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

TEST_F(EndpointTest, PoolContinuesWithoutADeadMember) {
  const loopback::Server server([](const Request&) { return loopback::Answer(200, "x"); });
  Endpoint endpoint = Make({loopback::DeadUrl(), server.url(), loopback::DeadUrl()}, 9);
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < 60; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i));
  outcomes.Wait(60);
  for (std::size_t i = 0; i < 60; ++i) {
    const auto result = outcomes.Get(i);
    ASSERT_TRUE(result.ok()) << result.error().message;
  }
  EXPECT_EQ(server.request_count(), 60U);
}

TEST_F(EndpointTest, PoolOfDeadMembersFailsEachRequest) {
  Endpoint endpoint = Make({loopback::DeadUrl(), loopback::DeadUrl()});
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < 20; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i));
  outcomes.Wait(20);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(outcomes.Get(i).error().kind, ErrorKind::kUnavailable);
}

TEST_F(EndpointTest, PoolSpreadsItsLoad) {
  const auto slow = [](const Request&) {
    return Script{loopback::Wait(milliseconds(5)), loopback::Answer(200, "x").front()};
  };
  const loopback::Server first(slow);
  const loopback::Server second(slow);
  Endpoint endpoint = Make({first.url(), second.url()}, 8);
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < 80; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i));
  outcomes.Wait(80);
  EXPECT_GE(first.request_count(), 25U);
  EXPECT_GE(second.request_count(), 25U);
}

TEST_F(EndpointTest, AFailingMemberDoesNotAttractRequests) {
  // It fails at once, so it always has the fewest requests in flight.
  const loopback::Server broken([](const Request&) { return loopback::Answer(500, ""); });
  const loopback::Server good(
      [](const Request&) { return Script{loopback::Wait(milliseconds(2)), loopback::Answer(200, "x").front()}; });
  Endpoint endpoint = Make({broken.url(), good.url()}, 4);
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < 100; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i));
  outcomes.Wait(100);
  EXPECT_LT(broken.request_count(), 20U);
}

TEST_F(EndpointTest, PoolKeepsRequestsWithOnePrefixTogether) {
  const auto answer = [](const Request&) { return loopback::Answer(200, "x"); };
  const loopback::Server first(answer);
  const loopback::Server second(answer);
  Endpoint endpoint = Make({first.url(), second.url()}, 8);
  for (std::size_t i = 0; i < 40; ++i) {  // one after the other, so that no server is busier
    TestOutcomes outcomes;
    endpoint.Start(i % 2 == 0 ? "/even" : "/odd", Question(), outcomes.Take(), {i % 2});
    ASSERT_TRUE(outcomes.Get().ok());
  }
  EXPECT_EQ(first.request_count(), 20U);
  EXPECT_EQ(second.request_count(), 20U);
  for (const Request& request : first.requests()) EXPECT_EQ(request.path, "/even");
}

TEST_F(EndpointTest, PoolGoesOnWhenTheServerOfAPrefixIsKilled) {
  auto killed = std::make_unique<loopback::Server>([](const Request&) { return loopback::Answer(200, "x"); });
  const loopback::Server other([](const Request&) { return loopback::Answer(200, "x"); });
  Endpoint endpoint = Make({killed->url(), other.url()}, 8);
  for (std::size_t i = 0; i < 20; ++i) {
    if (i == 10) killed.reset();
    TestOutcomes outcomes;
    endpoint.Start("/v1", Question(), outcomes.Take(), {7});
    const auto result = outcomes.Get();
    ASSERT_TRUE(result.ok()) << i << result.error().message;
  }
  EXPECT_EQ(other.request_count(), 10U);
}

// Counts the requests with a body that the server has seen before.
class CachingServer {
 public:
  std::size_t known() const { return known_; }
  std::string url() const { return server_.url(); }
  std::size_t request_count() const { return server_.request_count(); }

 private:
  std::set<std::string> seen_;  // on the server's thread
  std::atomic<std::size_t> known_ = 0;
  loopback::Server server_{[this](const Request& request) {
    if (!seen_.insert(request.body).second) ++known_;
    return Script{loopback::Wait(milliseconds(1 + seen_.size() % 3)), loopback::Answer(200, "x").front()};
  }};
};

TEST_F(EndpointTest, AServerWithRoomGetsTheWaitingRequestThatItKnows) {
  constexpr std::size_t kCases = 30;
  constexpr std::size_t kRounds = 4;
  const CachingServer first;
  const CachingServer second;
  const CachingServer third;
  Endpoint endpoint = Make({first.url(), second.url(), third.url()}, 6);
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < kCases * kRounds; ++i) {
    HttpRequest request = Question();
    request.body = std::to_string(i % kCases);
    endpoint.Start("/v1", std::move(request), outcomes.Take(i), {100 + i % kCases, i % 2});
  }
  outcomes.Wait(kCases * kRounds);
  // All but those at the end, where nothing else is left for a server with room. By chance it would be a third.
  EXPECT_GE(first.known() + second.known() + third.known(), kCases * (kRounds - 1) * 8 / 10);
}

TEST_F(EndpointTest, NoRequestWaitsForItsServerForever) {
  const loopback::Server slow([](const Request& request) {
    return Script{loopback::Wait(milliseconds(request.path == "/slow" ? 300 : 1)), loopback::Answer(200, "x").front()};
  });
  const loopback::Server fast([](const Request&) { return loopback::Answer(200, "x"); });
  Endpoint endpoint = Make({slow.url(), fast.url()}, 2);
  TestOutcomes first;
  endpoint.Start("/slow", Question(), first.Take(), {1});
  TestOutcomes rest;
  for (std::size_t i = 0; i < 40; ++i) endpoint.Start("/v1", Question(), rest.Take(i), {i == 5 ? 1U : 2U});
  rest.Wait(40);
  EXPECT_EQ(slow.request_count() + fast.request_count(), 41U);
  EXPECT_TRUE(first.Get().ok());
}

EndpointOptions Watchful(std::vector<std::string> urls) {
  EndpointOptions options;
  options.base_urls = std::move(urls);
  options.max_in_flight = 4;
  options.backoff_unit = milliseconds(10);
  options.silence = milliseconds(60);
  options.probe_timeout = milliseconds(100);
  return options;
}

TEST_F(EndpointTest, PoolLeavesAServerThatHangsUntilItResponds) {
  std::atomic<bool> hangs = true;
  const loopback::Server first(
      [&](const Request&) { return hangs ? loopback::Silence() : loopback::Answer(200, "x"); });
  const loopback::Server second([](const Request&) { return loopback::Answer(200, "x"); });
  Endpoint endpoint(client_, Watchful({first.url(), second.url()}), clock_);
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < 20; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i));
  outcomes.Wait(20);
  std::size_t failed = 0;
  for (std::size_t i = 0; i < 20; ++i) {
    const auto result = outcomes.Get(i);
    if (result.ok()) continue;
    ++failed;
    EXPECT_EQ(result.error().kind, ErrorKind::kUnavailable);
    EXPECT_THAT(result.error().message, HasSubstr("hangs: it accepts connections"));
  }
  EXPECT_EQ(failed, 2U);  // its share, which it had received
  const auto asks_for_models = [](const Request& request) {
    return request.path == "/models" && request.method == "GET" && request.headers.contains("authorization");
  };
  const std::vector<Request> requests = first.requests();
  EXPECT_TRUE(std::any_of(requests.begin(), requests.end(), asks_for_models));
  hangs = false;
  const auto answers_of_first = [&] {
    const std::vector<Request> all = first.requests();
    return std::count_if(all.begin(), all.end(), [](const Request& request) { return request.path == "/v1"; });
  };
  const auto before = answers_of_first();
  while (answers_of_first() == before) {
    TestOutcomes again;
    endpoint.Start("/v1", Question(), again.Take());
    EXPECT_TRUE(again.Get().ok());
  }
}

TEST_F(EndpointTest, AServerThatIsOnlySlowIsWaitedFor) {
  const loopback::Server slow([](const Request& request) {
    if (request.path == "/models") return loopback::Answer(404, "");
    return Script{loopback::Wait(milliseconds(500)), loopback::Answer(200, "x").front()};
  });
  const loopback::Server other([](const Request&) { return loopback::Answer(200, "x"); });
  Endpoint endpoint(client_, Watchful({slow.url(), other.url()}), clock_);
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < 4; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i));
  outcomes.Wait(4);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(outcomes.Get(i).ok());
  EXPECT_GT(slow.request_count(), 2U);  // it was asked for its models
}

TEST_F(EndpointTest, PoolGivesASlowServerLess) {
  const auto taking = [](milliseconds time) {
    return [time](const Request&) { return Script{loopback::Wait(time), loopback::Answer(200, "x").front()}; };
  };
  const loopback::Server fast(taking(milliseconds(2)));
  const loopback::Server slow(taking(milliseconds(60)));
  Endpoint endpoint = Make({slow.url(), fast.url()}, 8);
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < 120; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i), {i % 2});
  outcomes.Wait(120);
  EXPECT_LT(slow.request_count(), 40U);
  EXPECT_EQ(slow.request_count() + fast.request_count(), 120U);
}

TEST_F(EndpointTest, PoolTakesAServerBackThatAnswersAgain) {
  std::atomic<bool> broken = true;
  const loopback::Server first([&](const Request&) { return loopback::Answer(broken ? 502 : 200, "x"); });
  const loopback::Server second([](const Request&) { return loopback::Answer(200, "x"); });
  Endpoint endpoint = Make({first.url(), second.url()}, 8);
  const auto ask = [&] {
    TestOutcomes outcomes;
    endpoint.Start("/v1", Question(), outcomes.Take());
    return outcomes.Get().ok();
  };
  EXPECT_FALSE(ask());
  broken = false;
  const std::size_t before = first.request_count();
  while (first.request_count() == before) EXPECT_TRUE(ask());  // it is left out for 20 ms
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

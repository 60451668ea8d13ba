// SPDX-License-Identifier: Apache-2.0
// Endpoints with several base URLs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "net/endpoint_test.h"
#include "support/http_outcomes.h"
#include "support/loopback_server.h"

namespace upskill {
namespace {

using loopback::Request;
using loopback::Script;
using std::chrono::milliseconds;
using testing::HasSubstr;

using EndpointPool = EndpointTest;

TEST_F(EndpointPool, PoolContinuesWithoutADeadMember) {
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

TEST_F(EndpointPool, PoolOfDeadMembersFailsEachRequest) {
  Endpoint endpoint = Make({loopback::DeadUrl(), loopback::DeadUrl()});
  TestOutcomes outcomes;
  for (std::size_t i = 0; i < 20; ++i) endpoint.Start("/v1", Question(), outcomes.Take(i));
  outcomes.Wait(20);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(outcomes.Get(i).error().kind, ErrorKind::kUnavailable);
}

TEST_F(EndpointPool, PoolSpreadsItsLoad) {
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

TEST_F(EndpointPool, AFailingMemberDoesNotAttractRequests) {
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

TEST_F(EndpointPool, PoolKeepsRequestsWithOnePrefixTogether) {
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

TEST_F(EndpointPool, PoolGoesOnWhenTheServerOfAPrefixIsKilled) {
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

TEST_F(EndpointPool, AServerWithRoomGetsTheWaitingRequestThatItKnows) {
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

TEST_F(EndpointPool, NoRequestWaitsForItsServerForever) {
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

TEST_F(EndpointPool, PoolLeavesAServerThatHangsUntilItResponds) {
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

TEST_F(EndpointPool, AServerThatIsOnlySlowIsWaitedFor) {
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

TEST_F(EndpointPool, PoolGivesASlowServerLess) {
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

TEST_F(EndpointPool, PoolTakesAServerBackThatAnswersAgain) {
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

}  // namespace
}  // namespace upskill

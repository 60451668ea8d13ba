// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/endpoint.h"
#include "net/http_client.h"
#include "support/http_outcomes.h"
#include "support/loopback_server.h"
#include "util/clock.h"

namespace upskill {

// A clock whose steady time moves only when told: a time limit is reached at once or never.
class TestClock : public Clock {
 public:
  Steady Now() const override { return Steady(std::chrono::milliseconds(now_ms_.load())); }
  Wall WallNow() const override { return Wall(std::chrono::seconds(1'767'225'600)); }
  void Advance(std::chrono::milliseconds time) { now_ms_ += time.count(); }

 private:
  std::atomic<std::int64_t> now_ms_{1'000'000};
};

class EndpointTest : public testing::Test {
 protected:
  static EndpointOptions Options(std::vector<std::string> urls, int max_in_flight = 8) {
    EndpointOptions options;
    options.base_urls = std::move(urls);
    options.max_in_flight = max_in_flight;
    options.backoff_unit = std::chrono::milliseconds(10);
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
  Result<HttpResponse> AskOnce(const loopback::Script& script) {
    std::atomic<int> count = 0;
    const loopback::Server server(
        [&](const loopback::Request&) { return count++ == 0 ? script : loopback::Answer(200, "later"); });
    Endpoint endpoint = Make({server.url()});
    TestOutcomes outcomes;
    endpoint.Start("/v1", Question(), outcomes.Take());
    return outcomes.Get();
  }

  TestClock clock_;
  std::shared_ptr<HttpClient> client_ = std::make_shared<HttpClient>();
};

}  // namespace upskill

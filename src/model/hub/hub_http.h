// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http_client.h"
#include "util/result.h"
#include "util/secret.h"
#include "util/stop_flag.h"

namespace upskill {

// A response after up to five redirects.
struct HubAnswer {
  HttpResponse response;
  std::string url;  // the URL it came from
};

// GET requests to a Hub: follows redirects, sends the token only to the Hub's own host, and waits for the response
// unless stopped. Not thread-safe; `client` and `stop` must outlive it.
class HubHttp {
 public:
  // `endpoint` has no trailing slash. `stop`, which may be null: any value other than 0 ends the current request.
  HubHttp(HttpClient& client, std::string endpoint, Secret token, const StopFlag* stop)
      : client_(client), endpoint_(std::move(endpoint)), token_(std::move(token)), stop_(stop) {}

  struct HubRequest {
    std::string url;
    std::string range;                              // value of the Range header; empty: none
    std::string hash;                               // the hash that the Hub must report for the file; empty: any
    std::function<bool(std::string_view)> on_data;  // as in HttpRequest; null: the body is kept, up to 16 MiB
    std::function<void()> on_tick;                  // called now and then on the calling thread while waiting
  };

  // Any response other than a redirect, whatever its status. Errors: those of the transfer, kCancelled after a stop,
  // kPermanent for a redirect that is invalid, from https to http, or to another file than requested.
  Result<HubAnswer> Get(const HubRequest& request) const;

  // Waits, unless told to stop.
  Status Pause(std::chrono::milliseconds time) const;

  bool stopped() const { return stop_ != nullptr && stop_->load() != 0; }
  bool has_token() const { return !token_.empty(); }
  const std::string& endpoint() const { return endpoint_; }

 private:
  Result<HttpResponse> Send(HttpRequest request, const std::function<void()>& on_tick) const;
  Result<HttpRequest> RequestFor(const HubRequest& request, const std::string& url) const;

  HttpClient& client_;
  std::string endpoint_;
  Secret token_;
  const StopFlag* stop_;
};

// The error for a Hub response other than 2xx; `what` is a repository or a file in it.
Error HubError(const HubAnswer& answer, const HubHttp& http, const std::string& what);

}  // namespace upskill

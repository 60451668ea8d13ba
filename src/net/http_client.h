// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/result.h"
#include "util/secret.h"

namespace upskill {

struct HttpRequest {
  std::string method = "POST";
  std::string url;  // http or https only
  std::vector<std::pair<std::string, std::string>> headers;
  std::vector<std::pair<std::string, Secret>> secret_headers;  // sent only to the URL's own host
  std::string body;                                            // known secrets in it and in the parts are masked
  // A multipart/form-data body instead of `body`: name, file name (empty: a plain field), content.
  struct Part {
    std::string name;
    std::string file_name;
    std::string content;
  };
  std::vector<Part> parts;

  std::chrono::milliseconds connect_timeout{10'000};
  std::chrono::milliseconds idle_timeout{120'000};   // without a byte in either direction, once connected
  std::chrono::milliseconds total_timeout{600'000};  // from the first byte sent to the last one received
  // Maximum size of the body after decompression; exceeding it is an error, and so is a body of more than 4 MiB that
  // unpacks to more than 100 times what was received. Bodies of responses other than 2xx are cut at 1 MiB instead.
  std::size_t max_body_bytes = 64U << 20U;
  bool http2_prior_knowledge = false;  // HTTP/2 without negotiation on http://, one connection per request (for tests)

  // Called on the client's thread when a connection is established and the request is about to be sent, and again when
  // it is resent because the server had closed a kept-alive connection.
  std::function<void()> on_connected;

  // Called on the client's thread when the status and the headers of the response are there, before its body; not for
  // interim responses (1xx).
  std::function<void(int status, const std::map<std::string, std::string>& headers)> on_headers;

  // Called on the client's thread with each piece of a 2xx response's body as it arrives, decompressed;
  // HttpResponse::body then stays empty. Returning false ends the transfer with an error of kind kPermanent.
  std::function<bool(std::string_view)> on_data;
  bool is_binary = false;  // on_data gets the bytes as they were sent: they may hold known secrets
};

// A response of any status; only a failed transfer is an Error. Known secrets (util/known_secrets.h) are masked in
// headers and bodies, whoever sent them; those of a request are known from its start.
struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case; of equal names, the last one
  std::string body;
  double seconds = 0.0;  // of the transfer
};

Error RequestCancelled();  // kCancelled

// Sends requests on one thread with one curl-multi handle: keep-alive, HTTP/2, gzip; thousands in flight don't need a
// thread each. Redirects aren't followed. Thread-safe. The destructor cancels what is in flight and joins the thread;
// it must not run on the client's own thread, so no callback may hold the last reference.
class HttpClient {
 public:
  using Done = std::function<void(Result<HttpResponse>)>;
  using Ticket = std::uint64_t;  // of a request or timer; 0 is invalid

  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Doesn't block. `done` is called exactly once on the client's thread. Errors: kUnavailable (connection, timeout,
  // broken transfer), kInput (a body over max_body_bytes, or one that unpacks to too much: this request alone is at
  // fault), kPermanent (a bad URL, on_data returned false or threw), kCancelled. Messages name the host, but never a
  // header. Callbacks should not throw: an exception of `done` is only logged.
  Ticket Start(HttpRequest request, Done done);
  // Start without a copy of the request, which may be resent. It must not change until `done` is called.
  Ticket Start(std::shared_ptr<const HttpRequest> request, Done done);

  // Calls `work` once on the client's thread after the delay.
  Ticket After(std::chrono::milliseconds delay, std::function<void()> work);

  // Calls `work` soon on the client's thread, in any case before the destructor returns.
  void Post(std::function<void()> work);

  // `done` gets kCancelled; a timer's work is dropped. A ticket that has finished is ignored.
  void Cancel(Ticket ticket);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

// The value of a header (name in lower case), or nothing.
std::optional<std::string> HeaderOf(const HttpResponse& response, const std::string& name);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace upskill::loopback {

struct Request {
  std::size_t connection = 0;                  // counted from 0 in order of arrival
  std::string method;                          // PRI for a client that speaks HTTP/2 from the start
  std::string path;                            // including the query
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

// One action of the server on the connection of a request.
struct Action {
  enum class Kind { kSend, kWait, kClose, kReset, kHalfClose } kind = Kind::kSend;
  std::string bytes = {};             // kSend
  std::size_t times = 1;              // kSend: repetitions, without storing all of it in memory
  std::chrono::milliseconds time{0};  // kWait
};
using Script = std::vector<Action>;  // without a close at the end, the connection is kept alive

Action Send(std::string bytes, std::size_t times = 1);
Action Wait(std::chrono::milliseconds time);
Action Close();
Action Reset();      // RST instead of FIN
Action HalfClose();  // the server stops sending, but still reads

using Headers = std::vector<std::pair<std::string, std::string>>;

// Complete responses.
Script Answer(int status, std::string_view body, const Headers& headers = {});  // application/json
// A chat completion in OpenAI's format with `content` as the answer.
Script ChatCompletion(std::string_view content, int prompt_tokens = 10, int output_tokens = 5);
Script Chunked(int status, const std::vector<std::string>& pieces, const Headers& headers = {});
Script Gzip(int status, std::string_view body);
Script Sse(const std::vector<std::string>& pieces,
           std::chrono::milliseconds between = {});  // chunked text/event-stream
Script Redirect(std::string_view url);
Script RateLimit(const Headers& headers = {});  // 429 in OpenAI's wording

// Broken responses.
Script Drip(std::string_view body, std::chrono::milliseconds between);  // byte by byte
Script Silence();                                                       // never sends a byte
Script CutBeforeHeaders();
Script CutInBody(std::string_view body);                         // half of it, then RST
Script Garbage();                                                // not HTTP
Script WrongLength(std::size_t claimed, std::string_view body);  // then FIN
Script Endless(std::size_t megabytes);                           // a 200 that long
Script GzipBomb(std::size_t megabytes);                          // that long when unpacked
Script EndlessHeaders();
Script Http2GoAway();  // for a PRI request: SETTINGS, GOAWAY that accepted no stream, FIN

std::string GzipBytes(std::string_view bytes);

// A scripted HTTP/1.1 server on 127.0.0.1 with its own thread. The handler is called on that thread, once for each
// complete request. Thread-safe. The destructor closes all connections.
class Server {
 public:
  using Handler = std::function<Script(const Request&)>;

  explicit Server(Handler handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  int port() const;
  std::string url() const;  // http://127.0.0.1:PORT

  std::vector<Request> requests() const;
  std::size_t request_count() const;
  std::size_t connections() const;     // since the start
  std::size_t max_concurrent() const;  // maximum of requests being answered at the same time

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

// A URL on which nothing listens: its port is held until the program ends, so nobody else can get it. One thread at
// a time.
std::string DeadUrl();

}  // namespace upskill::loopback

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_client.h"
#include "net/sse.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The bytes that the responses of a server may have until it is asked for something else.
inline constexpr std::size_t kMaxMcpBytes = std::size_t{16} << 20U;

// What a server at a URL has sent. `mutex` guards the rest; `changed` is notified of each message and each end.
struct McpInbox {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> messages;  // on a line of its own each, unchecked
  std::size_t bytes = 0;             // received, since the sender set it to 0
  std::string session;               // printable ASCII without spaces; empty: there is none
};

// The response to a message that was sent by POST (modelcontextprotocol.io, "Streamable HTTP"): JSON, or a stream of
// events whose data are messages. The client's thread only stores what it is given; Conclude, which another thread
// calls, parses it.
class McpExchange {
 public:
  // `id`: of the request; null: the message asks for no answer. `opens_session`: the response may name a session.
  // `has_session`: the message named one.
  McpExchange(std::shared_ptr<McpInbox> inbox, Json id, bool opens_session, bool has_session);

  // On the client's thread, in this order; OnData returns whether more may come.
  void OnHeaders(int status, const std::map<std::string, std::string>& headers);
  bool OnData(std::string_view piece);
  void OnEnd(const Result<HttpResponse>& response);

  // Whether OnEnd was called. The caller holds the inbox's mutex.
  bool ended() const { return response_.has_value(); }
  // Once it has ended: puts what isn't in the inbox there, or says what is wrong. Errors: as those of McpHttp::Receive.
  Status Conclude();
  bool concluded() const { return concluded_; }
  // Once it has ended: whether there was anything in it.
  bool empty() const { return empty_; }
  bool expects_answer() const { return !id_.is_null(); }

 private:
  void Take(std::string message) const;
  Status ConcludeFailure(const HttpResponse& response) const;

  const std::shared_ptr<McpInbox> inbox_;
  const Json id_;
  const bool opens_session_;
  const bool has_session_;

  // Belongs to the client's thread until the end.
  std::string media_type_;
  std::string body_;
  SseParser events_;
  bool too_long_ = false;
  bool bad_session_ = false;
  bool empty_ = true;

  std::optional<Result<HttpResponse>> response_;  // guarded by the inbox's mutex until it is there
  bool concluded_ = false;
};

}  // namespace upskill

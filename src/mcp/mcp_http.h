// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mcp/mcp_dialogue.h"
#include "mcp/mcp_exchange.h"
#include "net/http_client.h"
#include "util/result.h"
#include "util/secret.h"
#include "util/stop_flag.h"

namespace upskill {

// Where a server is, and what else is said in each request to it.
struct McpAddress {
  std::string url;
  std::vector<std::pair<std::string, Secret>> headers;
};

// A name that McpAddress::headers may have: none of those that HTTP or the protocol need themselves.
bool IsFreeMcpHeader(std::string_view name);

// The way to an MCP server at a URL: transport "Streamable HTTP" of modelcontextprotocol.io, versions 2025-03-26 to
// 2025-11-25, and 2026-07-28, which has no sessions. Each message is a POST, its answer JSON or a stream of events.
// Redirects aren't followed. The destructor ends the session, for which it takes up to two seconds. Used by one thread
// at a time; the client must not be one whose thread this is.
class McpHttp {
 public:
  using Time = std::chrono::steady_clock::time_point;

  McpHttp(McpAddress address, std::shared_ptr<HttpClient> client);
  ~McpHttp();
  McpHttp(const McpHttp&) = delete;
  McpHttp& operator=(const McpHttp&) = delete;

  // Until when what follows must be there. `stop`, which may be null, ends it when it is `stopped_at` or more. What is
  // received from now on may have up to 16 MiB.
  void Begin(Time deadline, const StopFlag* stop, int stopped_at);

  // A message on a line of its own. Waits for an answer only if the message asks for none. Errors: as those of Receive.
  Status Send(std::string_view line);
  // The next message of the server, on a line of its own. Errors: kUnavailable if the server can't be reached or fails,
  // has ended the session, or was too slow (ErrorCause::kTimeout); kPermanent for what no repetition helps against,
  // such as a missing key; kInput if this request alone is at fault, or the answer isn't MCP; kCancelled.
  Result<std::string> Receive();
  // McpConnection::agreed.
  void Agree(const std::string& version);

  // To this, which must outlive it.
  McpConnection connection();

 private:
  struct Sent {
    std::shared_ptr<McpExchange> exchange;
    HttpClient::Ticket ticket = 0;
  };

  HttpRequest RequestFor(const std::string& method) const;
  Status Await(McpExchange& exchange);
  Status InTime() const;
  void EndSession();

  const McpAddress address_;
  const std::shared_ptr<HttpClient> client_;
  const std::shared_ptr<McpInbox> inbox_;  // shared with the callbacks of requests, which may outlive this
  std::vector<Sent> sent_;                 // that may not be over
  std::string version_;
  Time deadline_;
  const StopFlag* stop_ = nullptr;
  int stopped_at_ = 1;
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

// What an MCP server offers: the tools of `tools/list`, all pages, unchanged.
struct McpTools {
  std::string server;  // its own name and version, shortened; untrusted
  Json tools = Json::array();
};

// The way to a server. Both functions block; an error of theirs ends the dialogue.
struct McpConnection {
  std::function<Status(std::string_view bytes)> send;
  std::function<Result<std::string>()> receive;  // what the server has written since: at least one byte
  // Told the protocol's version once it is known, for a transport that has to repeat it. May be empty.
  // NOLINTNEXTLINE(readability-redundant-member-init): without it GCC warns of McpConnection{send, receive}
  std::function<void(const std::string& version)> agreed = {};
};

// The first version of the protocol without a handshake and sessions: each request says what it needs to be understood.
// Versions are dates, so that later ones are greater.
inline constexpr std::string_view kStatelessMcp = "2026-07-28";

// What came of a call.
struct McpResult {
  std::string text;  // of all parts; what isn't text is named. May be invalid UTF-8
  bool is_error = false;
};

// A dialogue with a server, in its order. The connection's functions block, and so do these. After an error (kInput: it
// breaks the protocol; or one of the connection) nothing more can be asked.
class McpSession {
 public:
  explicit McpSession(McpConnection connection);
  ~McpSession();
  McpSession(const McpSession&) = delete;
  McpSession& operator=(const McpSession&) = delete;

  // First.
  Result<McpTools> Open();
  // `name`: as Open has returned it. What the server says went wrong is a result with is_error.
  Result<McpResult> Call(const std::string& name, const Json& arguments);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Requests the tools of a server: one JSON-RPC message per line (modelcontextprotocol.io, transport stdio; mcp_http.h
// has the other one). A server that refuses the handshake is asked as those of kStatelessMcp are. Requests from the
// server are rejected; notifications and lines that aren't JSON are skipped. Error (kInput): it breaks the protocol.
Result<McpTools> RequestMcpTools(const McpConnection& connection);

}  // namespace upskill

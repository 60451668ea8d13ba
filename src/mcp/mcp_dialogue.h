// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
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
};

// Requests the tools of a server: one JSON-RPC message per line (modelcontextprotocol.io, transport stdio). Requests
// from the server are rejected; notifications and lines that aren't JSON are skipped. Error (kInput): it breaks the
// protocol.
Result<McpTools> RequestMcpTools(const McpConnection& connection);

}  // namespace upskill

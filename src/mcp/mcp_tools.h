// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "util/json.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// What an MCP server offers: the tools of `tools/list`, all pages, unchanged.
struct McpTools {
  std::string server;  // its own name and version; untrusted
  Json tools = Json::array();
};

// Starts an MCP server with `command` (a command line of the user, run by /bin/sh) and `environment`, requests its
// tools over its standard input and output, one JSON-RPC message per line (modelcontextprotocol.io, transport stdio),
// and ends it. Requests from the server are rejected; notifications and lines that aren't JSON are skipped. `stop`,
// which may be null: cancels when greater than 0. Errors name the command and quote the end of its standard error:
// kInput if it isn't an MCP server or breaks the protocol, kUnavailable after `limit`, kCancelled.
Result<McpTools> ListMcpTools(const std::string& command, const std::vector<std::string>& environment,
                              std::chrono::milliseconds limit, const StopFlag* stop);

}  // namespace upskill

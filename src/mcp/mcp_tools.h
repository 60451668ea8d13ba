// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

#include "util/json.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// What an MCP server offers: the tools of `tools/list`, all its pages, as it gave them.
struct McpTools {
  std::string server;  // its name and version, as it says; data
  Json tools = Json::array();
};

// Starts an MCP server with `command` (a command line of the person, run by /bin/sh), asks for its tools over its
// standard input and output, one JSON-RPC message a line (modelcontextprotocol.io, transport stdio), and ends it.
// Requests of the server are refused, notifications and lines that are no JSON skipped. `stop`: given up when it
// becomes more than 0; may be null. Errors name the command and tell the last lines of its standard error: kInput when
// it is no MCP server or breaks the protocol, kUnavailable when `limit` is over, kCancelled.
Result<McpTools> ListMcpTools(const std::string& command, std::chrono::milliseconds limit, const StopFlag* stop);

}  // namespace upskill

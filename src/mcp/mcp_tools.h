// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "mcp/mcp_dialogue.h"
#include "mcp/mcp_http.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// Starts an MCP server with `command` (a command line of the user, run by /bin/sh) and `environment`, requests its
// tools over its standard input and output (RequestMcpTools), and ends it. `stop`, which may be null: cancels when
// greater than 0. Errors name the command and quote the end of its standard error:
// kInput if it isn't an MCP server or breaks the protocol, kUnavailable after `limit`, kCancelled.
Result<McpTools> ListMcpTools(const std::string& command, const std::vector<std::string>& environment,
                              std::chrono::milliseconds limit, const StopFlag* stop);

// Requests the tools of the server at a URL, through an HTTP client of its own. Errors name the URL and are those of
// McpHttp::Receive.
Result<McpTools> ListMcpToolsAt(const McpAddress& address, std::chrono::milliseconds limit, const StopFlag* stop);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agent/tool_server.h"
#include "cli/env/env.h"
#include "eval/plan/plan.h"
#include "util/result.h"

namespace upskill {

// What the user allows the MCP servers of cases, which a suite from elsewhere can't allow itself.
struct McpChoice {
  std::vector<std::string> urls;       // of --mcp-url
  std::vector<std::string> variables;  // of --mcp-env
};

// The way to the servers at URLs that the plan's cases name; one without a client if there are none. Errors (kInput): a
// URL or a variable that the user hasn't allowed, with the option to do so; a variable that isn't set; a header's name.
Result<McpAccess> McpAccessOf(const Plan& plan, const McpChoice& choice, const Env& env);

}  // namespace upskill

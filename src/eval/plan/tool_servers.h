// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "model/workspace.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// The MCP servers of a case: those that the suite's file states under "mcp", and the case's own, each
// {"name", "command", "files", "shared"} or {"name", "url", "headers", "shared"}. Errors (kInput): one is malformed, or
// two have one name.
Result<std::vector<ToolServer>> ServersOf(const Suite& suite, const Case& test_case);

}  // namespace upskill

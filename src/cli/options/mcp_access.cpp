// SPDX-License-Identifier: Apache-2.0
#include "cli/options/mcp_access.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "eval/plan/tool_servers.h"
#include "net/http_client.h"
#include "net/url.h"
#include "util/known_secrets.h"
#include "util/list.h"
#include "util/text.h"
#include "util/variable_text.h"

namespace upskill {
namespace {

Status TakeVariables(const ToolServer& server, const McpChoice& choice, const Env& env, McpAccess& access) {
  for (const auto& [header, text] : server.headers) {
    if (!IsFreeMcpHeader(header))
      return InputError(fmt::format("\"headers\": \"{}\" can't be set", ExcerptLine(header, 60)));
    ASSIGN_OR_RETURN(const std::vector<std::string> names, VariablesIn(text));
    for (const std::string& name : names) {
      if (!IsOneOf(name, choice.variables)) {
        return InputError(
            fmt::format("its header {} would have the value of the environment variable {}; to confirm "
                        "that it may be sent to {}, give --mcp-env {}",
                        ExcerptLine(header, 60), name, server.url, name));
      }
      const std::optional<std::string> value = env.variable(name);
      if (!value || value->empty())
        return InputError(fmt::format("the environment variable {} is {}", name, value ? "empty" : "not set"));
      RememberSecret(Secret(*value));
      access.variables[name] = Secret(*value);
    }
  }
  return {};
}

}  // namespace

Result<McpAccess> McpAccessOf(const Plan& plan, const McpChoice& choice, const Env& env) {
  McpAccess access;
  for (const Case& test_case : plan.suite.cases) {
    if (!plan.acts_in(test_case)) continue;
    ASSIGN_OR_RETURN(const std::vector<ToolServer> servers, ServersOf(plan.suite, test_case));
    for (const ToolServer& server : servers) {
      if (server.url.empty()) continue;
      const std::string place = fmt::format("MCP server {}", server.name);
      RETURN_IF_ERROR(ParseHttpUrl(server.url).With(place));
      if (!IsOneOf(server.url, choice.urls)) {
        return InputError(
            fmt::format("{}: the suite names a server at {}; to allow upskill to connect to it, add --mcp-url {}",
                        place, server.url, ShellWord(server.url)));
      }
      RETURN_IF_ERROR(TakeVariables(server, choice, env, access).With(place));
      if (access.client == nullptr) access.client = std::make_shared<HttpClient>();  // shared by all models
    }
  }
  return access;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "eval/tool_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostServers = 8;  // of a case
constexpr std::size_t kMostNameBytes = 32;

bool IsServerName(const std::string& name) {
  return !name.empty() && name.size() <= kMostNameBytes && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Result<ToolServer> ReadServer(const Json& stated) {
  if (!stated.is_object()) return InputError("mcp: a server is an object such as {\"name\": …, \"command\": …}");
  ToolServer server;
  server.name = StringAt(stated, "name");
  if (!IsServerName(server.name)) {
    return InputError(fmt::format("mcp: \"name\" must be up to {} lowercase letters, digits, - and _, not \"{}\"",
                                  kMostNameBytes, ExcerptLine(server.name, 60)));
  }
  const auto wrong = [&](const std::string& what) {
    return InputError(fmt::format("mcp: server \"{}\": {}", server.name, what));
  };
  if (stated.contains("url"))
    return wrong("a \"url\" can't be used: students have no network; give the \"command\" that starts the server");
  server.command = StringAt(stated, "command");
  if (Trim(server.command).empty() || server.command.find('\0') != std::string::npos)
    return wrong("\"command\" must be a command line");
  const Json& shared = Member(stated, "shared");
  if (!shared.is_null() && !shared.is_boolean()) return wrong("\"shared\" must be true or false");
  server.shared = shared.is_boolean() && shared.get<bool>();
  const Json& files = Member(stated, "files");
  if (!files.is_null() && !files.is_object()) return wrong("\"files\" must be an object: names with their content");
  for (auto file = files.begin(); file != files.end(); ++file) {
    if (!file.value().is_string() || !ContainedPath("", file.key()))
      return wrong(fmt::format("\"files\": \"{}\" is not a text file inside its folder", ExcerptLine(file.key(), 60)));
    server.files[PlainFileName(file.key())] = file.value().get<std::string>();
  }
  if (const std::string conflict = ConflictOfFiles(server.files); !conflict.empty())
    return wrong("\"files\": " + conflict);
  return server;
}

Status AddServers(const Json& list, std::vector<ToolServer>& servers) {
  if (list.is_null()) return {};
  if (!list.is_array()) return InputError("\"mcp\" must be a list of servers");
  for (const Json& stated : list) {
    ASSIGN_OR_RETURN(ToolServer server, ReadServer(stated));
    const bool known =
        std::any_of(servers.begin(), servers.end(), [&](const ToolServer& other) { return other.name == server.name; });
    if (known) return InputError(fmt::format("mcp: two servers are named \"{}\"", server.name));
    if (servers.size() == kMostServers) return InputError(fmt::format("mcp: more than {} servers", kMostServers));
    servers.push_back(std::move(server));
  }
  return {};
}

}  // namespace

Result<std::vector<ToolServer>> ServersOf(const Suite& suite, const Case& test_case) {
  std::vector<ToolServer> servers;
  RETURN_IF_ERROR(AddServers(Member(suite.document, "mcp"), servers).With(suite.source.string()));
  RETURN_IF_ERROR(AddServers(Member(test_case.raw, "mcp"), servers).With(test_case.place));
  return servers;
}

}  // namespace upskill

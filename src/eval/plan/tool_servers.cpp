// SPDX-License-Identifier: Apache-2.0
#include "eval/plan/tool_servers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "util/files.h"
#include "util/text.h"
#include "util/variable_text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostServers = 8;  // of a case
constexpr std::size_t kMostNameBytes = 32;
constexpr std::size_t kMostUrlBytes = 2'000;

bool IsServerName(const std::string& name) {
  return !name.empty() && name.size() <= kMostNameBytes && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

// Whether a header of this name is one of those that hold keys.
bool HoldsKey(const std::string& header) {
  constexpr std::array<std::string_view, 6> kWords = {"auth", "cookie", "key", "token", "secret", "password"};
  const std::string lower = ToLowerAscii(header);
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// The message follows the server's name.
Status ReadHeaders(const Json& stated, ToolServer& server) {
  if (stated.is_null()) return {};
  if (!stated.is_object()) return InputError("\"headers\" must be an object: names with their values");
  for (auto header = stated.begin(); header != stated.end(); ++header) {
    const std::string shown = ExcerptLine(header.key(), 60);
    if (header.key().empty() || header.key().size() > kMostNameBytes * 2 || !header.value().is_string())
      return InputError(fmt::format("\"headers\": \"{}\" is not a header with a text as its value", shown));
    const std::string text = header.value().get<std::string>();
    if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; }))
      return InputError(fmt::format("\"headers\": \"{}\" has a line end or another control character", shown));
    const Result<std::vector<std::string>> variables = VariablesIn(text);
    if (!variables) return variables.error().With(fmt::format("\"headers\": \"{}\"", shown));
    if (variables->empty() && HoldsKey(header.key())) {
      return InputError(
          fmt::format("\"headers\": \"{}\" must not state its value, which is a secret; name the "
                      "environment variable that has it, such as \"${{UNITS_TOKEN}}\"",
                      shown));
    }
    server.headers[header.key()] = text;
  }
  return {};
}

// The message follows the server's name.
Status ReadUrl(const Json& stated, ToolServer& server) {
  server.url = StringAt(stated, "url");
  const bool plain = std::none_of(server.url.begin(), server.url.end(), [](char c) { return c <= ' ' || c == 0x7F; });
  const bool http = server.url.starts_with("http://") || server.url.starts_with("https://");
  if (!plain || !http || server.url.size() > kMostUrlBytes) return InputError("\"url\" must be a URL of http or https");
  const std::string_view after = std::string_view(server.url).substr(server.url.find("//") + 2);
  if (after.substr(0, after.find('/')).find('@') != std::string_view::npos)
    return InputError("\"url\" must not hold a user name or a password; use \"headers\" with environment variables");
  if (stated.contains("command") || stated.contains("files"))
    return InputError("give either a \"command\" and its \"files\" or a \"url\"");
  return ReadHeaders(Member(stated, "headers"), server);
}

// The message follows the server's name.
Status ReadCommand(const Json& stated, ToolServer& server) {
  if (stated.contains("headers")) return InputError("\"headers\" go with a \"url\"");
  server.command = StringAt(stated, "command");
  if (Trim(server.command).empty() || server.command.find('\0') != std::string::npos)
    return InputError("\"command\" must be a command line, or \"url\" a URL");
  const Json& files = Member(stated, "files");
  if (!files.is_null() && !files.is_object())
    return InputError("\"files\" must be an object: names with their content");
  for (auto file = files.begin(); file != files.end(); ++file) {
    if (!file.value().is_string() || !ContainedPath("", file.key())) {
      return InputError(
          fmt::format("\"files\": \"{}\" is not a text file inside its folder", ExcerptLine(file.key(), 60)));
    }
    server.files[PlainFileName(file.key())] = file.value().get<std::string>();
  }
  if (const std::string conflict = ConflictOfFiles(server.files); !conflict.empty())
    return InputError("\"files\": " + conflict);
  return {};
}

Result<ToolServer> ReadServer(const Json& stated) {
  if (!stated.is_object()) return InputError("mcp: a server is an object such as {\"name\": …, \"command\": …}");
  ToolServer server;
  server.name = StringAt(stated, "name");
  if (!IsServerName(server.name)) {
    return InputError(fmt::format("mcp: \"name\" must be up to {} lowercase letters, digits, - and _, not \"{}\"",
                                  kMostNameBytes, ExcerptLine(server.name, 60)));
  }
  const std::string place = fmt::format("mcp: server \"{}\"", server.name);
  const Json& shared = Member(stated, "shared");
  if (!shared.is_null() && !shared.is_boolean()) return InputError(place + ": \"shared\" must be true or false");
  server.shared = shared.is_boolean() && shared.get<bool>();
  const Status read = stated.contains("url") ? ReadUrl(stated, server) : ReadCommand(stated, server);
  if (!read) return read.error().With(place);
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

// SPDX-License-Identifier: Apache-2.0
#include "program/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <exception>

#include "install/agents.h"
#include "util/files.h"
#include "util/nearest_name.h"
#include "util/text.h"
#include "util/toml_guard.h"

namespace upskill {
namespace {

constexpr std::array<std::pair<Protocol, const char*>, 4> kProtocols = {{{Protocol::kMessages, "messages"},
                                                                         {Protocol::kChat, "chat"},
                                                                         {Protocol::kResponses, "responses"},
                                                                         {Protocol::kGemini, "gemini"}}};

// Reads one [[program]] table.
class ProgramReader {
 public:
  explicit ProgramReader(const std::string& file) : file_(file) {}

  Error ErrorAt(const toml::node& node, const std::string& message) const {
    const toml::source_position at = node.source().begin;
    return InputError(fmt::format("{}:{}:{}: {}", file_, at.line, at.column, message));
  }

  Result<AgentProgram> Read(const toml::table& table) const {
    AgentProgram program;
    for (const auto& [key, node] : table) RETURN_IF_ERROR(Take(key.str(), node, program));
    for (const auto& [name, value] :
         {std::pair("id", &program.id), std::pair("name", &program.name), std::pair("agent", &program.agent),
          std::pair("executable", &program.executable), std::pair("command", &program.command)}) {
      if (value->empty()) return ErrorAt(table, fmt::format("a program needs '{}'", name));
    }
    if (program.protocols.empty()) return ErrorAt(table, "a program needs 'protocols'");
    if (const Result<const Agent*> agent = FindAgent(program.agent); !agent)
      return ErrorAt(table, agent.error().message);
    return program;
  }

 private:
  Status Take(std::string_view key, const toml::node& node, AgentProgram& program) const {
    const std::array<std::pair<std::string_view, std::string*>, 9> texts = {{{"id", &program.id},
                                                                             {"name", &program.name},
                                                                             {"agent", &program.agent},
                                                                             {"executable", &program.executable},
                                                                             {"package", &program.package},
                                                                             {"tested", &program.tested},
                                                                             {"model", &program.model},
                                                                             {"command", &program.command},
                                                                             {"export", &program.export_command}}};
    for (const auto& [name, text] : texts) {
      if (name != key) continue;
      ASSIGN_OR_RETURN(*text, TextOf(node, key));
      return {};
    }
    if (key == "variables") {
      ASSIGN_OR_RETURN(program.variables, TextsOf(node, key));
    } else if (key == "files") {
      ASSIGN_OR_RETURN(program.files, TextsOf(node, key));
      for (const auto& [name, content] : program.files) RETURN_IF_ERROR(Contained(node, name));
    } else if (key == "needs") {
      ASSIGN_OR_RETURN(program.needs, ListOf(node, key));
    } else if (key == "protocols") {
      ASSIGN_OR_RETURN(program.protocols, ProtocolsOf(node));
    } else if (key == "sessions") {
      ASSIGN_OR_RETURN(program.sessions, PlaceOf(node));
    } else if (key == "endpoint") {
      ASSIGN_OR_RETURN(program.endpoint, EndpointOf(node));
    } else if (key == "mcp") {
      ASSIGN_OR_RETURN(program.servers, ServersOf(node));
    } else {
      return ErrorAt(node, fmt::format("unknown key '{}' in a program", key));
    }
    return {};
  }

  Result<std::string> TextOf(const toml::node& node, std::string_view key) const {
    std::optional<std::string> text = node.value<std::string>();
    if (!node.is_string() || !text) return ErrorAt(node, fmt::format("'{}' must be a string", key));
    return *std::move(text);
  }

  Result<std::vector<std::string>> ListOf(const toml::node& node, std::string_view key) const {
    const toml::array* const array = node.as_array();
    if (array == nullptr) return ErrorAt(node, fmt::format("'{}' must be a list of strings", key));
    std::vector<std::string> texts;
    for (const toml::node& element : *array) {
      ASSIGN_OR_RETURN(std::string text, TextOf(element, key));
      texts.push_back(std::move(text));
    }
    return texts;
  }

  Result<std::map<std::string, std::string>> TextsOf(const toml::node& node, std::string_view key) const {
    const toml::table* const table = node.as_table();
    if (table == nullptr) return ErrorAt(node, fmt::format("'{}' must be a table of strings", key));
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : *table) {
      ASSIGN_OR_RETURN(texts[std::string(name.str())], TextOf(value, name.str()));
    }
    return texts;
  }

  Status Contained(const toml::node& node, const std::string& name) const {
    const auto path = ContainedPath("", name);
    return path.ok() ? Status() : ErrorAt(node, path.error().message);
  }

  Result<std::vector<std::pair<Protocol, std::string>>> ProtocolsOf(const toml::node& node) const {
    ASSIGN_OR_RETURN(const auto texts, TextsOf(node, "protocols"));
    std::vector<std::pair<Protocol, std::string>> protocols;
    for (const auto& [name, own] : texts) {
      const auto* const known =
          std::find_if(kProtocols.begin(), kProtocols.end(), [&](const auto& entry) { return name == entry.second; });
      if (known == kProtocols.end())
        return ErrorAt(node,
                       fmt::format("unknown protocol '{}'; there are messages, chat, responses and gemini", name));
      protocols.emplace_back(known->first, own);
    }
    return protocols;
  }

  Result<std::optional<SessionPlace>> PlaceOf(const toml::node& node) const {
    ASSIGN_OR_RETURN(std::vector<std::string> words, ListOf(node, "sessions"));
    if (words.size() != 2) return ErrorAt(node, "'sessions' must be a folder and a pattern of file names");
    RETURN_IF_ERROR(Contained(node, words[0]));
    return std::optional(SessionPlace{std::move(words[0]), std::move(words[1])});
  }

  Result<std::optional<ProgramEndpoint>> EndpointOf(const toml::node& node) const {
    const toml::table* const table = node.as_table();
    if (table == nullptr) return ErrorAt(node, "'endpoint' must be a table");
    ProgramEndpoint endpoint;
    for (const auto& [key, value] : *table) {
      if (key == "base_url") {
        ASSIGN_OR_RETURN(endpoint.base_url, TextOf(value, key.str()));
      } else if (key == "base_url_variables" || key == "key_variables") {
        auto& list = key == "key_variables" ? endpoint.key_variables : endpoint.base_url_variables;
        ASSIGN_OR_RETURN(list, ListOf(value, key.str()));
      } else {
        return ErrorAt(value, fmt::format("unknown key '{}' in 'endpoint'", key.str()));
      }
    }
    if (endpoint.base_url.empty()) return ErrorAt(node, "'endpoint' needs 'base_url'");
    return std::optional(std::move(endpoint));
  }

  Result<std::optional<ProgramServers>> ServersOf(const toml::node& node) const {
    const toml::table* const table = node.as_table();
    if (table == nullptr) return ErrorAt(node, "'mcp' must be a table");
    ProgramServers servers;
    for (const auto& [key, value] : *table) {
      std::string* const text = key.str() == "server"      ? &servers.server
                                : key.str() == "separator" ? &servers.separator
                                : key.str() == "option"    ? &servers.option
                                                           : nullptr;
      if (text == nullptr) return ErrorAt(value, fmt::format("unknown key '{}' in 'mcp'", key.str()));
      ASSIGN_OR_RETURN(*text, TextOf(value, key.str()));
    }
    if (servers.server.empty()) return ErrorAt(node, "'mcp' needs 'server'");
    return std::optional(std::move(servers));
  }

  const std::string& file_;
};

}  // namespace

Wire WireOf(Protocol protocol) {
  switch (protocol) {
    case Protocol::kMessages:
      return Wire::kAnthropic;
    case Protocol::kResponses:
      return Wire::kResponses;
    case Protocol::kChat:
    case Protocol::kGemini:
      break;
  }
  return Wire::kChat;
}

const char* ProtocolName(Protocol protocol) {
  for (const auto& [value, name] : kProtocols) {
    if (value == protocol) return name;
  }
  return "";
}

const std::string* AgentProgram::NameOf(Protocol protocol) const {
  for (const auto& [spoken, own_name] : protocols) {
    if (spoken == protocol) return &own_name;
  }
  return nullptr;
}

Result<std::vector<AgentProgram>> ParsePrograms(std::string_view text, const std::string& file) {
  if (const std::optional<std::size_t> deep = FindDeepTomlKey(text)) {
    const TextPosition at = PositionAt(text, *deep);
    return InputError(fmt::format("{}:{}:{}: a key has too many dotted parts", file, at.line, at.column));
  }
  try {
    const toml::table root = toml::parse(text);
    const ProgramReader reader(file);
    std::vector<AgentProgram> programs;
    const toml::node* const list = root.get("program");
    if (list == nullptr) return programs;
    if (list->as_array() == nullptr) return reader.ErrorAt(*list, "expected [[program]] tables");
    for (const toml::node& node : *list->as_array()) {
      if (node.as_table() == nullptr) return reader.ErrorAt(node, "expected a [[program]] table");
      ASSIGN_OR_RETURN(AgentProgram program, reader.Read(*node.as_table()));
      if (FindProgram(programs, program.id))
        return reader.ErrorAt(node, fmt::format("a second program has the id '{}'", program.id));
      programs.push_back(std::move(program));
    }
    return programs;
  } catch (const toml::parse_error& e) {
    const toml::source_position at = e.source().begin;
    return InputError(fmt::format("{}:{}:{}: {}", file, at.line, at.column, e.description()));
  } catch (const std::exception& e) {
    return InputError(fmt::format("{}: {}", file, e.what()));
  }
}

Result<std::vector<AgentProgram>> LoadPrograms(const std::optional<std::string>& own_text,
                                               const std::string& own_file) {
  ASSIGN_OR_RETURN(std::vector<AgentProgram> programs, ParsePrograms(BuiltInAgents(), "assets/agents.toml"));
  if (!own_text) return programs;
  ASSIGN_OR_RETURN(std::vector<AgentProgram> own, ParsePrograms(*own_text, own_file));
  for (AgentProgram& program : own) {
    std::erase_if(programs, [&](const AgentProgram& other) { return other.id == program.id; });
    programs.push_back(std::move(program));
  }
  return programs;
}

Result<AgentProgram> FindProgram(const std::vector<AgentProgram>& programs, const std::string& id) {
  std::vector<std::string> ids;
  for (const AgentProgram& program : programs) {
    if (program.id == id) return program;
    ids.push_back(program.id);
  }
  const std::string meant = DidYouMean(id, ids);
  return InputError(fmt::format("unknown agent program '{}'{} {}", id,
                                meant.empty() ? "; there are:" : meant + " There are:", fmt::join(ids, ", ")));
}

std::string Filled(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string filled;
  while (!text.empty()) {
    const std::size_t open = text.find('{');
    filled += text.substr(0, open);
    if (open == std::string_view::npos) break;
    text.remove_prefix(open);
    const std::size_t close = text.find('}');
    const auto value =
        close == std::string_view::npos ? values.end() : values.find(std::string(text.substr(1, close - 1)));
    filled += value == values.end() ? "{" : value->second;
    text.remove_prefix(value == values.end() ? 1 : close + 1);
  }
  return filled;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/wire/wire.h"
#include "util/result.h"

namespace upskill {

// The formats in which programs ask models. Named in assets/agents.toml: never rename.
enum class Protocol { kMessages, kChat, kResponses, kGemini };

const char* ProtocolName(Protocol protocol);  // "messages"
Wire WireOf(Protocol protocol);               // of kGemini, which has none: kChat

// A folder below the home folder, and a pattern (`*`) of the names of files below it.
struct SessionPlace {
  std::string folder;
  std::string pattern;
};

// The most that an [endpoint] table says about servers that aren't in the catalogue of providers.
struct ProgramEndpoint {
  std::string base_url;
  std::vector<std::string> base_url_variables;
  std::vector<std::string> key_variables;
};

// How a program is told of MCP servers: texts with the placeholders {server} and {script}.
struct ProgramServers {
  std::string server;     // of one server, in the language of the program's file
  std::string separator;  // between two
  std::string option;     // of the command line, where there are any
};

// A program that works on a task by itself, asking a model: a [[program]] of assets/agents.toml, which explains the
// keys. Texts may have the placeholders of ProgramPlaces.
struct AgentProgram {
  std::string id;     // "codex", for agent:codex
  std::string name;   // "Codex"
  std::string agent;  // the [[agent]] whose folder of skills it reads
  std::string executable;
  std::string package;                                      // of npm
  std::string tested;                                       // version of the package; empty: none
  std::string model;                                        // model string that is used where the user names none
  std::vector<std::pair<Protocol, std::string>> protocols;  // that it speaks, with its own name for each
  std::vector<std::string> needs;                           // other programs that must be in PATH
  std::string command;                                      // a line for sh
  std::string export_command;                               // a line for sh, afterwards; may be empty
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> files;  // of its home folder
  std::optional<SessionPlace> sessions;      // absent: it keeps none
  std::optional<ProgramEndpoint> endpoint;   // absent: providers of the catalogue
  std::optional<ProgramServers> servers;     // absent: it can't be given MCP servers

  // The program's own name for a protocol; null: it doesn't speak it.
  const std::string* NameOf(Protocol protocol) const;
};

// The programs in `text`, which is like assets/agents.toml; [[agent]] tables are passed over. Errors name `file`, line
// and column.
Result<std::vector<AgentProgram>> ParsePrograms(std::string_view text, const std::string& file);

// The built-in programs, with those of the user's own file, if there is one, in place of them or besides.
Result<std::vector<AgentProgram>> LoadPrograms(const std::optional<std::string>& own_text, const std::string& own_file);

// Error: there is no such program; the message names the nearest one and all of them.
Result<AgentProgram> FindProgram(const std::vector<AgentProgram>& programs, const std::string& id);

// `text` with the values in place of the placeholders, {name}; other braces are left alone.
std::string Filled(std::string_view text, const std::map<std::string, std::string>& values);

}  // namespace upskill

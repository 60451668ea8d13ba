// SPDX-License-Identifier: Apache-2.0
#include "install/agents.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>
#include <system_error>
#include <utility>

#include "util/list.h"
#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// Reads one [[agent]] table, or one of [others].
class AgentReader {
 public:
  explicit AgentReader(const std::string& file) : file_(file) {}

  // `id`: of one of [others]; empty: the table has it.
  Result<Agent> Read(const toml::table& table, std::string_view id = "") const {
    Agent agent;
    agent.id = id;
    agent.is_other = !id.empty();
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (name == "id" || name == "name") {
        ASSIGN_OR_RETURN((name == "id" ? agent.id : agent.name), TextOf(node, name));
      } else if (name == "project" || name == "user") {
        ASSIGN_OR_RETURN((name == "user" ? agent.user_folders : agent.project_folders), FoldersOf(node, name));
      } else if (name == "variables") {
        ASSIGN_OR_RETURN(agent.variables, VariablesOf(node));
      } else if (name == "listing") {
        ASSIGN_OR_RETURN(agent.listing, ListingOf(node));
      } else if (name == "upward" && node.is_boolean()) {
        agent.upward = node.value<bool>().value_or(false);
      } else {
        return ErrorAt(node, fmt::format("unknown key '{}', or a value of the wrong type, in an agent", name));
      }
    }
    if (agent.id.empty() || agent.name.empty() || agent.project_folders.empty() ||
        (agent.user_folders.empty() && !agent.is_other))
      return ErrorAt(table, "an agent needs 'id', 'name', 'project' and 'user'");
    return agent;
  }

  Error ErrorAt(const toml::node& node, const std::string& message) const {
    const toml::source_position at = node.source().begin;
    return InputError(fmt::format("{}:{}:{}: {}", file_, at.line, at.column, message));
  }

 private:
  Result<std::string> TextOf(const toml::node& node, std::string_view key) const {
    std::optional<std::string> text = node.value<std::string>();
    if (!node.is_string() || !text || text->empty())
      return ErrorAt(node, fmt::format("'{}' must be a string with text", key));
    return *std::move(text);
  }

  Result<std::vector<std::string>> FoldersOf(const toml::node& node, std::string_view key) const {
    const toml::array* const array = node.as_array();
    if (array == nullptr) return ErrorAt(node, fmt::format("'{}' must be a list of folders", key));
    std::vector<std::string> folders;
    for (const toml::node& element : *array) {
      ASSIGN_OR_RETURN(std::string folder, TextOf(element, key));
      const bool fits = key == "project" ? fs::path(folder).is_relative() && !folder.starts_with('~')
                                         : folder.starts_with("~/") || fs::path(folder).is_absolute();
      if (!fits) return ErrorAt(element, fmt::format("'{}' can't be a folder of '{}'", folder, key));
      folders.push_back(std::move(folder));
    }
    return folders;
  }

  Result<std::map<std::string, std::string>> VariablesOf(const toml::node& node) const {
    const toml::table* const table = node.as_table();
    if (table == nullptr) return ErrorAt(node, "'variables' must be a table");
    std::map<std::string, std::string> variables;
    for (const auto& [key, value] : *table) {
      ASSIGN_OR_RETURN(variables[std::string(key.str())], TextOf(value, "variables"));
    }
    return variables;
  }

  Result<AgentListing> ListingOf(const toml::node& node) const {
    const toml::table* const table = node.as_table();
    if (table == nullptr) return ErrorAt(node, "'listing' must be a table");
    AgentListing listing;
    const std::map<std::string_view, std::string*> texts = {{"line", &listing.line},
                                                            {"variable", &listing.variable},
                                                            {"hidden", &listing.hidden},
                                                            {"source", &listing.source}};
    for (const auto& [key, value] : *table) {
      const std::string_view name = key.str();
      if (const auto text = texts.find(name); text != texts.end()) {
        ASSIGN_OR_RETURN(*text->second, TextOf(value, name));
      } else if ((name == "longest" || name == "room") && value.value<std::int64_t>().value_or(0) > 0) {
        (name == "room" ? listing.room : listing.longest) = static_cast<std::size_t>(*value.value<std::int64_t>());
      } else if (name == "unit" || name == "cut") {
        ASSIGN_OR_RETURN(const std::string word, TextOf(value, name));
        if (!IsOneOf(word, {"characters", "tokens", "least-used", "evenly"}))
          return ErrorAt(value, fmt::format("'{}' can't be '{}'", name, word));
        (name == "unit" ? listing.in_tokens : listing.cuts_least_used) = word == "tokens" || word == "least-used";
      } else if (name == "more" && value.is_array()) {
        for (const toml::node& field : *value.as_array()) {
          ASSIGN_OR_RETURN(listing.more.emplace_back(), TextOf(field, name));
        }
      } else {
        return ErrorAt(value, fmt::format("unknown key '{}', or a value of the wrong type, in a listing", name));
      }
    }
    return listing;
  }

  const std::string& file_;
};

// The value of a variable that names a folder; empty: it isn't set.
std::string FolderIn(const VariableLookup& variable, const std::string& name) {
  return variable ? std::string(Trim(variable(name).value_or(""))) : "";
}

// What follows `start` in a folder's name, "" or "/…"; nothing if the folder isn't below it.
std::optional<std::string> RestAfter(const std::string& folder, const std::string& start) {
  if (!folder.starts_with(start)) return std::nullopt;
  std::string rest = folder.substr(start.size());
  if (!rest.empty() && rest.front() != '/') return std::nullopt;
  return rest;
}

}  // namespace

Result<std::vector<Agent>> ParseAgents(std::string_view text, const std::string& file) {
  try {
    const toml::table root = toml::parse(text);
    const AgentReader reader(file);
    const toml::array* const list = root["agent"].as_array();
    const toml::node* const others = root.get("others");
    // Programs are read elsewhere (program/program.h).
    const std::size_t known = 1 + (root.contains("program") ? 1 : 0) + (others != nullptr ? 1 : 0);
    if (list == nullptr || root.size() != known || (others != nullptr && !others->is_table()))
      return reader.ErrorAt(root, "expected [[agent]], [others] and [[program]] tables and nothing else");
    std::vector<Agent> agents;
    const auto add = [&](const toml::node& node, std::string_view id) -> Status {
      if (node.as_table() == nullptr) return reader.ErrorAt(node, "expected a table with an agent");
      ASSIGN_OR_RETURN(Agent agent, reader.Read(*node.as_table(), id));
      const bool twice =
          std::any_of(agents.begin(), agents.end(), [&](const Agent& other) { return other.id == agent.id; });
      if (twice) return reader.ErrorAt(node, fmt::format("a second agent has the id '{}'", agent.id));
      agents.push_back(std::move(agent));
      return {};
    };
    for (const toml::node& node : *list) RETURN_IF_ERROR(add(node, ""));
    if (others != nullptr) {
      for (const auto& [id, node] : *others->as_table()) RETURN_IF_ERROR(add(node, id.str()));
    }
    return agents;
  } catch (const toml::parse_error& e) {
    const toml::source_position at = e.source().begin;
    return InputError(fmt::format("{}:{}:{}: {}", file, at.line, at.column, e.description()));
  } catch (const std::exception& e) {
    return InputError(fmt::format("{}: {}", file, e.what()));
  }
}

const std::vector<Agent>& KnownAgents() {
  static const std::vector<Agent> agents = ParseAgents(BuiltInAgents(), "assets/agents.toml").value();
  return agents;
}

Result<const Agent*> FindAgent(const std::string& id) {
  std::vector<std::string> ids;
  for (const Agent& agent : KnownAgents()) {
    if (agent.id == id) return &agent;
    ids.push_back(agent.id);
  }
  const std::string meant = DidYouMean(id, ids);
  return InputError(
      fmt::format("unknown agent '{}'{} {}", id, meant.empty() ? "; there are:" : meant + " There are:", AgentIds()));
}

std::string AgentIds() {
  std::string ids;
  std::size_t others = 0;
  for (const Agent& agent : KnownAgents()) {
    if (!agent.is_other) ids += (ids.empty() ? "" : ", ") + agent.id;
    others += agent.is_other ? 1 : 0;
  }
  return fmt::format("{} and {} others (docs/install.md)", ids, others);
}

Result<std::vector<fs::path>> UserFoldersOf(const Agent& agent, const VariableLookup& variable) {
  std::vector<fs::path> folders;
  for (const std::string& folder : agent.user_folders) {
    fs::path resolved = folder;
    for (const auto& [name, start] : agent.variables) {
      const std::string instead = FolderIn(variable, name);
      const std::optional<std::string> rest = RestAfter(folder, start);
      if (!instead.empty() && rest) resolved = instead + *rest;
    }
    if (resolved == folder && folder.starts_with('~')) {
      const std::string home = FolderIn(variable, "HOME");
      if (home.empty()) {
        return Error{ErrorKind::kNotFound,
                     fmt::format("the skills of {} are in {}, and HOME isn't set; set it, or use --project", agent.name,
                                 folder)};
      }
      resolved = home + folder.substr(1);
    }
    std::error_code code;
    const fs::path absolute = fs::absolute(resolved, code).lexically_normal();
    if (std::find(folders.begin(), folders.end(), absolute) == folders.end()) folders.push_back(absolute);
  }
  return folders;
}

fs::path ProjectRootOf(const fs::path& folder) {
  for (fs::path at = folder;; at = at.parent_path()) {
    std::error_code code;
    if (fs::exists(at / ".git", code)) return at;
    if (at == at.parent_path()) return folder;
  }
}

}  // namespace upskill

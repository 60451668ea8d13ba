// SPDX-License-Identifier: Apache-2.0
#include "cli/models/agent_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxServers = 100;
constexpr std::size_t kMaxArguments = 100;

// What fast-agent calls a provider that we call something else.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOtherNames = {
    {{"huggingface", "hf"}, {"grok", "xai"}}};

std::string ProviderNameOf(std::string_view section) {
  for (const auto& [theirs, ours] : kOtherNames)
    if (section == theirs) return std::string(ours);
  return std::string(section);
}

// Why the value can't be used; empty: it can.
std::string_view ProblemOf(std::string_view value) {
  if (value.find("${") != std::string_view::npos) return "refers to an environment variable, which is read anyway";
  const bool clean =
      std::all_of(value.begin(), value.end(), [](char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; });
  return clean ? "" : "contains a space, a quote or another invalid character";
}

// Placeholders of the templates that people copy.
bool IsPlaceholder(std::string_view value) {
  return value.empty() || value.starts_with('<') || value.starts_with("your-") || value.starts_with("your_") ||
         value.starts_with("YOUR");
}

// The text that the last of the documents has under section and key.
std::string LastText(const std::vector<Json>& documents, const std::string& section, const char* key) {
  std::string value;
  for (const Json& document : documents) {
    const Json& node = section.empty() ? Member(document, key) : Member(Member(document, section.c_str()), key);
    if (node.is_string() && !IsPlaceholder(Trim(node.get<std::string>()))) value = Trim(node.get<std::string>());
  }
  return value;
}

void Take(const std::vector<Json>& documents, const std::string& section, const char* key, AgentConfig& out,
          std::vector<AgentConfig::ProviderSetting>& list) {
  const std::string value = LastText(documents, section, key);
  if (value.empty()) return;
  if (const std::string_view problem = ProblemOf(value); !problem.empty()) {
    out.passed_over.push_back(fmt::format("{}.{}: its value {}", section, key, problem));
  } else {
    list.push_back({ProviderNameOf(section), value});
  }
}

void AddTo(AgentConfig::McpServer& server, const Json& settings) {
  if (const std::string url = StringAt(settings, "url"); !url.empty()) server.url = url;
  if (const std::string program = StringAt(settings, "command"); !program.empty()) {
    server.command = {program};
    const Json& arguments = Member(settings, "args");
    for (std::size_t i = 0; arguments.is_array() && i < std::min(arguments.size(), kMaxArguments); ++i)
      server.command.push_back(arguments[i].is_string() ? arguments[i].get<std::string>() : DumpJson(arguments[i]));
  }
  const Json& variables = Member(settings, "env");
  if (!variables.is_object()) return;
  for (const auto& [variable, value] : variables.items()) {
    if (server.variables.size() == kMaxArguments) return;
    if (std::find(server.variables.begin(), server.variables.end(), variable) == server.variables.end())
      server.variables.push_back(variable);
  }
}

void TakeServers(const Json& document, AgentConfig& out) {
  const Json& servers = Member(Member(document, "mcp"), "servers");
  if (!servers.is_object()) return;
  for (const auto& [name, settings] : servers.items()) {
    if (!settings.is_object()) continue;
    auto known = std::find_if(out.servers.begin(), out.servers.end(), [&](const auto& s) { return s.name == name; });
    if (known == out.servers.end()) {
      if (out.servers.size() == kMaxServers) {
        out.passed_over.push_back(fmt::format("mcp.servers: only the first {} are shown", kMaxServers));
        return;
      }
      known = out.servers.insert(known, AgentConfig::McpServer{name, {}, "", {}});
    }
    AddTo(*known, settings);
  }
}

}  // namespace

AgentConfig ReadAgentConfig(const std::vector<Json>& documents, const Catalog& catalog) {
  AgentConfig out;
  std::vector<std::string> sections;
  sections.reserve(catalog.providers.size() + kOtherNames.size());
  for (const auto& [name, provider] : catalog.providers) sections.push_back(name);
  for (const auto& [theirs, ours] : kOtherNames)
    if (catalog.FindProvider(ours) != nullptr) sections.emplace_back(theirs);
  for (const std::string& section : sections) {
    Take(documents, section, "api_key", out, out.keys);
    Take(documents, section, "base_url", out, out.base_urls);
  }
  out.default_model = LastText(documents, "", "default_model");
  if (!ProblemOf(out.default_model).empty()) {
    out.default_model.clear();
    out.passed_over.emplace_back("default_model: its value isn't the name of a model");
  }
  for (const Json& document : documents) TakeServers(document, out);
  return out;
}

}  // namespace upskill

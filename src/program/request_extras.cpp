// SPDX-License-Identifier: Apache-2.0
#include "program/request_extras.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace upskill {
namespace {

// In no protocol do these names mean something that is needed.
constexpr std::array<std::string_view, 11> kExtraKeys = {
    "n",      "best_of", "service_tier", "background",  "web_search_options", "plugins",
    "models", "route",   "fallbacks",    "mcp_servers", "container"};

// In the type of a tool; a provider adds a date or its own name.
constexpr std::array<std::string_view, 8> kProviderTools = {
    "web_search",       "web_fetch", "code_execution", "code_interpreter", "file_search",
    "image_generation", "mcp",       "browser_search"};

void EraseKey(Json& object, std::string_view key) {
  if (object.is_object()) object.erase(std::string(key));
}

bool IsOfProvider(const Json& tool) {
  const std::string type = StringAt(tool, "type");
  return std::any_of(kProviderTools.begin(), kProviderTools.end(),
                     [&](std::string_view name) { return type.find(name) != std::string::npos; });
}

// Gemini's tools are named by their members; only functions are the program's own.
Json OwnFunctions(const Json& tool) {
  Json own = Json::object();
  for (const char* key : {"functionDeclarations", "function_declarations"}) {
    if (const Json* const functions = FindMember(tool, key)) own[key] = *functions;
  }
  return own;
}

// Without those that the provider runs. What is no list is left as it is: the provider refuses it.
Json OwnTools(const Json& tools, bool gemini) {
  if (!tools.is_array()) return tools;
  Json kept = Json::array();
  for (const Json& tool : tools) {
    if (!gemini && !IsOfProvider(tool)) kept.push_back(tool);
    if (gemini) {
      if (Json own = OwnFunctions(tool); !own.empty()) kept.push_back(std::move(own));
    }
  }
  return kept;
}

}  // namespace

Json WithoutExtras(Json body, Protocol protocol) {
  if (!body.is_object()) return body;
  for (const std::string_view key : kExtraKeys) EraseKey(body, key);
  const bool gemini = protocol == Protocol::kGemini;
  if (gemini) {
    for (const char* key : {"generationConfig", "generation_config"}) {
      Json* const config = FindMember(body, key);
      if (config == nullptr) continue;
      EraseKey(*config, "candidateCount");
      EraseKey(*config, "candidate_count");
    }
  }
  if (protocol == Protocol::kResponses) {  // newer versions of Codex offer tools in an item of the input
    Json* const input = FindMember(body, "input");
    for (std::size_t i = 0; input != nullptr && input->is_array() && i < input->size(); ++i) {
      Json& item = (*input)[i];
      if (!item.is_object()) continue;
      if (Json* const tools = FindMember(item, "tools")) *tools = OwnTools(*tools, false);
    }
  }
  if (Json* const choice = FindMember(body, "tool_choice"); choice != nullptr && !gemini && IsOfProvider(*choice))
    EraseKey(body, "tool_choice");
  Json* const tools = FindMember(body, "tools");
  if (tools == nullptr || !tools->is_array() || tools->empty()) return body;
  Json kept = OwnTools(*tools, gemini);
  if (kept.empty()) {
    // A choice among no tools would be refused.
    for (const char* key : {"tools", "tool_choice", "toolConfig", "tool_config"}) EraseKey(body, key);
  } else {
    *tools = std::move(kept);
  }
  return body;
}

}  // namespace upskill

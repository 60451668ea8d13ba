// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/catalog.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// What the configuration of fast-agent, which the Python tool asks its models through, says about models and tools.
struct AgentConfig {
  struct ProviderSetting {
    std::string provider;  // as we name it
    std::string value;     // a key, or a base URL
  };
  struct McpServer {
    std::string name;
    std::vector<std::string> command;    // program and arguments; empty: not started by a command
    std::string url;                     // may be empty
    std::vector<std::string> variables;  // names of the environment variables that it is given
  };
  std::string default_model;
  std::vector<ProviderSetting> keys;
  std::vector<ProviderSetting> base_urls;
  std::vector<McpServer> servers;
  std::vector<std::string> passed_over;  // settings with a value that can't be used, and why: "openai.api_key: …"
};

// Reads the documents of fast-agent's files, of which the later ones count most (fastagent.secrets.yaml comes last).
// Sections of providers that the catalogue doesn't have are left alone. Values that refer to environment variables
// (${NAME}) are passed over.
AgentConfig ReadAgentConfig(const std::vector<Json>& documents, const Catalog& catalog);

}  // namespace upskill

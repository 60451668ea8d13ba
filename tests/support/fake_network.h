// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "model/connection.h"
#include "model/model_spec.h"
#include "support/loopback_server.h"

namespace upskill {

// The environment that models need to talk to a scripted server.
struct TestNetwork {
  explicit TestNetwork(const loopback::Server& server) {
    Result<Catalog> loaded = LoadCatalog();
    EXPECT_TRUE(loaded.ok());
    if (loaded) catalog = *std::move(loaded);
    options.base_urls = {server.url() + "/v1"};
    options.clock = &clock;
    options.client = std::make_shared<HttpClient>();
    options.catalog = &catalog;
    variables = {{"ANTHROPIC_API_KEY", "sk-test-key-1"},
                 {"OPENAI_API_KEY", "sk-test-key-2"},
                 {"ANTHROPIC_BASE_URL", server.url()},
                 {"OPENAI_BASE_URL", server.url() + "/v1"}};
    options.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    };
  }

  ModelSpec Spec(const std::string& text) const {
    Result<ModelSpec> spec = ParseModelSpec(text, {&catalog, false});
    EXPECT_TRUE(spec.ok()) << (spec ? "" : spec.error().message);
    return spec ? *std::move(spec) : ModelSpec{};
  }

  SystemClock clock;
  Catalog catalog;
  std::map<std::string, std::string> variables;
  NetworkOptions options;
};

}  // namespace upskill

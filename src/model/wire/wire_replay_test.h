// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/wire/wire.h"

namespace upskill {

// Options of a model in the built-in catalogue.
inline WireOptions OptionsOf(const std::string& model) {
  const Result<Catalog> catalog = LoadCatalog();
  EXPECT_TRUE(catalog.ok());
  const Result<ModelSpec> spec = ParseModelSpec(model, {&*catalog, false});
  EXPECT_TRUE(spec.ok()) << model;
  if (!spec) return {};
  const Provider provider = *catalog->FindProvider(spec->provider);
  return {provider, spec->model, spec->effort, spec->settings, DialectOf(provider), false, ""};
}

inline ChatRequest WireQuestion(const std::string& text) {
  ChatRequest request;
  request.messages.push_back({Role::kUser, text});
  request.sampling.max_tokens = 100;
  return request;
}

inline Tool WeatherTool() {
  return {"weather", "Check the weather in a city",
          Json::parse(R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"]})")};
}

// A question, the call that answered it, and the call's result.
inline ChatRequest ToolLoop(Json provider_blocks = nullptr) {
  ChatRequest request = WireQuestion("Weather?");
  request.tools.push_back(WeatherTool());
  Message call{Role::kAssistant, ""};
  call.tool_calls.push_back({"call_1", "weather", Json::parse(R"({"city":"Paris"})"), R"({"city": "Paris"})"});
  call.provider_blocks = std::move(provider_blocks);
  request.messages.push_back(std::move(call));
  Message result{Role::kUser, "Go on."};
  result.tool_results.push_back({"call_1", "sunny", true});
  request.messages.push_back(std::move(result));
  return request;
}

inline std::string Text(const Json& json) { return DumpJson(json); }

// The answer that a stream of events gives, or its error.
inline Result<ChatResponse> Replay(const WireFormat& format, const std::vector<std::string>& events) {
  const std::unique_ptr<StreamAssembler> assembler = format.assembler();
  for (const std::string& event : events) RETURN_IF_ERROR(assembler->Take({"", event}));
  ASSIGN_OR_RETURN(const Json body, assembler->Body());
  return format.parse(body);
}

inline ChatResponse ParseOk(const WireFormat& format, const std::string& body) {
  Result<ChatResponse> response = format.parse(Json::parse(body));
  EXPECT_TRUE(response.ok()) << body << ": " << (response ? "" : response.error().message);
  return response ? *std::move(response) : ChatResponse{};
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/catalog.h"
#include "util/result.h"

namespace upskill {

// Settings after the `?` of a model string; they take precedence over those of a request.
struct ModelSettings {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<int> top_k;
  std::optional<double> min_p;
  std::optional<int> max_tokens;
  std::string verbosity;   // low, medium or high
  std::string structured;  // json: the provider's structured output; tool_use: a required tool call; prompt: only words
  std::optional<bool> stream;
  bool long_context = false;  // context=1m
};

// A parsed model string: `[provider.|provider/]model[.effort][:suffix][?key=value&…]` for network models;
// `llama:PATH.gguf`, `llama:org/repo:QUANT`, a path ending in `.gguf`, `smollm2-135m`, `sim:…`, `cmd:COMMAND` and
// `desk:FOLDER` for the others, and `agent:PROGRAM[:MODEL]`. What follows `cmd:`, `desk:` and `agent:` is taken as it
// is.
struct ModelSpec {
  std::string text;      // as given
  std::string provider;  // "llama", "sim", "embedded", "cmd", "desk", "agent", or a provider in the catalogue
  std::string rest;      // llama: the path or org/repo:QUANT; sim: the simulation's settings; cmd: the command line …
  std::map<std::string, std::string> query;  // as given, including that of an alias

  // Of a network model:
  std::string model;   // its name in requests
  std::string effort;  // none, minimal, low, medium, high, xhigh or max; empty: the provider's default
  ModelSettings settings;
  std::string canonical;  // provider.model?settings, the same for every spelling

  bool network() const { return !model.empty(); }
};

// Model strings that make the program run a command, or write files in a folder: only the user may name these, not a
// file that may come from elsewhere.
inline constexpr std::string_view kCommandPrefix = "cmd:";
inline constexpr std::string_view kDeskPrefix = "desk:";
// A student that is a program of assets/agents.toml, at work in a sandbox.
inline constexpr std::string_view kAgentPrefix = "agent:";

// The model that is used by default.
inline constexpr std::string_view kEmbeddedModel = "smollm2-135m";

struct ModelSpecOptions {
  const Catalog* catalog = nullptr;  // null: the built-in one
  // With --base-url, a plain name is a model of provider `generic`, whatever slashes, colons and dots it contains.
  bool base_url = false;
};

Result<ModelSpec> ParseModelSpec(const std::string& text, const ModelSpecOptions& options = {});

}  // namespace upskill

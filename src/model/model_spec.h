// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/catalog.h"
#include "util/result.h"

namespace upskill {

// Settings that a model string gives behind `?`; they win over those of a request.
struct ModelSettings {
  std::optional<double> temperature;
  std::optional<double> top_p;
  std::optional<int> top_k;
  std::optional<double> min_p;
  std::optional<int> max_tokens;
  std::string verbosity;   // low, medium or high
  std::string structured;  // json: the provider's own structured output; tool_use: a tool that must be called; prompt:
                           // words only
  std::optional<bool> stream;
  bool long_context = false;  // context=1m
};

// A model string taken apart: `[provider.|provider/]model[.effort][:suffix][?key=value&…]` for network models, and
// `llama:PATH.gguf`, `llama:org/repo:QUANT`, a path ending in `.gguf`, `smollm2-135m` and `sim:…` for the others.
struct ModelSpec {
  std::string text;                          // as given
  std::string provider;                      // "llama", "sim", "embedded", or a provider of the catalogue
  std::string rest;                          // llama: the path or org/repo:QUANT; sim: the simulation's settings
  std::map<std::string, std::string> query;  // as given, an alias's own included

  // Of a network model:
  std::string model;   // its name on the wire
  std::string effort;  // none, minimal, low, medium, high, xhigh or max; empty: the provider's default
  ModelSettings settings;
  std::string canonical;  // provider.model?settings, the same for every way to write it

  bool network() const { return !model.empty(); }
};

// The model that is used when none is named.
inline constexpr std::string_view kEmbeddedModel = "smollm2-135m";

struct ModelSpecOptions {
  const Catalog* catalog = nullptr;  // null: the built-in one
  // --base-url is given: a plain name, whatever slashes, colons and dots are in it, is a model of provider `generic`.
  bool base_url = false;
};

Result<ModelSpec> ParseModelSpec(const std::string& text, const ModelSpecOptions& options = {});

}  // namespace upskill

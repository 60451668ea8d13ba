// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "util/result.h"

namespace upskill {

// A model string taken apart: `provider:rest[?key=value&…]`, for example `llama:/models/x.gguf?threads=4` or
// `sim:base=0.4,skill=0.85`. `smollm2-135m` and a path ending in `.gguf` are understood without a provider.
struct ModelSpec {
  std::string text;      // as given
  std::string provider;  // "llama", "sim" or "embedded"
  std::string rest;      // path of the GGUF, or the simulation's settings
  std::map<std::string, std::string> query;
};

// The model that is used when none is named.
inline constexpr std::string_view kEmbeddedModel = "smollm2-135m";

Result<ModelSpec> ParseModelSpec(const std::string& text);

}  // namespace upskill

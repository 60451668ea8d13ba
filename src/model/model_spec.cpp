// SPDX-License-Identifier: Apache-2.0
#include "model/model_spec.h"

#include <fmt/format.h>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kKnownForms =
    "models of this version: smollm2-135m (embedded), llama:PATH.gguf (in process), "
    "sim:base=0.4,skill=0.85 (simulated)";

Result<std::map<std::string, std::string>> ParseQuery(std::string_view query, const std::string& text) {
  std::map<std::string, std::string> out;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return InputError(fmt::format("model '{}': '{}' is not key=value", SafeForTerminalLine(text),
                                    SafeForTerminalLine(pair)));
    }
    out[std::string(pair.substr(0, equals))] = std::string(pair.substr(equals + 1));
    if (end == std::string_view::npos) break;
    query.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

Result<ModelSpec> ParseModelSpec(const std::string& text) {
  ModelSpec spec;
  spec.text = text;
  std::string_view rest = text;
  const std::size_t question = rest.find('?');
  if (question != std::string_view::npos) {
    ASSIGN_OR_RETURN(spec.query, ParseQuery(rest.substr(question + 1), text));
    rest = rest.substr(0, question);
  }
  if (rest == kEmbeddedModel) {
    spec.provider = "embedded";
  } else if (rest.starts_with("llama:") || rest.starts_with("llama./")) {
    spec.provider = "llama";
    spec.rest = std::string(rest.substr(6));
  } else if (rest.starts_with("sim:")) {
    spec.provider = "sim";
    spec.rest = std::string(rest.substr(4));
  } else if (rest.ends_with(".gguf")) {
    spec.provider = "llama";
    spec.rest = std::string(rest);
  } else {
    return InputError(fmt::format("unknown model '{}'; {}", SafeForTerminalLine(text), kKnownForms));
  }
  if (spec.provider == "llama" && spec.rest.empty()) {
    return InputError(fmt::format("model '{}' names no file: llama:PATH.gguf", SafeForTerminalLine(text)));
  }
  return spec;
}

}  // namespace upskill

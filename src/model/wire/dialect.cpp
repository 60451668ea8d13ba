// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include "model/wire/wire.h"
#include "util/text.h"

namespace upskill {
namespace {

// In the words of chat templates (Gemma, Mistral) and of servers.
bool RejectsSystemRole(const std::string& text, bool rejects) {
  const bool named =
      ContainsAny(text, {"system role", "system message", "system prompt", "system instruction", "role system",
                         "role: system", "'system'", "\"system\"", "`system`", "developer instruction"});
  return (named && (rejects || ContainsAny(text, {"not enabled", "not accept", "invalid"}))) ||
         ContainsAny(text, {"only user and assistant roles", "only user, assistant",
                            "conversation roles must alternate user/assistant"});
}

}  // namespace

Dialect DialectOf(const Provider& provider) {
  Dialect dialect;
  dialect.token_limit = provider.token_limit;
  dialect.effort = provider.effort != EffortStyle::kNone;
  dialect.schema = provider.structured;
  dialect.seed = provider.seed;
  return dialect;
}

std::optional<Dialect> WithoutRejectedParameter(const Dialect& dialect, Wire wire, std::string_view message) {
  const std::string text = ToLowerAscii(message);
  Dialect changed = dialect;
  const bool rejects = ContainsAny(
      text, {"unsupported", "not support", "n't support", "unknown", "unrecognized", "unexpected", "extra ",
             "not permitted", "not allowed", "deprecated", "instead", "not available", "invalid parameter"});
  // The parameter itself must be rejected, not its value: "max_tokens is too large" stays an error.
  if (wire == Wire::kChat && rejects && !dialect.token_limit_switched &&
      text.find(dialect.token_limit) != std::string::npos) {
    changed.token_limit = dialect.token_limit == "max_tokens" ? "max_completion_tokens" : "max_tokens";
    changed.token_limit_switched = true;
    return changed;
  }
  const auto drop = [&](bool Dialect::* flag, bool is_meant) {
    if (!is_meant || !(dialect.*flag)) return false;
    changed.*flag = false;
    return true;
  };
  // An effort that this model doesn't have is for the user to change.
  const bool about_value = ContainsAny(text, {"supported values", "must be one of", "expected one of"});
  const bool about_format = ContainsAny(text, {"response_format", "json_schema", "output_config.format", "text.format",
                                               "structured output", "output_format"});
  const bool only_default = ContainsAny(text, {"may only be", "only the default"});
  if (drop(&Dialect::temperature, (rejects || only_default) && text.find("temperature") != std::string::npos) ||
      drop(&Dialect::schema, about_format) ||
      drop(&Dialect::encrypted_reasoning, ContainsAny(text, {"encrypted content", "encrypted_content"})) ||
      drop(&Dialect::effort,
           rejects && !about_value &&
               ContainsAny(text, {"reasoning_effort", "reasoning.effort", "output_config", "effort", "thinking"})) ||
      drop(&Dialect::seed, ContainsAny(text, {"'seed'", "\"seed\"", "`seed`", " seed ", "seed:"})) ||
      drop(&Dialect::cache_key, text.find("prompt_cache_key") != std::string::npos) ||
      drop(&Dialect::stream_usage, text.find("stream_options") != std::string::npos) ||
      drop(&Dialect::system_role, wire == Wire::kChat && RejectsSystemRole(text, rejects))) {
    return changed;
  }
  return std::nullopt;
}

}  // namespace upskill

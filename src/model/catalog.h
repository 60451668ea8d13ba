// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model.h"
#include "util/result.h"

namespace upskill {

enum class Wire { kAnthropic, kChat, kResponses };
enum class EffortStyle { kNone, kOutputConfig, kReasoningEffort, kReasoning };
enum class CacheStyle { kNone, kCacheControl, kPromptCacheKey };
enum class BatchStyle { kNone, kAnthropic, kOpenAi };

// A provider of models, as described in assets/models.toml.
struct Provider {
  std::string name;
  Wire wire = Wire::kChat;
  std::string base_url;
  std::vector<std::string> base_url_variables;
  std::vector<std::string> key_variables;
  std::optional<std::string> default_key;  // if set, no key is needed and this one is sent (empty: none)
  std::vector<std::pair<std::string, std::string>> headers;
  std::string token_limit = "max_tokens";
  EffortStyle effort = EffortStyle::kNone;
  CacheStyle cache = CacheStyle::kNone;
  bool structured = false;
  bool seed = false;
  bool base_url_option = false;
  BatchStyle batch = BatchStyle::kNone;
  std::vector<std::string> budget_models;
  std::string student;  // model string of a cheap model, which skills are measured on by default; may be empty
};

struct Alias {
  std::string model;     // a model string without an alias
  std::string previous;  // the meaning of the name in fast-agent 0.4.53; empty: the same
};

struct NameRule {
  std::string pattern;  // `*` matches any text
  std::string provider;
};

struct PriceEntry {
  std::vector<std::string> providers;
  std::vector<std::string> models;  // `*` matches any text
  Price price;
  std::string source;
};

struct ContextEntry {
  std::vector<std::string> providers;
  std::vector<std::string> models;  // `*` matches any text
  std::int64_t tokens = 0;          // of a request and its answer together
};

// What is known about network models. A value; it doesn't access files or the environment.
struct Catalog {
  std::map<std::string, Provider, std::less<>> providers;
  std::map<std::string, Alias, std::less<>> aliases;
  std::vector<NameRule> names;
  std::vector<PriceEntry> prices;
  std::vector<ContextEntry> contexts;

  const Provider* FindProvider(std::string_view name) const;     // null: unknown
  const Provider* ProviderOfName(std::string_view model) const;  // of a bare model name; null: no rule matches
  std::optional<Price> PriceOf(std::string_view provider, std::string_view model) const;
  std::int64_t ContextOf(std::string_view provider, std::string_view model) const;  // 0: unknown
};

// A catalogue file in memory.
struct CatalogText {
  std::string text;
  std::string name;  // for messages
};

// The built-in catalogue, overridden by the user's own file. Errors name file, line and column.
Result<Catalog> LoadCatalog(const std::optional<CatalogText>& own = std::nullopt);

// Whether `text` matches a pattern in which `*` matches any text.
bool MatchesPattern(std::string_view pattern, std::string_view text);

// The content of assets/models.toml.
std::string_view BuiltInModels();

}  // namespace upskill

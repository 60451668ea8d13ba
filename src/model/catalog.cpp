// SPDX-License-Identifier: Apache-2.0
#include "model/catalog.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <exception>
#include <optional>

#include "util/text.h"
#include "util/toml_guard.h"

namespace upskill {
namespace {

// Reads one catalogue file into a catalogue that may already have entries.
class Reader {
 public:
  Reader(Catalog& catalog, const std::string& file) : catalog_(catalog), file_(file) {}

  Status Read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const std::string name(key.str());
      if (name == "provider") {
        RETURN_IF_ERROR(
            EachTable(node, name, [this](const std::string& n, const toml::table& t) { return ReadProvider(n, t); }));
      } else if (name == "alias") {
        RETURN_IF_ERROR(
            EachTable(node, name, [this](const std::string& n, const toml::table& t) { return ReadAlias(n, t); }));
      } else if (name == "name") {
        std::vector<NameRule> rules;
        RETURN_IF_ERROR(EachElement(node, name, [&](const toml::table& t) { return ReadRules(t, rules); }));
        catalog_.names.insert(catalog_.names.begin(), rules.begin(), rules.end());
      } else if (name == "price") {
        std::vector<PriceEntry> prices;
        RETURN_IF_ERROR(EachElement(node, name, [&](const toml::table& t) { return ReadPrice(t, prices); }));
        catalog_.prices.insert(catalog_.prices.begin(), prices.begin(), prices.end());
      } else if (name == "context") {
        std::vector<ContextEntry> contexts;
        RETURN_IF_ERROR(EachElement(node, name, [&](const toml::table& t) { return ReadContext(t, contexts); }));
        catalog_.contexts.insert(catalog_.contexts.begin(), contexts.begin(), contexts.end());
      } else {
        return ErrorAt(node, fmt::format("unknown entry '{}'; expected provider, alias, name, price or context", name));
      }
    }
    return {};
  }

 private:
  Error ErrorAt(const toml::node& node, const std::string& message) const {
    const toml::source_position at = node.source().begin;
    return InputError(fmt::format("{}:{}:{}: {}", file_, at.line, at.column, message));
  }

  template <typename Work>
  Status EachTable(const toml::node& node, const std::string& name, const Work& work) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return ErrorAt(node, fmt::format("'{}' must be a table", name));
    for (const auto& [key, value] : *table) {
      if (value.as_table() == nullptr) return ErrorAt(value, fmt::format("'{}.{}' must be a table", name, key.str()));
      RETURN_IF_ERROR(work(std::string(key.str()), *value.as_table()));
    }
    return {};
  }

  template <typename Work>
  Status EachElement(const toml::node& node, const std::string& name, const Work& work) {
    const toml::array* array = node.as_array();
    if (array == nullptr) return ErrorAt(node, fmt::format("'{}' must be a list of tables: [[{}]]", name, name));
    for (const toml::node& element : *array) {
      if (element.as_table() == nullptr)
        return ErrorAt(element, fmt::format("'{}' must be a list of tables: [[{}]]", name, name));
      RETURN_IF_ERROR(work(*element.as_table()));
    }
    return {};
  }

  Status Take(const toml::node& node, std::string_view key, std::string& out) {
    const auto value = node.value<std::string>();
    if (!node.is_string() || !value) return ErrorAt(node, fmt::format("'{}' must be a string", key));
    if (std::any_of(value->begin(), value->end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; })) {
      return ErrorAt(node, fmt::format("'{}' contains a control character", key));
    }
    out = *value;
    return {};
  }

  Status Take(const toml::node& node, std::string_view key, bool& out) {
    if (!node.is_boolean()) return ErrorAt(node, fmt::format("'{}' must be true or false", key));
    out = node.value<bool>().value_or(false);
    return {};
  }

  Status Take(const toml::node& node, std::string_view key, double& out) {
    const double number = node.value<double>().value_or(-1.0);
    if (!node.is_number() || std::isnan(number) || number < 0.0 || number >= 1e6)
      return ErrorAt(node, fmt::format("'{}' must be a non-negative number", key));
    out = number;
    return {};
  }

  Status Take(const toml::node& node, std::string_view key, std::vector<std::string>& out) {
    const toml::array* array = node.as_array();
    if (array == nullptr) return ErrorAt(node, fmt::format("'{}' must be a list of strings", key));
    out.clear();
    for (const toml::node& element : *array) {
      std::string text;
      RETURN_IF_ERROR(Take(element, key, text));
      out.push_back(std::move(text));
    }
    return {};
  }

  template <typename Enum, std::size_t kCount>
  Status TakeOneOf(const toml::node& node, std::string_view key,
                   const std::array<std::pair<const char*, Enum>, kCount>& words, Enum& out) {
    std::string text;
    RETURN_IF_ERROR(Take(node, key, text));
    std::string known;
    for (const auto& [word, value] : words) {
      if (text == word) {
        out = value;
        return {};
      }
      known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
    }
    return ErrorAt(node, fmt::format("'{}' is '{}'; it must be one of {}", key, text, known));
  }

  Status TakeHeaders(const toml::node& node, std::vector<std::pair<std::string, std::string>>& out) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return ErrorAt(node, "'headers' must be a table");
    out.clear();
    for (const auto& [key, value] : *table) {
      std::string text;
      RETURN_IF_ERROR(Take(value, key.str(), text));
      const std::string_view name = key.str();
      if (name.empty() ||
          !std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; })) {
        return ErrorAt(value, fmt::format("'{}' is not a valid header name", name));
      }
      out.emplace_back(std::string(name), std::move(text));
    }
    return {};
  }

  Status ReadProviderKey(Provider& provider, std::string_view key, const toml::node& node) {
    using Wires = std::array<std::pair<const char*, Wire>, 3>;
    using Efforts = std::array<std::pair<const char*, EffortStyle>, 4>;
    using Caches = std::array<std::pair<const char*, CacheStyle>, 3>;
    using Batches = std::array<std::pair<const char*, BatchStyle>, 3>;
    if (key == "wire") {
      return TakeOneOf(node, key,
                       Wires{{{"anthropic", Wire::kAnthropic}, {"chat", Wire::kChat}, {"responses", Wire::kResponses}}},
                       provider.wire);
    }
    if (key == "effort") {
      return TakeOneOf(node, key,
                       Efforts{{{"none", EffortStyle::kNone},
                                {"output_config", EffortStyle::kOutputConfig},
                                {"reasoning_effort", EffortStyle::kReasoningEffort},
                                {"reasoning", EffortStyle::kReasoning}}},
                       provider.effort);
    }
    if (key == "cache") {
      return TakeOneOf(node, key,
                       Caches{{{"none", CacheStyle::kNone},
                               {"cache_control", CacheStyle::kCacheControl},
                               {"prompt_cache_key", CacheStyle::kPromptCacheKey}}},
                       provider.cache);
    }
    if (key == "batch") {
      return TakeOneOf(
          node, key,
          Batches{
              {{"none", BatchStyle::kNone}, {"anthropic", BatchStyle::kAnthropic}, {"openai", BatchStyle::kOpenAi}}},
          provider.batch);
    }
    if (key == "base_url") return Take(node, key, provider.base_url);
    if (key == "base_url_variables") return Take(node, key, provider.base_url_variables);
    if (key == "key_variables") return Take(node, key, provider.key_variables);
    if (key == "default_key") return Take(node, key, provider.default_key.emplace());
    if (key == "headers") return TakeHeaders(node, provider.headers);
    if (key == "token_limit") return Take(node, key, provider.token_limit);
    if (key == "structured") return Take(node, key, provider.structured);
    if (key == "seed") return Take(node, key, provider.seed);
    if (key == "base_url_option") return Take(node, key, provider.base_url_option);
    if (key == "budget_models") return Take(node, key, provider.budget_models);
    if (key == "student") return Take(node, key, provider.student);
    return ErrorAt(
        node, fmt::format("unknown key '{}' in a provider; expected wire, base_url, base_url_variables, key_variables, "
                          "default_key, headers, token_limit, effort, cache, structured, seed, base_url_option, batch, "
                          "budget_models or student",
                          key));
  }

  Status ReadProvider(const std::string& name, const toml::table& table) {
    Provider provider;
    if (const Provider* known = catalog_.FindProvider(name)) provider = *known;
    provider.name = name;
    for (const auto& [key, node] : table) RETURN_IF_ERROR(ReadProviderKey(provider, key.str(), node));
    if (provider.base_url.empty()) return ErrorAt(table, fmt::format("provider '{}' needs a base_url", name));
    catalog_.providers[name] = std::move(provider);
    return {};
  }

  Status ReadAlias(const std::string& name, const toml::table& table) {
    Alias alias;
    for (const auto& [key, node] : table) {
      if (key.str() == "model") {
        RETURN_IF_ERROR(Take(node, "model", alias.model));
      } else if (key.str() == "previous") {
        RETURN_IF_ERROR(Take(node, "previous", alias.previous));
      } else {
        return ErrorAt(node, fmt::format("unknown key '{}' in an alias; expected model or previous", key.str()));
      }
    }
    if (alias.model.empty()) return ErrorAt(table, fmt::format("alias '{}' needs a model", name));
    catalog_.aliases[name] = std::move(alias);
    return {};
  }

  Status ReadRules(const toml::table& table, std::vector<NameRule>& out) {
    std::string provider;
    std::vector<std::string> patterns;
    for (const auto& [key, node] : table) {
      if (key.str() == "provider") {
        RETURN_IF_ERROR(Take(node, "provider", provider));
      } else if (key.str() == "patterns") {
        RETURN_IF_ERROR(Take(node, "patterns", patterns));
      } else {
        return ErrorAt(node, fmt::format("unknown key '{}' in a name; expected provider or patterns", key.str()));
      }
    }
    if (provider.empty() || patterns.empty()) return ErrorAt(table, "a name needs 'provider' and 'patterns'");
    for (std::string& pattern : patterns) out.push_back({std::move(pattern), provider});
    return {};
  }

  Status ReadPrice(const toml::table& table, std::vector<PriceEntry>& out) {
    PriceEntry entry;
    Price& price = entry.price;
    price.input = price.output = price.cache_read = price.cache_write = -1.0;
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (name == "providers") {
        RETURN_IF_ERROR(Take(node, name, entry.providers));
      } else if (name == "models") {
        RETURN_IF_ERROR(Take(node, name, entry.models));
      } else if (name == "date") {
        RETURN_IF_ERROR(Take(node, name, price.date));
      } else if (name == "source") {
        RETURN_IF_ERROR(Take(node, name, entry.source));
      } else if (name == "input" || name == "output" || name == "cache_read" || name == "cache_write") {
        double& target = name == "input"        ? price.input
                         : name == "output"     ? price.output
                         : name == "cache_read" ? price.cache_read
                                                : price.cache_write;
        RETURN_IF_ERROR(Take(node, name, target));
      } else {
        return ErrorAt(
            node, fmt::format("unknown key '{}' in a price; expected providers, models, input, output, cache_read, "
                              "cache_write, date or source",
                              name));
      }
    }
    if (entry.providers.empty() || entry.models.empty() || price.input < 0.0 || price.output < 0.0) {
      return ErrorAt(table, "a price needs 'providers', 'models', 'input' and 'output'");
    }
    if (price.cache_read < 0.0) price.cache_read = price.input;
    if (price.cache_write < 0.0) price.cache_write = price.input;
    out.push_back(std::move(entry));
    return {};
  }

  Status ReadContext(const toml::table& table, std::vector<ContextEntry>& out) {
    ContextEntry entry;
    for (const auto& [key, node] : table) {
      const std::string_view name = key.str();
      if (name == "providers") {
        RETURN_IF_ERROR(Take(node, name, entry.providers));
      } else if (name == "models") {
        RETURN_IF_ERROR(Take(node, name, entry.models));
      } else if (name == "tokens") {
        entry.tokens = node.value<std::int64_t>().value_or(0);
      } else if (name != "source") {
        return ErrorAt(
            node, fmt::format("unknown key '{}' in a context; expected providers, models, tokens or source", name));
      }
    }
    if (entry.providers.empty() || entry.models.empty() || entry.tokens < 1)
      return ErrorAt(table, "a context needs 'providers', 'models' and 'tokens', a whole number of at least 1");
    out.push_back(std::move(entry));
    return {};
  }

  Catalog& catalog_;
  const std::string& file_;
};

// The parser's reason without the words that it found, which may come from a file that isn't a catalogue.
std::string ReasonOf(const toml::parse_error& error) {
  const std::string_view reason = error.description();
  const std::string_view before = reason.substr(0, reason.find(", saw "));
  return ExcerptLine(before.starts_with("cannot redefine") ? before.substr(0, before.find(" '")) : before, 200);
}

Status ReadCatalog(std::string_view text, const std::string& file, Catalog& catalog) {
  if (const std::optional<std::size_t> deep = FindDeepTomlKey(text)) {
    const TextPosition at = PositionAt(text, *deep);
    return InputError(fmt::format("{}:{}:{}: a key has too many dotted parts", file, at.line, at.column));
  }
  try {
    return Reader(catalog, file).Read(toml::parse(text));
  } catch (const toml::parse_error& e) {
    const toml::source_position at = e.source().begin;
    return InputError(fmt::format("{}:{}:{}: {}", file, at.line, at.column, ReasonOf(e)));
  } catch (const std::exception& e) {
    return InputError(fmt::format("{}: {}", file, ExcerptLine(e.what(), 200)));
  }
}

Result<Catalog> ReadBuiltInModels() {
  Catalog catalog;
  RETURN_IF_ERROR(ReadCatalog(BuiltInModels(), "assets/models.toml", catalog));
  return catalog;
}

// gpt-5-mini-2025-08-07 and claude-haiku-4-5-20251001 without their dates.
std::string_view WithoutDate(std::string_view model) {
  for (const std::string_view shape : {"-dddddddd", "-dddd-dd-dd"}) {
    if (model.size() <= shape.size()) continue;
    const std::string_view tail = model.substr(model.size() - shape.size());
    const bool fits = std::equal(shape.begin(), shape.end(), tail.begin(),
                                 [](char s, char c) { return s == 'd' ? c >= '0' && c <= '9' : s == c; });
    if (fits) return model.substr(0, model.size() - shape.size());
  }
  return model;
}

// The first entry for a model; null: none.
template <typename Entry>
const Entry* EntryFor(const std::vector<Entry>& entries, std::string_view provider, std::string_view model) {
  for (const std::string_view name : {model, WithoutDate(model)}) {
    for (const Entry& entry : entries) {
      if (std::find(entry.providers.begin(), entry.providers.end(), provider) == entry.providers.end()) continue;
      const bool matches = std::any_of(entry.models.begin(), entry.models.end(),
                                       [&](const std::string& pattern) { return MatchesPattern(pattern, name); });
      if (matches) return &entry;
    }
  }
  return nullptr;
}

}  // namespace

const Provider* Catalog::FindProvider(std::string_view name) const {
  const auto found = providers.find(name);
  return found == providers.end() ? nullptr : &found->second;
}

const Provider* Catalog::ProviderOfName(std::string_view model) const {
  for (const NameRule& rule : names) {
    if (MatchesPattern(rule.pattern, model)) return FindProvider(rule.provider);
  }
  return nullptr;
}

std::optional<Price> Catalog::PriceOf(std::string_view provider, std::string_view model) const {
  const PriceEntry* const entry = EntryFor(prices, provider, model);
  return entry == nullptr ? std::nullopt : std::optional(entry->price);
}

std::int64_t Catalog::ContextOf(std::string_view provider, std::string_view model) const {
  const ContextEntry* const entry = EntryFor(contexts, provider, model);
  return entry == nullptr ? 0 : entry->tokens;
}

bool MatchesPattern(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  // The leftmost match of each middle part is as good as any other.
  while (true) {
    const std::size_t next = pattern.find('*');
    if (next == std::string_view::npos) return text.ends_with(pattern);
    const std::size_t at = text.find(pattern.substr(0, next));
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + next);
    pattern.remove_prefix(next + 1);
  }
}

Result<Catalog> LoadCatalog(const std::optional<CatalogText>& own) {
  static const Result<Catalog> built_in = ReadBuiltInModels();  // once, though each model asks for it
  ASSIGN_OR_RETURN(Catalog catalog, built_in);
  if (own) {
    if (const auto bad = FindInvalidUtf8(own->text)) {
      const TextPosition at = PositionAt(own->text, *bad);
      return InputError(fmt::format("{}:{}:{}: not UTF-8 text", own->name, at.line, at.column));
    }
    RETURN_IF_ERROR(ReadCatalog(own->text, own->name, catalog));
  }
  for (const NameRule& rule : catalog.names) {
    if (catalog.FindProvider(rule.provider) == nullptr) {
      return InputError(fmt::format("{}: the pattern '{}' names the unknown provider '{}'",
                                    own ? own->name : "assets/models.toml", rule.pattern, rule.provider));
    }
  }
  return catalog;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "model/model_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::array<std::string_view, 8> kEfforts = {"auto",   "none", "minimal", "low",
                                                      "medium", "high", "xhigh",   "max"};

using Query = std::map<std::string, std::string>;

Result<Query> ParseQuery(std::string_view query, const std::string& text) {
  Query out;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view pair = query.substr(0, end);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return InputError(fmt::format("model '{}': '{}' is not key=value", text, pair));
    }
    out[std::string(pair.substr(0, equals))] = std::string(pair.substr(equals + 1));
    if (end == std::string_view::npos) break;
    query.remove_prefix(end + 1);
  }
  return out;
}

bool IsEffort(std::string_view word) { return std::find(kEfforts.begin(), kEfforts.end(), word) != kEfforts.end(); }

// Whether it is named like a repository of the Hugging Face Hub: ORG/REPO or ORG/REPO:QUANT.
bool IsHubName(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) return false;
  const std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  const std::string_view repo = text.substr(slash + 1, text.find(':') - slash - 1);
  return !repo.empty() && text.substr(0, slash).find_first_not_of(allowed) == std::string_view::npos &&
         repo.find_first_not_of(allowed) == std::string_view::npos && text.find(':') != slash + 1;
}

// What is wrong with one part of PROVIDER.NAME or NAME.EFFORT when the other is known; empty if that isn't the mistake.
std::string NearestPart(std::string_view name, const Catalog& catalog) {
  const std::size_t last = name.rfind('.');
  if (last == std::string_view::npos || last + 1 == name.size()) return "";
  if (const std::string_view alias = name.substr(0, last); catalog.aliases.contains(alias)) {
    const std::optional<std::string> effort =
        NearestName(name.substr(last + 1), std::vector<std::string>(kEfforts.begin(), kEfforts.end()));
    if (effort)
      return fmt::format("'{}' isn't an effort; did you mean '{}.{}'?", name.substr(last + 1), alias, *effort);
    return fmt::format("'{}' isn't an effort; expected {}", name.substr(last + 1), fmt::join(kEfforts, ", "));
  }
  const std::size_t first = name.find('.');
  std::vector<std::string> providers;
  providers.reserve(catalog.providers.size());
  for (const auto& [provider, entry] : catalog.providers) providers.push_back(provider);
  const std::optional<std::string> provider = NearestName(name.substr(0, first), providers);
  return provider && first > 3 ? fmt::format("did you mean '{}{}'?", *provider, name.substr(first)) : "";
}

Error UnknownModel(const std::string& text, std::string_view name, const Catalog& catalog) {
  std::vector<std::pair<std::size_t, std::string>> near;
  const auto offer = [&](std::string_view known) {
    if (name.size() > 64) return;
    const std::size_t distance = EditDistance(ToLowerAscii(name), known);
    if (distance <= std::max<std::size_t>(1, known.size() / 3)) near.emplace_back(distance, std::string(known));
  };
  if (const std::string hint = NearestPart(name, catalog); !hint.empty())
    return InputError(fmt::format("unknown model '{}'; {}", text, hint));
  offer(kEmbeddedModel);
  for (const auto& [alias, target] : catalog.aliases) offer(alias);
  for (const auto& [provider, entry] : catalog.providers) offer(provider);
  std::sort(near.begin(), near.end());
  if (near.empty() && IsHubName(text)) {
    const bool is_gguf = ToLowerAscii(text).find("gguf") != std::string::npos;
    return InputError(fmt::format(
        "unknown model '{0}'; if it is a model of the Hugging Face Hub, {1}; if a server of yours has it, -m {0} "
        "--base-url URL",
        text,
        is_gguf
            ? fmt::format("-m llama:{} runs it on this machine", text)
            : fmt::format("-m hf.{} asks it there (with HF_TOKEN), and -m llama:ORG/REPO:QUANT runs a GGUF of it on "
                          "this machine",
                          text)));
  }
  // A name of the Python tool of the same name.
  if (text.starts_with("cli."))
    return InputError(
        fmt::format("unknown model '{}'; agent programs are models by their names: -m agent:claude-code; any other "
                    "command that reads a prompt and prints an answer, by its command line: -m 'cmd:COMMAND'",
                    text));
  std::string hint;
  for (std::size_t i = 0; i < near.size() && i < 3; ++i)
    hint += fmt::format("{}'{}'", i == 0 ? "; did you mean " : ", ", near[i].second);
  hint += hint.empty() ? "; if a server of yours has it, add --base-url URL;" : "?";
  return InputError(
      fmt::format("unknown model '{}'{} `upskill help model-strings` explains how models are named", text, hint));
}

// Splits off the provider at the start of `name` (`provider/` or `provider.`, the latter also with two dotted parts).
const Provider* TakeProvider(std::string_view& name, const Catalog& catalog, bool dots_only) {
  const auto take = [&](std::size_t length) -> const Provider* {
    if (length == std::string_view::npos || length + 1 >= name.size()) return nullptr;
    const Provider* found = catalog.FindProvider(name.substr(0, length));
    if (found != nullptr) name.remove_prefix(length + 1);
    return found;
  };
  if (!dots_only) {
    if (const Provider* found = take(name.find('/'))) return found;
  }
  const std::size_t dot = name.find('.');
  if (dot != std::string_view::npos) {
    if (const Provider* found = take(name.find('.', dot + 1))) return found;
  }
  return take(dot);
}

// Splits off the effort at the end of `name`.
std::string TakeEffort(std::string_view& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || !IsEffort(name.substr(dot + 1))) return "";
  const std::string effort(name.substr(dot + 1));
  name = name.substr(0, dot);
  return effort;
}

struct Parts {
  const Provider* provider = nullptr;
  std::string model;
  std::string effort;
};

// Name, effort, suffix and query of a network model, with aliases replaced.
Result<Parts> TakeApart(std::string_view name, const std::string& text, const Catalog& catalog, Query& query) {
  Parts parts;
  std::string suffix;
  const auto cut_suffix = [&suffix](std::string_view& from) {
    const std::size_t colon = from.rfind(':');
    if (colon == std::string_view::npos || from.find('/', colon) != std::string_view::npos) return;
    if (suffix.empty()) suffix = std::string(from.substr(colon));
    from = from.substr(0, colon);
  };
  cut_suffix(name);
  auto alias = catalog.aliases.find(name);
  if (alias == catalog.aliases.end()) {
    std::string_view without_effort = name;
    const std::string effort = TakeEffort(without_effort);
    alias = catalog.aliases.find(without_effort);
    if (alias != catalog.aliases.end()) parts.effort = effort;
  }
  if (alias != catalog.aliases.end()) {
    name = alias->second.model;
    if (const std::size_t question = name.find('?'); question != std::string_view::npos) {
      ASSIGN_OR_RETURN(Query own, ParseQuery(name.substr(question + 1), text));
      query.insert(own.begin(), own.end());
      name = name.substr(0, question);
    }
    cut_suffix(name);
  }
  const std::string_view whole = name;
  parts.provider = TakeProvider(name, catalog, false);
  const std::string effort = TakeEffort(name);
  if (parts.effort.empty()) parts.effort = effort;
  if (parts.provider == nullptr) parts.provider = catalog.ProviderOfName(name);
  if (parts.provider == nullptr || name.empty()) return UnknownModel(text, whole, catalog);
  parts.model = std::string(name) + suffix;
  return parts;
}

// Parses the values of the query, each with its allowed words.
class SettingsReader {
 public:
  explicit SettingsReader(const ModelSpec& spec) : spec_(spec) {}

  Result<double> Number(const std::string& key, const std::string& value, double low, double high) const {
    double number = 0.0;
    const auto [end, code] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (code != std::errc() || end != value.data() + value.size() || std::isnan(number) || number < low ||
        number > high) {
      return Bad(key, value, fmt::format("a number from {} to {}", low, high));
    }
    return number;
  }

  Result<int> Count(const std::string& key, const std::string& value, int low) const {
    const auto number = ParseWholeNumber(value, low, std::numeric_limits<int>::max());
    if (!number) return Bad(key, value, fmt::format("a number from {}", low));
    return static_cast<int>(*number);
  }

  Result<std::string> Word(const std::string& key, const std::string& value,
                           const std::vector<std::string_view>& words) const {
    if (std::find(words.begin(), words.end(), value) != words.end()) return value;
    return Bad(key, value, fmt::format("one of {}", fmt::join(words, ", ")));
  }

 private:
  Error Bad(const std::string& key, const std::string& value, const std::string& wanted) const {
    return InputError(fmt::format("model '{}': {} must be {}, not '{}'", spec_.text, key, wanted, value));
  }

  const ModelSpec& spec_;
};

Status ReadSettings(ModelSpec& spec) {
  const SettingsReader read(spec);
  ModelSettings& out = spec.settings;
  for (const auto& [key, value] : spec.query) {
    if (key == "reasoning") {
      ASSIGN_OR_RETURN(spec.effort, read.Word(key, value, {kEfforts.begin(), kEfforts.end()}));
    } else if (key == "temperature") {
      ASSIGN_OR_RETURN(out.temperature, read.Number(key, value, 0.0, 2.0));
    } else if (key == "top_p") {
      ASSIGN_OR_RETURN(out.top_p, read.Number(key, value, 0.0, 1.0));
    } else if (key == "min_p") {
      ASSIGN_OR_RETURN(out.min_p, read.Number(key, value, 0.0, 1.0));
    } else if (key == "top_k") {
      ASSIGN_OR_RETURN(out.top_k, read.Count(key, value, 0));
    } else if (key == "max_tokens") {
      ASSIGN_OR_RETURN(out.max_tokens, read.Count(key, value, 1));
    } else if (key == "verbosity") {
      ASSIGN_OR_RETURN(out.verbosity, read.Word(key, value, {"low", "medium", "high"}));
    } else if (key == "structured") {
      ASSIGN_OR_RETURN(out.structured, read.Word(key, value, {"json", "tool_use", "prompt"}));
    } else if (key == "stream") {
      ASSIGN_OR_RETURN(const std::string word, read.Word(key, value, {"true", "false"}));
      out.stream = word == "true";
    } else if (key == "context") {
      ASSIGN_OR_RETURN(const std::string word, read.Word(key, value, {"1m"}));
      out.long_context = word == "1m";
    } else if (key == "transport") {
      RETURN_IF_ERROR(read.Word(key, value, {"sse", "auto"}));
    } else {
      return InputError(fmt::format(
          "model '{}': unknown setting '{}'; expected reasoning, temperature, top_p, top_k, min_p, max_tokens, "
          "verbosity, structured, stream or context",
          spec.text, key));
    }
  }
  if (spec.effort == "auto") spec.effort.clear();
  return {};
}

Status CheckSettings(const ModelSpec& spec, const Provider& provider) {
  const auto unsupported = [&](const char* key) {
    return InputError(fmt::format("model '{}': {} is not a setting of provider {}", spec.text, key, provider.name));
  };
  if (!spec.settings.verbosity.empty() && provider.wire == Wire::kAnthropic) return unsupported("verbosity");
  if (spec.settings.long_context && provider.wire != Wire::kAnthropic) return unsupported("context");
  if (spec.settings.min_p && provider.wire == Wire::kAnthropic) return unsupported("min_p");
  return {};
}

std::string CanonicalText(const ModelSpec& spec) {
  Query settings = spec.query;
  settings.erase("reasoning");
  settings.erase("stream");  // doesn't change the answers
  settings.erase("transport");
  if (!spec.effort.empty()) settings["reasoning"] = spec.effort;
  std::string text = fmt::format("{}.{}", spec.provider, spec.model);
  char separator = '?';
  for (const auto& [key, value] : settings) {
    text += fmt::format("{}{}={}", separator, key, value);
    separator = '&';
  }
  return text;
}

// A name that means a file even with --base-url.
bool IsPath(std::string_view name) {
  return name.ends_with(".gguf") &&
         (name.starts_with('/') || name.starts_with("./") || name.starts_with("../") || name.starts_with('~'));
}

// llama, sim and the default model; false: none of them.
Result<bool> TakeLocal(std::string_view rest, bool base_url, ModelSpec& spec) {
  if (rest == kEmbeddedModel) {
    spec.provider = "embedded";
  } else if (rest.starts_with("llama:") || rest.starts_with("llama./")) {
    spec.provider = "llama";
    spec.rest = std::string(rest.substr(6));
  } else if (rest.starts_with("sim:")) {
    spec.provider = "sim";
    spec.rest = std::string(rest.substr(4));
  } else if (base_url ? IsPath(rest) : rest.ends_with(".gguf")) {
    spec.provider = "llama";
    spec.rest = std::string(rest);
  } else {
    return false;
  }
  if (spec.provider == "llama" && spec.rest.empty()) {
    return InputError(fmt::format("model '{}' names no file; use llama:PATH.gguf", spec.text));
  }
  return true;
}

Status TakeNetwork(std::string_view name, const ModelSpecOptions& options, const Catalog& catalog, ModelSpec& spec) {
  Parts parts;
  std::string_view after_provider = name;
  if (!options.base_url || TakeProvider(after_provider, catalog, true) != nullptr) {
    ASSIGN_OR_RETURN(parts, TakeApart(name, spec.text, catalog, spec.query));
  } else {
    parts = {catalog.FindProvider("generic"), std::string(name), ""};
    if (parts.provider == nullptr || name.empty()) return UnknownModel(spec.text, name, catalog);
  }
  if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }) ||
      FindInvalidUtf8(name)) {
    return UnknownModel(spec.text, name, catalog);
  }
  spec.provider = parts.provider->name;
  spec.model = parts.model;
  spec.effort = parts.effort;
  RETURN_IF_ERROR(ReadSettings(spec));
  RETURN_IF_ERROR(CheckSettings(spec, *parts.provider));
  spec.canonical = CanonicalText(spec);
  return {};
}

}  // namespace

Result<ModelSpec> ParseModelSpec(const std::string& text, const ModelSpecOptions& options) {
  ModelSpec spec;
  spec.text = text;
  std::string_view rest = text;
  for (const std::string_view prefix : {kCommandPrefix, kDeskPrefix, kAgentPrefix}) {
    if (!rest.starts_with(prefix)) continue;
    spec.provider = prefix.substr(0, prefix.size() - 1);
    spec.rest = Trim(rest.substr(prefix.size()));
    if (!spec.rest.empty()) return spec;
    if (prefix == kCommandPrefix)
      return InputError(fmt::format("'{}' needs a command, for example: cmd:claude -p", text));
    return InputError(prefix == kDeskPrefix
                          ? fmt::format("'{}' needs a folder: desk:FOLDER", text)
                          : fmt::format("'{}' needs a program, for example: agent:codex (help agents)", text));
  }
  const std::size_t question = rest.find('?');
  if (question != std::string_view::npos) {
    ASSIGN_OR_RETURN(spec.query, ParseQuery(rest.substr(question + 1), text));
    rest = rest.substr(0, question);
  }
  ASSIGN_OR_RETURN(const bool is_local, TakeLocal(rest, options.base_url, spec));
  if (is_local) return spec;
  if (options.catalog != nullptr) {
    RETURN_IF_ERROR(TakeNetwork(rest, options, *options.catalog, spec));
  } else {
    ASSIGN_OR_RETURN(const Catalog built_in, LoadCatalog());
    RETURN_IF_ERROR(TakeNetwork(rest, options, built_in, spec));
  }
  return spec;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "cli/models/env_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cli/env/config.h"
#include "cli/env/own_file.h"
#include "cli/models/models_check.h"
#include "util/env_file.h"
#include "util/known_secrets.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kEnvFile = ".env";

// Variables of keys, without those of a provider that the user has a key for: in the environment, saved or in the keys
// file. Otherwise a project could have the user's requests sent with a key of its own.
struct KeyVariables {
  std::set<std::string> all;
  std::set<std::string> owned;
};

KeyVariables KeyVariablesOf(const Catalog& catalog, const Env& env) {
  KeyVariables variables;
  for (const auto& [name, provider] : catalog.providers) {
    variables.all.insert(provider.key_variables.begin(), provider.key_variables.end());
    const KeyState::Kind kind = KeyStateOf(provider, env).kind;
    if (kind == KeyState::Kind::kMissing || kind == KeyState::Kind::kNotNeeded) continue;
    variables.owned.insert(provider.key_variables.begin(), provider.key_variables.end());
  }
  return variables;
}

// Variables that people may expect to work there: base URLs, and our own.
bool IsExpectedThere(const std::string& name, const Catalog& catalog) {
  if (name.starts_with("UPSKILL_") || name == "HF_ENDPOINT") return true;
  return std::any_of(catalog.providers.begin(), catalog.providers.end(), [&](const auto& entry) {
    const std::vector<std::string>& names = entry.second.base_url_variables;
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

// Why the value can't be a key; empty if it can.
const char* KeyProblem(const std::string& value) {
  if (value.find("${") != std::string::npos) return "refers to another variable, and references aren't expanded";
  return IsVisibleAscii(value) ? "" : "contains a space or another invalid character";
}

void TakeKeys(const EnvFileText& file, const Catalog& catalog, Env& env) {
  const KeyVariables variables = KeyVariablesOf(catalog, env);
  std::map<std::string, EnvLine> last;
  std::set<std::string> not_read;
  for (const EnvLine& line : file.lines) {
    if (variables.all.contains(line.name)) last[line.name] = line;
    if (IsExpectedThere(line.name, catalog)) not_read.insert(line.name);
  }
  std::map<std::string, std::string> keys;
  for (const auto& [name, line] : last) {
    const std::string value(Trim(line.value));
    if (value.empty()) continue;
    // Masked even if it isn't used: what is shown may come from a program that uses it.
    RememberSecret(Secret(value));
    if (variables.owned.contains(name)) {
      env.env_file.unused.push_back(name);
    } else if (const std::string_view problem = KeyProblem(value); !problem.empty()) {
      PrintWarning(env, fmt::format(".env:{}: {} is ignored: its value {}", line.line, name, problem));
    } else {
      keys[name] = value;
      env.env_file.keys.push_back(name);
    }
  }
  if (!file.unreadable.empty())
    PrintWarning(env, fmt::format(".env:{}: expected NAME=value; the line is ignored", file.unreadable.front()));
  if (!not_read.empty())
    PrintWarning(env, fmt::format("{} in .env {} ignored: only API keys are read from there; set {} in the environment",
                                  fmt::join(not_read, ", "), not_read.size() == 1 ? "is" : "are",
                                  not_read.size() == 1 ? "it" : "them"));
  if (keys.empty()) return;
  env.variable = [inner = env.variable, keys = std::move(keys)](const std::string& name) {
    const auto found = keys.find(name);
    return found == keys.end() ? inner(name) : std::optional(found->second);
  };
}

}  // namespace

void UseEnvFile(bool opted_out, const Catalog& catalog, Env& env) {
  std::error_code code;
  if (!std::filesystem::exists(std::filesystem::symlink_status(kEnvFile, code))) return;
  const std::string named = env.variable("UPSKILL_NO_ENV_FILE").value_or("");
  if (opted_out || (!named.empty() && named != "0") || !ConfigAllowsEnvFile(env)) {
    env.env_file.problem = "not read, as you have asked";
    return;
  }
  const Result<std::optional<std::string>> text = ReadOwnFile(kEnvFile, kMaxEnvFileBytes);
  if (!text) {
    env.env_file.problem = text.error().message;
    PrintWarning(env, ".env is ignored: " + text.error().message);
  } else if (*text) {
    TakeKeys(ParseEnvFile(**text), catalog, env);
  }
}

bool IsFromEnvFile(const Env& env, std::string_view variable) {
  return std::find(env.env_file.keys.begin(), env.env_file.keys.end(), variable) != env.env_file.keys.end();
}

}  // namespace upskill

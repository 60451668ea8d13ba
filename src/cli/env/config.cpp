// SPDX-License-Identifier: Apache-2.0
#include "cli/env/config.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "model/model_spec.h"
#include "util/files.h"
#include "util/nearest_name.h"
#include "util/text.h"
#include "util/user_folders.h"
#include "util/yaml_faults.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

bool NamesFileServerOrCommand(std::string_view model) {
  return model.starts_with("llama:") || model.starts_with(kCommandPrefix) || model.starts_with(kDeskPrefix) ||
         model.find(".gguf") != std::string_view::npos || model.find("://") != std::string_view::npos;
}

// Whether `folder`, with links resolved, is below the current folder.
bool IsBelowHere(const fs::path& folder) {
  std::error_code code;
  const fs::path here = fs::canonical(".", code);
  if (code) return false;
  const fs::path resolved = fs::weakly_canonical(here / folder, code);
  if (code) return false;
  const fs::path relative = resolved.lexically_relative(here);
  return !relative.empty() && *relative.begin() != "..";
}

std::vector<std::string> SettingsThatNeedTrust(const Config& config) {
  std::vector<std::string> settings;
  const auto model = [&](const char* key, const std::string& value) {
    if (NamesFileServerOrCommand(value)) settings.push_back(fmt::format("{}: {}", key, CutToColumns(value, 100)));
  };
  const Config defaults;
  const auto folder = [&](const char* key, const fs::path& value, const fs::path& unset) {
    if (value != unset && !IsBelowHere(value))
      settings.push_back(fmt::format("{}: {}", key, CutToColumns(value.string(), 100)));
  };
  model("skill_generation_model", config.skill_generation_model);
  model("eval_model", config.eval_model);
  model("test_gen_model", config.test_gen_model);
  folder("skills_dir", config.skills_dir, defaults.skills_dir);
  folder("runs_dir", config.runs_dir, defaults.runs_dir);
  return settings;
}

// `trusted_configs` of the user's own configuration.
Result<std::vector<std::string>> TrustedConfigs(const fs::path& own) {
  std::vector<std::string> trusted;
  std::error_code code;
  if (own.empty() || !fs::exists(own, code)) return trusted;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(own, 1U << 20U));
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) return trusted;
    const YAML::Node list = root["trusted_configs"];
    if (!list || list.IsNull()) return trusted;
    if (!list.IsSequence()) return InputError(fmt::format("{}: trusted_configs must be a list of paths", own.string()));
    for (const YAML::Node& entry : list) {
      if (entry.IsScalar()) trusted.push_back(entry.Scalar());
    }
    return trusted;
  } catch (const YAML::Exception& e) {
    return InputError(
        fmt::format("{}:{}:{}: {}", own.string(), e.mark.line + 1, e.mark.column + 1, PlainYamlReason(e.msg)));
  }
}

bool BelongsToOthers(const fs::path& file) {
  struct stat status{};
  if (::stat(file.c_str(), &status) != 0) return true;
  return status.st_uid != ::geteuid() && status.st_uid != 0;
}

// A configuration file in the current folder may come from someone else, with the checkout. Without the user's consent
// it may set preferences and folders below its own, but not name model files, servers or folders elsewhere; a file that
// belongs to another user sets nothing. Consent: Env::trust_config, or its path in `trusted_configs` of the user's own
// configuration. The error lists the settings concerned and how to consent.
Status CheckProjectConfig(const Config& config, const Env& env) {
  if (env.trust_config) return {};
  const bool foreign = BelongsToOthers(config.source);
  const std::vector<std::string> settings = SettingsThatNeedTrust(config);
  if (settings.empty() && !foreign) return {};
  std::error_code code;
  const fs::path path = fs::canonical(config.source, code);
  if (code) return ErrnoError("reading", config.source, code.value());
  const fs::path folder = UserConfigFolder(env.variable);
  const fs::path own = folder.empty() ? fs::path() : folder / "config.yaml";
  ASSIGN_OR_RETURN(const std::vector<std::string> trusted, TrustedConfigs(own));
  for (const std::string& entry : trusted) {
    if (fs::path(entry).lexically_normal() == path) return {};
  }
  std::string why =
      foreign ? "belongs to another user" : "names model files, commands or servers, or folders outside of this one:";
  for (const std::string& setting : settings) why += (foreign ? "; " : "\n  ") + setting;
  return InputError(fmt::format(
      "{} {}\nif you trust it, give --trust-config, or list it in {}:\n  trusted_configs:\n    - {}",
      config.source.string(), why, own.empty() ? "~/.config/upskill/config.yaml" : own.string(), path.string()));
}

constexpr int kMaxRefineAttempts = 50;
constexpr const char* kProjectConfig = "upskill.config.yaml";

Result<std::string> ConfigFile(const Env& env) {
  std::error_code code;
  if (const auto named = env.variable("UPSKILL_CONFIG"); named && !named->empty()) {
    if (!std::filesystem::exists(*named, code)) {
      return Error{ErrorKind::kNotFound, fmt::format("UPSKILL_CONFIG names {}, which does not exist", *named)};
    }
    return *named;
  }
  if (std::filesystem::exists(kProjectConfig, code)) return std::string(kProjectConfig);
  if (const std::filesystem::path folder = UserConfigFolder(env.variable); !folder.empty()) {
    const std::filesystem::path file = folder / "config.yaml";
    if (std::filesystem::exists(file, code)) return file.string();
  }
  return std::string();
}

Error ConfigError(const std::string& file, const YAML::Mark& mark, std::string_view reason) {
  if (mark.is_null()) return InputError(fmt::format("{}: {}", file, reason));
  return InputError(fmt::format("{}:{}:{}: {}", file, mark.line + 1, mark.column + 1, reason));
}

// The value under `key`; empty: not set. A control character could hide what a terminal or the system sees of it.
Result<std::string> TextAt(const YAML::Node& root, const char* key, const std::string& file) {
  const YAML::Node node = root[key];
  if (!node || node.IsNull()) return std::string();
  if (!node.IsScalar()) return ConfigError(file, node.Mark(), fmt::format("{} must be a string", key));
  const std::string& value = node.Scalar();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(value.begin(), value.end(), is_control))
    return ConfigError(file, node.Mark(), fmt::format("{} contains a control character", key));
  return value;
}

// Sets `target` to the value under `key`, if there is one.
Status TakeFlag(const YAML::Node& root, const char* key, const std::string& file, bool& target) {
  const YAML::Node node = root[key];
  if (!node || node.IsNull() || YAML::convert<bool>::decode(node, target)) return {};
  return ConfigError(file, node.Mark(), fmt::format("{} must be true or false", key));
}

}  // namespace

namespace {

// Other tools may share the file, so only keys that are nearly one of ours are named.
std::vector<std::string> MisspeltKeys(const YAML::Node& root, const std::string& file) {
  constexpr std::array<std::string_view, 10> kKeys = {"model",
                                                      "skill_generation_model",
                                                      "eval_model",
                                                      "test_gen_model",
                                                      "max_refine_attempts",
                                                      "ledger",
                                                      "env_file",
                                                      "skills_dir",
                                                      "runs_dir",
                                                      "trusted_configs"};
  std::vector<std::string> warnings;
  for (const auto& entry : root) {
    if (!entry.first.IsScalar()) continue;
    const std::optional<std::string> meant = NearestKey(entry.first.Scalar(), kKeys);
    if (!meant) continue;
    warnings.push_back(
        ConfigError(file, entry.first.Mark(),
                    fmt::format("unknown key \"{}\" is ignored; did you mean \"{}\"?", entry.first.Scalar(), *meant))
            .message);
  }
  return warnings;
}

}  // namespace

Result<Config> ParseConfig(const std::string& text, const std::string& file) {
  Config config;
  config.source = file;
  if (const auto bad = FindInvalidUtf8(text)) {
    const TextPosition position = PositionAt(text, *bad);
    return InputError(fmt::format("{}:{}:{}: not UTF-8 text", file, position.line, position.column));
  }
  try {
    if (const std::optional<YamlFault> fault = FindOpenQuote(text))
      return InputError(fmt::format("{}:{}:{}: {}", file, fault->line, fault->column, fault->reason));
    const YAML::Node root = YAML::Load(text);
    if (root.IsNull()) return config;
    if (!root.IsMap()) return InputError(fmt::format("{}: expected a mapping of keys to values", file));
    config.warnings = MisspeltKeys(root, file);
    const auto take = [&](const char* key, auto& target) -> Status {
      ASSIGN_OR_RETURN(const std::string value, TextAt(root, key, file));
      if (!value.empty()) target = value;
      return {};
    };
    RETURN_IF_ERROR(take("model", config.skill_generation_model));
    RETURN_IF_ERROR(take("skill_generation_model", config.skill_generation_model));
    RETURN_IF_ERROR(take("eval_model", config.eval_model));
    RETURN_IF_ERROR(take("test_gen_model", config.test_gen_model));
    RETURN_IF_ERROR(take("skills_dir", config.skills_dir));
    RETURN_IF_ERROR(take("runs_dir", config.runs_dir));
    RETURN_IF_ERROR(TakeFlag(root, "ledger", file, config.ledger));
    RETURN_IF_ERROR(TakeFlag(root, "env_file", file, config.env_file));
    if (const YAML::Node node = root["max_refine_attempts"]; node && !node.IsNull()) {
      int attempts = 0;
      if (!YAML::convert<int>::decode(node, attempts) || attempts < 1 || attempts > kMaxRefineAttempts) {
        return ConfigError(file, node.Mark(),
                           fmt::format("max_refine_attempts must be a whole number from 1 to {}", kMaxRefineAttempts));
      }
      config.max_refine_attempts = attempts;
    }
    return config;
  } catch (const YAML::Exception& e) {
    return ConfigError(file, e.mark, PlainYamlReason(e.msg));
  }
}

Result<Config> ReadConfig(const Env& env) {
  ASSIGN_OR_RETURN(const std::string file, ConfigFile(env));
  if (file.empty()) return Config();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, 1U << 20U));
  ASSIGN_OR_RETURN(Config config, ParseConfig(text, file));
  if (file == kProjectConfig) RETURN_IF_ERROR(CheckProjectConfig(config, env));
  return config;
}

bool ConfigAllowsEnvFile(const Env& env) {
  const Result<Config> used = ReadConfig(env);
  if (!used || !used->env_file) return false;
  const std::filesystem::path folder = UserConfigFolder(env.variable);
  std::error_code code;
  // A project's configuration takes the place of the user's, but must not undo this.
  if (folder.empty() || !std::filesystem::exists(folder / "config.yaml", code)) return true;
  const Result<std::string> text = ReadFile(folder / "config.yaml", 1U << 20U);
  const Result<Config> own =
      text ? ParseConfig(*text, (folder / "config.yaml").string()) : Result<Config>(text.error());
  return own && own->env_file;
}

Result<Config> LoadConfig(const Env& env) {
  ASSIGN_OR_RETURN(Config config, ReadConfig(env));
  for (const std::string& warning : config.warnings) PrintWarning(env, warning);
  return config;
}

std::filesystem::path RunsFolder(const std::string& given, const Config& config) {
  return given.empty() ? config.runs_dir : std::filesystem::path(given);
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "cli/env/config_trust.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_spec.h"
#include "util/files.h"
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

}  // namespace

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

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "cli/config.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "cli/config_trust.h"
#include "util/files.h"

namespace upskill {
namespace {

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
  if (const std::filesystem::path folder = UserConfigFolder(env); !folder.empty()) {
    const std::filesystem::path file = folder / "config.yaml";
    if (std::filesystem::exists(file, code)) return file.string();
  }
  return std::string();
}

}  // namespace

Result<Config> LoadConfig(const Env& env) {
  Config config;
  ASSIGN_OR_RETURN(const std::string file, ConfigFile(env));
  if (file.empty()) return config;
  config.source = file;
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, 1U << 20U));
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsNull()) return config;
    if (!root.IsMap()) return InputError(fmt::format("{}: expected a mapping of keys to values", file));
    const auto take = [&](const char* key, auto& target) -> Status {
      const YAML::Node node = root[key];
      if (!node || node.IsNull()) return {};
      if (!node.IsScalar())
        return InputError(
            fmt::format("{}:{}:{}: {} must be a string", file, node.Mark().line + 1, node.Mark().column + 1, key));
      if (!node.Scalar().empty()) target = node.Scalar();
      return {};
    };
    RETURN_IF_ERROR(take("model", config.skill_generation_model));
    RETURN_IF_ERROR(take("skill_generation_model", config.skill_generation_model));
    RETURN_IF_ERROR(take("eval_model", config.eval_model));
    RETURN_IF_ERROR(take("test_gen_model", config.test_gen_model));
    RETURN_IF_ERROR(take("skills_dir", config.skills_dir));
    RETURN_IF_ERROR(take("runs_dir", config.runs_dir));
    if (const YAML::Node node = root["max_refine_attempts"]; node && !node.IsNull()) {
      int attempts = 0;
      if (!YAML::convert<int>::decode(node, attempts) || attempts < 1 || attempts > kMaxRefineAttempts) {
        return InputError(fmt::format("{}:{}:{}: max_refine_attempts must be a whole number from 1 to {}", file,
                                      node.Mark().line + 1, node.Mark().column + 1, kMaxRefineAttempts));
      }
      config.max_refine_attempts = attempts;
    }
    if (file == kProjectConfig) RETURN_IF_ERROR(CheckProjectConfig(config, env));
    return config;
  } catch (const YAML::Exception& e) {
    // An unknown anchor is named after this text, and may be any word of a file that isn't the configuration.
    constexpr std::string_view kUnknownAnchor = "the referenced anchor is not defined";
    const std::string reason = e.msg.starts_with(kUnknownAnchor) ? std::string(kUnknownAnchor) : e.msg;
    return InputError(fmt::format("{}:{}:{}: {}", file, e.mark.line + 1, e.mark.column + 1, reason));
  }
}

std::filesystem::path RunsFolder(const std::string& given, const Config& config) {
  return given.empty() ? config.runs_dir : std::filesystem::path(given);
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "cli/env/env.h"
#include "util/result.h"

namespace upskill {

// Settings from a file, with the keys of the Python tool of the same name. Unknown keys are ignored; those that
// are nearly one of these give a warning.
struct Config {
  std::filesystem::path source;        // empty: no file, all defaults
  std::string skill_generation_model;  // (alias `model`) empty: not set
  std::string eval_model;              // empty: not set
  std::string test_gen_model;          // empty: not set
  std::optional<int> max_refine_attempts;
  std::filesystem::path skills_dir = "skills";
  std::filesystem::path runs_dir = "runs";
  bool ledger = true;    // count looks at tests
  bool env_file = true;  // read keys from .env
  std::vector<std::string> warnings;
};

// The settings in `text`. Errors name `file`, line and column, and repeat nothing of the text. `trusted_configs` is for
// CheckProjectConfig only.
Result<Config> ParseConfig(const std::string& text, const std::string& file);

// Reads $UPSKILL_CONFIG (an error if it doesn't exist), else ./upskill.config.yaml, else
// ~/.config/upskill/config.yaml (or below $XDG_CONFIG_HOME), else the defaults. Errors: those of ParseConfig;
// ./upskill.config.yaml names what it may not without the user's consent (CheckProjectConfig).
Result<Config> LoadConfig(const Env& env);

// The same without printing its warnings.
Result<Config> ReadConfig(const Env& env);

// Whether neither the configuration in use nor the user's own says `env_file: false`. Prints nothing; false if one of
// them can't be used.
bool ConfigAllowsEnvFile(const Env& env);

// Where the runs are: `given` (--runs-dir), else the configuration's folder.
std::filesystem::path RunsFolder(const std::string& given, const Config& config);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "support/stepping_clock.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {

// For tests: runs whole command lines in process, with their own home, configuration and variables.
class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest() {
    variables["HOME"] = home().string();
    variables["UPSKILL_CONFIG"] = folder.Write("config.yaml", "").string();
  }

  int Run(const std::vector<std::string>& arguments) {
    out.clear();
    error.clear();
    Env env;
    env.out = [this](const TerminalText& text) { out += text.text(); };
    env.error = [this](const TerminalText& text) {
      error += text.text();
      if (on_error) on_error();
    };
    env.out_is_terminal = terminal;
    env.error_is_terminal = terminal;
    env.columns = columns;
    env.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    env.set_up_model = UPSKILL_DEFAULT_MODEL;
    env.clock = &clock;
    env.stop = &stop;
    return static_cast<int>(RunCommandLine(arguments, env));
  }

  Json OutAsJson() const {
    const Result<Json> json = ParseJson(out, "stdout");
    EXPECT_TRUE(json.ok()) << out;
    return json ? *json : Json();
  }

  std::filesystem::path home() const { return folder.path() / "home"; }
  std::filesystem::path runs() const { return folder.path() / "runs"; }

  TempFolder folder;
  SteppingClock clock;
  StopFlag stop = 0;
  std::map<std::string, std::string> variables;
  std::function<void()> on_error;
  bool terminal = false;
  std::size_t columns = 100;
  std::string out;
  std::string error;
};

}  // namespace upskill

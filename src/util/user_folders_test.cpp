// SPDX-License-Identifier: Apache-2.0
#include "util/user_folders.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace upskill {
namespace {

TEST(UserConfigFolder, IsTheDesktopsElseInTheHome) {
  std::map<std::string, std::string> variables;
  const VariableLookup lookup = [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  EXPECT_EQ(UserConfigFolder(nullptr), "");
  EXPECT_EQ(UserConfigFolder(lookup), "");
  variables["HOME"] = "/home/ada";
  EXPECT_EQ(UserConfigFolder(lookup), "/home/ada/.config/upskill");
  variables["XDG_CONFIG_HOME"] = "";
  EXPECT_EQ(UserConfigFolder(lookup), "/home/ada/.config/upskill");
  variables["XDG_CONFIG_HOME"] = "/settings";
  EXPECT_EQ(UserConfigFolder(lookup), "/settings/upskill");
}

}  // namespace
}  // namespace upskill

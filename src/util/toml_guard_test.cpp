// SPDX-License-Identifier: Apache-2.0
#include "util/toml_guard.h"

#include <gtest/gtest.h>

#include <string>

namespace upskill {
namespace {

TEST(FindDeepTomlKey, FindsKeysOfManyParts) {
  std::string key = "a";
  for (int i = 0; i < 99; ++i) key += ".a";
  EXPECT_FALSE(FindDeepTomlKey(key + " = 1\n").has_value());
  EXPECT_EQ(FindDeepTomlKey(key + ".a = 1\n"), 199U);
  EXPECT_TRUE(FindDeepTomlKey("[" + key + " . a]\n").has_value());
  EXPECT_TRUE(FindDeepTomlKey("x = {" + key + ".\"a\" = 1}\n").has_value());
}

TEST(FindDeepTomlKey, NotInListsAndPaths) {
  std::string list = "v = [";
  for (int i = 0; i < 300; ++i) list += "\"9.0\", ";
  EXPECT_FALSE(FindDeepTomlKey(list + "]\n").has_value());
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += "a.b = 1.5\n";
  EXPECT_FALSE(FindDeepTomlKey(lines).has_value());
  EXPECT_FALSE(FindDeepTomlKey("").has_value());
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "teach/one_line.h"

#include <gtest/gtest.h>

namespace upskill {
namespace {

TEST(OneLine, WhiteSpaceAndControlCharactersBecomeOneSpace) {
  EXPECT_EQ(OneLine("  run\r\n\tmake \x1b[2J now\x7f\n"), "run make [2J now");
  EXPECT_EQ(OneLine("größer → 9.0"), "größer → 9.0");
  EXPECT_EQ(OneLine(" \n"), "");
  EXPECT_EQ(OneLine("a\xFF\n"), "a\uFFFD");
}

}  // namespace
}  // namespace upskill

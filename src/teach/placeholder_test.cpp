// SPDX-License-Identifier: Apache-2.0
#include "teach/placeholder.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace upskill {
namespace {

TEST(LineWithPlaceholderFor, NamesTakeThePlaceOfCapitals) {
  const std::string body = "# Files\n\nsrc = [\"kernel_src/NAME.cu\"]\n&NAME_forward in PACKAGE/NAME.h";
  EXPECT_EQ(LineWithPlaceholderFor("kernel_src/relu-2.cu", body), 3U);
  EXPECT_EQ(LineWithPlaceholderFor("relu_forward", body), 4U);
  EXPECT_EQ(LineWithPlaceholderFor("act/relu.h", body), std::nullopt) << "'/' and '.h' alone are anywhere";
  EXPECT_EQ(LineWithPlaceholderFor("&relu_forward in act/relu.h", body), 4U);
  EXPECT_EQ(LineWithPlaceholderFor("kernel_src/a b.cu", body), std::nullopt) << "a name is one word";
  EXPECT_EQ(LineWithPlaceholderFor("kernel_src", body), std::nullopt) << "there is no name in it";
}

TEST(LineWithPlaceholderFor, LongTextsAreNotSearched) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += "AAA-";
  EXPECT_EQ(LineWithPlaceholderFor(std::string(190, 'a') + "!", body), std::nullopt);
  EXPECT_EQ(LineWithPlaceholderFor("path/" + std::string(300, 'a'), "path/NAME"), std::nullopt);
}

}  // namespace
}  // namespace upskill

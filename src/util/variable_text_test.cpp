// SPDX-License-Identifier: Apache-2.0
#include "util/variable_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::optional<std::string> ValueOf(const std::string& name) {
  if (name == "TOKEN") return "t${ORG}";
  if (name == "ORG") return "";
  return std::nullopt;
}

TEST(VariableText, NamesEachVariableOnce) {
  EXPECT_THAT(VariablesIn("Bearer ${TOKEN}, ${ORG}${TOKEN} $HOME {x} $").value(), ElementsAre("TOKEN", "ORG"));
  EXPECT_TRUE(VariablesIn("").value().empty());
}

TEST(VariableText, TakesValuesAsTheyAre) {
  EXPECT_EQ(WithVariables("Bearer ${TOKEN};${ORG}.", ValueOf).value(), "Bearer t${ORG};.");
  EXPECT_THAT(WithVariables("${NONE}", ValueOf).error().message, HasSubstr("NONE is not set"));
}

TEST(VariableText, RefusesWhatIsNoVariable) {
  for (const char* text : {"${", "a ${TOKEN", "${}", "${1A}", "${A-B}", "${TOKEN:-x}"}) {
    EXPECT_EQ(VariablesIn(text).error().kind, ErrorKind::kInput) << text;
    EXPECT_FALSE(WithVariables(text, ValueOf).ok()) << text;
  }
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "util/nearest_name.h"

#include <gmock/gmock.h>

#include <array>
#include <optional>
#include <string_view>

namespace upskill {
namespace {

using ::testing::Optional;

constexpr std::array<std::string_view, 5> kKeys = {"id", "input", "expected", "reference", "tags"};

TEST(NearestKey, OneEditForShortWordsTwoForLongOnes) {
  EXPECT_THAT(NearestKey("expcted", kKeys), Optional(std::string_view("expected")));
  EXPECT_THAT(NearestKey("refrence", kKeys), Optional(std::string_view("reference")));
  EXPECT_THAT(NearestKey("inptu", kKeys), Optional(std::string_view("input"))) << "two neighbours swapped";
  EXPECT_THAT(NearestKey("tag", kKeys), Optional(std::string_view("tags")));
  EXPECT_EQ(NearestKey("task", kKeys), std::nullopt);
}

TEST(NearestKey, OtherKeysAndKeysThemselvesAreNotMisspelt) {
  for (const std::string_view word : {"expected", "difficulty", "note", "x", ""})
    EXPECT_EQ(NearestKey(word, kKeys), std::nullopt) << word;
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
// Reading and writing suites and skills takes time in step with their size.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "skill/skill.h"
#include "skill/suite.h"
#include "skill/unicode_text.h"
#include "support/work_meter.h"

namespace upskill {
namespace {

using MakeText = std::function<std::string(std::size_t index)>;

std::string Joined(std::size_t count, const MakeText& make) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + make(i);
  return text;
}

double GrowthOfSuite(const std::function<std::string(std::size_t count)>& text_of) {
  return GrowthPerDoubling(500, [&](std::size_t count) {
    return [text = text_of(count)] {
      Result<Suite> suite = ParseSuite(text, "t.json");
      ASSERT_TRUE(suite.ok()) << suite.error().message;
      EXPECT_EQ(SuiteToJson(*suite), suite->document);
      for (Case& test_case : suite->cases) test_case.files.emplace_back("one-more", "text");
      SuiteToJson(*suite);
    };
  });
}

const MakeText kName = [](std::size_t i) { return "\"name " + std::to_string(i) + "\""; };
const MakeText kMember = [](std::size_t i) { return kName(i) + ":\"text\""; };

TEST(ParseSuite, WorkGrowsInStepWithTheSize) {
  EXPECT_LT(GrowthOfSuite([](std::size_t count) {
              return R"([{"input":"i","expected":{"contains":[)" + Joined(count, kName) + "]}}]";
            }),
            kMaxGrowthPerDoubling);
  EXPECT_LT(GrowthOfSuite([](std::size_t count) {
              return R"([{"input":"i","expected":{"contains":"a"},"context":{"files":{)" + Joined(count, kMember) +
                     "}}}]";
            }),
            kMaxGrowthPerDoubling);
  EXPECT_LT(GrowthOfSuite([](std::size_t count) {
              return R"([{"input":"i","expected":{"contains":"a"},)" + Joined(count, kMember) + "}]";
            }),
            kMaxGrowthPerDoubling);
  EXPECT_LT(GrowthOfSuite([](std::size_t count) {
              const MakeText test_case = [](std::size_t i) {
                return R"({"id":)" + kName(i) + R"(,"input":"i","expected":{"contains":"a"}})";
              };
              return "[" + Joined(count, test_case) + "]";
            }),
            kMaxGrowthPerDoubling);
}

// As in the line for U+0300 of Unicode's NormalizationTest.txt.
TEST(NormalizeNfkc, OrdersMarksInTimeInStepWithTheirNumber) {
  EXPECT_EQ(NormalizeNfkc("a\u0315\u0300\u05AE\u0300b"), "\u00E0\u05AE\u0300\u0315b");
  EXPECT_LT(GrowthPerDoubling(1500,
                              [](std::size_t count) {
                                std::string text = "a";
                                for (std::size_t i = 0; i < count; ++i) text += "\u0301\u0316";
                                return [text] { ASSERT_FALSE(NormalizeNfkc(text).empty()); };
                              }),
            kMaxGrowthPerDoubling);
}

TEST(ParseSkill, WorkGrowsInStepWithTheFrontmatter) {
  const auto growth = [](const std::function<std::string(std::size_t count)>& fields) {
    return GrowthPerDoubling(250, [&](std::size_t count) {
      const std::string text = "---\nname: demo\ndescription: d\n" + fields(count) + "---\nSay blue.\n";
      return [text] { ASSERT_TRUE(ParseSkill(text, "SKILL.md").ok()); };
    });
  };
  EXPECT_LT(growth([](std::size_t count) {
              std::string fields;
              for (std::size_t i = 0; i < count; ++i) fields += "key-" + std::to_string(i) + ": text\n";
              return fields;
            }),
            kMaxGrowthPerDoubling);
  EXPECT_LT(growth([](std::size_t count) {
              std::string fields = "a: &a [x, y, z]\nmetadata: [";
              for (std::size_t i = 0; i < count; ++i) fields += "*a, ";
              return fields + "*a]\n";
            }),
            kMaxGrowthPerDoubling);
}

}  // namespace
}  // namespace upskill

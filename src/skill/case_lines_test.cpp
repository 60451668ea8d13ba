// SPDX-License-Identifier: Apache-2.0
#include "skill/case_lines.h"

#include <gmock/gmock.h>

#include <string>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CaseLines, BareList) {
  EXPECT_THAT(CaseLines("[\n  {\"a\": [1,\n 2]},\n\n  {}, {}\n]", ""), ElementsAre(2, 5, 5));
  EXPECT_THAT(CaseLines("[]", ""), IsEmpty());
  EXPECT_THAT(CaseLines("[1,\n\"a,b\",\n[[],[]],\nnull]", ""), ElementsAre(1, 2, 3, 4));
}

TEST(CaseLines, ListUnderAKey) {
  const std::string text =
      "{\n\"x\": \"tests\",\n\"y\": [[1],\n[2]],\n\"tests\": [\n{\"tests\": [1, 2]},\n{}\n],\n\"z\": [1]\n}";
  EXPECT_THAT(CaseLines(text, "tests"), ElementsAre(6, 7));
  EXPECT_THAT(CaseLines(text, "z"), ElementsAre(9));
  EXPECT_THAT(CaseLines(text, "absent"), IsEmpty());
}

TEST(CaseLines, QuotesAndBracketsInStrings) {
  EXPECT_THAT(CaseLines("[\"a\\\"],[\\\\\",\n\"\\n[\",\n{}]", ""), ElementsAre(1, 2, 3));
}

TEST(CaseLines, TheLastOfEqualKeysCounts) {
  EXPECT_THAT(CaseLines("{\"tests\":[1,2,3],\n\"tests\":[4]}", "tests"), ElementsAre(2));
}

TEST(CaseLines, TextOtherThanJsonIsHarmless) {
  for (const char* text : {"", "\"", "[\"\\", "]]]]", "{[}]", "[[[["}) {
    EXPECT_LE(CaseLines(text, "").size(), 4U);
    EXPECT_LE(CaseLines(text, "tests").size(), 4U);
  }
}

}  // namespace
}  // namespace upskill

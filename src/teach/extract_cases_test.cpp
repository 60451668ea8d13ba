// SPDX-License-Identifier: Apache-2.0
// Which tests are made from a recording without a model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "teach/extract.h"

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(ExtractCases, AsksForBareWordsAndForCommandsByTheirPurpose) {
  Material material;
  material.requests.push_back({"What time is it there?", "The time is 15:00 UTC.", "a.jsonl#1"});
  const CommandDetail install{"mix deps.get", "Install the dependencies.", "", 1, 0};
  material.items.push_back({"d1", MaterialKind::kCommand, "", {"a.jsonl#4"}, install});
  const CommandDetail list{"ls -la", "List all files", "", 1, 0};
  material.items.push_back({"d2", MaterialKind::kCommand, "", {"a.jsonl#5"}, list});
  const VettedCases vetted = ExtractCases(material, 16);
  ASSERT_THAT(vetted.cases, SizeIs(2));
  EXPECT_THAT(vetted.cases[0].checks[0].values, ElementsAre("15:00"));
  EXPECT_EQ(vetted.cases[1].input, "Which command does this: install the dependencies?");
  EXPECT_THAT(vetted.cases[1].checks[0].values, ElementsAre("mix deps.get"));
}

TEST(ExtractCases, QuestionsAboutTheSessionItselfAreNoTests) {
  for (const char* question :
       {"Which flag did you set in the file above?", "Why does this function use the flag zone?",
        "Is it the flag --zone that matters?", "Can you explain the flag you just added again?"}) {
    Material material;
    material.requests.push_back({question, "The flag is `--zone`, which the function needs.", "a.jsonl#1"});
    EXPECT_THAT(ExtractCases(material, 16).cases, IsEmpty()) << question;
  }
  Material material;
  material.requests.push_back(
      {"Which flag does the builder need?", "The builder needs the flag `--zone`.", "a.jsonl#1"});
  EXPECT_THAT(ExtractCases(material, 16).cases, SizeIs(1));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "teach/candidate.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace upskill {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> TitlesOf(const std::string& body) {
  std::vector<std::string> titles;
  for (const BodyPart& part : PartsOf(body)) titles.push_back(part.title);
  return titles;
}

TEST(PartsOf, CommentsInCodeAreNotHeadings) {
  EXPECT_THAT(TitlesOf("# A\n\n```sh\n# no\n```\n## B\n"), ElementsAre("A", "B"));
  EXPECT_THAT(TitlesOf("# A\n\n~~~sh\n# no\n~~~\n## B\n"), ElementsAre("A", "B"));
  EXPECT_THAT(TitlesOf("# A\n\n````md\n```sh\n# no\n```\n# no\n````\n## B\n"), ElementsAre("A", "B"));
  EXPECT_THAT(TitlesOf("# A\n\n1. x\n   ```sh\n# no\n   ```\n\n## B\n"), ElementsAre("A", "B"));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "install/session_listing.h"

#include <gmock/gmock.h>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Lines(const AgentListing& listing, const std::vector<SkillHead>& skills,
                               std::optional<std::size_t> room = std::nullopt) {
  std::vector<std::string> lines;
  for (const ListedHead& head : HeadsInSession(listing, room, skills)) lines.push_back(head.line);
  return lines;
}

AgentListing ListingOf(const char* agent) { return (*FindAgent(agent))->listing; }

TEST(SessionListing, KeepsWhatIsUsedMost) {
  AgentListing listing = ListingOf("claude-code");
  EXPECT_EQ(listing.room, 8000U);
  const std::vector<SkillHead> skills = {{"a", "first", "", false, 1},
                                         {"b", "other", "", false, 3},
                                         {"c", "third", "", false, 2},
                                         {"d", "none", "", true, 9}};
  EXPECT_THAT(Lines(listing, skills), ElementsAre("- a: first", "- b: other", "- c: third", ""));
  // Three lines of ten characters, with two ends between them.
  EXPECT_THAT(Lines(listing, skills, 32), ElementsAre("- a: first", "- b: other", "- c: third", ""));
  EXPECT_THAT(Lines(listing, skills, 31), ElementsAre("- a", "- b: other", "- c: third", ""));
  EXPECT_THAT(Lines(listing, skills, 20), ElementsAre("- a", "- b: other", "- c", ""));
  EXPECT_THAT(Lines(listing, skills, 2), ElementsAre("- a", "- b", "- c", ""));
  EXPECT_EQ(HeadsInSession(listing, 31, skills)[0].cut_off, 5U);
  listing.longest = 2;
  EXPECT_THAT(Lines(listing, {{"ä", "äöü", "", false, 0}}), ElementsAre("- ä: äö"));
  EXPECT_EQ(HeadsInSession(listing, {}, {{"ä", "äöü", "", false, 0}})[0].cut_off, 1U);
}

TEST(SessionListing, ShortensAllEvenly) {
  const AgentListing listing = ListingOf("codex");
  const std::vector<SkillHead> skills = {{"a", std::string(100, 'x'), "r/a/SKILL.md", false, 9}, {"b", "short", "b"}};
  // 127 and 21 bytes with the ends of lines: 32 and 6 tokens.
  EXPECT_EQ(HeadsInSession(listing, 38, skills)[0].cut_off, 0U);
  const std::vector<ListedHead> cut = HeadsInSession(listing, 20, skills);
  EXPECT_EQ(cut[1].line, "- b: short (file: b)");
  EXPECT_GT(cut[0].cut_off, 30U);
  EXPECT_LT(cut[0].cut_off, 75U);
  EXPECT_THAT(Lines(listing, skills, 2), ElementsAre("- a: (file: r/a/SKILL.md)", "- b: (file: b)"));
  EXPECT_THAT(Lines(AgentListing(), skills, {})[1], "b: short") << "nothing is known of the agent";
  EXPECT_THAT(HeadsInSession(listing, 1, {}), IsEmpty());
}

TEST(SessionListing, FindsDescriptionsThatCannotBeToldApart) {
  const std::vector<SkillHead> skills = {{"pdf", "Fill in PDF forms, and extract text from PDF files.", ""},
                                         {"forms", "Extract text from PDF files and fill in forms.", ""},
                                         {"git", "Write commit messages.", ""},
                                         {"git", "Something else entirely, for other people.", ""},
                                         {"empty", "", ""},
                                         {"none", "", ""}};
  EXPECT_THAT(ClashesOf(skills),
              ElementsAre(ElementsAre(1), ElementsAre(0), ElementsAre(3), ElementsAre(2), IsEmpty(), IsEmpty()));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "install/placement.h"

#include <gmock/gmock.h>

#include "support/skill_folder.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class PlacementTest : public testing::Test {
 protected:
  std::vector<std::string> Names() const { return NamesBelow(folder.path()); }

  TempFolder folder;
  Folder skills = Folder::Open(folder.path()).value();
  FileMap old_files = {{"SKILL.md", {"old", false}}, {"old.md", {"old", false}}};
  FileMap new_files = {{"SKILL.md", {"new", false}}, {"scripts/a.sh", {"new", true}}};
};

TEST_F(PlacementTest, PutsReplacesAndRemoves) {
  ASSERT_TRUE(PlaceCopy(skills, "x", old_files, Replace::kNo).ok());
  EXPECT_THAT(Names(), ElementsAre("x/", "x/SKILL.md", "x/old.md"));
  ASSERT_TRUE(PlaceCopy(skills, "x", new_files, Replace::kYes).ok());
  EXPECT_THAT(Names(), ElementsAre("x/", "x/SKILL.md", "x/scripts/", "x/scripts/a.sh"));
  EXPECT_EQ(*ReadFile(folder.path() / "x/SKILL.md"), "new");
  EXPECT_NE(fs::status(folder.path() / "x/scripts/a.sh").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_EQ(fs::status(folder.path() / "x/SKILL.md").permissions() & fs::perms::owner_exec, fs::perms::none);
  ASSERT_TRUE(PlaceLink(skills, "x", "/elsewhere", Replace::kYes).ok());
  EXPECT_THAT(Names(), ElementsAre("x"));
  EXPECT_EQ(fs::read_symlink(folder.path() / "x"), "/elsewhere");
  ASSERT_TRUE(RemovePlaced(skills, "x").ok());
  EXPECT_THAT(Names(), ElementsAre());
}

// What was there stays whole, and nothing else is left.
TEST_F(PlacementTest, RenameThatFailsChangesNothing) {
  ASSERT_TRUE(PlaceCopy(skills, "x", old_files, Replace::kNo).ok());
  EXPECT_FALSE(PlaceCopy(skills, "x", new_files, Replace::kNo).ok()) << "made by another process meanwhile";
  EXPECT_FALSE(PlaceLink(skills, "x", "/elsewhere", Replace::kNo).ok());
  EXPECT_THAT(Names(), ElementsAre("x/", "x/SKILL.md", "x/old.md"));
  EXPECT_EQ(*ReadFile(folder.path() / "x/SKILL.md"), "old");
  EXPECT_FALSE(PlaceCopy(skills, "y", new_files, Replace::kYes).ok()) << "removed by another process meanwhile";
  EXPECT_THAT(Names(), ElementsAre("x/", "x/SKILL.md", "x/old.md"));
}

TEST_F(PlacementTest, FileThatCannotBeWrittenLeavesTheOldSkill) {
  ASSERT_TRUE(PlaceCopy(skills, "x", old_files, Replace::kNo).ok());
  new_files[std::string(300, 'n')] = {"a name that is too long", false};
  EXPECT_FALSE(PlaceCopy(skills, "x", new_files, Replace::kYes).ok());
  EXPECT_THAT(Names(), ElementsAre("x/", "x/SKILL.md", "x/old.md"));
}

TEST_F(PlacementTest, LeftoversOfInterruptedCallsAreRemoved) {
  folder.Write(".upskill-x.new0123/SKILL.md", "half");
  folder.Write(".upskill-x.old0123/SKILL.md", "the old skill, which nothing has replaced");
  folder.Write(".upskill-xy.new0123/SKILL.md", "of another skill");
  ASSERT_TRUE(PlaceCopy(skills, "x", old_files, Replace::kNo).ok());
  EXPECT_FALSE(fs::exists(folder.path() / ".upskill-x.new0123"));
  EXPECT_TRUE(fs::exists(folder.path() / ".upskill-x.old0123"));
  EXPECT_TRUE(fs::exists(folder.path() / ".upskill-xy.new0123"));
  ASSERT_TRUE(PlaceCopy(skills, "x", new_files, Replace::kYes).ok());
  EXPECT_FALSE(fs::exists(folder.path() / ".upskill-x.old0123"));
}

TEST_F(PlacementTest, RemovingALinkKeepsItsTarget) {
  folder.Write("target/SKILL.md", "x");
  ASSERT_TRUE(PlaceLink(skills, "x", folder.path() / "target", Replace::kNo).ok());
  ASSERT_TRUE(RemovePlaced(skills, "x").ok());
  EXPECT_THAT(Names(), ElementsAre("target/", "target/SKILL.md"));
}

}  // namespace
}  // namespace upskill

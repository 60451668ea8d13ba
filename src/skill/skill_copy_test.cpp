// SPDX-License-Identifier: Apache-2.0
#include "skill/skill_copy.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "support/file_fixture.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using CopySkillFilesTest = FilesTest;

TEST_F(CopySkillFilesTest, CopiesFilesWithTheirModesAndKeepsWhatIsThere) {
  const Umask mask(022);
  folder_.Write("from/SKILL.md", "text");
  folder_.Write("from/skill_meta.json", "{}");
  folder_.Write("from/references/deep/more.md", "more");
  folder_.Write("from/README.md", "left");
  fs::permissions(folder_.Write("from/scripts/run.sh", "echo"), fs::perms(0755));
  folder_.Write("to/skill_meta.json", "own");
  ASSERT_TRUE(CopySkillFiles(path() / "from", Folder::Make(path() / "to").value()).ok());
  EXPECT_THAT(NamesIn(path() / "to"), ElementsAre("SKILL.md", "references", "scripts", "skill_meta.json"));
  EXPECT_EQ(Content(path() / "to/SKILL.md"), "text");
  EXPECT_EQ(Content(path() / "to/skill_meta.json"), "own");
  EXPECT_EQ(Content(path() / "to/references/deep/more.md"), "more");
  EXPECT_EQ(ModeOf(path() / "to/scripts/run.sh"), 0755U);
}

TEST_F(CopySkillFilesTest, FollowsNoLinksBelowTheFolders) {
  folder_.Write("secret/key", "secret");
  fs::create_directory(path() / "outside");
  folder_.Write("from/references/more.md", "more");
  fs::create_symlink(path() / "secret/key", path() / "from/references/key");
  fs::create_directory_symlink(path() / "secret", path() / "from/assets");
  fs::create_directory(path() / "to");
  ASSERT_TRUE(CopySkillFiles(path() / "from", Folder::Open(path() / "to").value()).ok());
  EXPECT_THAT(NamesIn(path() / "to"), ElementsAre("references"));
  EXPECT_THAT(NamesIn(path() / "to/references"), ElementsAre("more.md"));

  fs::create_directory(path() / "other");
  fs::create_directory_symlink(path() / "outside", path() / "other/references");
  EXPECT_FALSE(CopySkillFiles(path() / "from", Folder::Open(path() / "other").value()).ok());
  EXPECT_THAT(NamesIn(path() / "outside"), IsEmpty());
}

TEST_F(CopySkillFilesTest, ASkillFileThatIsALinkIsCopiedAsAFile) {
  folder_.Write("elsewhere.md", "text");
  fs::create_directory(path() / "from");
  fs::create_symlink("../elsewhere.md", path() / "from/SKILL.md");
  ASSERT_TRUE(CopySkillFiles(path() / "from", Folder::Make(path() / "to").value()).ok());
  EXPECT_FALSE(fs::is_symlink(path() / "to/SKILL.md"));
  EXPECT_EQ(Content(path() / "to/SKILL.md"), "text");
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "util/folder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/file_fixture.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FolderTest : public FilesTest {
 protected:
  FolderTest() : skill_(Folder::Make(path() / "skill").value()), outside_(path() / "outside") {
    fs::create_directory(outside_);
  }

  Folder skill_;
  fs::path outside_;
};

// By openat2, and one folder after another.
class FolderLookup : public FolderTest, public testing::WithParamInterface<Lookup> {};
INSTANTIATE_TEST_SUITE_P(Both, FolderLookup, testing::Values(Lookup::kKernel, Lookup::kStepwise));

TEST_P(FolderLookup, MakesAndOpensFoldersBelow) {
  const Result<Folder> absent = skill_.OpenBelow("a/b", GetParam());
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound);
  const Result<Folder> made = skill_.MakeBelow("a/b", Durability::kSynced, GetParam());
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->path(), path() / "skill/a/b");
  EXPECT_TRUE(skill_.MakeBelow("a/b/c", Durability::kNotSynced, GetParam()).ok());
  EXPECT_TRUE(skill_.OpenBelow("a/b/c", GetParam()).ok());
  ASSERT_TRUE(made->WriteFile("f", "x").ok());
  EXPECT_EQ(Content(path() / "skill/a/b/f"), "x");
}

TEST_P(FolderLookup, FollowsNoLink) {
  fs::create_directory(path() / "skill/real");
  fs::create_directory_symlink(outside_, path() / "skill/out");
  fs::create_directory_symlink("../outside", path() / "skill/up");
  fs::create_directory_symlink("real", path() / "skill/inside");
  fs::create_directory_symlink(outside_, path() / "skill/real/out");
  fs::create_directory_symlink("nowhere", path() / "skill/broken");
  for (const char* name : {"out", "up", "inside", "real/out", "out/more", "real/out/more", "broken", "broken/more"}) {
    for (const Result<Folder>& folder :
         {skill_.OpenBelow(name, GetParam()), skill_.MakeBelow(name, Durability::kSynced, GetParam())}) {
      ASSERT_FALSE(folder.ok()) << name;
      EXPECT_THAT(folder.error().message, HasSubstr("symbolic link")) << name;
      EXPECT_EQ(folder.error().kind, ErrorKind::kInput);
    }
  }
  EXPECT_THAT(NamesIn(outside_), IsEmpty());
  EXPECT_FALSE(fs::exists(path() / "nowhere"));
}

TEST_P(FolderLookup, StaysBelow) {
  const std::vector<std::string> names = {
      "", "..", ".", "../outside", "a/../../outside", "a/..", outside_.string(), "a/", std::string("a\0b", 3)};
  for (const std::string& name : names) {
    EXPECT_FALSE(skill_.OpenBelow(name, GetParam()).ok()) << name;
    EXPECT_FALSE(skill_.MakeBelow(name, Durability::kSynced, GetParam()).ok()) << name;
    EXPECT_FALSE(skill_.WriteFile(name, "x").ok()) << name;
  }
  EXPECT_THAT(NamesIn(outside_), IsEmpty());
  EXPECT_THAT(NamesIn(path() / "skill"), IsEmpty());
}

TEST_P(FolderLookup, AFileIsNoFolder) {
  folder_.Write("skill/file", "kept");
  EXPECT_FALSE(skill_.OpenBelow("file", GetParam()).ok());
  EXPECT_FALSE(skill_.MakeBelow("file/more", Durability::kSynced, GetParam()).ok());
  EXPECT_EQ(Content(path() / "skill/file"), "kept");
}

TEST_F(FolderTest, WritesNothingThroughALink) {
  fs::create_directory_symlink(outside_, path() / "skill/references");
  const Status written = skill_.WriteFile("references/notes.md", "from a teacher");
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, HasSubstr("skill/references contains a symbolic link below"));
  EXPECT_THAT(NamesIn(outside_), IsEmpty());

  folder_.Write("outside/target", "kept");
  fs::create_symlink(outside_ / "target", path() / "skill/SKILL.md");
  ASSERT_TRUE(skill_.WriteFile("SKILL.md", "new").ok());
  EXPECT_EQ(Content(outside_ / "target"), "kept");
  EXPECT_EQ(Content(path() / "skill/SKILL.md"), "new");
  EXPECT_FALSE(fs::is_symlink(path() / "skill/SKILL.md"));
}

TEST_F(FolderTest, AFolderThatIsExchangedForALinkStaysTheOpenOne) {
  const Folder references = skill_.MakeBelow("references").value();
  fs::rename(path() / "skill/references", path() / "skill/moved");
  fs::create_directory_symlink(outside_, path() / "skill/references");
  ASSERT_TRUE(references.WriteFile("notes.md", "x").ok());
  EXPECT_THAT(NamesIn(outside_), IsEmpty());
  EXPECT_THAT(NamesIn(path() / "skill/moved"), ElementsAre("notes.md"));
}

TEST_F(FolderTest, TheFolderItselfMayBeALink) {
  fs::create_directory_symlink(outside_, path() / "link");
  const Result<Folder> folder = Folder::Make(path() / "link");
  ASSERT_TRUE(folder.ok());
  ASSERT_TRUE(folder->WriteFile("a/b", "x").ok());
  EXPECT_EQ(Content(outside_ / "a/b"), "x");
}

TEST_F(FolderTest, TemporaryNamesAreNew) {
  // Whatever links someone may have put there beforehand, a file that exists is never opened.
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) {
    const Result<TemporaryFile> file = TemporaryFile::MakeIn(skill_, "results.csv");
    ASSERT_TRUE(file.ok());
    names.push_back(file->path().filename());
    EXPECT_THAT(names.back(), testing::MatchesRegex("\\.results\\.csv\\.[0-9a-f]+"));
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_THAT(NamesIn(path() / "skill"), IsEmpty());
}

TEST_F(FolderTest, ANewFileHasTheGivenModeLessTheUmask) {
  const Umask mask(027);
  ASSERT_TRUE(skill_.WriteFile("scripts/run.sh", "x", {Durability::kSynced, 0755}).ok());
  EXPECT_EQ(ModeOf(path() / "skill/scripts/run.sh"), 0750U);
  EXPECT_EQ(ModeOf(path() / "skill/scripts"), 0750U);
}

TEST_F(FolderTest, PublishFileGivesTheFinalName) {
  const fs::path part = folder_.Write("blob.incomplete", "whole");
  const Fd fd(::open(part.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(PublishFile(fd, part, path() / "blob").ok());
  EXPECT_EQ(Content(path() / "blob"), "whole");
  EXPECT_FALSE(fs::exists(part));
}

TEST_F(FolderTest, ItsLockHasOneHolder) {
  const Folder second = Folder::Open(path() / "skill").value();
  {
    const Folder first = Folder::Open(path() / "skill").value();
    ASSERT_TRUE(first.Lock(milliseconds(0)).ok());
    const Status refused = second.Lock(milliseconds(0));
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(refused.error().message, HasSubstr("being written by another process"));
    ASSERT_TRUE(first.WriteFile("f", "x").ok());  // with a descriptor of its own meanwhile
    EXPECT_FALSE(second.Lock(milliseconds(0)).ok());
  }
  EXPECT_TRUE(second.Lock(milliseconds(0)).ok());
}

TEST_F(FolderTest, OneThatIsNotReadableCanBeWrittenTo) {
  fs::permissions(path() / "skill", fs::perms::owner_write | fs::perms::owner_exec);
  const Result<Folder> folder = Folder::Open(path() / "skill");
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(folder->WriteFile("f", "x").ok());
  EXPECT_TRUE(folder->Lock(milliseconds(0)).ok());
  fs::permissions(path() / "skill", fs::perms::owner_all);
  EXPECT_EQ(Content(path() / "skill/f"), "x");
}

}  // namespace
}  // namespace upskill

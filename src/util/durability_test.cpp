// SPDX-License-Identifier: Apache-2.0
// What must survive a crash of the machine: a file's content before it gets its name, and then the folder's names.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/file_fixture.h"
#include "util/append_file.h"
#include "util/folder.h"

namespace {

std::vector<std::string> synced_folders;  // their names, in order

}  // namespace

// In place of the C library's.
extern "C" int fsync(int fd) {
  struct stat info{};
  if (::fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
    std::error_code code;
    synced_folders.push_back(std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), code).filename());
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Durable : public FilesTest {
 protected:
  Durable() { synced_folders.clear(); }
};

TEST_F(Durable, AFileThatIsReplaced) {
  folder_.Write("a/file", "old");
  ASSERT_TRUE(WriteFileAtomically(path() / "a/file", "new").ok());
  EXPECT_THAT(synced_folders, ElementsAre("a"));
  ASSERT_TRUE(WriteFileAtomically(path() / "a/file", "newer", Durability::kNotSynced).ok());
  EXPECT_THAT(synced_folders, ElementsAre("a"));
}

TEST_F(Durable, NewFolders) {
  ASSERT_TRUE(MakeFolders(path() / "a/b").ok());
  EXPECT_THAT(synced_folders, testing::UnorderedElementsAre(path().filename(), "a"));
  synced_folders.clear();
  ASSERT_TRUE(MakeFolders(path() / "a/b").ok());
  EXPECT_THAT(synced_folders, IsEmpty());
  const Folder folder = Folder::Open(path() / "a").value();
  ASSERT_TRUE(folder.WriteFile("c/d/file", "x").ok());
  EXPECT_THAT(synced_folders, ElementsAre("a", "c", "d"));
  synced_folders.clear();
  ASSERT_TRUE(folder.WriteFile("e/file", "x", {Durability::kNotSynced}).ok());
  EXPECT_THAT(synced_folders, IsEmpty());
}

TEST_F(Durable, ANewJournalWithItsFirstSync) {
  std::filesystem::create_directory(path() / "run");
  Result<AppendFile> file = AppendFile::Open(path() / "run/log", true);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Append("one\n").ok());
  EXPECT_THAT(synced_folders, IsEmpty());
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_THAT(synced_folders, ElementsAre("run"));
  ASSERT_TRUE(file->Append("two\n").ok());
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_THAT(synced_folders, ElementsAre("run"));
}

}  // namespace
}  // namespace upskill

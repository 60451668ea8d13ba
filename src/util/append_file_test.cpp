// SPDX-License-Identifier: Apache-2.0
#include "util/append_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/file_fixture.h"

namespace {

// Called once, just before the next lock is taken.
std::function<void()> before_lock;

}  // namespace

// In place of the C library's.
extern "C" int flock(int fd, int operation) noexcept {
  if (before_lock) std::exchange(before_lock, nullptr)();
  return static_cast<int>(::syscall(SYS_flock, fd, operation));
}

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using AppendFileTest = FilesTest;

TEST_F(AppendFileTest, Appends) {
  const fs::path path = folder_.path() / "log";
  Result<AppendFile> file = AppendFile::Open(path, true);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->Append("one\n").ok());
  EXPECT_TRUE(file->Append("").ok());
  EXPECT_TRUE(file->Append("two\n").ok());
  EXPECT_TRUE(file->Sync().ok());
  {
    const AppendFile closed = std::move(file).value();
  }
  Result<AppendFile> again = AppendFile::Open(path, true);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->Append("three\n").ok());
  EXPECT_EQ(Content(path), "one\ntwo\nthree\n");
}

TEST_F(AppendFileTest, HasOneWriter) {
  const fs::path path = folder_.path() / "log";
  Result<AppendFile> file = AppendFile::Open(path, true);
  ASSERT_TRUE(file.ok());
  const Result<AppendFile> second = AppendFile::Open(path, true);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("being written by another process"));
}

TEST_F(AppendFileTest, DropsATornLastLine) {
  const std::string long_line = std::string(200000, 'x') + "\n";
  const std::vector<std::pair<std::string, std::string>> cases = {{"a\nb\ntorn", "a\nb\n"},
                                                                  {"torn", ""},
                                                                  {"a\n", "a\n"},
                                                                  {"", ""},
                                                                  {std::string(200000, 't'), ""},
                                                                  {long_line + std::string(150000, 't'), long_line}};
  for (const auto& [before, after] : cases) {
    const fs::path path = folder_.Write("log", before);
    ASSERT_TRUE(AppendFile::Open(path, true).ok());
    EXPECT_EQ(Content(path), after);
  }
  const fs::path kept = folder_.Write("kept", "a\ntorn");
  ASSERT_TRUE(AppendFile::Open(kept, false).ok());
  EXPECT_EQ(Content(kept), "a\ntorn");
}

TEST_F(AppendFileTest, RemovesAPartialRecord) {
  const fs::path path = folder_.path() / "log";
  Result<AppendFile> file = AppendFile::Open(path, true);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(file->Append("whole record\n").ok());
  {
    const FileSizeLimit limit(20);
    const Status written = file->Append("a record that is too long\n");
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().kind, ErrorKind::kIo);
  }
  EXPECT_EQ(Content(path), "whole record\n");
  EXPECT_TRUE(file->Append("next\n").ok());
  EXPECT_EQ(Content(path), "whole record\nnext\n");
}

TEST_F(AppendFileTest, OpenErrors) {
  EXPECT_FALSE(AppendFile::Open(folder_.path(), true).ok());
  const Result<AppendFile> absent = AppendFile::Open(folder_.path() / "no" / "log", true);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound);
}

TEST_F(AppendFileTest, FollowsAFileThatWasReplacedBeforeItsLock) {
  const fs::path path = folder_.Write("log", "old\n");
  // As `merge` replaces a journal: between our opening it and our getting its lock.
  before_lock = [&] { EXPECT_TRUE(WriteFileAtomically(path, "joined\n").ok()); };
  Result<AppendFile> file = AppendFile::Open(path, true);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->Append("new\n").ok());
  EXPECT_EQ(Content(path), "joined\nnew\n");
}

TEST_F(AppendFileTest, MakesAFileThatWasRemovedBeforeItsLock) {
  const fs::path path = folder_.Write("log", "old\n");
  before_lock = [&] { fs::remove(path); };
  Result<AppendFile> file = AppendFile::Open(path, true);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->Append("new\n").ok());
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_EQ(Content(path), "new\n");
}

TEST_F(AppendFileTest, DoesNotWriteThroughALink) {
  const fs::path outside = folder_.Write("outside", "kept\n");
  fs::create_symlink(outside, path() / "log");
  const Result<AppendFile> file = AppendFile::Open(path() / "log", true);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("symbolic link"));
  ASSERT_EQ(::mkfifo((path() / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(AppendFile::Open(path() / "pipe", true).ok());
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "util/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <string>
#include <vector>

#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> NamesIn(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// While it lives, a file can't grow beyond `bytes`: writing more is cut short, then fails, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    static_cast<void>(std::signal(SIGXFSZ, handler_));
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int);
};

class FilesTest : public ::testing::Test {
 protected:
  std::string Content(const fs::path& path) {
    Result<std::string> content = ReadFile(path);
    EXPECT_TRUE(content.ok());
    return content ? *content : "";
  }
  TempFolder folder_;
};

TEST_F(FilesTest, ReadFileGivesTheBytes) {
  const std::string bytes("a\0\xFF\r\n", 5);
  EXPECT_EQ(Content(folder_.Write("f", bytes)), bytes);
  EXPECT_EQ(Content(folder_.Write("empty", "")), "");
  const std::string large(300000, 'x');
  EXPECT_EQ(Content(folder_.Write("large", large)), large);
}

TEST_F(FilesTest, ReadFileErrors) {
  const Result<std::string> absent = ReadFile(folder_.path() / "absent");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(absent.error().message, AllOf(HasSubstr("reading"), HasSubstr("absent: No such file")));

  const Result<std::string> folder = ReadFile(folder_.path());
  ASSERT_FALSE(folder.ok());
  EXPECT_THAT(folder.error().message, HasSubstr("directory"));

  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Result<std::string> from_pipe = ReadFile(pipe);  // and doesn't wait for a writer
  ASSERT_FALSE(from_pipe.ok());
  EXPECT_THAT(from_pipe.error().message, HasSubstr("not a regular file"));
  EXPECT_FALSE(ReadFile("/dev/zero").ok());
}

TEST_F(FilesTest, ReadFileLimit) {
  const fs::path file = folder_.Write("f", std::string(1000, 'x'));
  EXPECT_TRUE(ReadFile(file, 1000).ok());
  const Result<std::string> refused = ReadFile(file, 999);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().message, HasSubstr("larger than 999 bytes"));
}

TEST_F(FilesTest, ErrorsHaveTheNameUnescaped) {
  const Result<std::string> absent = ReadFile(folder_.path() / "a\x1b[2Jb");
  ASSERT_FALSE(absent.ok());
  EXPECT_THAT(absent.error().message, HasSubstr("\x1b"));
}

TEST_F(FilesTest, WriteFileAtomicallyReplacesAndLeavesNothingElse) {
  const fs::path file = folder_.path() / "f";
  ASSERT_TRUE(WriteFileAtomically(file, "one").ok());
  ASSERT_TRUE(WriteFileAtomically(file, std::string(100000, 'y')).ok());
  EXPECT_EQ(Content(file), std::string(100000, 'y'));
  EXPECT_THAT(NamesIn(folder_.path()), ElementsAre("f"));
}

TEST_F(FilesTest, WriteFileAtomicallyInTheCurrentFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const Status written = WriteFileAtomically("bare", "x");
  fs::current_path(before);
  EXPECT_TRUE(written.ok());
  EXPECT_EQ(Content(folder_.path() / "bare"), "x");
}

TEST_F(FilesTest, WriteFileAtomicallyFailureLeavesNothing) {
  fs::create_directory(folder_.path() / "taken");
  EXPECT_FALSE(WriteFileAtomically(folder_.path() / "taken", "x").ok());
  EXPECT_THAT(NamesIn(folder_.path()), ElementsAre("taken"));

  const Status absent = WriteFileAtomically(folder_.path() / "no" / "f", "x");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound);
}

TEST_F(FilesTest, WriteFileAtomicallyOnAFullDiskKeepsTheOldContent) {
  const fs::path file = folder_.Write("f", "old");
  {
    const FileSizeLimit limit(10);
    const Status written = WriteFileAtomically(file, std::string(1000, 'x'));
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().kind, ErrorKind::kIo);
  }
  EXPECT_EQ(Content(file), "old");
  EXPECT_THAT(NamesIn(folder_.path()), ElementsAre("f"));
}

TEST_F(FilesTest, MakeFolders) {
  EXPECT_TRUE(MakeFolders(folder_.path() / "a" / "b").ok());
  EXPECT_TRUE(MakeFolders(folder_.path() / "a" / "b").ok());
  EXPECT_TRUE(fs::is_directory(folder_.path() / "a" / "b"));
  folder_.Write("file", "");
  EXPECT_FALSE(MakeFolders(folder_.path() / "file" / "b").ok());
}

TEST(ContainedPath, Accepts) {
  EXPECT_EQ(*ContainedPath("/w", "a.txt"), fs::path("/w/a.txt"));
  EXPECT_EQ(*ContainedPath("/w", "a/b/c.txt"), fs::path("/w/a/b/c.txt"));
  EXPECT_EQ(*ContainedPath("/w", "./a//b"), fs::path("/w/a/b"));
  EXPECT_EQ(*ContainedPath("/w", "..."), fs::path("/w/..."));
  EXPECT_EQ(*ContainedPath("/w", "a..b"), fs::path("/w/a..b"));
  EXPECT_EQ(*ContainedPath("/w", ".hidden"), fs::path("/w/.hidden"));
  EXPECT_EQ(*ContainedPath("/w", "ä ö.txt"), fs::path("/w/ä ö.txt"));
  EXPECT_EQ(*ContainedPath("", "a"), fs::path("a"));
}

TEST(ContainedPath, Rejects) {
  const std::string with_nul("a\0b", 3);
  for (const std::string& name :
       std::vector<std::string>{"", "/etc/passwd", "//a", "..", "../a", "a/../b", "a/..", "a/b/../../..", "./..",
                                with_nul, "a\nb", "a\x1b[2J", "a\x7F", ".", "./", "a/", "a/."}) {
    const Result<fs::path> path = ContainedPath("/w", name);
    ASSERT_FALSE(path.ok()) << testing::PrintToString(name);
    EXPECT_EQ(path.error().kind, ErrorKind::kInput);
    EXPECT_THAT(path.error().message, HasSubstr("file name '" + name + "' "));
  }
}

TEST(Fd, MovesAndClosesOnce) {
  Fd a(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(a.valid());
  const int number = a.get();
  Fd b(std::move(a));
  EXPECT_FALSE(a.valid());  // NOLINT(bugprone-use-after-move): the state after a move is what is tested
  EXPECT_EQ(b.get(), number);
  Fd c;
  c = std::move(b);
  EXPECT_EQ(c.get(), number);
  c.Close();
  EXPECT_FALSE(c.valid());
  EXPECT_EQ(::fcntl(number, F_GETFD), -1);
}

TEST_F(FilesTest, AppendFileAppends) {
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

TEST_F(FilesTest, AppendFileHasOneWriter) {
  const fs::path path = folder_.path() / "log";
  Result<AppendFile> file = AppendFile::Open(path, true);
  ASSERT_TRUE(file.ok());
  const Result<AppendFile> second = AppendFile::Open(path, true);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, ::testing::HasSubstr("being written by another process"));
}

TEST_F(FilesTest, AppendFileDropsATornLastLine) {
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

TEST_F(FilesTest, AppendFileRemovesAPartialRecord) {
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

TEST_F(FilesTest, AppendFileOpenErrors) {
  EXPECT_FALSE(AppendFile::Open(folder_.path(), true).ok());
  const Result<AppendFile> absent = AppendFile::Open(folder_.path() / "no" / "log", true);
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace upskill

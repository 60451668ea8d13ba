// SPDX-License-Identifier: Apache-2.0
#include "util/files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <iterator>
#include <string>
#include <vector>

#include "support/file_fixture.h"
#include "util/known_secrets.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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

TEST_F(FilesTest, WriteFileAtomicallyKeepsTheModeOfTheFile) {
  const Umask mask(022);
  const fs::path file = path() / "report.html";
  ASSERT_TRUE(WriteFileAtomically(file, "one").ok());
  EXPECT_EQ(ModeOf(file), 0644U);
  for (const mode_t mode : {0600U, 0640U, 0666U, 0755U, 0400U}) {
    ASSERT_EQ(::chmod(file.c_str(), mode), 0);
    ASSERT_TRUE(WriteFileAtomically(file, "two").ok());
    EXPECT_EQ(ModeOf(file), mode);
  }
  const Umask strict(077);
  ASSERT_TRUE(WriteFileAtomically(path() / "new", "x").ok());
  EXPECT_EQ(ModeOf(path() / "new"), 0600U);
}

TEST_F(FilesTest, WriteFileAtomicallyReplacesALink) {
  const fs::path outside = folder_.Write("outside", "kept");
  const fs::path link = path() / "link";
  fs::create_symlink(outside, link);
  ASSERT_TRUE(WriteFileAtomically(link, "new").ok());
  EXPECT_FALSE(fs::is_symlink(link));
  EXPECT_EQ(Content(link), "new");
  EXPECT_EQ(Content(outside), "kept");
}

TEST_F(FilesTest, WriteFileAtomicallyWithALongName) {
  const fs::path file = path() / std::string(250, 'n');
  ASSERT_TRUE(WriteFileAtomically(file, "x").ok());
  EXPECT_EQ(Content(file), "x");
}

TEST_F(FilesTest, WriteOutputFileReplacesNoRecordOfARun) {
  for (const char* name : {"samples.jsonl", "plan.json", "ledger.jsonl", "generation.json"}) {
    const fs::path path = folder_.path() / name;
    ASSERT_TRUE(WriteOutputFile(path, "new").ok()) << "none is there";
    const Status again = WriteOutputFile(path, "other");
    ASSERT_FALSE(again.ok());
    EXPECT_THAT(again.error().message, HasSubstr("a record of a run, which nothing else may replace"));
    EXPECT_EQ(*ReadFile(path), "new");
  }
  ASSERT_TRUE(WriteOutputFile(folder_.path() / "report.json", "a").ok());
  EXPECT_TRUE(WriteOutputFile(folder_.path() / "report.json", "b").ok());
}

TEST_F(FilesTest, WriteOutputFileWritesToPipesAndDevices) {
  const fs::path pipe = path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Fd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(WriteOutputFile(pipe, "text").ok());
  std::string read(10, ' ');
  EXPECT_EQ(::read(reader.get(), read.data(), read.size()), 4);
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_THAT(NamesIn(path()), ElementsAre("pipe"));

  const Fd file(::open((path() / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_TRUE(WriteOutputFile("/proc/self/fd/" + std::to_string(file.get()), "text").ok());
  EXPECT_EQ(Content(path() / "file"), "text");

  ASSERT_TRUE(WriteOutputFile("/dev/null", "text").ok());
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  const Status full = WriteOutputFile("/dev/full", "text");
  ASSERT_FALSE(full.ok());
  EXPECT_THAT(full.error().message, HasSubstr("/dev/full: No space left"));

  ASSERT_TRUE(WriteOutputFile(path() / "plain", "text").ok());
  EXPECT_EQ(Content(path() / "plain"), "text");
}

TEST_F(FilesTest, WriteOutputFileEscapesWhatATerminalWouldInterpret) {
  const Fd terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_EQ(::grantpt(terminal.get()), 0);
  ASSERT_EQ(::unlockpt(terminal.get()), 0);
  const fs::path device = ::ptsname(terminal.get());
  const Fd open_end(::open(device.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));  // else what is written may get lost
  const fs::path link = path() / "link";
  fs::create_symlink(device, link);
  for (const fs::path& target : {device, link}) {
    ASSERT_TRUE(WriteOutputFile(target, "a\x1B]0;title\x07z").ok());
    std::string read(100, ' ');
    read.resize(static_cast<std::size_t>(::read(terminal.get(), read.data(), read.size())));
    EXPECT_EQ(read, "a\\x1b]0;title\\x07z");
  }
}

TEST_F(FilesTest, WriteOutputFileMasksSecretsInPipes) {
  RememberSecret(Secret("pipe-secret-value"));
  const fs::path pipe = path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const Fd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(WriteOutputFile(pipe, "key pipe-secret-value").ok());
  std::string read(100, ' ');
  read.resize(static_cast<std::size_t>(::read(reader.get(), read.data(), read.size())));
  EXPECT_EQ(read, "key ***");
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
    EXPECT_THAT(path.error().message, HasSubstr("file name '" + ExcerptLine(name, 200) + "' "));
  }
  EXPECT_LT(ContainedPath("/w", std::string(1'000'000, 'a') + "/..").error().message.size(), 300U);
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

}  // namespace
}  // namespace upskill

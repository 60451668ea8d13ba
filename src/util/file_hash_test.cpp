// SPDX-License-Identifier: Apache-2.0
#include "util/file_hash.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "support/stepping_clock.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// Replaces the bytes of a file where it is, and sets its time of modification back.
void ChangeSecretly(const fs::path& file, const std::string& content) {
  struct stat before{};
  ASSERT_EQ(::stat(file.c_str(), &before), 0);
  const Fd fd(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::pwrite(fd.get(), content.data(), content.size(), 0), static_cast<ssize_t>(content.size()));
  const timespec times[2] = {before.st_atim, before.st_mtim};
  ASSERT_EQ(::futimens(fd.get(), times), 0);
}

class FileHash : public testing::Test {
 protected:
  std::string Hash() const {
    FileHashOptions options;
    options.remembered = remembered;
    Result<std::string> hash = HashFile(file, options);
    EXPECT_TRUE(hash.ok()) << hash.error().message;
    return hash ? *std::move(hash) : "";
  }

  // Makes the stored hash recognizable as one that wasn't computed.
  void Forge() const {
    std::string text = *ReadFile(remembered);
    text.replace(0, 64, std::string(64, 'f'));
    ASSERT_TRUE(WriteFileAtomically(remembered, text));
  }

  TempFolder folder;
  fs::path file = folder.Write("model.gguf", "content");
  fs::path remembered = folder.path() / "cache" / "hashes.txt";
};

TEST_F(FileHash, IsThatOfTheWholeFile) {
  EXPECT_EQ(Hash(), Sha256Hex("content"));
  // Every byte counts, also between the blocks that a sample would read.
  std::string content(9U << 20U, 'x');
  folder.Write("model.gguf", content);
  const std::string before = Hash();
  EXPECT_EQ(before, Sha256Hex(content));
  content[(4U << 20U) + 12'345] = 'y';
  ChangeSecretly(file, content);
  EXPECT_EQ(Hash(), Sha256Hex(content)) << "although size and time of modification are the same";
}

TEST_F(FileHash, IsRemembered) {
  const std::string hash = Hash();
  Forge();
  EXPECT_EQ(Hash(), std::string(64, 'f')) << "the file isn't read again";
  folder.Write("model.gguf", "content, changed");
  EXPECT_EQ(Hash(), Sha256Hex("content, changed"));
  file = folder.Write("other.gguf", "content");
  EXPECT_EQ(Hash(), hash);
}

TEST_F(FileHash, WhatIsRememberedMayBeBroken) {
  const std::string hash = Hash();
  const std::string good = *ReadFile(remembered);
  for (const std::string& bad : {std::string("\xff\n\0\n", 4), std::string(2U << 20U, 'f'), "F" + good.substr(1),
                                 good.substr(0, 66), std::string(65, 'f') + good.substr(64), std::string()}) {
    ASSERT_TRUE(WriteFileAtomically(remembered, bad));
    EXPECT_EQ(Hash(), hash);
  }
  Forge();
  ASSERT_EQ(::chmod(remembered.c_str(), 0666), 0);
  EXPECT_EQ(Hash(), hash) << "anybody may have written it";
  fs::remove(remembered);
  ASSERT_EQ(::mkfifo(remembered.c_str(), 0600), 0);
  EXPECT_EQ(Hash(), hash) << "and nothing waits for a writer";
  fs::remove(remembered);
  fs::create_directory(remembered);
  EXPECT_EQ(Hash(), hash);
}

TEST_F(FileHash, SaysThatItTakesLong) {
  const SteppingClock slow;  // 10 seconds for every reading
  const SteppingClock fast{std::chrono::milliseconds(1)};
  int said = 0;
  FileHashOptions options;
  options.on_slow = [&] { ++said; };
  options.clock = &fast;
  folder.Write("model.gguf", std::string(3U << 20U, 'x'));
  ASSERT_TRUE(HashFile(file, options).ok());
  EXPECT_EQ(said, 0);
  options.clock = &slow;
  ASSERT_TRUE(HashFile(file, options).ok());
  EXPECT_EQ(said, 1);
}

TEST_F(FileHash, PathsThatAreNotFiles) {
  const Result<std::string> absent = HashFile(folder.path() / "absent", {});
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr("absent: No such file"));
  EXPECT_FALSE(HashFile(folder.path(), {}).ok());
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(HashFile(pipe, {}).ok()) << "and nothing waits for a writer";
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cstddef>
#include <string>

#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

// FIPS 180-4 example vectors.
TEST(Sha256, KnownVectors) {
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      Sha256Hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmn"
                "opqrstnopqrstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, NulBytesCount) {
  EXPECT_EQ(Sha256Hex(std::string_view("\0", 1)), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
}

TEST(StreamingHash, PiecesGiveTheHashOfTheWhole) {
  StreamingHash sha256(StreamingHash::Kind::kSha256);
  sha256.Add("a");
  sha256.Add("");
  sha256.Add("bc");
  EXPECT_EQ(sha256.Hex(), Sha256Hex("abc"));
  StreamingHash sha1(StreamingHash::Kind::kSha1);
  sha1.Add("abc");
  EXPECT_EQ(sha1.Hex(), "a9993e364706816aba3e25717850c26c9cd0d89d");
}

constexpr std::size_t kBlock = std::size_t{64} * 1024;

class FingerprintTest : public ::testing::Test {
 protected:
  std::string Fingerprint(const std::string& content) {
    Result<std::string> fingerprint = FingerprintFile(folder_.Write("f", content));
    EXPECT_TRUE(fingerprint.ok());
    return fingerprint ? *fingerprint : "";
  }
  TempFolder folder_;
};

TEST_F(FingerprintTest, StableAndHex) {
  const std::string content(3 * kBlock + 17, 'x');
  EXPECT_EQ(Fingerprint(content), Fingerprint(content));
  EXPECT_THAT(Fingerprint(content), MatchesRegex("[0-9a-f]{64}"));
  EXPECT_THAT(Fingerprint(""), MatchesRegex("[0-9a-f]{64}"));
}

TEST_F(FingerprintTest, DependsOnTheSizeOfEqualBytes) {
  EXPECT_NE(Fingerprint(std::string(100 * kBlock, 'x')), Fingerprint(std::string(100 * kBlock + 1, 'x')));
  EXPECT_NE(Fingerprint(""), Fingerprint(std::string(1, '\0')));
}

TEST_F(FingerprintTest, EveryByteOfASmallFileCounts) {
  for (const std::size_t size : {std::size_t{1}, kBlock - 1, kBlock, kBlock + 1, 5 * kBlock, 64 * kBlock}) {
    const std::string content(size, 'x');
    const std::string before = Fingerprint(content);
    for (const std::size_t at : {std::size_t{0}, size / 2, size - 1}) {
      std::string changed = content;
      changed[at] = 'y';
      EXPECT_NE(Fingerprint(changed), before) << "size " << size << " at " << at;
    }
  }
}

TEST_F(FingerprintTest, FirstMiddleAndLastBlocksOfALargeFileCount) {
  const std::string content(200 * kBlock + 333, 'x');
  const std::string before = Fingerprint(content);
  const std::size_t step = (content.size() - kBlock) / 63;
  for (const std::size_t at : {std::size_t{0}, 31 * step + 5, 62 * step + kBlock - 1, content.size() - 1}) {
    std::string changed = content;
    changed[at] = 'y';
    EXPECT_NE(Fingerprint(changed), before) << at;
  }
}

TEST_F(FingerprintTest, ReadsOnlyAPartOfALargeFile) {
  const std::string content(200 * kBlock, 'x');
  std::string changed = content;
  changed[kBlock + 10] = 'y';  // between the first two blocks
  EXPECT_EQ(Fingerprint(changed), Fingerprint(content));
}

TEST_F(FingerprintTest, PathsThatAreNotFiles) {
  const Result<std::string> absent = FingerprintFile(folder_.path() / "absent");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr("absent: No such file"));
  EXPECT_FALSE(FingerprintFile(folder_.path()).ok());
  const std::filesystem::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(FingerprintFile(pipe).ok());  // and doesn't wait for a writer
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "util/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace upskill {
namespace {

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

}  // namespace
}  // namespace upskill

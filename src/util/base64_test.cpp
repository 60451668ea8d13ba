// SPDX-License-Identifier: Apache-2.0
#include "util/base64.h"

#include <gtest/gtest.h>

namespace upskill {
namespace {

// RFC 4648, section 10.
TEST(EncodeBase64, TestVectors) {
  EXPECT_EQ(EncodeBase64(""), "");
  EXPECT_EQ(EncodeBase64("f"), "Zg==");
  EXPECT_EQ(EncodeBase64("fo"), "Zm8=");
  EXPECT_EQ(EncodeBase64("foo"), "Zm9v");
  EXPECT_EQ(EncodeBase64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(EncodeBase64("\xFB\xFF\xBF"), "+/+/");
}

TEST(DecodeBase64, TestVectors) {
  EXPECT_EQ(DecodeBase64(""), "");
  EXPECT_EQ(DecodeBase64("Zg=="), "f");
  EXPECT_EQ(DecodeBase64("Zm8="), "fo");
  EXPECT_EQ(DecodeBase64("Zm9v"), "foo");
  EXPECT_EQ(DecodeBase64("Zm9vYg=="), "foob");
  EXPECT_EQ(DecodeBase64("Zm9vYmE="), "fooba");
  EXPECT_EQ(DecodeBase64("Zm9vYmFy"), "foobar");
}

TEST(DecodeBase64, PiecesAndBothAlphabets) {
  EXPECT_EQ(DecodeBase64("Zm9v\r\nYm\nFy"), "foobar");
  EXPECT_EQ(DecodeBase64("Zm9vYmF"), "fooba");
  EXPECT_EQ(DecodeBase64("Zm9vYm"), "foob");
  EXPECT_EQ(DecodeBase64("Zm9vY"), "foo");
  EXPECT_EQ(DecodeBase64("+/+/"), "\xFB\xFF\xBF");
  EXPECT_EQ(DecodeBase64("-_-_"), "\xFB\xFF\xBF");
}

}  // namespace
}  // namespace upskill

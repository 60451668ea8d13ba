// SPDX-License-Identifier: Apache-2.0
#include "util/zip_writer.h"

#include <gmock/gmock.h>

#include <string>

#include "util/hash.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ZipWriter, AnArchiveWithoutFiles) {
  EXPECT_EQ(ZipWriter().Finish(), std::string("PK\x05\x06", 4) + std::string(18, '\0'));
}

// "123456789" has the check value of CRC-32 that its catalogues list, cbf43926.
TEST(ZipWriter, ChecksumsAreThoseOfTheFormat) {
  ZipWriter zip;
  ASSERT_TRUE(zip.Add("digits", "123456789").ok());
  const std::string bytes = std::move(zip).Finish();
  EXPECT_THAT(bytes, StartsWith(std::string("PK\x03\x04", 4)));
  EXPECT_EQ(bytes.substr(14, 4), "\x26\x39\xf4\xcb");
  EXPECT_EQ(bytes.substr(30, 15), "digits123456789");
}

TEST(ZipWriter, MoreThanTheFormatHolds) {
  ZipWriter zip;
  for (std::size_t i = 0; i < ZipWriter::kMaxFiles; ++i) ASSERT_TRUE(zip.Add(std::to_string(i), "").ok());
  const Status one_more = zip.Add("x", "");
  ASSERT_FALSE(one_more.ok());
  EXPECT_THAT(one_more.error().message, HasSubstr("at most 65,535 files"));
  EXPECT_EQ(std::move(zip).Finish().substr(0, 2), "PK");
  EXPECT_FALSE(ZipWriter().Add(std::string(70'000, 'n'), "").ok());
}

}  // namespace
}  // namespace upskill

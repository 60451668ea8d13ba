// SPDX-License-Identifier: Apache-2.0
#include "llama/requantize.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <vector>

#include "util/files.h"
#include "util/hash.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// As written by llama-quantize.
constexpr const char* kConvertedSha256 = "7b46609d11703c058397e5cfe4cc6e4b2508cb1eb4c80ddc472a5d421fbdb508";

std::size_t FilesIn(const fs::path& folder) {
  const fs::directory_iterator begin(folder);
  return static_cast<std::size_t>(std::distance(begin, fs::directory_iterator()));
}

TEST(Requantize, GivesTheBytesOfLlamaQuantize) {
  const TempFolder folder;
  const fs::path target = folder.path() / "model.gguf";
  const Status status = RequantizeToQ8(UPSKILL_ORIGINAL_MODEL, target);
  ASSERT_TRUE(status.ok()) << status.error().message;
  const Result<std::string> bytes = ReadFile(target);
  ASSERT_TRUE(bytes.ok()) << bytes.error().message;
  EXPECT_EQ(Sha256Hex(*bytes), kConvertedSha256);
  EXPECT_EQ(FilesIn(folder.path()), 1U);
}

TEST(Requantize, LeavesNothingBehindWhenTheSourceIsDamaged) {
  const TempFolder folder;
  const Result<std::string> whole = ReadFile(UPSKILL_ORIGINAL_MODEL);
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  const fs::path source = folder.Write("source/model.gguf", std::string_view(*whole).substr(0, whole->size() / 2));
  fs::create_directory(folder.path() / "target");
  const Status status = RequantizeToQ8(source, folder.path() / "target" / "model.gguf");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("model.gguf to Q8_0: "));
  EXPECT_EQ(FilesIn(folder.path() / "target"), 0U);
}

TEST(Requantize, AMissingFolderIsAnError) {
  const TempFolder folder;
  const Status status = RequantizeToQ8(UPSKILL_ORIGINAL_MODEL, folder.path() / "none" / "model.gguf");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kNotFound);
}

}  // namespace
}  // namespace upskill

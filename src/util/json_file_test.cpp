// SPDX-License-Identifier: Apache-2.0
#include "util/json_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kToken = "ghp_0123456789abcdef";

std::string ErrorFor(const fs::path& file, const fs::path& folder = {}) {
  const Result<Json> json = ParseJsonFile(kToken, file, folder);
  EXPECT_FALSE(json.ok());
  return json ? "" : json.error().message;
}

TEST(ParseJsonFile, ShowsTheLineOfAFileOfItsOwn) {
  const TempFolder folder;
  const fs::path file = folder.Write("a/b.json", kToken);
  EXPECT_THAT(ErrorFor(file), HasSubstr("1 | " + kToken));
  EXPECT_THAT(ErrorFor(file, folder.path()), HasSubstr("1 | " + kToken));
}

TEST(ParseJsonFile, ShowsNothingOfAFileBehindALink) {
  const TempFolder folder;
  folder.Write("real/b.json", kToken);
  fs::create_symlink("b.json", folder.path() / "real/link.json");
  fs::create_symlink("real", folder.path() / "linked");
  const auto is_silent = AllOf(HasSubstr(".json:1:1: "), Not(HasSubstr("ghp_")));
  EXPECT_THAT(ErrorFor(folder.path() / "real/link.json"), is_silent);
  EXPECT_THAT(ErrorFor(folder.path() / "real/link.json", folder.path() / "real"), is_silent);
  EXPECT_THAT(ErrorFor(folder.path() / "linked/b.json"), is_silent);
  EXPECT_THAT(ErrorFor(folder.path() / "linked/b.json", folder.path()), is_silent);
  EXPECT_THAT(ErrorFor(folder.path() / "real/../b.json", folder.path() / "real"), is_silent);
  // The user has named the folder itself.
  EXPECT_THAT(ErrorFor(folder.path() / "linked/b.json", folder.path() / "linked"), HasSubstr(kToken));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "model/hub/gguf_cache.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::SizeIs;

fs::path CacheOf(const std::map<std::string, std::string>& variables) {
  return HubCacheOf([&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

TEST(GgufCache, FolderAsTheHubsOwnClientsFindIt) {
  EXPECT_EQ(CacheOf({{"HOME", "/h"}}), "/h/.cache/huggingface/hub");
  EXPECT_EQ(CacheOf({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/c"}}), "/c/huggingface/hub");
  EXPECT_EQ(CacheOf({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/c"}, {"HF_HOME", "~/hf"}}), "/h/hf/hub");
  EXPECT_EQ(CacheOf({{"HOME", "/h"}, {"HF_HOME", "/hf"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}), "/old");
  EXPECT_EQ(CacheOf({{"HF_HOME", "/hf"}, {"HUGGINGFACE_HUB_CACHE", "/old"}, {"HF_HUB_CACHE", "/new"}}), "/new");
  EXPECT_EQ(CacheOf({{"HF_HOME", ""}, {"HOME", "/h"}}), "/h/.cache/huggingface/hub");
  EXPECT_EQ(CacheOf({}), "");
}

class GgufCacheFolder : public testing::Test {
 protected:
  // A file in a snapshot, as a link into the blobs.
  void Put(const std::string& commit, const std::string& path, const std::string& content = "GGUF") const {
    const std::string blob = "blob-of-" + commit + path.substr(path.rfind('/') + 1);
    folder.Write("models--org--repo/blobs/" + blob, content);
    const fs::path link = repo() / "snapshots" / commit / path;
    fs::create_directories(link.parent_path());
    fs::create_symlink((repo() / "blobs" / blob).lexically_relative(link.parent_path()), link);
  }
  void SetMain(const std::string& commit) const { folder.Write("models--org--repo/refs/main", commit); }
  fs::path repo() const { return folder.path() / "models--org--repo"; }
  std::string Found(const std::string& quant) const {
    const Result<fs::path> file = FindCachedGguf(folder.path(), {"org/repo", quant});
    return file ? file->lexically_relative(repo() / "snapshots").string() : file.error().message;
  }

  TempFolder folder;
};

TEST_F(GgufCacheFolder, FindsFilesOfTheSnapshotOfMain) {
  Put("c1", "m-Q8_0.gguf");
  Put("c2", "m-Q8_0.gguf");
  fs::last_write_time(repo() / "snapshots/c1", fs::file_time_type::clock::now() + std::chrono::hours(1));
  SetMain("c2\n");
  EXPECT_EQ(Found("Q8_0"), "c2/m-Q8_0.gguf");
  EXPECT_EQ(Found(""), "c2/m-Q8_0.gguf");
  SetMain("c1");
  EXPECT_EQ(Found("q8_0"), "c1/m-Q8_0.gguf");
}

TEST_F(GgufCacheFolder, FindsFilesOfOlderSnapshots) {
  Put("c1", "Q4_K_M/m.gguf");
  Put("c2", "m-Q8_0.gguf");
  SetMain("c2");
  EXPECT_EQ(Found("Q4_K_M"), "c1/Q4_K_M/m.gguf");
  fs::remove(repo() / "refs/main");
  EXPECT_EQ(Found("Q8_0"), "c2/m-Q8_0.gguf");
}

TEST_F(GgufCacheFolder, MissingModels) {
  EXPECT_THAT(Found("Q8_0"), HasSubstr("org/repo:Q8_0 is not in the cache"));
  Put("c1", "m-Q8_0-00001-of-00002.gguf");
  EXPECT_THAT(Found("Q8_0"), HasSubstr("is not in the cache"));
  Put("c1", "m-Q8_0-00002-of-00002.gguf");
  EXPECT_EQ(Found("Q8_0"), "c1/m-Q8_0-00001-of-00002.gguf");
  fs::remove(repo() / "blobs/blob-of-c1m-Q8_0-00002-of-00002.gguf");  // a link to nothing
  EXPECT_THAT(Found("Q8_0"), HasSubstr("is not in the cache"));
  EXPECT_EQ(FindCachedGguf("", {"org/repo", ""}).error().kind, ErrorKind::kNotFound);
}

TEST_F(GgufCacheFolder, SeveralMatchesAreAnError) {
  Put("c1", "m-Q2_K.gguf");
  Put("c1", "m-Q3_K.gguf");
  const Result<fs::path> file = FindCachedGguf(folder.path(), {"org/repo", ""});
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().kind, ErrorKind::kInput);
  EXPECT_THAT(file.error().message, HasSubstr("Q2_K, Q3_K"));
}

TEST_F(GgufCacheFolder, ListsEachModelOnce) {
  Put("c1", "m-Q8_0.gguf", "GGUF-old");
  Put("c1", "n-Q4_0.gguf");
  Put("c2", "m-Q8_0.gguf", "GGUF-newer");
  Put("c2", "s-F16-00001-of-00002.gguf", "GGUF1");
  SetMain("c2");
  folder.Write("models--a--b/snapshots/c/x.gguf", "GGUF");  // a cache without links
  folder.Write("datasets--a--b/snapshots/c/x.gguf", "GGUF");
  folder.Write("models--broken/snapshots/c/x.gguf", "GGUF");
  const std::vector<CachedGguf> list = ListCachedGgufs(folder.path());
  ASSERT_THAT(list, SizeIs(4));
  EXPECT_EQ(list[0].repo, "a/b");
  EXPECT_EQ(list[0].quant, "");
  EXPECT_EQ(list[1].file, repo() / "snapshots/c2/m-Q8_0.gguf");
  EXPECT_EQ(list[1].bytes, 10U);
  EXPECT_EQ(list[2].quant, "F16");
  EXPECT_FALSE(list[2].whole);
  EXPECT_EQ(list[3].quant, "Q4_0");
  EXPECT_TRUE(list[3].whole);
  EXPECT_THAT(ListCachedGgufs(folder.path() / "none"), SizeIs(0));
}

}  // namespace
}  // namespace upskill

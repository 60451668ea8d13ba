// SPDX-License-Identifier: Apache-2.0
#include "util/record_store.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "util/temp_folder.h"

namespace upskill {
namespace {

TEST(RecordStore, FindsWhatWasAppendedNowAndLater) {
  const TempFolder folder;
  const std::filesystem::path path = folder.path() / "records.jsonl";
  {
    Result<RecordStore> store = RecordStore::Open(path);
    ASSERT_TRUE(store.ok()) << store.error().message;
    EXPECT_FALSE(store->Has("a"));
    ASSERT_TRUE(store->Append({{"key", "a"}, {"value", "ä\n"}}).ok());
    ASSERT_TRUE(store->Append({{"key", "b"}, {"value", 2}}).ok());
    ASSERT_TRUE(store->Append({{"failed", true}}).ok());
    ASSERT_TRUE(store->Append({{"key", "a"}, {"value", "newer"}}).ok());
    EXPECT_EQ(store->Find("a")->at("value"), "newer");
    EXPECT_EQ(store->Find("b")->at("value"), 2);
    EXPECT_FALSE(store->Find("c").has_value());
  }
  int visited = 0;
  Result<RecordStore> again = RecordStore::Open(path, [&](const Json&) { ++visited; });
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(visited, 4);
  EXPECT_EQ(again->Find("a")->at("value"), "newer");
  EXPECT_FALSE(RecordStore::Open(path).ok()) << "it is locked";
}

TEST(RecordStore, CutsOffWhatACrashHasTorn) {
  const TempFolder folder;
  const std::filesystem::path path =
      folder.Write("records.jsonl", "{\"key\": \"a\", \"value\": 1}\nnot JSON\n{\"key\": \"b\", \"va");
  Result<RecordStore> store = RecordStore::Open(path);
  ASSERT_TRUE(store.ok());
  EXPECT_TRUE(store->Has("a"));
  EXPECT_FALSE(store->Has("b"));
  ASSERT_TRUE(store->Append({{"key", "c"}}).ok());
  EXPECT_EQ(store->Find("c")->at("key"), "c");
}

}  // namespace
}  // namespace upskill

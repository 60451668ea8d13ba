// SPDX-License-Identifier: Apache-2.0
#include "llama/gguf_hash.h"

#include <gtest/gtest.h>

#include "util/hash.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

TEST(HashGguf, OneFile) {
  const TempFolder folder;
  EXPECT_EQ(*HashGguf(folder.Write("m.gguf", "one"), {}), Sha256Hex("one"));
  EXPECT_EQ(*HashGguf(folder.Write("m-00002-of-00003.gguf", "two"), {}), Sha256Hex("two"));
  EXPECT_EQ(*HashGguf(folder.Write("m-00001-of-00001.gguf", "one"), {}), Sha256Hex("one"));
}

TEST(HashGguf, EveryPartOfASplitModelCounts) {
  const TempFolder folder;
  const auto first = folder.Write("m-00001-of-00003.gguf", "one");
  folder.Write("m-00002-of-00003.gguf", "two");
  EXPECT_EQ(HashGguf(first, {}).error().kind, ErrorKind::kNotFound);
  folder.Write("m-00003-of-00003.gguf", "three");
  const std::string before = *HashGguf(first, {});
  folder.Write("m-00003-of-00003.gguf", "another");
  EXPECT_NE(*HashGguf(first, {}), before);
}

}  // namespace
}  // namespace upskill

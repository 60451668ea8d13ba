// SPDX-License-Identifier: Apache-2.0
#include "skill/lineage.h"

#include <gtest/gtest.h>

#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

class LineageTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomically(folder_.path() / name, text).ok());
  }
  std::string id() const { return LineageOf(folder_.path()); }
  int looks() const { return TestLooksOf(folder_.path()); }

  TempFolder folder_;
};

TEST_F(LineageTest, IsInLineageJson) {
  EXPECT_EQ(id(), "");
  Write("skill_meta.json", R"({"metadata": {"generation": "2026_11_20-aaaa"}, "tests": []})");
  EXPECT_EQ(id(), "2026_11_20-aaaa");
  Write("lineage.json", R"({"schema": 1, "lineage": "2026_11_19-bbbb", "candidates": []})");
  EXPECT_EQ(id(), "2026_11_19-bbbb");
}

TEST_F(LineageTest, IgnoresDamagedFiles) {
  Write("lineage.json", R"({"lineage": )");
  Write("skill_meta.json", R"({"metadata": {"generation": 7, "test_looks": "many"}})");
  EXPECT_EQ(id(), "");
  EXPECT_EQ(looks(), 0);
}

TEST_F(LineageTest, CountsLooksAtHeldOutCases) {
  EXPECT_EQ(looks(), 0);
  Write("skill_meta.json", R"({"metadata": {"run": null}})");
  EXPECT_EQ(looks(), 0);
  Write("skill_meta.json", R"({"metadata": {"run": "2026_11_20-cccc"}})");
  EXPECT_EQ(looks(), 1);
  Write("skill_meta.json", R"({"metadata": {"run": "2026_11_20-cccc", "test_looks": 3}})");
  EXPECT_EQ(looks(), 3);
}

}  // namespace
}  // namespace upskill

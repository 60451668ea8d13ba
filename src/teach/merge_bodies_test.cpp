// SPDX-License-Identifier: Apache-2.0
#include "teach/merge_bodies.h"

#include <gtest/gtest.h>

#include <string>

namespace upskill {
namespace {

TEST(MergeBodies, ChangesAtDifferentPlaces) {
  EXPECT_EQ(MergeBodies("a\nb\nc\nd\n", "a\nB\nc\nd\n", "a\nb\nc\nd\ne\n"), "a\nB\nc\nd\ne\n");
  EXPECT_EQ(MergeBodies("a\nb\nc\n", "b\nc\n", "a\nb\nX\nc\n"), "b\nX\nc\n") << "one removes, the other adds";
}

TEST(MergeBodies, TheSameChangeTwiceIsMadeOnce) { EXPECT_EQ(MergeBodies("a\nb\n", "a\nc\n", "a\nc\n"), "a\nc\n"); }

TEST(MergeBodies, DifferentChangesOfOneLineAreBothKept) {
  EXPECT_EQ(MergeBodies("a\nb\nc\n", "a\none\nc\n", "a\ntwo\nc\n"), "a\none\ntwo\nc\n");
}

TEST(MergeBodies, BlocksOfCodeAtOnePlaceStayWhole) {
  EXPECT_EQ(MergeBodies("a\nz\n", "a\n```\none\n```\nz\n", "a\n```\ntwo\n```\nz\n"),
            "a\n```\none\n```\n```\ntwo\n```\nz\n");
}

TEST(MergeBodies, LongTextsAreNotMerged) {
  const std::string many(5000, '\n');
  EXPECT_EQ(MergeBodies(many, many, many), "");
}

}  // namespace
}  // namespace upskill

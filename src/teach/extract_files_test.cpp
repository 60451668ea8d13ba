// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "teach/extract_parts.h"

namespace upskill {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

// A table that may have more keys than the recording shows is neither a model for others nor left out as one of them.
TEST(ConfigurationPart, TablesOfAFileInPartAreCondensedIfTheyAreKnown) {
  FileDetail file;
  file.path = "build.toml";
  file.content =
      "[general]\n[lines 2 to 4 are not in the recording]\n]\n"
      "[kernel.a]\nsrc = [\"a.cu\"]\n[lines 8 to 9 are not in the recording]\n"
      "[kernel.b]\nsrc = [\"b.cu\"]\n"
      "[kernel.c]\nsrc = [\"c.cu\"]\n"
      "[kernel.d]\nsrc = [\"d.cu\"]\n[lines from 14 on, if any, are not in the recording]\n";
  file.versions = 1;
  Material material;
  material.items.push_back({"d1", MaterialKind::kFile, "", {"a#1"}, file});
  const Section part = ConfigurationPart(ProjectFiles(material), true);
  ASSERT_THAT(part.rules, SizeIs(1));
  const std::string& text = part.rules[0].text;
  EXPECT_THAT(text, StartsWith("Parts of `build.toml` (`…` marks lines that the recording leaves out):"));
  for (const char* kept : {"a.cu", "b.cu", "d.cu"}) EXPECT_THAT(text, HasSubstr(kept));
  EXPECT_THAT(text, Not(HasSubstr("c.cu")));
  EXPECT_THAT(text, EndsWith("With the same keys: `[kernel.c]`."));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "install/skill_diff.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "-old", "+new" and names of files.
std::vector<std::string> Shown(const FileMap& before, const FileMap& after, std::size_t most = 100) {
  std::vector<std::string> shown;
  for (const DiffLine& line : SkillDiff(before, after, most)) {
    const char* const mark = line.kind == DiffLine::Kind::kFile ? "" : line.kind == DiffLine::Kind::kAdded ? "+" : "-";
    shown.push_back(mark + line.text);
  }
  return shown;
}

TEST(SkillDiff, ShowsTheLinesThatChange) {
  const FileMap before = {{"SKILL.md", {"a\nb\nc\nd\n"}}, {"gone.md", {"x\n"}}, {"same.md", {"s"}}};
  const FileMap after = {{"SKILL.md", {"a\nB\nc\nd\ne\n"}}, {"new.sh", {"n\n", true}}, {"same.md", {"s"}}};
  EXPECT_THAT(Shown(before, after),
              ElementsAre("SKILL.md", "-b", "+B", "+e", "gone.md (removed)", "-x", "new.sh (new) (executable)", "+n"));
  EXPECT_THAT(Shown(after, after), IsEmpty());
}

TEST(SkillDiff, SaysWhatIsNoText) {
  EXPECT_THAT(Shown({{"a.png", {std::string("\0x", 2)}}}, {{"a.png", {"\xff"}}}),
              ElementsAre("a.png (not text, 2 bytes before, 1 after)"));
  EXPECT_THAT(Shown({{"a.sh", {"x"}}}, {{"a.sh", {"x", true}}}), ElementsAre("a.sh (executable)"));
}

TEST(SkillDiff, HasBounds) {
  const auto lines = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += std::to_string(i) + "\n";
    return text;
  };
  std::string many = lines(1000);
  EXPECT_THAT(Shown({{"a", {many}}, {"b", {"1"}}}, {{"a", {"x\n" + many + "y"}}, {"b", {"2"}}}, 3),
              ElementsAre("a", "+x", "+y", "b", "-1", "+2"));
  EXPECT_THAT(Shown({}, {{"a", {many}}, {"b", {"1"}}}, 3),
              ElementsAre("a (new)", "+0", "+1", "+2", "  … 997 more lines not shown", "b (new)", "+1"))
      << "all files are named";
  many = lines(10'000);
  std::string other = many;
  std::reverse(other.begin(), other.end());
  EXPECT_EQ(SkillDiff({{"a", {many}}}, {{"a", {other}}}, 5).size(), 7U) << "too long to be compared";
}

}  // namespace
}  // namespace upskill

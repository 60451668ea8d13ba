// SPDX-License-Identifier: Apache-2.0
#include "skill/skill_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "skill/skill.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

SkillText Sound() { return {"fast-norm", "Writes norms. Use it for norms.", "Use `x`.", {}, {}, ""}; }

TEST(FindSkillProblems, AValidSkillHasNone) { EXPECT_THAT(FindSkillProblems(Sound()), IsEmpty()); }

TEST(FindSkillProblems, Names) {
  for (const std::string name :
       {"", "Fast", "fast_norm", "-fast", "fast-", "fast--norm", "../../x", "fast norm", "f\x1b", "n\xC3\xA9"}) {
    SkillText skill = Sound();
    skill.name = name;
    EXPECT_THAT(FindSkillProblems(skill), Not(IsEmpty())) << name;
  }
  SkillText skill = Sound();
  skill.name = std::string(64, 'a');
  EXPECT_THAT(FindSkillProblems(skill), IsEmpty());
  skill.name += 'a';
  EXPECT_THAT(FindSkillProblems(skill), ElementsAre(HasSubstr("65 characters")));
}

TEST(FindSkillProblems, DescriptionAndBody) {
  SkillText skill = Sound();
  skill.description = " ";
  EXPECT_THAT(FindSkillProblems(skill), ElementsAre(HasSubstr("description is empty")));
  skill.description = std::string(1025, 'x');
  EXPECT_THAT(FindSkillProblems(skill), ElementsAre(HasSubstr("1025 characters")));
  skill.description = "one --- two";
  EXPECT_THAT(FindSkillProblems(skill), ElementsAre(HasSubstr("'---'")));
  skill = Sound();
  skill.body = "\n---\nname: other\n---\ntext";
  EXPECT_THAT(FindSkillProblems(skill), ElementsAre(HasSubstr("frontmatter of its own")));
  skill.body = "a\x1b[2Jb";
  EXPECT_THAT(FindSkillProblems(skill), ElementsAre(HasSubstr("control characters")));
  skill.body = "\xff";
  EXPECT_THAT(FindSkillProblems(skill), ElementsAre(HasSubstr("UTF-8")));
}

TEST(FindSkillProblems, FileNames) {
  for (const std::string name : {"", "../x", "a/b", ".hidden", "a b", "/etc/passwd"}) {
    SkillText skill = Sound();
    skill.scripts = {{name, "x"}};
    EXPECT_THAT(FindSkillProblems(skill), ElementsAre(HasSubstr("plain file name"))) << name;
  }
  SkillText skill = Sound();
  skill.references = {{"a.md", "x"}, {"A.md", "y"}};
  EXPECT_THAT(FindSkillProblems(skill), ElementsAre(HasSubstr("twice")));
}

TEST(SkillNameFrom, MakesNames) {
  EXPECT_EQ(SkillNameFrom("Write CUDA kernels!"), "write-cuda-kernels");
  EXPECT_EQ(SkillNameFrom("../../x"), "x");
  EXPECT_EQ(SkillNameFrom("日本"), "skill");
  EXPECT_EQ(SkillNameFrom("a b c d e f g h"), "a-b-c-d-e-f");
  EXPECT_EQ(SkillNameFrom(std::string(100, 'a')).size(), 64U);
}

TEST(WriteSkillFolder, RoundTrips) {
  const TempFolder folder;
  SkillText skill = Sound();
  skill.description = "Says \"x: y\" and a \\ backslash: it\nruns on";
  skill.references = {{"more.md", "long"}};
  skill.scripts = {{"run.sh", "echo 1\n"}};
  const Status written = WriteSkillFolder(skill, Folder::Make(folder.path() / "fast-norm").value());
  ASSERT_TRUE(written) << written.error().message;
  const Result<Skill> read = LoadSkill(folder.path() / "fast-norm");
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(read->warnings, IsEmpty());
  EXPECT_EQ(read->name, "fast-norm");
  EXPECT_EQ(read->description, "Says \"x: y\" and a \\ backslash: it runs on");
  EXPECT_EQ(read->body, "Use `x`.");
  EXPECT_THAT(read->references, ElementsAre("references/more.md"));
  EXPECT_EQ(*ReadFile(folder.path() / "fast-norm/scripts/run.sh"), "echo 1\n");
}

TEST(WriteSkillFolder, RejectsInvalidSkills) {
  const TempFolder folder;
  SkillText skill = Sound();
  skill.references = {{"../../out.md", "x"}};
  EXPECT_FALSE(WriteSkillFolder(skill, Folder::Open(folder.path()).value()));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace upskill

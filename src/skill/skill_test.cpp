// SPDX-License-Identifier: Apache-2.0
#include "skill/skill.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "support/source_dir.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr const char* kSkill = "---\nname: pdf-tools\ndescription: Reads PDF files.\n---\n\n# PDF\n\nUse qpdf.\n";

std::string LoadError(const fs::path& path) {
  const Result<Skill> skill = LoadSkill(path);
  EXPECT_FALSE(skill.ok());
  return skill ? "" : skill.error().message;
}

class LoadSkillTest : public ::testing::Test {
 protected:
  fs::path Root() const { return folder_.path() / "pdf-tools"; }
  TempFolder folder_;
};

TEST(ParseSkill, ReadsFieldsAndBody) {
  const Result<Skill> skill = ParseSkill(kSkill, "draft");
  ASSERT_TRUE(skill.ok());
  EXPECT_EQ(skill->name, "pdf-tools");
  EXPECT_EQ(skill->description, "Reads PDF files.");
  EXPECT_EQ(skill->body, "# PDF\n\nUse qpdf.");
  EXPECT_THAT(skill->warnings, IsEmpty());
}

TEST(ParseSkill, WarnsOfAByteOrderMark) {
  const Result<Skill> skill = ParseSkill("\xEF\xBB\xBF---\nname: a\ndescription: d\n---\nB", "s/SKILL.md");
  ASSERT_TRUE(skill.ok());
  EXPECT_EQ(skill->name, "a");
  ASSERT_EQ(skill->warnings.size(), 1U);
  EXPECT_NE(skill->warnings.front().find("byte order mark"), std::string::npos);
}

TEST(ParseSkill, Rejects) {
  const auto error = [](const std::string& text) {
    const Result<Skill> skill = ParseSkill(text, "draft");
    EXPECT_FALSE(skill.ok()) << text;
    return skill ? "" : skill.error().message;
  };
  EXPECT_THAT(error("---\nname: a\n---\nB"),
              AllOf(StartsWith("draft: "), HasSubstr("\"description\" is missing or empty")));
  EXPECT_THAT(error("---\nname: a\ndescription: ''\n---\nB"), HasSubstr("\"description\" is missing or empty"));
  EXPECT_THAT(error("---\nname: a\ndescription: d\n---\n \n\t\n"), HasSubstr("nothing follows the frontmatter"));
  EXPECT_THAT(error("---\nname: [\n---\nB"), StartsWith("draft:3:1: "));
  EXPECT_THAT(error(""), HasSubstr("must start with"));
}

TEST_F(LoadSkillTest, FolderAndFileAndOtherSpelling) {
  const fs::path file = folder_.Write("pdf-tools/SKILL.md", kSkill);
  for (const fs::path& path : {Root(), Root() / "", file}) {
    const Result<Skill> skill = LoadSkill(path);
    ASSERT_TRUE(skill.ok()) << path;
    EXPECT_EQ(skill->name, "pdf-tools");
    EXPECT_TRUE(fs::equivalent(skill->folder, Root()));
    EXPECT_TRUE(fs::equivalent(skill->file, file));
    EXPECT_THAT(skill->warnings, IsEmpty());
  }
  fs::rename(file, Root() / "skill.md");
  EXPECT_TRUE(LoadSkill(Root()).ok());
  EXPECT_TRUE(LoadSkill(Root() / "skill.md").ok());
}

TEST_F(LoadSkillTest, CurrentFolder) {
  folder_.Write("pdf-tools/SKILL.md", kSkill);
  const fs::path before = fs::current_path();
  fs::current_path(Root());
  const Result<Skill> from_dot = LoadSkill(".");
  const Result<Skill> from_file = LoadSkill("SKILL.md");
  fs::current_path(before);
  ASSERT_TRUE(from_dot.ok());
  ASSERT_TRUE(from_file.ok());
  EXPECT_THAT(from_dot->warnings, IsEmpty());
  EXPECT_THAT(from_file->warnings, IsEmpty());
  EXPECT_EQ(from_file->folder, ".");
}

TEST_F(LoadSkillTest, NameFallsBackToTheFolder) {
  folder_.Write("pdf-tools/SKILL.md", "---\ndescription: d\n---\nB");
  const Result<Skill> skill = LoadSkill(Root());
  ASSERT_TRUE(skill.ok());
  EXPECT_EQ(skill->name, "pdf-tools");
  EXPECT_THAT(skill->warnings, ElementsAre(AllOf(HasSubstr("SKILL.md"), HasSubstr("no \"name\""))));
}

TEST_F(LoadSkillTest, NameThatDiffersFromTheFolderIsAWarning) {
  folder_.Write("other/SKILL.md", kSkill);
  const Result<Skill> skill = LoadSkill(folder_.path() / "other");
  ASSERT_TRUE(skill.ok());
  EXPECT_EQ(skill->name, "pdf-tools");
  EXPECT_THAT(skill->warnings, ElementsAre(HasSubstr("name \"pdf-tools\" differs from its folder \"other\"")));
}

TEST_F(LoadSkillTest, PathsThatAreNotSkills) {
  const Result<Skill> absent = LoadSkill(folder_.path() / "absent");
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().kind, ErrorKind::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr("absent: No such file or directory"));
  fs::create_symlink("loop", folder_.path() / "loop");
  EXPECT_THAT(LoadError(folder_.path() / "loop"), HasSubstr("loop: Too many levels of symbolic links"));
  EXPECT_THAT(LoadError(folder_.path()), HasSubstr("no SKILL.md in this folder"));
  EXPECT_THAT(LoadError(folder_.Write("README.md", kSkill)), HasSubstr("give the skill's folder or its SKILL.md"));
  fs::create_directories(folder_.path() / "odd" / "SKILL.md");
  EXPECT_FALSE(LoadSkill(folder_.path() / "odd").ok());
  folder_.Write("pdf-tools/SKILL.md", std::string(kSkill) + std::string((1U << 20U), 'x'));
  EXPECT_THAT(LoadError(Root()), HasSubstr("larger than 1,048,576 bytes"));
}

TEST_F(LoadSkillTest, ErrorsNameFileAndLine) {
  const fs::path file = folder_.Write("pdf-tools/SKILL.md", "---\nname: pdf-tools\ndescription: a: b\n  c\n---\nB");
  EXPECT_THAT(LoadError(Root()), StartsWith(file.string() + ":3:15: "));
  folder_.Write("pdf-tools/SKILL.md", std::string("---\nname: \xFF\n---\nB"));
  EXPECT_THAT(LoadError(Root()), StartsWith(file.string() + ":2:7: not UTF-8"));
}

// Behind a link, SKILL.md may be any file.
TEST_F(LoadSkillTest, ErrorsRepeatNothingOfALinkedFile) {
  fs::create_directories(Root());
  fs::create_symlink("../secret", Root() / "SKILL.md");
  for (const std::string text :
       {"SECRET", "---\nSECRET\n---\nB", "---\n*SECRET\n---\nB", "---\n- SECRET\n---\nB", "---\nSECRET: [\n---\nB",
        "---\nname: \"\\SECRET\"\n---\nB", "---\nname: {SECRET: 1}\n---\nB", "---\nname: a\n---\nSECRET"}) {
    folder_.Write("secret", text);
    EXPECT_THAT(LoadError(Root()), Not(HasSubstr("SECRET"))) << text;
  }
}

TEST_F(LoadSkillTest, ListsReferencesAndScripts) {
  folder_.Write("pdf-tools/SKILL.md", kSkill);
  folder_.Write("pdf-tools/references/b.md", "");
  folder_.Write("pdf-tools/references/a/deep/c.md", "");
  folder_.Write("pdf-tools/scripts/run.py", "");
  folder_.Write("pdf-tools/assets/logo.png", "");
  const Result<Skill> skill = LoadSkill(Root());
  ASSERT_TRUE(skill.ok());
  EXPECT_THAT(skill->references, ElementsAre("references/a/deep/c.md", "references/b.md"));
  EXPECT_THAT(skill->scripts, ElementsAre("scripts/run.py"));
  EXPECT_THAT(skill->warnings, IsEmpty());
}

TEST_F(LoadSkillTest, SymbolicLinksAreNotFollowed) {
  folder_.Write("pdf-tools/SKILL.md", kSkill);
  folder_.Write("pdf-tools/references/real.md", "");
  folder_.Write("outside/secret.txt", "");
  fs::create_symlink(folder_.path() / "outside" / "secret.txt", Root() / "references" / "link.txt");
  fs::create_directory_symlink(folder_.path() / "outside", Root() / "references" / "folder");
  fs::create_directory_symlink("..", Root() / "references" / "loop");
  fs::create_directory_symlink(folder_.path() / "outside", Root() / "scripts");
  const Result<Skill> skill = LoadSkill(Root());
  ASSERT_TRUE(skill.ok());
  EXPECT_THAT(skill->references, ElementsAre("references/real.md"));
  EXPECT_THAT(skill->scripts, IsEmpty());
}

TEST_F(LoadSkillTest, ListingIsCapped) {
  folder_.Write("pdf-tools/SKILL.md", kSkill);
  for (int i = 0; i < 2000; ++i) folder_.Write("pdf-tools/references/" + std::to_string(i), "");
  const Result<Skill> full = LoadSkill(Root());
  ASSERT_TRUE(full.ok());
  EXPECT_THAT(full->references, SizeIs(2000));
  EXPECT_THAT(full->warnings, IsEmpty());
  folder_.Write("pdf-tools/references/one-more", "");
  const Result<Skill> capped = LoadSkill(Root());
  ASSERT_TRUE(capped.ok());
  EXPECT_THAT(capped->references, SizeIs(2000));
  EXPECT_THAT(capped->warnings, Contains(HasSubstr("only 2000 files could be listed")));
}

TEST(LoadSkill, ExampleIsValid) {
  const fs::path folder = SourceDir() / "examples/skills/kernel-builder-cuda-kernels";
  const Result<Skill> skill = LoadSkill(folder);
  ASSERT_TRUE(skill.ok()) << skill.error().message;
  EXPECT_EQ(skill->name, "kernel-builder-cuda-kernels");
  EXPECT_THAT(skill->description, HasSubstr("kernel-builder: build.toml"));
  EXPECT_THAT(skill->body, HasSubstr("TORCH_LIBRARY_EXPAND"));
  EXPECT_THAT(skill->warnings, IsEmpty());
}

}  // namespace
}  // namespace upskill

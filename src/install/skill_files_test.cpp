// SPDX-License-Identifier: Apache-2.0
#include "install/skill_files.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>

#include "support/skill_folder.h"
#include "util/known_secrets.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SkillFilesTest : public testing::Test {
 protected:
  static std::string ErrorOf(const fs::path& of_skill) {
    const Result<SkillFiles> read = ReadSkillFolder(of_skill, EvaluationFiles::kLeftOut);
    return read ? "" : read.error().message;
  }

  static std::vector<std::string> Names(const FileMap& files) {
    std::vector<std::string> names;
    names.reserve(files.size());
    for (const auto& [name, file] : files) names.push_back(name);
    return names;
  }

  TempFolder folder;
  fs::path skill = WriteSkill(folder, "greet", "greet");
};

TEST_F(SkillFilesTest, EvaluationStaysBehind) {
  folder.Write("greet/.git/HEAD", "");
  folder.Write("greet/scripts/__pycache__/a.pyc", "");
  for (const char* name : {"promptfooconfig.yaml", "eval_queries.json", ".upskill/evals.json"})
    folder.Write(std::string("greet/") + name, "{}");
  const Result<SkillFiles> read = ReadSkillFolder(skill, EvaluationFiles::kLeftOut);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->name, "greet");
  EXPECT_THAT(Names(read->files), ElementsAre("SKILL.md", "references/words.md", "scripts/greet.sh"));
  EXPECT_TRUE(read->files.at("scripts/greet.sh").executable);
  EXPECT_FALSE(read->files.at("SKILL.md").executable);
  EXPECT_THAT(Names(ReadSkillFolder(skill, EvaluationFiles::kIncluded)->files),
              ElementsAre(".upskill/evals.json", "SKILL.md", "answers/right.md", "eval_queries.json",
                          "evals/evals.json", "promptfooconfig.yaml", "references/words.md", "runs/a/plan.json",
                          "scripts/greet.sh", "skill_meta.json", "tests.json", "upskill.json"));
}

TEST_F(SkillFilesTest, VersionIsThatOfTheFrontmatter) {
  folder.Write("greet/SKILL.md", "---\nname: greet\ndescription: d\nmetadata:\n  version: \"1.2\"\n---\nbody\n");
  EXPECT_EQ(ReadSkillFolder(skill, EvaluationFiles::kLeftOut)->version, "1.2");
}

TEST_F(SkillFilesTest, NamesFollowTheSpecification) {
  for (const char* name : {"../x", "a/b", "Greet", "-a", "a--b", "a.b", ".."}) {
    folder.Write("greet/SKILL.md", SkillFileOf(name));
    EXPECT_THAT(ErrorOf(skill), HasSubstr("correct it in the frontmatter")) << name;
  }
  folder.Write("Other/SKILL.md", "---\ndescription: d\n---\nbody\n");
  EXPECT_THAT(ErrorOf(folder.path() / "Other"), HasSubstr("correct it in the frontmatter"));
}

TEST_F(SkillFilesTest, LinksStayInside) {
  fs::create_symlink("words.md", skill / "references/same.md");
  EXPECT_EQ(ReadSkillFolder(skill, EvaluationFiles::kLeftOut)->files.at("references/same.md").content, "hello\n");
  const fs::path outside = folder.Write("secret.txt", "secret");
  const fs::path link = skill / "references/link.md";
  fs::create_symlink(outside, link);
  EXPECT_THAT(ErrorOf(skill), AllOf(HasSubstr("link.md"), HasSubstr("outside the skill")));
  fs::remove(link);
  fs::create_symlink("../../greet-other/x", link);
  EXPECT_THAT(ErrorOf(skill), HasSubstr("leads to nothing"));
  fs::remove(link);
  folder.Write("greet-other/x", "x");
  fs::create_symlink("../../greet-other/x", link);
  EXPECT_THAT(ErrorOf(skill), HasSubstr("outside the skill"));
  fs::remove(link);
  fs::create_directory_symlink("../scripts", link);
  EXPECT_THAT(ErrorOf(skill), HasSubstr("what isn't a file"));
  fs::remove(link);
  fs::create_symlink(link.filename(), link);
  EXPECT_THAT(ErrorOf(skill), HasSubstr("leads to nothing"));
}

TEST_F(SkillFilesTest, OnlyRegularFiles) {
  ASSERT_EQ(::mkfifo((skill / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf(skill), HasSubstr("neither a file nor a folder"));
}

TEST_F(SkillFilesTest, NamesThatDifferInCaseClash) {
  folder.Write("greet/references/WORDS.md", "other");
  EXPECT_THAT(ErrorOf(skill), HasSubstr("'references/WORDS.md' and 'references/words.md' differ only"));
  fs::remove(skill / "references/WORDS.md");
  folder.Write("greet/Scripts/other.sh", "other");
  EXPECT_THAT(ErrorOf(skill), HasSubstr("'Scripts' and 'scripts' differ only"));
}

TEST_F(SkillFilesTest, NamesThatOtherSystemsReadDifferently) {
  folder.Write("greet/a\\..\\b", "x");
  EXPECT_THAT(ErrorOf(skill), HasSubstr("isn't a plain file name"));
  fs::remove(skill / "a\\..\\b");
  folder.Write("greet/\xff", "x");
  EXPECT_THAT(ErrorOf(skill), HasSubstr("isn't UTF-8"));
  fs::remove(skill / "\xff");
  folder.Write("greet/a\nb", "x");
  EXPECT_THAT(ErrorOf(skill), HasSubstr("control character"));
}

TEST_F(SkillFilesTest, LargeFoldersAreNoSkills) {
  folder.Write("greet/large.bin", "");
  fs::resize_file(skill / "large.bin", kMaxSkillFileBytes + 1);
  EXPECT_THAT(ErrorOf(skill), HasSubstr("a skill may have 2,000 files of at most 67.1 MB each"));
  fs::remove(skill / "large.bin");
  for (std::size_t i = 0; i < kMaxSkillFiles; ++i) folder.Write("greet/many/" + std::to_string(i), "");
  EXPECT_THAT(ErrorOf(skill), HasSubstr("a skill may have"));
}

TEST_F(SkillFilesTest, KeysAreNotPassedOn) {
  RememberSecret(Secret("sk-of-the-skill-files-test"));
  folder.Write("greet/scripts/call.sh", "curl -H 'x-key: sk-of-the-skill-files-test'");
  EXPECT_THAT(ErrorOf(skill),
              AllOf(HasSubstr("'scripts/call.sh' contains one of your keys"), ::testing::Not(HasSubstr("sk-of"))));
}

TEST_F(SkillFilesTest, DifferencesAreNamed) {
  const Result<SkillFiles> read = ReadSkillFolder(skill, EvaluationFiles::kIncluded);
  const FileHashes hashes = HashesOf(read->files);
  EXPECT_THAT(*DifferencesFrom(hashes, skill), IsEmpty());
  folder.Write("greet/scripts/__pycache__/a.pyc", "left by Python");
  EXPECT_THAT(*DifferencesFrom(hashes, skill), IsEmpty());
  folder.Write("greet/SKILL.md", "other");
  folder.Write("greet/notes.md", "mine");
  fs::remove(skill / "tests.json");
  fs::remove(skill / "upskill.json");
  fs::create_symlink("SKILL.md", skill / "upskill.json");
  EXPECT_THAT(*DifferencesFrom(hashes, skill), ElementsAre("SKILL.md was changed", "notes.md was added",
                                                           "tests.json was removed", "upskill.json was changed"));
}

}  // namespace
}  // namespace upskill

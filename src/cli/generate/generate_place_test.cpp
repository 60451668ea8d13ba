// SPDX-License-Identifier: Apache-2.0
// Where `generate` puts a skill, and what it says about it before a model is asked.
#include "cli/generate/generate_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "skill/skill.h"
#include "support/generate_fixture.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class GeneratePlace : public GenerateCli {
 protected:
  int Teach(std::vector<std::string> more) {
    more.insert(more.begin(), {"Add numbers", "-m", "generic.teacher", "--base-url", teacher_.url(), "--no-eval"});
    return Generate(more);
  }
  std::size_t asked() const { return teacher_.requests().size(); }

  TeacherServer teacher_{"[sim 0.95]"};
};

TEST_F(GeneratePlace, ASecondRunOfTheSameTaskAsksNobody) {
  ASSERT_EQ(Teach({}), 0) << error;
  EXPECT_THAT(error, HasSubstr("NAME; the teacher chooses the name\n"));
  const std::size_t before = asked();
  EXPECT_EQ(Teach({}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("already contains a skill made from the same sources"), HasSubstr("--overwrite"),
                           HasSubstr("--name NAME"), HasSubstr("--from " + skill("adding").string())));
  EXPECT_EQ(asked(), before);
  ASSERT_EQ(Teach({"--name", "summing"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("skill    goes to " + skill("summing").string() + "\n"));
  EXPECT_TRUE(fs::exists(skill("adding") / "SKILL.md"));
}

TEST_F(GeneratePlace, OverwriteReplacesTheSkillAndKeepsItsFiles) {
  folder.Write("skills/adding/SKILL.md", "---\nname: adding\ndescription: Old.\n---\nOld text.\n");
  folder.Write("skills/adding/references/old.md", "old\n");
  folder.Write("skills/adding/notes.txt", "mine\n");
  EXPECT_EQ(Teach({"--name", "adding"}), 2);
  EXPECT_EQ(asked(), 0U);
  ASSERT_EQ(Teach({"--name", "adding", "--overwrite"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("skill    replaces " + skill("adding").string()));
  EXPECT_THAT(LoadSkill(skill("adding"))->body, HasSubstr("Draft"));
  EXPECT_FALSE(fs::exists(skill("adding") / "references/old.md"));
  EXPECT_TRUE(fs::exists(skill("adding") / "notes.txt"));  // not a file of the skill
  std::string kept;
  for (const auto& entry : fs::recursive_directory_iterator(runs() / "generations")) {
    if (entry.path().filename() == "SKILL.md") kept = *ReadFile(entry.path());
  }
  EXPECT_THAT(kept, HasSubstr("Old text."));
}

// The generation keeps the skill that it replaced first; there is no place for another one.
TEST_F(GeneratePlace, ASkillThatCameAfterTheReplacementStays) {
  folder.Write("skills/adding/SKILL.md", "---\nname: adding\ndescription: Old.\n---\nOld text.\n");
  ASSERT_EQ(Teach({"--name", "adding", "--overwrite"}), 0) << error;
  fs::remove_all(skill("adding"));
  folder.Write("skills/adding/SKILL.md", "---\nname: adding\ndescription: New.\n---\nBy hand.\n");
  EXPECT_EQ(Generate({"--resume"}), 0) << error;
  EXPECT_THAT(LoadSkill(skill("adding"))->body, HasSubstr("By hand."));
  EXPECT_THAT(out, HasSubstr("contains another skill"));
}

TEST_F(GeneratePlace, AnotherSkillOfTheNameThatTheTeacherChoseStays) {
  folder.Write("skills/adding/SKILL.md", "---\nname: adding\ndescription: Old.\n---\nOld text.\n");
  ASSERT_EQ(Teach({}), 0) << error;
  EXPECT_THAT(LoadSkill(skill("adding"))->body, HasSubstr("Old text."));
  EXPECT_EQ(LoadSkill(skill("adding-2"))->name, "adding-2");
}

TEST_F(GeneratePlace, OverwriteNeedsAGenerationThatIsKept) {
  EXPECT_EQ(Teach({"--overwrite", "--no-log-runs"}), 2);
  EXPECT_THAT(error, HasSubstr("--overwrite can't be combined with --no-log-runs"));
}

TEST_F(GeneratePlace, TheFolderOfOutputGivesTheNameOnlyIfItSaysSomething) {
  const auto name_in = [&](const std::string& output) {
    EXPECT_EQ(Teach({"-o", (folder.path() / output).string()}), 0) << error;
    const Result<Skill> skill = LoadSkill(folder.path() / output);
    return skill ? skill->name : skill.error().message;
  };
  for (const char* output : {"a/skill", "b/my-new-skill-2/", "v2-out", "out1", "d/skill-test02", "c/CUDA Kernels"})
    EXPECT_EQ(name_in(output), "adding") << output << ": the teacher was asked for a name";
  EXPECT_EQ(name_in("e/sm90"), "sm90");
  EXPECT_EQ(name_in("c/kernel-skill"), "kernel-skill");
  EXPECT_EQ(name_in("cuda/"), "cuda");
}

TEST_F(GeneratePlace, TheFolderNamesASkillWhoseTeacherCannot) {
  teacher_.hook = [](const std::string& body) -> std::optional<loopback::Script> {
    Json draft = DraftJson("Draft");
    draft["name"] = "skill";
    if (AsAsked(draft, body) != draft) return std::nullopt;  // something else than a draft with a name
    return loopback::ChatCompletion(DumpJson(draft));
  };
  const auto name_in = [&](const std::string& output) {
    EXPECT_EQ(Teach({"-o", (folder.path() / output).string()}), 0) << error;
    const Result<Skill> skill = LoadSkill(folder.path() / output);
    return skill ? skill->name : skill.error().message;
  };
  EXPECT_EQ(name_in("a/CUDA Kernels"), "cuda-kernels");
  EXPECT_EQ(name_in("b/My_Skill"), "skill");
  EXPECT_EQ(name_in("b/Größe"), "skill") << "not gr-e";
}

TEST_F(GeneratePlace, TrialsAreKeptApartFromResults) {
  ASSERT_EQ(GenerateBy(teacher_.url(), {"Add numbers", "--eval-model", "sim:base=0.1,skill=0.9"}), 0) << error;
  ASSERT_EQ(Run({"runs", "-d", runs().string(), "--csv", "-"}), 0);
  const std::string results = out;
  ASSERT_EQ(Run({"runs", "-d", runs().string(), "--all"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("trial: train"), HasSubstr("helps")));
  ASSERT_EQ(Run({"runs", "-d", runs().string()}), 0);
  EXPECT_THAT(error, HasSubstr("of generations are not shown: --all shows them"));
  EXPECT_EQ(std::count(results.begin(), results.end(), '\n'), 3);  // the head, and two arms of the final measurement
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "skill/skill_tree.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kCases = R"({"cases": [{"id": "a", "input": "i", "expected": {"contains": "x"}}]})";

class SkillTreeTest : public ::testing::Test {
 protected:
  std::vector<std::string> HiddenFrom(const fs::path& cases, const std::vector<fs::path>& places = {}) {
    const Result<Suite> suite = LoadSuite(cases, skill);
    EXPECT_TRUE(suite.ok()) << suite.error().message;
    return suite ? HiddenPaths({skill}, *suite, places) : std::vector<std::string>();
  }

  TempFolder folder;
  fs::path skill = folder.path() / "sums";
};

TEST_F(SkillTreeTest, OddEntriesAreErrorsOrLeftOut) {
  folder.Write("sums/SKILL.md", "s");
  folder.Write("sums/a/b.sh", "b");
  fs::create_symlink("a/b.sh", skill / "link");
  const auto none = [](const std::string&) { return false; };
  EXPECT_EQ(ReadSkillFiles(skill, none, OddEntries::kErrors, {})->at("link").content, "b");
  EXPECT_FALSE(ReadSkillFiles(skill, none, OddEntries::kLeftOut, {})->contains("link"));
  ASSERT_EQ(::mkfifo((skill / "pipe").c_str(), 0600), 0);
  EXPECT_THAT(ReadSkillFiles(skill, none, OddEntries::kErrors, {}).error().message, HasSubstr("neither a file nor"));
  const Result<FileMap> read = ReadSkillFiles(skill, none, OddEntries::kLeftOut, {2, 1, 2});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_THAT(*read, testing::SizeIs(2));
  for (const SkillLimits& limits : {SkillLimits{1, 1, 2}, SkillLimits{2, 0, 2}, SkillLimits{2, 1, 1}}) {
    EXPECT_THAT(ReadSkillFiles(skill, none, OddEntries::kLeftOut, limits).error().message,
                HasSubstr("a skill may have"));
  }
  const auto of_a = [](const std::string& name) { return name == "a"; };
  EXPECT_THAT(*ReadSkillFiles(skill, of_a, OddEntries::kLeftOut, {}), testing::SizeIs(1));
}

TEST_F(SkillTreeTest, DeepFoldersAreNoSkills) {
  std::string deep = "sums";
  for (int level = 0; level < 34; ++level) deep += "/d";
  folder.Write(deep + "/file", "");
  folder.Write("sums/SKILL.md", "");
  const SkillListing listing = ListSkillFolder(skill, IsPassedOver);
  ASSERT_FALSE(listing.status.ok());
  EXPECT_THAT(listing.status.error().message, HasSubstr("a folder that holds one skill"));
  EXPECT_THAT(ListSkillFiles(skill), ElementsAre("SKILL.md"));
}

TEST_F(SkillTreeTest, SuitesHideTheirFileAndTheAnswersBesideIt) {
  const fs::path cases = folder.Write("sums/checks/deep/cases.json", kCases);
  EXPECT_THAT(HiddenFrom(cases), testing::IsSupersetOf({"checks/deep/cases.json", "checks/deep/answers"}));
  const fs::path elsewhere = folder.Write("elsewhere/cases.json", kCases);
  EXPECT_THAT(HiddenFrom(elsewhere), IsEmpty());
  EXPECT_THAT(HiddenFrom(elsewhere, {skill / "results", folder.path() / "runs"}), Contains("results"));
}

TEST_F(SkillTreeTest, LinksHideWhereTheyAreAndWhereTheyLead) {
  folder.Write("elsewhere/cases.json", kCases);
  folder.Write("sums/truth/a/reference.md", "x");
  fs::create_directories(skill / "checks");
  fs::create_symlink(folder.path() / "elsewhere/cases.json", skill / "checks/cases.json");
  fs::create_directory_symlink("../truth", skill / "checks/answers");
  EXPECT_THAT(HiddenFrom(skill / "checks/cases.json"), testing::IsSupersetOf({"checks/answers", "truth"}));
}

TEST_F(SkillTreeTest, FilesThatASuiteRefersToAreHidden) {
  folder.Write("sums/SKILL.md", "");
  folder.Write("sums/grading/cases.json", kCases);
  const fs::path manifest =
      folder.Write("ci.json", R"({"scenarios": [{"skills": ["sums"], "tests": "sums/grading/cases.json"}]})");
  EXPECT_THAT(HiddenFrom(manifest), Contains("grading/cases.json"));
  folder.Write("sums/quiz/parts/tests.yaml",
               "- vars: {q: sum}\n  assert:\n    - {type: equals, value: 'file://parts/{{q}}.txt'}\n");
  folder.Write("sums/quiz/parts/sum.txt", "6");
  const fs::path promptfoo =
      folder.Write("sums/quiz/all.yaml", "prompts: ['{{q}}?']\ntests: file://parts/tests.yaml\n");
  EXPECT_THAT(HiddenFrom(promptfoo), testing::IsSupersetOf({"quiz/parts/tests.yaml", "quiz/parts/sum.txt"}));
}

TEST_F(SkillTreeTest, FilesOfCasesAreHiddenWhereverTheyAreWithTheAnswersBesideThem) {
  folder.Write("sums/SKILL.md", "");
  folder.Write("sums/references/cases.json", kCases);
  folder.Write("sums/g/other.json", kCases);
  const fs::path manifest = folder.Write("ci.json", R"({"scenarios": [
    {"skills": ["sums"], "tests": "sums/references/cases.json"}, {"skills": ["other"], "tests": "sums/g/other.json"}]})");
  const std::vector<std::string> hidden = HiddenFrom(manifest);
  EXPECT_THAT(hidden, testing::IsSupersetOf({"references/cases.json", "references/answers", "g/other.json"}));
  EXPECT_TRUE(IsAtOrBelow("references/Answers/a/reference.md", hidden));
}

TEST_F(SkillTreeTest, AnswersBesideTheTargetOfALinkAreHidden) {
  folder.Write("sums/store/cases.json", kCases);
  fs::create_symlink("sums/store/cases.json", folder.path() / "cases.json");
  EXPECT_THAT(HiddenFrom(folder.path() / "cases.json"), Contains("store/answers"));
}

TEST_F(SkillTreeTest, WhatHiddenLinksLeadToAndRunsAreHidden) {
  const fs::path cases = folder.Write("sums/tests.json", kCases);
  folder.Write("sums/sol/r.md", "6");
  folder.Write("sums/answers/a/note.md", "");
  fs::create_symlink("../../sol/r.md", skill / "answers/a/reference.md");
  fs::create_directory_symlink("sol", skill / "evals");
  for (const char* file : {"out/run/plan.json", "out/run/samples.jsonl", "assets/plan.json", "data/samples.jsonl"})
    folder.Write(fs::path("sums") / file, "{}");
  const std::vector<std::string> hidden = HiddenFrom(cases);
  EXPECT_THAT(hidden, testing::IsSupersetOf({"sol/r.md", "sol", "out/run"}));
  EXPECT_THAT(hidden, Not(testing::AnyOf(Contains("assets"), Contains("data"))));
}

TEST_F(SkillTreeTest, PartsOfASkillAreNotHiddenByChecks) {
  folder.Write("sums/references/schema.json", "{}");
  const fs::path cases = folder.Write("sums/cases.yaml", R"(- vars: {prompt: p}
  assert: [{type: is-json, value: file://references/schema.json}]
)");
  EXPECT_THAT(HiddenFrom(cases), Not(Contains("references/schema.json")));
}

TEST(IsEvaluationFile, LooksAtTheFirstLevelInAnyCase) {
  for (const char* name : {"tests.json", "tests/a", "Answers/a/b", "lineage.json", ".upskill/evals.json"})
    EXPECT_TRUE(IsEvaluationFile(name)) << name;
  for (const char* name : {"SKILL.md", "scripts/tests/a.py", "references/lineage.json", "testset"})
    EXPECT_FALSE(IsEvaluationFile(name)) << name;
}

}  // namespace
}  // namespace upskill

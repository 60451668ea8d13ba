// SPDX-License-Identifier: Apache-2.0
// `prompts`, --prompts, and teachers that need no key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "prompts/prompts.h"
#include "support/generate_fixture.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class GeneratePrompts : public GenerateCli {
 protected:
  int FromTeacher(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"Add numbers",  "-m",     "generic.teacher", "--base-url", teacher.url(),
                                          "--eval-model", kStudent, "--max-attempts",  "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Generate(arguments);
  }
  fs::path generation() const { return fs::directory_iterator(runs() / "generations")->path(); }
  Json Stored() const { return *ParseJson(*ReadFile(generation() / "generation.json"), "generation.json"); }

  static constexpr const char* kStudent = "sim:base=0.1,skill=body";
  TeacherServer teacher{"[sim 0.9]"};
};

TEST_F(GeneratePrompts, AreListedAndPrinted) {
  EXPECT_EQ(Run({"prompts"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("draft-system    Tells the teacher"), HasSubstr("task, examples (optional),")));
  EXPECT_EQ(Run({"prompts", "draft"}), 0);
  EXPECT_EQ(out, BuiltInPrompts().Text("draft"));
  EXPECT_EQ(Run({"prompts", "drafts"}), 2);
  EXPECT_THAT(error, HasSubstr("no prompt is named 'drafts'; did you mean 'draft'?"));
  folder.Write("own/student.md", "Be terse.\n");
  EXPECT_EQ(Run({"prompts", "--prompts", (folder.path() / "own").string()}), 0);
  EXPECT_THAT(out, HasSubstr("the skill follows [changed]\n"));
}

TEST_F(GeneratePrompts, OwnOnesReachTeacherAndStudent) {
  folder.Write("own/draft-system.md", "You write skills in the style of MARK-TEACHER.");
  folder.Write("own/student.md", "MARK-STUDENT");
  const std::string own = (folder.path() / "own").string();
  EXPECT_EQ(FromTeacher({"--prompts", own}), 0) << error;
  EXPECT_THAT(teacher.requests().front().body, HasSubstr("MARK-TEACHER"));
  EXPECT_EQ(Stored()["prompts"]["student"], "MARK-STUDENT");
  bool found = false;
  for (const auto& entry : fs::directory_iterator(runs())) {
    const Result<std::string> plan = ReadFile(entry.path() / "plan.json");
    found = found || (plan && plan->find("MARK-STUDENT") != std::string::npos);
  }
  EXPECT_TRUE(found);
}

TEST_F(GeneratePrompts, AWrongOneIsAnErrorBeforeAnythingIsSent) {
  folder.Write("own/draft.md", "Write it.\nIn {{words}} words.");
  EXPECT_EQ(FromTeacher({"--prompts", (folder.path() / "own").string()}), 2);
  EXPECT_THAT(error, HasSubstr("own/draft.md:2: unknown placeholder {{words}}"));
  EXPECT_TRUE(teacher.requests().empty());
}

TEST_F(GeneratePrompts, AResumedGenerationKeepsThem) {
  folder.Write("own/draft-system.md", "MARK-TEACHER");
  const std::string own = (folder.path() / "own").string();
  ASSERT_EQ(FromTeacher({"--prompts", own}), 0) << error;
  const std::size_t asked = teacher.requests().size();
  fs::remove_all(own);
  EXPECT_EQ(Generate({"--resume"}), 0) << error;
  EXPECT_EQ(teacher.requests().size(), asked);
  EXPECT_THAT(error, HasSubstr("prompts  those that the generation was started with (SHA-256 "));
  folder.Write("own/draft-system.md", "OTHER");
  EXPECT_EQ(Generate({"--resume", "--prompts", own}), 2);
  EXPECT_THAT(error, HasSubstr("started with other prompts: leave --prompts out"));
}

// As from an earlier version.
TEST_F(GeneratePrompts, AGenerationWithoutStoredPromptsSaysSo) {
  ASSERT_EQ(FromTeacher({}), 0) << error;
  Json json = Stored();
  json.erase("prompts");
  ASSERT_TRUE(WriteFileAtomically(generation() / "generation.json", DumpJsonIndented(json)));
  EXPECT_EQ(Generate({"--resume"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("prompts  the generation is from a version that didn't store them"));
}

TEST_F(GeneratePrompts, ATaskAloneUsesAnthropicsBestModelIfThereIsAKey) {
  variables["ANTHROPIC_API_KEY"] = "sk-ant-0123456789";
  EXPECT_EQ(Generate({"Add numbers", "--eval-model", kStudent, "--dry-run"}), 0) << error;
  EXPECT_THAT(error, StartsWith("teacher  using opus, with the key from ANTHROPIC_API_KEY"));
  EXPECT_THAT(out, HasSubstr("teacher   opus ("));
  EXPECT_EQ(Generate({"Add numbers", "--eval-model", kStudent, "--dry-run", "-m", "haiku"}), 0) << error;
  EXPECT_THAT(error, Not(HasSubstr("opus")));
}

TEST_F(GeneratePrompts, ACritiqueIsPlannedAndCounted) {
  EXPECT_EQ(FromTeacher({"--dry-run"}), 0) << error;
  EXPECT_THAT(out, HasSubstr("about 3 requests, one of them to correct its draft"));
  EXPECT_EQ(FromTeacher({"--no-critique", "--dry-run"}), 0) << error;
  EXPECT_THAT(out, HasSubstr("about 2 requests (more if"));
  EXPECT_EQ(FromTeacher({}), 0) << error;
  EXPECT_THAT(out, HasSubstr("teacher critique 1 call, 100 tokens in"));
  EXPECT_EQ(Stored()["options"]["no_critique"], false);
  EXPECT_EQ(Generate({"--resume", "--no-critique"}), 2);
  EXPECT_THAT(error, HasSubstr("the generation was started without --no-critique"));
}

// The skill is measured on what the user would expect, and the first lines say on what.
TEST_F(GeneratePrompts, TheStudentFollowsFromTheTeacher) {
  variables["ANTHROPIC_API_KEY"] = "key";
  EXPECT_EQ(Generate({"Add numbers", "-m", "sonnet", "--dry-run"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("student  haiku, a cheaper model of the teacher's provider, because no --eval-model"));
  EXPECT_THAT(out, HasSubstr("student   haiku ("));
  EXPECT_EQ(Generate({"Add numbers", "-m", "haiku", "--dry-run"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("student  haiku, the teacher itself, because no --eval-model was given"));
  EXPECT_EQ(Generate({"Add numbers", "-m", "generic.teacher", "--base-url", teacher.url(), "--dry-run"}), 0) << error;
  EXPECT_THAT(error, HasSubstr("student  generic.teacher, the teacher itself"));
  EXPECT_EQ(Generate({"Add numbers", "-m", "sonnet", "--eval-model", kStudent, "--dry-run"}), 0) << error;
  EXPECT_THAT(error, Not(HasSubstr("student  ")));
  EXPECT_THAT(teacher.requests(), testing::IsEmpty());
}

class GenerateWithoutKey : public GenerateCli {
 protected:
  // A teacher in a shell script, which notes how often it was called.
  void WriteTeacher() {
    folder.Write("cases.json", DumpJson(CasesJson(16)));
    folder.Write("draft.json", "Here it is:\n```json\n" + DumpJson(DraftJson("Draft [sim 0.9]")) + "\n```\n");
    folder.Write("teacher.sh", "cd '" + folder.path().string() +
                                   "'; echo call >>calls; p=$(cat)\n"
                                   "case \"$p\" in *'\"contains\"'*) cat cases.json;; *) cat draft.json;; esac\n");
  }
  std::string Command() const { return "cmd:sh " + (folder.path() / "teacher.sh").string(); }
  std::vector<std::string> Arguments() const {
    return {"Add numbers",    "-m", Command(),      "--eval-model", "sim:base=0.1,skill=body",
            "--max-attempts", "0",  "--no-critique"};
  }
};

TEST_F(GenerateWithoutKey, ACommandIsTheTeacher) {
  WriteTeacher();
  EXPECT_EQ(Generate(Arguments()), 0) << error;
  EXPECT_TRUE(fs::exists(skill("adding") / "SKILL.md"));
  EXPECT_EQ(*ReadFile(folder.path() / "calls"), "call\ncall\n");
}

// generation.json may have come from elsewhere.
TEST_F(GenerateWithoutKey, AResumedGenerationRunsOnlyACommandThatIsNamedAgain) {
  WriteTeacher();
  ASSERT_EQ(Generate(Arguments()), 0) << error;
  EXPECT_EQ(Generate({"--resume"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("options.model: to confirm that this command may be run, repeat -m 'cmd:sh "),
                           HasSubstr("teacher.sh'")));
  EXPECT_EQ(Generate({"--resume", "-m", Command()}), 0) << error;
  EXPECT_EQ(*ReadFile(folder.path() / "calls"), "call\ncall\n");
}

TEST_F(GenerateWithoutKey, AProjectsConfigurationNamesNoCommand) {
  folder.Write("project/upskill.config.yaml", "skill_generation_model: 'cmd:touch started'\n");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path() / "project");
  variables.erase("UPSKILL_CONFIG");
  const int code = Generate({"Add numbers", "--eval-model", "sim:base=0.1"});
  fs::current_path(before);
  EXPECT_EQ(code, 2);
  EXPECT_THAT(error, AllOf(HasSubstr("names model files, commands or servers"), HasSubstr("cmd:touch started")));
}

TEST_F(GenerateWithoutKey, ACostLimitNeedsThePriceOfACommand) {
  WriteTeacher();
  std::vector<std::string> arguments = Arguments();
  arguments.insert(arguments.end(), {"--max-cost", "1"});
  EXPECT_EQ(Generate(arguments), 2);
  EXPECT_THAT(error, HasSubstr("is unknown, so --max-cost can't be enforced"));
  folder.Write("home/.config/upskill/models.toml",
               "[[price]]\nproviders = [\"cmd\"]\nmodels = [\"sh *\"]\ninput = 0\noutput = 0\n");
  EXPECT_EQ(Generate(arguments), 0) << error;
}

}  // namespace
}  // namespace upskill

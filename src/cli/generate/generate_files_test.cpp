// SPDX-License-Identifier: Apache-2.0
// What happens to the files of a skill, and to those of a generation, when a session fails or ends early.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/generate_fixture.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kBodyStudent = "sim:base=0.1,skill=body";

// While it lives, this process can't make files larger than `bytes`.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes = 0) : action_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit none = before_;
    none.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &none);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, action_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*action_)(int);
  rlimit before_{};
};

class GenerateFiles : public GenerateCli {
 protected:
  fs::path generation() const { return fs::directory_iterator(runs() / "generations")->path(); }

  // A skill written by hand, without tests.
  void WriteSums(const std::string& body) const {
    folder.Write("skills/sums/SKILL.md",
                 "---\nname: sums\nlicense: MIT\ndescription: Sums.\n---\n\nBy hand " + body + "\n");
  }

  // Begins to improve it with --accept any; stops with an unmeasured draft, which becomes the skill.
  void ReplaceByADraft(const std::string& draft) {
    teacher.hook = [draft](const std::string& body) -> std::optional<loopback::Script> {
      if (body.find("\"cases\"") != std::string::npos) return KeyTakenBack();
      if (body.find("\"proposals\"") != std::string::npos) return std::nullopt;
      if (body.find("\"points\"") != std::string::npos) return std::nullopt;
      Json json = DraftJson(draft);
      json["references"] = Json::array({{{"file", "draft.md"}, {"text", "Of the draft."}}});
      return loopback::ChatCompletion(DumpJson(AsAsked(json, body)), 100, 50);
    };
    ASSERT_EQ(Generate({"--from", skill("sums").string(), "-m", "generic.teacher", "--base-url", teacher.url(),
                        "--eval-model", kBodyStudent, "--max-attempts", "0", "--accept", "any"}),
              3)
        << error;
    ASSERT_THAT(*ReadFile(skill("sums") / "SKILL.md"), HasSubstr(draft));
    ASSERT_TRUE(fs::exists(skill("sums") / "references/draft.md"));
    teacher.hook = nullptr;
  }

  TeacherServer teacher{"[sim 0.95]"};
};

TEST_F(GenerateFiles, AnIncompleteCopyOfTheSkillIsMadeAgain) {
  WriteSums("[sim 0.1]");
  const fs::path unreadable = skill("sums") / "lineage.json";
  fs::create_directories(unreadable);  // can't be copied
  folder.Write("skills/sums/references/a.md", "Kept.");
  EXPECT_EQ(Generate({"--from", skill("sums").string(), "-m", "generic.teacher", "--base-url", teacher.url(),
                      "--eval-model", kBodyStudent, "--max-attempts", "0", "--accept", "any"}),
            3)
      << error;
  EXPECT_THAT(error, AllOf(HasSubstr("lineage.json: Is a directory"), HasSubstr("upskill generate --resume")));
  EXPECT_THAT(*ReadFile(skill("sums") / "SKILL.md"), HasSubstr("By hand"));
  fs::remove(unreadable);
  ASSERT_EQ(Generate({"--resume"}), 0) << error;
  EXPECT_THAT(*ReadFile(generation() / "previous/SKILL.md"), HasSubstr("By hand"));
  EXPECT_EQ(*ReadFile(generation() / "previous/references/a.md"), "Kept.");
}

TEST_F(GenerateFiles, TheExistingSkillComesBackIfItIsBetterThanTheDraft) {
  WriteSums("[sim 0.95]");
  const std::string before = *ReadFile(skill("sums") / "SKILL.md");
  ReplaceByADraft("Draft [sim 0.1]");
  ASSERT_EQ(Generate({"--resume"}), 0) << error;
  EXPECT_THAT(out,
              AllOf(HasSubstr("the skill's text stays as it is"), HasSubstr("not measured on the held-out tests")));
  EXPECT_EQ(*ReadFile(skill("sums") / "SKILL.md"), before);
  EXPECT_FALSE(fs::exists(skill("sums") / "references/draft.md"));
}

TEST_F(GenerateFiles, TheExistingSkillComesBackInAnotherFolderToo) {
  WriteSums("[sim 0.95]");
  const std::string before = *ReadFile(skill("sums") / "SKILL.md");
  teacher.hook = [](const std::string& body) -> std::optional<loopback::Script> {
    if (body.find("\"cases\"") == std::string::npos) return std::nullopt;
    return loopback::Answer(401, R"({"error":{"message":"the key was taken back"}})");
  };
  ASSERT_EQ(
      Generate({"--from", skill("sums").string(), "-o", skill("others").string(), "-m", "generic.teacher", "--base-url",
                teacher.url(), "--eval-model", kBodyStudent, "--max-attempts", "0", "--accept", "any"}),
      3)
      << error;
  ASSERT_THAT(*ReadFile(skill("others") / "SKILL.md"), HasSubstr("Draft [sim 0.1]"));
  teacher.hook = nullptr;
  ASSERT_EQ(Generate({"--resume"}), 0) << error;
  EXPECT_EQ(*ReadFile(skill("others") / "SKILL.md"), before);
  EXPECT_THAT(out, Not(HasSubstr("previous files")));
}

TEST_F(GenerateFiles, TheExistingSkillComesBackIfTheDraftIsRejected) {
  WriteSums("[sim 0.5] with many more words than anyone needs to add two numbers");
  const std::string before = *ReadFile(skill("sums") / "SKILL.md");
  ReplaceByADraft("Draft [sim 0.5]");  // as good, and shorter
  ASSERT_EQ(Generate({"--resume", "latest", "--accept", "helps"}), 0) << error;
  ASSERT_THAT(out, HasSubstr("the existing skill stays as it is: the new one isn't shown to be better"));
  EXPECT_EQ(*ReadFile(skill("sums") / "SKILL.md"), before);
  for (const char* file : {"skill_meta.json", "lineage.json", "references/draft.md"})
    EXPECT_FALSE(fs::exists(skill("sums") / file)) << file;
}

TEST_F(GenerateFiles, AnEditedDraftIsNotOverwritten) {
  WriteSums("[sim 0.1]");
  ReplaceByADraft("Draft [sim 0.9]");
  const std::string edited = *ReadFile(skill("sums") / "SKILL.md") + "\nBy hand again.\n";
  folder.Write("skills/sums/SKILL.md", edited);
  ASSERT_EQ(Generate({"--resume"}), 0) << error;
  EXPECT_THAT(out, HasSubstr("SKILL.md was edited since this generation wrote it"));
  EXPECT_EQ(*ReadFile(skill("sums") / "SKILL.md"), edited);
  EXPECT_THAT(*ReadFile(generation() / "sums/SKILL.md"), HasSubstr("Draft [sim 0.9]"));
}

TEST_F(GenerateFiles, AFullDiskBeforeTheDraftCanBeResumed) {
  std::optional<FullDisk> full;
  teacher.hook = [&](const std::string&) -> std::optional<loopback::Script> {
    full.emplace();
    return std::nullopt;
  };
  const int code = Generate({"Add numbers", "-m", "generic.teacher", "--base-url", teacher.url(), "--eval-model",
                             kBodyStudent, "--max-attempts", "0"});
  full.reset();
  EXPECT_EQ(code, 3);
  EXPECT_THAT(error, AllOf(HasSubstr("stopped early: writing "), HasSubstr("teacher.jsonl"),
                           HasSubstr("upskill generate --resume")));
  teacher.hook = nullptr;
  EXPECT_EQ(Generate({"--resume"}), 0) << error;
}

TEST_F(GenerateFiles, ATrialThatCannotBeNotedEndsTheGeneration) {
  teacher.hook = [](const std::string& body) -> std::optional<loopback::Script> {
    if (body.find("\"cases\"") == std::string::npos) return std::nullopt;
    return loopback::Answer(401, R"({"error":{"message":"the key was taken back"}})");
  };
  ASSERT_EQ(Generate({"Add numbers", "-m", "generic.teacher", "--base-url", teacher.url(), "--eval-model", kBodyStudent,
                      "--max-attempts", "0"}),
            3);
  teacher.hook = nullptr;
  const fs::path trials = generation() / "trials.txt";
  constexpr std::size_t kLimit = 1'000'000;
  const std::string before = *ReadFile(trials);
  folder.Write(trials.lexically_relative(folder.path()).string(), before + std::string(kLimit, 'x') + "\n");
  {
    const FullDisk full(kLimit);
    EXPECT_EQ(Generate({"--resume"}), 3);
  }
  EXPECT_THAT(error, AllOf(HasSubstr("trials.txt: File too large"), HasSubstr("the best skill so far in")));
  folder.Write(trials.lexically_relative(folder.path()).string(), before);
  EXPECT_EQ(Generate({"--resume"}), 0) << error;
}

TEST_F(GenerateFiles, AStopBeforeTheTestsKeepsThoseOfTheSkill) {
  const std::string text = "---\nname: adding\ndescription: Adds numbers.\n---\n\n# Sums\n\nWrite the sum alone.\n";
  const std::string meta = R"({"tests": [{"input": "What is 2 + 2?", "expected": {"contains": ["4"]}}]})";
  folder.Write("adding/SKILL.md", text);
  folder.Write("adding/skill_meta.json", meta);
  const fs::path place = folder.path() / "adding";
  const std::vector<std::string> command = {"--from",
                                            place.string(),
                                            "-m",
                                            "generic.teacher",
                                            "--base-url",
                                            teacher.url(),
                                            "--eval-model",
                                            "sim:base=0.1,skill=body",
                                            "--max-attempts",
                                            "1"};
  teacher.hook = Instead("\"sections\"", KeyTakenBack());
  EXPECT_EQ(Generate(command), 3);
  EXPECT_THAT(error, AllOf(HasSubstr("the key was taken back"), HasSubstr("adding stays as it is")));
  EXPECT_EQ(*ReadFile(place / "SKILL.md"), text);
  EXPECT_EQ(*ReadFile(place / "skill_meta.json"), meta);
  EXPECT_FALSE(fs::exists(place / "lineage.json"));

  teacher.hook = Instead("\"cases\"", KeyTakenBack());
  EXPECT_EQ(Generate(command), 3);
  const Result<Json> kept = ParseJson(*ReadFile(place / "skill_meta.json"), "skill_meta.json");
  ASSERT_TRUE(kept.ok());
  ASSERT_THAT(kept->at("tests"), testing::SizeIs(1));
  EXPECT_EQ(kept->at("tests")[0].at("input"), "What is 2 + 2?");
}

}  // namespace
}  // namespace upskill

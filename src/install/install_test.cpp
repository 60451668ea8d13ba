// SPDX-License-Identifier: Apache-2.0
#include "install/install.h"

#include <gmock/gmock.h>

#include <thread>

#include "install/update.h"
#include "support/skill_folder.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class InstallTest : public testing::Test {
 protected:
  SkillFiles Read() { return ReadSkillFolder(source.path, source.evaluation).value(); }
  InstallRecords Records() { return InstallRecords::Open(config).value(); }
  std::vector<InstalledSkill> Known() { return LoadInstalledSkills(config).value(); }
  fs::path Installed() const { return target.place.folder / "greet"; }

  Status Install(Force force = Force::kNo) {
    const SkillFiles skill = Read();
    InstallRecords records = Records();
    ASSIGN_OR_RETURN(const InstallPlan plan, PlanInstall(skill, source, target, records.skills(), force));
    return CarryOut(plan, skill, records);
  }

  Status Uninstall() {
    InstallRecords records = Records();
    ASSIGN_OR_RETURN(const RemovalPlan plan, PlanRemoval("greet", target, records.skills(), Force::kNo));
    return CarryOut(plan, records);
  }

  Presence State() { return StateOf(Installed(), &Known().at(0))->presence; }
  UpdatePlan::Step Update() {
    GitRepositories none{{}};
    return PlanUpdate(Known().at(0), Known(), Force::kNo, none)->step;
  }

  TempFolder folder;
  fs::path config = folder.path() / "config";
  InstallSource source{WriteSkill(folder, "source/greet", "greet"), "", InstallMode::kCopy, EvaluationFiles::kLeftOut};
  InstallTarget target{{folder.path(), folder.path() / ".agents/skills"}, {"agents"}};
};

TEST_F(InstallTest, RemembersWhatItInstalled) {
  ASSERT_TRUE(Install().ok());
  const std::vector<InstalledSkill> known = Known();
  ASSERT_THAT(known, SizeIs(1));
  EXPECT_EQ(known[0].folder, Installed());
  EXPECT_EQ(known[0].source, source.path);
  EXPECT_EQ(known[0].made, folder.path() / ".agents");
  EXPECT_THAT(known[0].replaced, IsEmpty());
  EXPECT_EQ(known[0].files, HashesOf(Read().files));
  EXPECT_EQ(State(), Presence::kUnchanged);
}

// After a crash, the folder is the old or the new skill, and either is known.
TEST_F(InstallTest, CrashesBetweenItsStepsLeaveNothingToForce) {
  ASSERT_TRUE(Install().ok());
  const InstalledSkill old = Known()[0];
  folder.Write("source/greet/SKILL.md", SkillFileOf("greet", "Say good morning."));
  {
    InstallRecords records = Records();
    const Result<InstallPlan> plan = PlanInstall(Read(), source, target, records.skills(), Force::kNo);
    ASSERT_TRUE(plan.ok());
    EXPECT_EQ(plan->skill.replaced, old.files);
    ASSERT_TRUE(records.Put(plan->skill).ok()) << "the crash is before the folder is exchanged";
  }
  EXPECT_EQ(State(), Presence::kUnchanged);
  EXPECT_EQ(Update(), UpdatePlan::Step::kUpdate);
  fs::remove_all(Installed());
  fs::copy(source.path, Installed(), fs::copy_options::recursive);
  for (const char* left : {"skill_meta.json", "tests.json", "evals", "upskill.json", "runs", "answers"})
    fs::remove_all(Installed() / left);
  EXPECT_EQ(State(), Presence::kUnchanged) << "the crash is after it";
  ASSERT_TRUE(Install().ok());
  EXPECT_EQ(Update(), UpdatePlan::Step::kUnchanged);
  ASSERT_TRUE(Uninstall().ok());
}

TEST_F(InstallTest, FailureRestoresWhatIsRemembered) {
  folder.Write(".agents", "a file where the folder should be");
  const Status failed = Install();
  EXPECT_FALSE(failed.ok());
  EXPECT_THAT(Known(), IsEmpty());
  fs::remove(folder.path() / ".agents");
  fs::create_directories(folder.path() / "elsewhere/skills");
  fs::create_directory_symlink("elsewhere", folder.path() / ".agents");
  EXPECT_THAT(Install().error().message, HasSubstr("contains a symbolic link")) << "a project may come from elsewhere";
  EXPECT_THAT(NamesBelow(folder.path() / "elsewhere"), ElementsAre("skills/"));
}

TEST_F(InstallTest, NeverReplacesWhatIsNotItsOwn) {
  folder.Write(".agents/skills/greet/SKILL.md", "mine");
  EXPECT_THAT(Install().error().message, HasSubstr("wasn't installed by upskill; move it away, or replace it with"));
  EXPECT_EQ(*ReadFile(Installed() / "SKILL.md"), "mine");
  ASSERT_TRUE(Install(Force::kYes).ok());
  folder.Write(".agents/skills/greet/notes.md", "mine");
  EXPECT_THAT(Install().error().message, HasSubstr("was changed since it was installed (notes.md was added)"));
  EXPECT_THAT(Uninstall().error().message, HasSubstr("--force removes it with your changes"));
  EXPECT_EQ(Update(), UpdatePlan::Step::kChangedByUser);
  ASSERT_TRUE(Install(Force::kYes).ok());
  EXPECT_FALSE(fs::exists(Installed() / "notes.md"));
}

TEST_F(InstallTest, NothingIsInstalledIntoItself) {
  source.path = WriteSkill(folder, ".agents/skills/greet", "greet");
  EXPECT_THAT(Install(Force::kYes).error().message, HasSubstr("is the folder that it would be installed in"));
  source.path = WriteSkill(folder, ".agents/skills/greet/inner", "greet");
  EXPECT_THAT(Install(Force::kYes).error().message, HasSubstr("one is inside the other"));
  folder.Write("SKILL.md", SkillFileOf("greet"));
  source.path = folder.path();
  fs::remove_all(folder.path() / ".agents");
  EXPECT_THAT(Install(Force::kYes).error().message, HasSubstr("one is inside the other"));
}

TEST_F(InstallTest, LinksAreKnownByTheirTarget) {
  source.mode = InstallMode::kLink;
  ASSERT_TRUE(Install().ok());
  EXPECT_EQ(fs::read_symlink(Installed()), source.path);
  ASSERT_TRUE(Install().ok()) << "again";
  EXPECT_EQ(Update(), UpdatePlan::Step::kUnchanged);
  fs::remove(Installed());
  fs::create_directory_symlink(config, Installed());
  EXPECT_EQ(State(), Presence::kChanged);
  EXPECT_FALSE(Uninstall().ok());
  fs::remove(Installed());
  EXPECT_EQ(Update(), UpdatePlan::Step::kRemovedByUser);
  source.mode = InstallMode::kCopy;
  ASSERT_TRUE(Install().ok());
  source.mode = InstallMode::kLink;
  ASSERT_TRUE(Install().ok()) << "a link in place of a copy";
  EXPECT_TRUE(fs::is_symlink(Installed()));
  ASSERT_TRUE(Uninstall().ok());
  EXPECT_TRUE(fs::exists(source.path / "SKILL.md"));
}

TEST_F(InstallTest, ProgramsThatBecomeExecutableAreUpdated) {
  ASSERT_TRUE(Install().ok());
  fs::permissions(source.path / "references/words.md", fs::perms::owner_exec, fs::perm_options::add);
  EXPECT_EQ(Update(), UpdatePlan::Step::kUpdate);
}

TEST_F(InstallTest, FoldersThatWereMadeGoWithTheLastSkill) {
  folder.Write("p/.git/HEAD", "");
  target.place = {folder.path() / "p", folder.path() / "p/.agents/skills"};
  ASSERT_TRUE(Install().ok());
  source.path = WriteSkill(folder, "source/part", "part");
  ASSERT_TRUE(Install().ok());
  ASSERT_TRUE(Uninstall().ok());
  EXPECT_TRUE(fs::exists(folder.path() / "p/.agents/skills/part/SKILL.md"));
  InstallRecords records = Records();
  const Result<RemovalPlan> plan = PlanRemoval("part", target, records.skills(), Force::kNo);
  ASSERT_TRUE(CarryOut(*plan, records).ok());
  EXPECT_THAT(NamesBelow(folder.path() / "p"), ElementsAre(".git/", ".git/HEAD"));
  EXPECT_THAT(NamesBelow(config), IsEmpty());
}

TEST_F(InstallTest, ConcurrentInstallsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kSkills = 5;
  std::vector<std::string> errors(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([this, thread, &errors] {
        for (int i = 0; i < kSkills; ++i) {
          Result<InstallRecords> records = InstallRecords::Open(config);
          InstalledSkill skill;
          skill.folder = folder.path() / std::to_string(thread) / std::to_string(i);
          if (!records) {
            errors[static_cast<std::size_t>(thread)] = records.error().message;
          } else if (const Status put = records->Put(skill); !put) {
            errors[static_cast<std::size_t>(thread)] = put.error().message;
          }
        }
      });
    }
  }
  EXPECT_THAT(errors, ::testing::Each(IsEmpty()));
  EXPECT_THAT(Known(), SizeIs(kThreads * kSkills));
}

TEST_F(InstallTest, RecordsThatWereDamagedAreNotIgnored) {
  folder.Write("config/installed.json", "{");
  EXPECT_THAT(LoadInstalledSkills(config).error().message, HasSubstr("installed.json:1:2"));
  folder.Write("config/installed.json", R"({"schema": 1, "skills": [{"name": 3}]})");
  EXPECT_THAT(LoadInstalledSkills(config).error().message,
              HasSubstr("skills[0].name: expected a string, not a number"));
  folder.Write("config/installed.json", R"({"schema": 2})");
  EXPECT_THAT(LoadInstalledSkills(config).error().message, HasSubstr("another version of upskill"));
}

TEST_F(InstallTest, SourcesThatAreGoneOrOther) {
  ASSERT_TRUE(Install().ok());
  folder.Write("source/greet/SKILL.md", SkillFileOf("other"));
  EXPECT_EQ(Update(), UpdatePlan::Step::kUnusable);
  fs::remove_all(source.path);
  EXPECT_EQ(Update(), UpdatePlan::Step::kSourceGone);
}

}  // namespace
}  // namespace upskill

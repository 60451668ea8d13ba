// SPDX-License-Identifier: Apache-2.0
// upskill.lock: install --frozen, verify, outdated, and what update makes of it.
#include <gmock/gmock.h>

#include <filesystem>

#include "support/git_repository.h"
#include "support/install_fixture.h"
#include "util/files.h"
#include "util/hash.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A project's lock, and what a colleague does with it on another machine.
class LockedProject : public InstallingTest {
 protected:
  fs::path lock() const { return project() / "upskill.lock"; }
  std::string url() const { return "git+file://" + source.string(); }
  void OnABareMachine() const {
    fs::remove_all(project() / ".pi");
    fs::remove_all(project() / ".claude");
    fs::remove_all(home() / ".config");
  }
};

TEST_F(LockedProject, IsRestoredToTheByte) {
  const std::string commit = CommitAll(source);
  Do({"install", url(), "--agent", "pi", "--agent", "claude-code"});
  EXPECT_THAT(out, HasSubstr("locked in " + lock().string()));
  EXPECT_THAT(*ReadFile(lock()), AllOf(HasSubstr(commit), Not(HasSubstr(home().string()))));
  const std::string text = *ReadFile(lock());
  const std::vector<std::string> names = NamesBelow(project());
  Do({"verify"});
  Do({"outdated"});
  folder.Write("source/greet/tests.json", "[1]");
  CommitAll(source);
  Do({"outdated"});
  EXPECT_THAT(out, HasSubstr("files are the same"));
  ChangeSource();
  CommitAll(source);
  EXPECT_EQ(Run({"outdated"}), 1);
  EXPECT_THAT(out, AllOf(HasSubstr("greet: commit " + commit.substr(0, 12)), HasSubstr("files differ")));
  OnABareMachine();
  EXPECT_EQ(Run({"verify"}), 1);
  EXPECT_THAT(out, HasSubstr("missing"));
  Do({"install", "--frozen", "--agent", "pi"});
  EXPECT_FALSE(fs::exists(project() / ".claude"));
  Do({"install", "--frozen"});
  EXPECT_EQ(NamesBelow(project()), names);
  EXPECT_THAT(*ReadFile(project() / ".pi/skills/greet/SKILL.md"), HasSubstr("Say hello."));
  EXPECT_EQ(*ReadFile(lock()), text) << "nothing is resolved again";
  Do({"verify"});

  Do({"update"});
  EXPECT_THAT(out, AllOf(HasSubstr("greet changes:\n  SKILL.md\n  - Say hello.\n  + Say good morning.\n"),
                         HasSubstr("updated, commit " + commit.substr(0, 12))));
  Do({"verify"});
  EXPECT_NE(*ReadFile(lock()), text);
  Do({"uninstall", "greet", "--agent", "all"});
  EXPECT_THAT(out, HasSubstr("removed from " + lock().string()));
  EXPECT_FALSE(fs::exists(lock()));
}

// One entry of the lock stands for all copies.
TEST_F(LockedProject, AnUpdateReplacesAllCopiesOrNone) {
  Do({"install", source.string(), "--agent", "pi", "--agent", "claude-code"});
  const std::string text = *ReadFile(lock());
  ChangeSource();
  EXPECT_EQ(Run({"update", "--agent", "pi"}), 1);
  EXPECT_THAT(out, HasSubstr(".claude/skills/greet"));
  EXPECT_EQ(*ReadFile(lock()), text);
  Do({"verify"});
  Do({"update"});
  EXPECT_NE(*ReadFile(lock()), text);
  Do({"verify"});
}

// A project of the same user elsewhere is left alone.
TEST_F(LockedProject, AnUpdateIsOfThisProject) {
  Do({"install", source.string(), "--agent", "pi"});
  const fs::path before = fs::current_path();
  const TempFolder other;
  fs::create_directories(other.path() / ".git");
  ChangeSource();
  fs::current_path(other.path());
  Do({"update"});
  EXPECT_THAT(error, HasSubstr("no skills are installed here"));
  Do({"update", "--everywhere"});
  EXPECT_THAT(out, HasSubstr("updated"));
  fs::current_path(before);
}

TEST_F(LockedProject, IsNotWrittenWhenASourceHasChanged) {
  WriteSkill(folder, "other/leave", "leave");
  Do({"install", source.string(), "--agent", "pi"});
  Do({"install", (folder.path() / "other/leave").string(), "--agent", "pi"});
  OnABareMachine();
  ChangeSource();
  EXPECT_EQ(Run({"install", "--frozen"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("greet: "), HasSubstr("no longer match the SHA-256 in the lock"),
                           HasSubstr("nothing was installed"), Not(HasSubstr("leave: "))));
  EXPECT_FALSE(fs::exists(project() / ".pi"));
  folder.Write("project/upskill.lock", "<<<<<<< HEAD\n" + *ReadFile(lock()));
  const std::string text = *ReadFile(lock());
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"install", "--frozen"}, {"install", source.string(), "--agent", "pi"}, {"verify"}, {"outdated"}}) {
    EXPECT_EQ(Run(command), 2) << command.front();
    EXPECT_THAT(error, HasSubstr("merge conflict"));
  }
  EXPECT_FALSE(fs::exists(project() / ".pi")) << "the lock is read before anything is written";
  EXPECT_EQ(*ReadFile(lock()), text);
}

TEST_F(LockedProject, VerifySaysWhatDiffers) {
  EXPECT_EQ(Run({"verify"}), 2) << "there is no lock";
  Do({"install", source.string(), "--agent", "pi", "--agent", "claude-code"});
  folder.Write("project/.pi/skills/greet/SKILL.md", SkillFileOf("greet", "Mine."));
  folder.Write("project/.gemini/skills/greet/SKILL.md", SkillFileOf("greet"));
  folder.Write("project/.goose/skills/other/SKILL.md", SkillFileOf("other"));
  fs::remove_all(project() / ".claude/skills/greet");
  fs::create_directory_symlink(source, project() / ".claude/skills/greet");
  EXPECT_EQ(Run({"verify"}), 1);
  EXPECT_THAT(out,
              AllOf(HasSubstr("4 copies differ from upskill.lock"),
                    HasSubstr("greet in .pi/skills: changed: SKILL.md was changed"),
                    HasSubstr("greet in .claude/skills: changed: it is a link"),
                    HasSubstr("greet in .gemini/skills: also there"), HasSubstr("other in .goose/skills: not locked")));
  Run({"verify", "--allow-unlocked"});
  EXPECT_THAT(out, AllOf(HasSubstr("3 copies differ"), Not(HasSubstr("not locked"))));
}

TEST_F(LockedProject, VerifySeesWhatPythonRunsAndWhatMayBeExecuted) {
  Do({"install", source.string(), "--agent", "pi"});
  folder.Write("project/.pi/skills/greet/scripts/__pycache__/a.cpython-311.pyc", "x");
  EXPECT_EQ(Run({"verify"}), 1);
  EXPECT_THAT(out, HasSubstr("scripts/__pycache__"));
  fs::remove_all(project() / ".pi/skills/greet/scripts/__pycache__");
  fs::permissions(project() / ".pi/skills/greet/SKILL.md", fs::perms::owner_exec, fs::perm_options::add);
  EXPECT_EQ(Run({"verify"}), 1);
  Do({"install", "--frozen"});
  Do({"verify"});
}

TEST_F(LockedProject, NothingIsInstalledUnlessAllCanBe) {
  Do({"install", source.string(), "--agent", "pi", "--agent", "claude-code"});
  OnABareMachine();
  folder.Write("project/.pi", "a file");
  EXPECT_EQ(Run({"install", "--frozen"}), 2);
  EXPECT_FALSE(fs::exists(project() / ".claude"));
}

// A lock that can't be written, be it a folder or in a folder that is read-only.
TEST_F(LockedProject, IsWrittenBeforeTheSkill) {
  Do({"install", source.string(), "--agent", "pi"});
  const std::string text = *ReadFile(project() / ".pi/skills/greet/SKILL.md");
  fs::remove(lock());
  fs::create_directory(lock());
  ChangeSource();
  EXPECT_EQ(Run({"update"}), 2);
  EXPECT_EQ(*ReadFile(project() / ".pi/skills/greet/SKILL.md"), text);
}

TEST_F(LockedProject, ARepositoryIsAskedOnce) {
  WriteSkill(folder, "source/leave", "leave");
  CommitAll(folder.path() / "source");
  const std::string repository = "git+file://" + (folder.path() / "source").string() + "#:";
  for (const char* const name : {"greet", "leave"}) Do({"install", repository + name, "--agent", "pi"});
  for (const std::vector<std::string>& command :
       std::vector<std::vector<std::string>>{{"outdated"}, {"install", "--frozen"}, {"update"}}) {
    Do(command);
    EXPECT_EQ(error.find("asking git"), error.rfind("asking git")) << error;
  }
}

TEST_F(LockedProject, OnlyWhatATeamSharesIsLocked) {
  Do({"install", source.string(), "--agent", "pi", "--user"});
  Do({"install", source.string(), "--agent", "pi", "--link"});
  Do({"install", source.string(), "--agent", "claude-code", "--no-lock"});
  EXPECT_FALSE(fs::exists(lock()));
  EXPECT_EQ(Run({"install", "--frozen"}), 2);
  EXPECT_EQ(Run({"install", "greet", "--frozen"}), 2);
  EXPECT_EQ(Run({"install", "--agent", "pi"}), 2);
}

TEST_F(LockedProject, ANewVersionIsForAllCopies) {
  Do({"install", source.string(), "--agent", "pi", "--agent", "claude-code"});
  ChangeSource();
  EXPECT_EQ(Run({"install", source.string(), "--agent", "pi"}), 2);
  EXPECT_THAT(error, HasSubstr(".claude/skills/greet"));
  Do({"install", source.string(), "--agent", "pi", "--agent", "claude-code"});
  Do({"verify"});
}

TEST_F(LockedProject, FilesThatAreThereAreKept) {
  Do({"install", source.string(), "--agent", "pi"});
  fs::remove_all(home() / ".config");  // the copy came with the project
  Do({"install", "--frozen"});
  Do({"list", "--agent", "pi", "--json"});
  EXPECT_EQ(OutAsJson()[0]["installed"]["changed"], false);
}

// The hash is of all files of the source, in the order that `npx skills` 1.7 gives them.
TEST_F(LockedProject, TheLockOfNpxSkillsIsRead) {
  fs::remove_all(source);
  folder.Write("source/greet/SKILL.md", SkillFileOf("greet"));
  folder.Write("source/greet/tests.json", "[]");
  const std::string hash = Sha256Hex("SKILL.md" + SkillFileOf("greet") + "tests.json[]");
  const auto write = [&](const std::string& computed) {
    folder.Write("project/skills-lock.json",
                 R"({"version": 1, "skills": {"greet": {"source": "../source/greet", "sourceType": "local", )"
                 R"("computedHash": ")" +
                     computed + "\"}}}");
  };
  write(hash);
  EXPECT_EQ(Run({"install", "--frozen"}), 2);
  EXPECT_THAT(error, HasSubstr("name them with --agent"));
  Do({"install", "--frozen", "--agent", "pi"});
  EXPECT_FALSE(fs::exists(project() / ".pi/skills/greet/tests.json"));
  write(std::string(64, '0'));
  EXPECT_EQ(Run({"install", "--frozen", "--agent", "claude-code"}), 2);
  EXPECT_THAT(error, HasSubstr("no longer match the SHA-256 in the lock"));
}

}  // namespace
}  // namespace upskill

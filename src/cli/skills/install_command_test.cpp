// SPDX-License-Identifier: Apache-2.0
// install, uninstall, update, pack and list --agent.
#include <gmock/gmock.h>

#include <filesystem>

#include "install/agents.h"
#include "support/command_line.h"
#include "support/git_repository.h"
#include "support/skill_folder.h"
#include "util/files.h"
#include "util/hash.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class InstallCommand : public CommandLineTest {
 protected:
  InstallCommand() {
    folder.Write("project/.git/HEAD", "");
    folder.Write("project/part/x", "");
    fs::create_directories(home());
    fs::current_path(project() / "part");
  }
  ~InstallCommand() override { fs::current_path(before_); }
  InstallCommand(const InstallCommand&) = delete;
  InstallCommand& operator=(const InstallCommand&) = delete;

  fs::path project() const { return folder.path() / "project"; }
  std::vector<std::string> InHome() const { return NamesBelow(home()); }
  void ChangeSource() { folder.Write("source/greet/SKILL.md", SkillFileOf("greet", "Say good morning.")); }

  // Runs it, and expects success.
  void Do(const std::vector<std::string>& arguments) { ASSERT_EQ(Run(arguments), 0) << error; }

  fs::path source = WriteSkill(folder, "source/greet", "greet");

 private:
  fs::path before_ = fs::current_path();
};

TEST_F(InstallCommand, RoundTripForEveryAgent) {
  for (const Agent& agent : KnownAgents()) {
    for (const char* scope : {"--project", "--user"}) {
      for (const char* mode : {"--copy", "--link"}) {
        SCOPED_TRACE(agent.id + " " + scope + " " + mode);
        const bool is_user = std::string(scope) == "--user";
        const fs::path skills =
            is_user ? UserFoldersOf(agent, [this](const std::string& name) { return std::optional(variables[name]); })
                          ->front()
                    : project() / agent.project_folders.front();
        const bool is_link = std::string(mode) == "--link";
        folder.Write("source/greet/SKILL.md", SkillFileOf("greet"));
        Do({"install", source.string(), "--agent", agent.id, scope, mode});
        EXPECT_THAT(out, AllOf(HasSubstr("greet: installed in"), HasSubstr(agent.name)));
        EXPECT_EQ(fs::is_symlink(skills / "greet"), is_link);
        EXPECT_EQ(fs::exists(skills / "greet/tests.json"), is_link);

        Do({"list", "--agent", agent.id, "--json"});
        const Json list = OutAsJson();
        ASSERT_EQ(list.size(), 1U);
        EXPECT_EQ(list[0]["folder"], (skills / "greet").string());
        EXPECT_EQ(list[0]["scope"], is_user ? "user" : "project");
        EXPECT_EQ(list[0]["installed"]["source"], source.string());
        EXPECT_EQ(list[0]["installed"]["changed"], false);

        ChangeSource();
        Do({"update"});
        EXPECT_THAT(out, HasSubstr(is_link ? "unchanged" : "updated"));
        EXPECT_EQ(*ReadFile(skills / "greet/SKILL.md"), *ReadFile(source / "SKILL.md"));
        Do({"update", "greet"});
        EXPECT_THAT(out, HasSubstr("unchanged"));

        Do({"uninstall", "greet", "--agent", agent.id, scope});
        EXPECT_THAT(NamesBelow(project()), ElementsAre(".git/", ".git/HEAD", "part/", "part/x"));
        EXPECT_THAT(InHome(), ElementsAre(".config/", ".config/upskill/"));
        fs::remove_all(home() / ".config");
      }
    }
  }
}

TEST_F(InstallCommand, DryRunWritesNothing) {
  const std::vector<std::string> everything = NamesBelow(folder.path());
  Do({"install", source.string(), "--agent", "all", "--dry-run"});
  EXPECT_THAT(out, AllOf(HasSubstr("greet: would be installed in " + (project() / ".claude/skills/greet").string()),
                         HasSubstr("  scripts/greet.sh\n"), Not(HasSubstr("tests.json"))));
  Do({"install", source.string(), "--agent", "pi", "--user", "--link", "--dry-run"});
  EXPECT_EQ(Run({"uninstall", "greet", "--agent", "pi", "--dry-run"}), 2);
  Do({"update", "--dry-run"});
  EXPECT_EQ(NamesBelow(folder.path()), everything);
  Do({"install", source.string(), "--agent", "pi"});
  ChangeSource();
  Do({"update", "--dry-run"});
  EXPECT_THAT(out, HasSubstr("would be updated"));
  Do({"uninstall", "greet", "--agent", "pi", "--dry-run"});
  EXPECT_THAT(out, HasSubstr("would be removed"));
  EXPECT_NE(*ReadFile(project() / ".pi/skills/greet/SKILL.md"), *ReadFile(source / "SKILL.md"));
}

TEST_F(InstallCommand, AllMeansWhereItIsInstalled) {
  Do({"install", source.string(), "--agent", "pi", "--agent", "claude-code"});
  ChangeSource();
  Do({"update", "--agent", "codex"});
  EXPECT_EQ(out, "");
  Do({"update", "--agent", "pi", "--dry-run"});
  EXPECT_THAT(out, AllOf(HasSubstr("/.pi/skills: would be updated"), Not(HasSubstr(".claude"))));
  Do({"update", "--agent", "all"});
  EXPECT_THAT(out, AllOf(HasSubstr("/.pi/skills: updated"), HasSubstr("/.claude/skills: updated")));
  Do({"uninstall", "greet", "--agent", "all"});
  EXPECT_THAT(out, AllOf(HasSubstr("removed from " + (project() / ".pi/skills").string()),
                         HasSubstr("removed from " + (project() / ".claude/skills").string())));
  EXPECT_EQ(Run({"uninstall", "greet", "--agent", "all"}), 2) << "no agent has it";
}

// A copy that its user has changed stays; it doesn't keep the others from being removed.
TEST_F(InstallCommand, AChangedCopyDoesNotKeepTheOthers) {
  Do({"install", source.string(), "--agent", "pi", "--agent", "claude-code", "--agent", "cursor"});
  folder.Write("project/.claude/skills/greet/SKILL.md", SkillFileOf("greet", "Mine."));
  EXPECT_EQ(Run({"uninstall", "greet", "--agent", "all"}), 2);
  EXPECT_THAT(out, AllOf(HasSubstr("removed from " + (project() / ".pi/skills").string()),
                         HasSubstr("removed from " + (project() / ".cursor/skills").string())));
  EXPECT_THAT(error, HasSubstr(".claude/skills/greet was changed since it was installed"));
  EXPECT_FALSE(fs::exists(project() / ".pi"));
  EXPECT_TRUE(fs::exists(project() / ".claude/skills/greet/SKILL.md"));
  EXPECT_EQ(Run({"uninstall", "greet", "--agent", "all"}), 2) << "only the changed one is left";
  EXPECT_THAT(error, HasSubstr("--force removes it with your changes"));
  Do({"uninstall", "greet", "--agent", "all", "--force"});
}

TEST_F(InstallCommand, AllIsNotInstalledByAccident) {
  EXPECT_EQ(Run({"install", source.string(), "--agent", "all"}), 2);
  EXPECT_THAT(error, HasSubstr("see which with --dry-run, then name the agents that you use"));
  EXPECT_EQ(Run({"install", source.string()}), 2);
  EXPECT_THAT(error, HasSubstr("missing option: --agent"));
  EXPECT_EQ(Run({"install", source.string(), "--agent", "pi", "--user", "--project"}), 2);
  EXPECT_THAT(InHome(), IsEmpty());
}

TEST_F(InstallCommand, AgentsThatShareAFolderKeepIt) {
  Do({"install", source.string(), "--agent", "codex", "--agent", "goose", "--agent", "cursor", "--user"});
  EXPECT_TRUE(fs::exists(home() / ".agents/skills/greet/SKILL.md"));
  EXPECT_TRUE(fs::exists(home() / ".cursor/skills/greet/SKILL.md"));
  Do({"uninstall", "greet", "--agent", "codex", "--user"});
  EXPECT_THAT(out, HasSubstr("kept in " + (home() / ".agents/skills").string() + " for Goose"));
  EXPECT_TRUE(fs::exists(home() / ".agents/skills/greet/SKILL.md"));
  EXPECT_EQ(Run({"uninstall", "greet", "--agent", "codex", "--user"}), 2);
  EXPECT_THAT(error, HasSubstr("was installed for goose, not for codex; name those with --agent"));
  Do({"uninstall", "greet", "--agent", "goose", "--agent", "cursor", "--user"});
  EXPECT_FALSE(fs::exists(home() / ".agents"));
}

TEST_F(InstallCommand, EnvironmentNamesTheFolder) {
  variables["CLAUDE_CONFIG_DIR"] = (folder.path() / "claude").string();
  Do({"install", source.string(), "--agent", "claude-code", "--user"});
  EXPECT_TRUE(fs::exists(folder.path() / "claude/skills/greet/SKILL.md"));
  EXPECT_FALSE(fs::exists(home() / ".claude"));
}

TEST_F(InstallCommand, ChangesOfTheUserAreKept) {
  Do({"install", source.string(), "--agent", "agents", "--with-tests"});
  const fs::path installed = project() / ".agents/skills/greet";
  EXPECT_TRUE(fs::exists(installed / "tests.json"));
  folder.Write("project/.agents/skills/greet/SKILL.md", SkillFileOf("greet", "Mine."));
  ChangeSource();
  EXPECT_EQ(Run({"update"}), 1);
  EXPECT_THAT(out, HasSubstr("changed by you (SKILL.md was changed); --force replaces it"));
  EXPECT_EQ(Run({"install", source.string(), "--agent", "agents"}), 2);
  EXPECT_EQ(Run({"uninstall", "greet", "--agent", "agents"}), 2);
  EXPECT_THAT(error, HasSubstr("--force removes it with your changes"));
  Do({"list", "--agent", "agents"});
  EXPECT_THAT(out, HasSubstr("changed since: SKILL.md was changed"));
  Do({"update", "--force"});
  EXPECT_EQ(*ReadFile(installed / "SKILL.md"), *ReadFile(source / "SKILL.md"));
  EXPECT_TRUE(fs::exists(installed / "tests.json"));
  fs::remove_all(installed);
  EXPECT_EQ(Run({"update"}), 1);
  EXPECT_THAT(out, HasSubstr("removed by you"));
  Do({"uninstall", "greet", "--agent", "agents"});
  EXPECT_THAT(out, HasSubstr("was removed from"));
}

TEST_F(InstallCommand, SourceIsNeeded) {
  EXPECT_EQ(Run({"install", "nothing", "--agent", "pi"}), 2);
  EXPECT_THAT(error, HasSubstr("no skill 'nothing' here or in skills"));
  Do({"install", source.string(), "--agent", "pi"});
  EXPECT_EQ(Run({"update", "gret"}), 2);
  EXPECT_THAT(error, HasSubstr("no skill 'gret' is installed; did you mean 'greet'?"));
  fs::rename(source, folder.path() / "moved");
  EXPECT_EQ(Run({"update"}), 1);
  EXPECT_THAT(out, HasSubstr("source gone: " + source.string()));
}

TEST_F(InstallCommand, NameInTheConfiguredFolder) {
  folder.Write("config.yaml", "skills_dir: " + (folder.path() / "source").string() + "\n");
  Do({"install", "greet", "--agent", "pi"});
  EXPECT_TRUE(fs::exists(project() / ".pi/skills/greet/SKILL.md"));
  Do({"install", (source / "SKILL.md").string(), "--agent", "pi"});
  EXPECT_THAT(out, HasSubstr("is already installed"));
}

TEST_F(InstallCommand, NamesThatLeaveTheFolder) {
  folder.Write("source/greet/SKILL.md", SkillFileOf("../x"));
  EXPECT_EQ(Run({"install", source.string(), "--agent", "pi", "--force"}), 2);
  EXPECT_EQ(Run({"uninstall", "../../part", "--agent", "pi", "--force"}), 2);
  EXPECT_TRUE(fs::exists(project() / "part/x"));
  folder.Write("project/.pi/skills/other/SKILL.md", "mine");
  EXPECT_EQ(Run({"uninstall", "other", "--agent", "pi"}), 2);
  EXPECT_THAT(error, HasSubstr("wasn't installed by upskill; --force removes it with all that is in it"));
  Do({"uninstall", "other", "--agent", "pi", "--force"});
  EXPECT_FALSE(fs::exists(project() / ".pi/skills/other"));
}

TEST_F(InstallCommand, PackedSkillsCanBeInstalled) {
  const std::string file = (folder.path() / "a.skill").string();
  Do({"pack", source.string(), "-o", file});
  EXPECT_THAT(out, HasSubstr("a.skill · 3 files"));
  const std::string bytes = *ReadFile(file);
  fs::last_write_time(source / "SKILL.md", fs::file_time_type::clock::now() - std::chrono::hours(48));
  Do({"pack", source.string(), "-o", file});
  EXPECT_EQ(*ReadFile(file), bytes);
  Do({"install", file, "--agent", "claude-code", "--user"});
  EXPECT_THAT(InHome(),
              ElementsAre(".claude/", ".claude/skills/", ".claude/skills/greet/", ".claude/skills/greet/SKILL.md",
                          ".claude/skills/greet/references/", ".claude/skills/greet/references/words.md",
                          ".claude/skills/greet/scripts/", ".claude/skills/greet/scripts/greet.sh", ".config/",
                          ".config/upskill/", ".config/upskill/installed.json"));
  ChangeSource();
  Do({"pack", source.string(), "-o", file});
  Do({"update"});
  EXPECT_THAT(out, HasSubstr("updated"));
  EXPECT_EQ(Run({"install", file, "--agent", "claude-code", "--link"}), 2);
  EXPECT_THAT(error, HasSubstr("is an archive, which can't be linked to"));
}

TEST_F(InstallCommand, GitRepositoryIsFetchedAgain) {
  const std::string first = CommitAll(source).substr(0, 12);
  const std::string url = "git+file://" + source.string();
  Do({"install", url, "--agent", "pi", "--dry-run"});
  EXPECT_THAT(out, HasSubstr("greet: would be installed in"));
  Do({"install", url, "--agent", "pi"});
  EXPECT_THAT(out, HasSubstr("3 files of commit " + first));
  EXPECT_THAT(error, HasSubstr("asking git for file://"));
  Do({"list", "--agent", "pi", "--json"});
  EXPECT_EQ(OutAsJson()[0]["installed"]["source"], url);
  Do({"update"});
  EXPECT_THAT(out, HasSubstr("unchanged, commit " + first + "\n"));
  folder.Write("source/greet/tests.json", "[1]");
  const std::string second = CommitAll(source).substr(0, 12);
  Do({"update"});
  EXPECT_THAT(out, HasSubstr("unchanged, commit " + first + " → " + second)) << "tests aren't installed";
  ChangeSource();
  const std::string third = CommitAll(source).substr(0, 12);
  Do({"update", "--dry-run"});
  EXPECT_THAT(out, HasSubstr("would be updated, commit " + second + " → " + third));
  Do({"update"});
  EXPECT_THAT(out, HasSubstr("updated, commit " + second + " → " + third));
  EXPECT_EQ(*ReadFile(project() / ".pi/skills/greet/SKILL.md"), *ReadFile(source / "SKILL.md"));
  fs::rename(source, folder.path() / "moved");
  EXPECT_EQ(Run({"update"}), 1);
  EXPECT_THAT(out, HasSubstr("does not appear to be a git repository"));
  Do({"uninstall", "greet", "--agent", "pi"});
}

// A project's lock, and what a colleague does with it on another machine.
class LockedProject : public InstallCommand {
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

TEST_F(InstallCommand, GitSourcesThatCannotBe) {
  EXPECT_EQ(Run({"install", "https://me:hunter2@example.org/o/r", "--agent", "pi"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("contains a user name or a password"), Not(HasSubstr("hunter2"))));
  EXPECT_EQ(Run({"install", "ext::sh", "--agent", "pi"}), 2);
  EXPECT_EQ(Run({"install", "file://" + source.string(), "--agent", "pi", "--link"}), 2);
  EXPECT_THAT(error, HasSubstr("can't be linked to: clone the repository"));
  stop = 1;
  EXPECT_EQ(Run({"install", "file://" + source.string(), "--agent", "pi"}), 130);
  EXPECT_THAT(InHome(), IsEmpty());
}

TEST_F(InstallCommand, PackRefusesPlacesWithoutUse) {
  EXPECT_EQ(Run({"pack", source.string(), "-o", "x.tar"}), 2);
  EXPECT_THAT(error, HasSubstr("must end in .skill or .zip"));
  EXPECT_EQ(Run({"pack", source.string(), "-o", (source / "x.skill").string()}), 2);
  EXPECT_THAT(error, HasSubstr("would be in the skill itself"));
  fs::current_path(source);
  EXPECT_EQ(Run({"pack", "."}), 2);
  EXPECT_FALSE(fs::exists(source / "greet.skill"));
}

TEST_F(InstallCommand, ListShowsWhatOthersInstalled) {
  folder.Write("project/.claude/skills/mine/SKILL.md", SkillFileOf("mine"));
  folder.Write("project/.claude/skills/broken/SKILL.md", "nothing");
  Do({"install", source.string(), "--agent", "claude-code", "--user"});
  Do({"list", "--agent", "claude-code"});
  EXPECT_THAT(out, AllOf(HasSubstr("mine"), HasSubstr("not installed by upskill"), HasSubstr("unchanged")));
  EXPECT_THAT(error, HasSubstr("broken/SKILL.md"));
  Do({"list", "--agent", "copilot", "--json"});
  EXPECT_EQ(OutAsJson().size(), 3U) << "Copilot reads .claude/skills too, the project's and the user's";
  Do({"list", "--agent", "pi"});
  EXPECT_EQ(out, "Pi finds no skills here\n");
  Do({"list", "--agent", "all"});
  EXPECT_EQ(Run({"list", "--agent", "pie"}), 2);
  EXPECT_EQ(Run({"list", "--agent", "pi", "-d", "x"}), 2);
}

}  // namespace
}  // namespace upskill

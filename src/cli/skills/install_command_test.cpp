// SPDX-License-Identifier: Apache-2.0
// install, uninstall, update, pack and list --agent.
#include <gmock/gmock.h>

#include <filesystem>

#include "install/agents.h"
#include "support/git_repository.h"
#include "support/install_fixture.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using InstallCommand = InstallingTest;

TEST_F(InstallCommand, RoundTripForEveryAgent) {
  for (const Agent& agent : KnownAgents()) {
    if (agent.is_other) continue;
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

TEST_F(InstallCommand, APluginStandsForItsOnlySkill) {
  folder.Write("plugin/.claude-plugin/plugin.json", R"({"name": "manners"})");
  folder.Write("plugin/skills/greet/SKILL.md", SkillFileOf("greet"));
  folder.Write("plugin/evals/a/files/.claude/skills/other/SKILL.md", SkillFileOf("other"));
  const std::string plugin = (folder.path() / "plugin").string();
  Do({"install", plugin, "--agent", "pi"});
  EXPECT_TRUE(fs::exists(project() / ".pi/skills/greet/SKILL.md"));
  folder.Write("plugin/skills/bow/SKILL.md", SkillFileOf("bow"));
  EXPECT_EQ(Run({"install", plugin, "--agent", "pi"}), 2);
  EXPECT_THAT(error, AllOf(HasSubstr("has 2 skills; name one:"), HasSubstr(plugin + "/skills/bow")));
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

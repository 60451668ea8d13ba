// SPDX-License-Identifier: Apache-2.0
#include "install/agents.h"

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "install/skills_folder.h"
#include "support/source_dir.h"
#include "util/files.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

VariableLookup Variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  };
}

std::vector<fs::path> UserFolders(const std::string& id, const std::map<std::string, std::string>& values) {
  const Result<const Agent*> agent = FindAgent(id);
  EXPECT_TRUE(agent.ok());
  const Result<std::vector<fs::path>> folders = UserFoldersOf(**agent, Variables(values));
  EXPECT_TRUE(folders.ok()) << folders.error().message;
  return *folders;
}

TEST(Agents, AreThoseOfTheFile) {
  std::vector<std::string> ids;
  std::vector<std::string> others;
  for (const Agent& agent : KnownAgents()) (agent.is_other ? others : ids).push_back(agent.id);
  EXPECT_THAT(others, IsSupersetOf({"windsurf", "qwen-code", "github-copilot", "zed"}));
  EXPECT_THAT(ids, UnorderedElementsAre("agents", "claude-code", "codex", "cursor", "opencode", "gemini-cli", "copilot",
                                        "goose", "amp", "pi"));
  EXPECT_THAT(FindAgent("claude").error().message,
              StartsWith("unknown agent 'claude'; did you mean 'claude-code'? There are: agents, claude-code, co"));
  EXPECT_THAT(FindAgent("curser").error().message, HasSubstr("did you mean 'cursor'?"));
}

// docs/install.md has a row for each agent: | name | `id` | project folders | user folders |.
TEST(Agents, AreInTheDocumentation) {
  const Result<std::string> text = ReadFile(SourceDir() / "docs" / "install.md");
  ASSERT_TRUE(text.ok());
  std::set<std::string> rows;
  for (const std::string_view line : SplitLines(*text)) {
    if (line.starts_with("| ") && !line.starts_with("| agent |") && line.find("| `") != std::string_view::npos &&
        !line.starts_with("| `"))
      rows.emplace(line);
  }
  EXPECT_EQ(rows.size(), KnownAgents().size());
  const auto joined = [](const std::vector<std::string>& folders) {
    std::string cell;
    for (const std::string& folder : folders) cell += (cell.empty() ? "`" : ", `") + folder + "`";
    return cell;
  };
  for (const Agent& agent : KnownAgents()) {
    std::string row = "| " + agent.name + " | `" + agent.id + "` | ";
    row += joined(agent.project_folders) + " | " + joined(agent.user_folders) + " | ";
    std::string variables;
    for (const auto& [name, start] : agent.variables)
      variables += (variables.empty() ? "`" : ", `") + name + "` for `" + start + "`";
    row += variables + (variables.empty() ? "|" : " |");
    EXPECT_TRUE(rows.contains(row)) << "expected in docs/install.md: " << row;
  }
}

TEST(Agents, EnvironmentNamesOtherFolders) {
  EXPECT_THAT(UserFolders("claude-code", {{"HOME", "/h"}}), ElementsAre("/h/.claude/skills"));
  EXPECT_THAT(UserFolders("claude-code", {{"HOME", "/h"}, {"CLAUDE_CONFIG_DIR", "/c/"}}), ElementsAre("/c/skills"));
  EXPECT_THAT(UserFolders("claude-code", {{"CLAUDE_CONFIG_DIR", "/c"}}), ElementsAre("/c/skills"));
  EXPECT_THAT(UserFolders("codex", {{"HOME", "/h"}, {"CODEX_HOME", "/x"}}),
              ElementsAre("/h/.agents/skills", "/x/skills", "/etc/codex/skills"));
  EXPECT_THAT(UserFolders("amp", {{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/g"}}),
              ElementsAre("/g/agents/skills", "/g/amp/skills"));
  EXPECT_THAT(UserFolders("opencode", {{"HOME", "/h"}, {"XDG_CONFIG_HOME", ""}}),
              ElementsAre("/h/.config/opencode/skills", "/h/.claude/skills", "/h/.agents/skills"));
  const Result<std::vector<fs::path>> homeless = UserFoldersOf(**FindAgent("pi"), Variables({}));
  ASSERT_FALSE(homeless.ok());
  EXPECT_THAT(homeless.error().message, HasSubstr("HOME isn't set; set it, or use --project"));
}

TEST(Agents, SomeHaveNoFolderForAllProjects) {
  const Agent* const eve = *FindAgent("eve");
  EXPECT_THAT(TargetsFor({eve}, InstallScope::kUser, "/p", Variables({{"HOME", "/h"}})).error().message,
              HasSubstr("use --project"));
  EXPECT_FALSE(
      TargetsFor({eve, *FindAgent("promptscript")}, InstallScope::kUser, "/p", Variables({{"HOME", "/h"}})).ok());
  EXPECT_EQ(TargetsFor({eve, *FindAgent("pi")}, InstallScope::kUser, "/p", Variables({{"HOME", "/h"}}))->size(), 1U);
  EXPECT_EQ(TargetsFor({eve}, InstallScope::kProject, "/p", Variables({}))->front().place.folder, "/p/agent/skills");
}

TEST(Agents, ProjectIsTheRepository) {
  const TempFolder folder;
  folder.Write("p/.git/HEAD", "");
  folder.Write("p/a/b/c.txt", "");
  EXPECT_EQ(ProjectRootOf(folder.path() / "p/a/b"), folder.path() / "p");
  folder.Write("q/worktree/.git", "gitdir: elsewhere");
  EXPECT_EQ(ProjectRootOf(folder.path() / "q/worktree"), folder.path() / "q/worktree");
  EXPECT_EQ(ProjectRootOf(folder.path() / "q"), folder.path() / "q");
}

TEST(Agents, SomeReadFoldersUpToTheRoot) {
  const TempFolder folder;
  folder.Write("p/.git/HEAD", "");
  folder.Write("p/a/c.txt", "");
  const auto project_folders = [&](const char* id) {
    std::vector<std::string> names;
    const auto read = FoldersReadBy(**FindAgent(id), folder.path() / "p/a", Variables({{"HOME", "/h"}}));
    for (const SkillsFolder& place : *read) {
      if (!place.project.empty()) names.push_back(place.folder.lexically_relative(folder.path()).string());
    }
    return names;
  };
  EXPECT_THAT(project_folders("codex"), ElementsAre("p/a/.agents/skills", "p/.agents/skills"));
  EXPECT_THAT(project_folders("gemini-cli"), ElementsAre("p/.gemini/skills", "p/.agents/skills"));
}

TEST(Agents, OneFolderIsOneTarget) {
  const std::vector<const Agent*> agents = {*FindAgent("goose"), *FindAgent("codex"), *FindAgent("goose"),
                                            *FindAgent("cursor")};
  const auto targets = TargetsFor(agents, InstallScope::kUser, "/p", Variables({{"HOME", "/h"}}));
  ASSERT_EQ(targets->size(), 2U);
  EXPECT_EQ((*targets)[0].place.folder, "/h/.agents/skills");
  EXPECT_THAT((*targets)[0].agents, ElementsAre("goose", "codex"));
  EXPECT_EQ((*targets)[1].place.folder, "/h/.cursor/skills");
}

TEST(Agents, FaultsInTheFileAreNamed) {
  const auto fault = [](const char* text) { return ParseAgents(text, "a.toml").error().message; };
  EXPECT_THAT(fault("[[agent]]\nid = 3"), HasSubstr("a.toml:2:6: 'id' must be a string"));
  EXPECT_THAT(fault("[[agent]]\nid = 'a'"), HasSubstr("needs 'id', 'name', 'project' and 'user'"));
  EXPECT_THAT(fault("[[agent]]\nproject = ['/abs']"), HasSubstr("can't be a folder of 'project'"));
  EXPECT_THAT(fault("[[agent]]\nuser = ['rel']"), HasSubstr("can't be a folder of 'user'"));
  EXPECT_THAT(fault("[[agent]]\nusers = []"), HasSubstr("unknown key 'users'"));
  EXPECT_THAT(fault("x = 1"), HasSubstr("expected [[agent]], [others] and [[program]] tables"));
  EXPECT_THAT(fault("x ="), HasSubstr("a.toml:1:"));
}

}  // namespace
}  // namespace upskill

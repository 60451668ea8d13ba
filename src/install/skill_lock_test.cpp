// SPDX-License-Identifier: Apache-2.0
#include "install/skill_lock.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "support/skill_folder.h"
#include "util/files.h"
#include "util/hash.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kCommit(40, 'a');
const std::string kHash(64, 'b');

std::string EntryText(const std::string& name = "greet", const std::string& url = "https://example.org/o/r",
                      const std::string& path = "skills/greet", const std::string& commit = kCommit,
                      const std::string& agent = "pi") {
  return fmt::format(R"({{"name": "{}", "source": "s", "url": "{}", "path": "{}", "commit": "{}", "sha256": "{}",
"agents": ["{}"]}})",
                     name, url, path, commit, kHash, agent);
}

std::string LockText(const std::string& entries, int version = 1) {
  return fmt::format("{{\"version\": {}, \"skills\": [{}]}}", version, entries);
}

std::string LockErrorOf(const std::string& text) {
  const auto skills = ParseSkillLock(text, "upskill.lock");
  return skills ? "" : skills.error().message;
}

TEST(SkillLock, SurvivesWritingAndReading) {
  const std::string text = LockText(EntryText("b") + "," + EntryText("a"));
  const auto skills = ParseSkillLock(text, "upskill.lock");
  ASSERT_TRUE(skills.ok());
  const std::string written = SkillLockText(*skills);
  EXPECT_LT(written.find("\"a\""), written.find("\"b\"")) << "sorted by name";
  EXPECT_EQ(SkillLockText(ParseSkillLock(written, "upskill.lock").value()), written);
  std::string crlf;
  for (const char c : written) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(SkillLockText(ParseSkillLock(crlf, "upskill.lock").value()), written);
}

TEST(SkillLock, HostileEntriesAreRefused) {
  EXPECT_EQ(LockErrorOf(LockText(EntryText())), "");
  for (const std::string& entry :
       {EntryText("../greet"),
        EntryText("/tmp/x"),
        EntryText("a/b"),
        EntryText("Greet"),
        EntryText(""),
        EntryText("greet", "https://me:hunter2@example.org/o/r"),
        EntryText("greet", "ext::sh -c id"),
        EntryText("greet", "http://example.org/o/r"),
        EntryText("greet", "--upload-pack=id"),
        EntryText("greet", "https://example.org/o/r/tree/main/x"),
        EntryText("greet", "https://example.org/o/r#x"),
        EntryText("greet", "https://example.org/o/r", "../x"),
        EntryText("greet", "https://example.org/o/r", "/etc"),
        EntryText("greet", "https://example.org/o/r", ".git/x"),
        EntryText("greet", "https://example.org/o/r", "a//b"),
        EntryText("greet", "https://example.org/o/r", "", "HEAD"),
        EntryText("greet", "https://example.org/o/r", "", std::string(40, 'A')),
        EntryText("greet", "https://example.org/o/r", "", "--option"),
        EntryText("greet", "https://example.org/o/r", "", std::string(39, 'a')),
        EntryText("greet", "https://example.org/o/r", "", kCommit, "all"),
        EntryText("greet", "", "", kCommit),
        EntryText() + "," + EntryText(),
        std::string("{}"),
        std::string("1"),
        std::string(R"({"name": "greet", "source": "/etc/x", "sha256": ")") + kHash + R"(", "agents": ["pi"]})",
        std::string(R"({"name": "greet", "source": "x", "sha256": "1", "agents": ["pi"]})"),
        std::string(R"({"name": "greet", "source": "x", "sha256": ")") + kHash + R"(", "agents": []})"}) {
    const std::string error = LockErrorOf(LockText(entry));
    if (entry.find(R"("url": "",)") != std::string::npos) continue;  // a folder, and its name is fine
    EXPECT_THAT(error, AllOf(HasSubstr("upskill.lock"), Not(HasSubstr("hunter2")))) << entry;
  }
}

TEST(SkillLock, SaysWhatIsWrongWithTheFile) {
  EXPECT_THAT(LockErrorOf("{\r\n<<<<<<< HEAD\r\n\"version\": 1\r\n=======\r\n"),
              HasSubstr("upskill.lock:2: a merge conflict isn't resolved"));
  EXPECT_THAT(LockErrorOf(LockText("", 2)), HasSubstr("install a newer upskill"));
  EXPECT_THAT(LockErrorOf(LockText("", 0)), HasSubstr("restore the file"));
  EXPECT_THAT(LockErrorOf(LockText(EntryText() + "," + EntryText())), HasSubstr("'greet' is there twice"));
  EXPECT_THAT(LockErrorOf(LockText(R"({"sha256": "a",)" + EntryText().substr(EntryText().find('{') + 1))),
              HasSubstr("'sha256' is there twice"));
  EXPECT_THAT(LockErrorOf("{\"version\": 1"), HasSubstr("upskill.lock"));
}

TEST(SkillLock, TreeHashIsThatOfItsLines) {
  const FileMap files = {{"b.sh", {"x", true}}, {"SKILL.md", {"y", false}}};
  EXPECT_EQ(TreeSha256(HashesOf(files)),
            Sha256Hex("644 " + Sha256Hex("y") + " SKILL.md\n755 " + Sha256Hex("x") + " b.sh\n"));
}

class SkillLockFile : public testing::Test {
 protected:
  InstalledSkill Installed(const std::string& agent, const std::string& skills,
                           const std::string& content = "x") const {
    InstalledSkill skill;
    skill.name = "greet";
    skill.project = project.path();
    skill.folder = project.path() / skills / "greet";
    skill.source = "git+https://example.org/o/r#main:greet";
    skill.commit = kCommit;
    skill.agents = {agent};
    skill.files = HashesOf({{"SKILL.md", {content, false}}});
    return skill;
  }
  SkillLock Lock() const { return SkillLock::Open(project.path()).value(); }
  std::vector<std::string> Agents() const { return LoadSkillLock(project.path()).value().at(0).agents; }

  TempFolder project;
  const SkillLock::Work install_ = [] { return Status(); };
};

TEST_F(SkillLockFile, IsAsBeforeIfTheWorkFails) {
  const auto fails = [&] {
    EXPECT_EQ(Agents().size(), 1U) << "written first";
    return Status(InputError("no"));
  };
  EXPECT_EQ(Lock().Put(Installed("pi", ".pi/skills"), "", fails).error().message, "no");
  EXPECT_FALSE(fs::exists(project.path() / kSkillLockFile));
  EXPECT_TRUE(Lock().Put(Installed("pi", ".pi/skills"), "", install_).value());
  EXPECT_FALSE(Lock()
                   .Remove("greet", {{project.path(), project.path() / ".pi/skills"}, {"pi"}}, true,
                           [] { return Status(InputError("no")); })
                   .ok());
  EXPECT_THAT(Agents(), ElementsAre("pi"));
}

TEST_F(SkillLockFile, OneEntryIsForAllCopies) {
  const InstalledSkill pi = Installed("pi", ".pi/skills");
  const InstalledSkill claude = Installed("claude-code", ".claude/skills");
  EXPECT_TRUE(Lock().Put(pi, "https://example.org/o/r/tree/main/greet", install_).value());
  EXPECT_FALSE(Lock().Put(pi, "https://example.org/o/r/tree/main/greet", install_).value()) << "nothing has changed";
  EXPECT_TRUE(Lock().CheckCovered({claude}).ok()) << "the same files";
  EXPECT_TRUE(Lock().Put(claude, "", install_).value());
  EXPECT_THAT(Agents(), ElementsAre("claude-code", "pi"));
  EXPECT_EQ(LoadSkillLock(project.path())->at(0).source, "https://example.org/o/r/tree/main/greet");

  const InstalledSkill newer = Installed("pi", ".pi/skills", "other");
  EXPECT_THAT(Lock().CheckCovered({newer}).error().message, HasSubstr(".claude/skills/greet"));
  EXPECT_TRUE(Lock().CheckCovered({newer, Installed("claude-code", ".claude/skills", "other")}).ok());
}

TEST_F(SkillLockFile, IsRemovedWithItsLastSkill) {
  EXPECT_TRUE(Lock().Put(Installed("codex", ".agents/skills"), "", install_).value());
  EXPECT_TRUE(Lock().Put(Installed("goose", ".agents/skills"), "", install_).value());
  EXPECT_TRUE(Lock()
                  .Remove("greet", {{project.path(), project.path() / ".agents/skills"}, {"codex"}}, false, install_)
                  .value());
  EXPECT_THAT(Agents(), ElementsAre("goose"));
  EXPECT_FALSE(
      Lock().Remove("other", {{project.path(), project.path() / ".agents/skills"}, {"goose"}}, true, install_).value());
  EXPECT_TRUE(
      Lock().Remove("greet", {{project.path(), project.path() / ".agents/skills"}, {"amp"}}, true, install_).value());
  EXPECT_FALSE(fs::exists(project.path() / kSkillLockFile));
}

TEST_F(SkillLockFile, ReplacesALinkInsteadOfFollowingIt) {
  TempFolder elsewhere;
  const fs::path other = elsewhere.Write("lock", LockText(""));
  fs::create_symlink(other, project.path() / kSkillLockFile);
  EXPECT_TRUE(Lock().Put(Installed("pi", ".pi/skills"), "", install_).value());
  EXPECT_EQ(*ReadFile(other), LockText(""));
}

TEST_F(SkillLockFile, FoldersAndLinksAreNotPinned) {
  InstalledSkill local = Installed("pi", ".pi/skills");
  local.source = project.path().parent_path() / "skills/greet";
  local.commit.clear();
  EXPECT_TRUE(Lock().Put(local, "greet", install_).value());
  EXPECT_EQ(LoadSkillLock(project.path())->at(0).source, "../skills/greet") << "no name of a home folder";
  local.mode = InstallMode::kLink;
  EXPECT_TRUE(Lock().Put(local, "greet", install_).value());
  EXPECT_FALSE(fs::exists(project.path() / kSkillLockFile)) << "a link has no files of its own";
}

}  // namespace
}  // namespace upskill

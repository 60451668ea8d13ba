// SPDX-License-Identifier: Apache-2.0
#include "install/git_fetch.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/git_repository.h"
#include "support/skill_folder.h"
#include "util/files.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class GitFetch : public testing::Test {
 protected:
  // With a temporary folder of its own: other programs fetch at the same time.
  GitFetch() {
    WriteSkill(folder, "r/skills/greet", "greet");
    fs::create_directory(temporary);
    if (const char* set = std::getenv("TMPDIR")) before = set;
    ::setenv("TMPDIR", temporary.c_str(), 1);
  }
  ~GitFetch() override {
    if (before) {
      ::setenv("TMPDIR", before->c_str(), 1);
    } else {
      ::unsetenv("TMPDIR");
    }
  }

  Result<FetchedSkill> Fetch(const std::string& ref = "", const std::string& path = "") const {
    return FetchGitSkill({Url(), ref, path}, EvaluationFiles::kLeftOut, limits);
  }
  std::string Url() const { return "file://" + repository.string(); }
  std::string ErrorOf(const Result<FetchedSkill>& fetched) const { return fetched ? "" : fetched.error().message; }

  // What fetching leaves in the temporary folder.
  std::vector<std::string> Leavings() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(temporary))
      if (entry.path().filename().string().starts_with("upskill-git-")) names.push_back(entry.path().string());
    return names;
  }

  TempFolder folder;
  fs::path temporary = folder.path() / "tmp";
  std::optional<std::string> before;  // the value of TMPDIR
  fs::path repository = folder.path() / "r";
  GitLimits limits;
};

TEST_F(GitFetch, ReadsTheSkillOfABranchTagOrCommit) {
  const std::string first = CommitAll(repository);
  RunGit(repository, "git tag --annotate --message one v1");
  folder.Write("r/skills/greet/SKILL.md", SkillFileOf("greet", "Say good morning."));
  const std::string second = CommitAll(repository);
  RunGit(repository, "git branch feature/x");
  const Result<FetchedSkill> newest = Fetch();
  ASSERT_TRUE(newest.ok()) << newest.error().message;
  EXPECT_EQ(newest->commit, second);
  EXPECT_EQ(newest->files.name, "greet");
  EXPECT_TRUE(newest->files.files.at("scripts/greet.sh").executable);
  EXPECT_FALSE(newest->files.files.contains("tests.json"));
  for (const std::string& ref : {std::string("v1"), first}) {
    const Result<FetchedSkill> old = Fetch(ref, "skills/greet");
    ASSERT_TRUE(old.ok()) << old.error().message;
    EXPECT_EQ(old->commit, first);
    EXPECT_THAT(old->files.files.at("SKILL.md").content, HasSubstr("Say hello."));
  }
  EXPECT_TRUE(Fetch("feature/x").ok());
  EXPECT_THAT(Leavings(), IsEmpty());
}

TEST_F(GitFetch, SaysWhichSkillsThereAre) {
  WriteSkill(folder, "r/skills/leave", "leave");
  CommitAll(repository);
  EXPECT_THAT(ErrorOf(Fetch()),
              AllOf(HasSubstr("has 2 skills; name one:\n"),
                    HasSubstr("\n  git+" + Url() + "#:skills/greet\n  git+" + Url() + "#:skills/leave")));
  EXPECT_EQ(Fetch("main", "greet")->path, "skills/greet") << "the end of a path, where only one has it";
  EXPECT_THAT(ErrorOf(Fetch("main", "skills/gret")),
              AllOf(HasSubstr("no SKILL.md in 'skills/gret'"), HasSubstr("#main:skills/greet")));
  EXPECT_THAT(ErrorOf(Fetch("mein")), HasSubstr("there is no branch, tag or commit 'mein'"));
  fs::remove_all(repository / "skills");
  CommitAll(repository);
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("there is no SKILL.md"));
  repository = folder.path() / "nothing";
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("does not appear to be a git repository"));
}

// A repository at whose root the skill is, without a name of its own, is named after the repository.
TEST_F(GitFetch, RootOfTheRepository) {
  folder.Write("plain/SKILL.md", "---\ndescription: Greets people. Use it at the door.\n---\n\nSay hello.\n");
  repository = folder.path() / "plain";
  CommitAll(repository);
  const Result<FetchedSkill> fetched = Fetch();
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  EXPECT_EQ(fetched->files.name, "plain");
  EXPECT_EQ(fetched->files.files.size(), 1U);
}

TEST_F(GitFetch, RepositoryRunsNothing) {
  const fs::path ran = folder.path() / "ran";
  const std::string command = "touch " + ran.string();
  folder.Write("r/.gitattributes", "* filter=evil\n");
  folder.Write("r/.gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ext::" + command + "\n");
  CommitAll(repository);
  for (const char* hook : {"post-checkout", "pre-commit", "post-update", "reference-transaction"}) {
    const fs::path file = folder.Write(std::string("r/.git/hooks/") + hook, "#!/bin/sh\n" + command + "\n");
    fs::permissions(file, fs::perms::owner_all);
  }
  const fs::path configuration =
      folder.Write("gitconfig", "[filter \"evil\"]\n\tsmudge = sh -c '" + command + "; cat'\n\trequired = true\n");
  ::setenv("GIT_CONFIG_GLOBAL", configuration.c_str(), 1);
  const Result<FetchedSkill> fetched = Fetch();
  ::unsetenv("GIT_CONFIG_GLOBAL");
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  EXPECT_FALSE(fs::exists(ran));
}

TEST_F(GitFetch, ChecksFilesAsThoseOfAFolder) {
  fs::create_symlink("/etc/passwd", repository / "skills/greet/words");
  CommitAll(repository);
  EXPECT_THAT(ErrorOf(Fetch()), AllOf(HasSubstr(Url() + "/skills/greet/words is a symbolic link"),
                                      HasSubstr("outside the skill"), Not(HasSubstr("upskill-git-"))));
  fs::remove(repository / "skills/greet/words");
  fs::create_directory_symlink("skills", repository / "other");
  CommitAll(repository);
  EXPECT_THAT(ErrorOf(Fetch("", "other/greet")), HasSubstr("no SKILL.md in 'other/greet'")) << "not through a link";
}

TEST_F(GitFetch, HasLimits) {
  std::string noise;
  for (int i = 0; i < 60'000; ++i) noise += fmt::format("{:x}", i * 2654435761U);
  folder.Write("r/noise", noise);
  CommitAll(repository);
  limits.bytes = 50'000;
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("the repository is larger than 50.0 kB"));
  limits = {};
  limits.stopped = [] { return true; };
  const Result<FetchedSkill> stopped = Fetch();
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().kind, ErrorKind::kCancelled);
  limits = {};
  limits.time = std::chrono::seconds(0);
  EXPECT_THAT(ErrorOf(Fetch()), HasSubstr("git wasn't done after 0 s"));
  EXPECT_THAT(Leavings(), IsEmpty());
}

TEST_F(GitFetch, GitIsNeeded) {
  CommitAll(repository);
  const std::string path = ::getenv("PATH");
  ::setenv("PATH", folder.path().c_str(), 1);
  const Result<FetchedSkill> fetched = Fetch();
  ::setenv("PATH", path.c_str(), 1);
  EXPECT_THAT(ErrorOf(fetched), HasSubstr("git isn't installed"));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
// Configuration files: which one is read, and what one that came with a project may set.
#include "cli/env/config.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "support/command_line.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kOk = 0;
constexpr int kUsage = 2;

// Works in a folder of its own, which has the configuration of a project.
class ProjectConfig : public CommandLineTest {
 protected:
  ProjectConfig() {
    variables.erase("UPSKILL_CONFIG");
    fs::create_directories(project() / "skills");
    fs::current_path(project());
  }
  ~ProjectConfig() override { fs::current_path(before_); }
  ProjectConfig(const ProjectConfig&) = delete;
  ProjectConfig& operator=(const ProjectConfig&) = delete;

  fs::path project() const { return folder.path() / "project"; }
  int ListWith(const std::string& config) {
    folder.Write("project/upskill.config.yaml", config);
    return Run({"list"});
  }

 private:
  fs::path before_ = fs::current_path();
};

TEST_F(ProjectConfig, MaySetNamesAndFoldersBelowItsOwn) {
  EXPECT_EQ(ListWith("eval_model: haiku\nskills_dir: ./skills\nruns_dir: results/runs\nmax_refine_attempts: 3\n"), kOk)
      << error;
}

TEST_F(ProjectConfig, NamesMisspeltKeys) {
  EXPECT_EQ(ListWith("eval_modle: haiku\nformatter: x\n"), kOk);
  EXPECT_THAT(error, HasSubstr("warning: upskill.config.yaml:1:1: unknown key \"eval_modle\" is ignored; did you mean "
                               "\"eval_model\"?"));
  EXPECT_THAT(error, Not(HasSubstr("formatter")));
}

TEST_F(ProjectConfig, MayNotNameFilesServersOrFoldersElsewhere) {
  fs::create_directory_symlink(folder.path(), project() / "linked");
  for (const char* setting :
       {"eval_model: llama:../model.gguf", "model: weights/model.gguf", "test_gen_model: http://10.0.0.1:8080/v1",
        "runs_dir: /tmp/runs", "runs_dir: ../runs", "skills_dir: linked/skills"}) {
    EXPECT_EQ(ListWith(std::string(setting) + "\n"), kUsage) << setting;
    EXPECT_THAT(error, AllOf(HasSubstr("names model files, commands or servers, or folders outside of this one:\n  "),
                             HasSubstr("--trust-config"), HasSubstr((project() / "upskill.config.yaml").string())));
  }
}

// A link with the default's name would be followed without a configuration file, too.
TEST_F(ProjectConfig, IsAskedAboutWhatItSetsOnly) {
  fs::create_directory_symlink(folder.path(), project() / "runs");
  EXPECT_EQ(ListWith("eval_model: haiku\n"), kOk) << error;
  EXPECT_EQ(ListWith("eval_model: llama:model.gguf\n"), kUsage);
  EXPECT_THAT(error, AllOf(HasSubstr("eval_model: llama:model.gguf"), Not(HasSubstr("runs_dir"))));
}

TEST_F(ProjectConfig, WorksWithTheUsersConsent) {
  const std::string config = "eval_model: llama:model.gguf\nskills_dir: skills\n";
  EXPECT_EQ(ListWith(config), kUsage);
  EXPECT_EQ(Run({"--trust-config", "list"}), kOk) << error;
  folder.Write("home/.config/upskill/config.yaml",
               "trusted_configs:\n  - " + (fs::canonical(project()) / "upskill.config.yaml").string() + "\n");
  EXPECT_EQ(Run({"list"}), kOk) << error;
  folder.Write("home/.config/upskill/config.yaml", "trusted_configs:\n  - /elsewhere/upskill.config.yaml\n");
  EXPECT_EQ(Run({"list"}), kUsage);
}

TEST_F(ProjectConfig, OfAnotherUserSetsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  folder.Write("project/upskill.config.yaml", "eval_model: haiku\n");
  constexpr uid_t kOther = 65534;
  ASSERT_EQ(::chown("upskill.config.yaml", kOther, kOther), 0);
  EXPECT_EQ(Run({"list"}), kUsage);
  EXPECT_THAT(error, HasSubstr("upskill.config.yaml belongs to another user"));
}

TEST_F(ProjectConfig, ValuesHaveNoControlCharacters) {
  EXPECT_EQ(ListWith("skills_dir: skills\neval_model: \"haiku\\n  forged: line\"\n"), kUsage);
  EXPECT_THAT(error, HasSubstr("upskill.config.yaml:2:13: eval_model contains a control character"));
}

TEST_F(ProjectConfig, IsUtf8PerhapsWithAByteOrderMark) {
  EXPECT_EQ(ListWith("\xEF\xBB\xBFskills_dir: skills\n"), 0) << error;
  EXPECT_EQ(ListWith("skills_dir: skills\neval_model: sim\xFF\n"), kUsage);
  EXPECT_THAT(error, HasSubstr("upskill.config.yaml:2:16: not UTF-8 text"));
}

TEST_F(ProjectConfig, TheUsersOwnMayNameAnything) {
  folder.Write("home/.config/upskill/config.yaml", "eval_model: llama:/models/model.gguf\nskills_dir: skills\n");
  EXPECT_EQ(Run({"list"}), kOk) << error;
  variables["XDG_CONFIG_HOME"] = (folder.path() / "xdg").string();
  folder.Write("xdg/upskill/config.yaml", "skills_dir: [a, b]\n");
  EXPECT_EQ(Run({"list"}), kUsage);
  EXPECT_THAT(error, HasSubstr("xdg/upskill/config.yaml:1:13: skills_dir must be a string"));
}

}  // namespace
}  // namespace upskill

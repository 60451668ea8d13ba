// SPDX-License-Identifier: Apache-2.0
// Keys in the file `.env` of the current folder, which may have come with a project.
#include "cli/models/env_file.h"

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

constexpr const char* kEnvKey = "sk-ant-from-env-0123456789";

class EnvFileCommand : public CommandLineTest {
 protected:
  EnvFileCommand() {
    fs::create_directories(project());
    fs::current_path(project());
  }
  ~EnvFileCommand() override { fs::current_path(before_); }
  EnvFileCommand(const EnvFileCommand&) = delete;
  EnvFileCommand& operator=(const EnvFileCommand&) = delete;

  fs::path project() const { return folder.path() / "project"; }

  // What the doctor says of `name` with this file; empty if nothing.
  std::string Doctor(const std::string& name, const std::string& text, std::vector<std::string> before = {}) {
    const fs::path file = folder.Write("project/.env", text);
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    return Again(name, std::move(before));
  }
  std::string Again(const std::string& name, std::vector<std::string> before = {}) {
    before.insert(before.end(), {"doctor", "--json"});
    EXPECT_LE(Run(before), 1);
    EXPECT_THAT(out + error, Not(HasSubstr(kEnvKey)));
    const Json document = OutAsJson();
    for (const Json& finding : document.at("findings")) {
      if (finding["name"] == name) return finding["text"].get<std::string>();
    }
    return "";
  }

  const std::string key_line = std::string("export ANTHROPIC_API_KEY='") + kEnvKey + "' # mine\n";

 private:
  fs::path before_ = fs::current_path();
};

TEST_F(EnvFileCommand, GivesKeys) {
  EXPECT_EQ(Doctor("anthropic", key_line), "key in $ANTHROPIC_API_KEY, from .env");
  EXPECT_EQ(Again(".env"), "gives ANTHROPIC_API_KEY");
  EXPECT_EQ(error, "");
}

TEST_F(EnvFileCommand, TheUsersOwnKeysWin) {
  variables["ANTHROPIC_AUTH_TOKEN"] = "sk-ant-mine-0123456789";
  EXPECT_EQ(Doctor("anthropic", key_line), "key in $ANTHROPIC_AUTH_TOKEN");
  EXPECT_THAT(Again(".env"), HasSubstr("ANTHROPIC_API_KEY: not used"));
}

TEST_F(EnvFileCommand, CanBeTurnedOff) {
  EXPECT_EQ(Doctor("anthropic", key_line, {"--no-env-file"}), "");
  variables["UPSKILL_NO_ENV_FILE"] = "1";
  EXPECT_EQ(Again("anthropic"), "");
  variables.erase("UPSKILL_NO_ENV_FILE");
  folder.Write("config.yaml", "env_file: false\n");
  EXPECT_EQ(Again("anthropic"), "");
  folder.Write("config.yaml", "");
  EXPECT_NE(Again("anthropic"), "");
  // A project's configuration can't undo what the user's says.
  folder.Write("home/.config/upskill/config.yaml", "env_file: false\n");
  EXPECT_EQ(Again("anthropic"), "");
}

TEST_F(EnvFileCommand, GivesNothingButKeys) {
  EXPECT_EQ(Doctor("environment",
                   "UPSKILL_MODELS=/evil.toml\nANTHROPIC_BASE_URL=https://evil.example\nLD_PRELOAD=x\n"
                   "PATH=/evil\nHF_ENDPOINT=https://evil.example\n"),
            "UPSKILL_CONFIG")
      << "which the test has set, not the file";
  EXPECT_THAT(error, AllOf(HasSubstr("ANTHROPIC_BASE_URL, HF_ENDPOINT, UPSKILL_MODELS in .env are ignored"),
                           Not(HasSubstr("LD_PRELOAD"))));
}

TEST_F(EnvFileCommand, NamesWhatItIgnores) {
  EXPECT_EQ(Doctor("anthropic", "what is this\nANTHROPIC_API_KEY=${OTHER}\n"), "");
  EXPECT_THAT(error, AllOf(HasSubstr(".env:2: ANTHROPIC_API_KEY is ignored: its value refers to another variable"),
                           HasSubstr(".env:1: expected NAME=value")));
}

TEST_F(EnvFileCommand, HostileFiles) {
  EXPECT_EQ(Doctor("anthropic", key_line + std::string(70'000, '#')), "");
  EXPECT_THAT(error, HasSubstr("warning: .env is ignored: it is larger than"));
  const fs::path file = folder.Write("project/.env", key_line);
  fs::permissions(file, fs::perms::owner_all | fs::perms::group_write);
  EXPECT_EQ(Again("anthropic"), "");
  EXPECT_THAT(error, HasSubstr("other users can change it"));
  fs::rename(file, project() / "other");
  fs::create_symlink("other", file);
  EXPECT_EQ(Again("anthropic"), "");
  EXPECT_THAT(error, HasSubstr("it is a link"));
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(Again("anthropic"), "");
  EXPECT_THAT(error, HasSubstr("it is not a regular file"));
}

TEST_F(EnvFileCommand, OfAnotherUserGivesNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  folder.Write("project/.env", key_line);
  constexpr uid_t kOther = 65534;
  ASSERT_EQ(::chown(".env", kOther, kOther), 0);
  EXPECT_EQ(Again("anthropic"), "");
  EXPECT_THAT(error, HasSubstr("it belongs to another user"));
}

}  // namespace
}  // namespace upskill

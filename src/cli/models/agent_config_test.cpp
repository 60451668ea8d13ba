// SPDX-License-Identifier: Apache-2.0
// What fast-agent's configuration means here, and `import-config`.
#include "cli/models/agent_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "support/command_line.h"
#include "support/work_meter.h"
#include "util/files.h"
#include "util/yaml.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A key that no rule for secrets would know.
constexpr const char* kKey = "plain-key-of-the-openai-account";

Json Yaml(const std::string& text) {
  Result<Json> json = ParseYaml(text, "fastagent.config.yaml");
  EXPECT_TRUE(json.ok()) << text;
  return json ? *json : Json();
}

AgentConfig Read(const std::vector<std::string>& texts) {
  std::vector<Json> documents;
  for (const std::string& text : texts) documents.push_back(Yaml(text));
  return ReadAgentConfig(documents, *LoadCatalog());
}

TEST(AgentConfigReader, TheSecretsFileCountsMost) {
  const AgentConfig found =
      Read({"default_model: sonnet\nopenai:\n  api_key: first\n  base_url: https://a.example/v1\n",
            "openai:\n  api_key: second\nunknown:\n  api_key: third\n"});
  EXPECT_EQ(found.default_model, "sonnet");
  ASSERT_EQ(found.keys.size(), 1U);
  EXPECT_EQ(found.keys[0].value, "second");
  ASSERT_EQ(found.base_urls.size(), 1U);
  EXPECT_EQ(found.base_urls[0].value, "https://a.example/v1");
}

TEST(AgentConfigReader, PassesOverWhatIsNoValue) {
  const AgentConfig found =
      Read({"openai:\n  api_key: ${OPENAI_API_KEY}\nanthropic:\n  api_key: your-key-here\n"
            "hf:\n  api_key: \"a\\\"b\"\ndefault_model: \"a b\"\ngeneric: 5\nmcp: [1]\n"});
  EXPECT_THAT(found.keys, IsEmpty());
  EXPECT_EQ(found.default_model, "");
  EXPECT_THAT(found.passed_over, ElementsAre(HasSubstr("hf.api_key"), HasSubstr("openai.api_key: its value refers to"),
                                             HasSubstr("default_model")));
}

TEST(AgentConfigReader, JoinsServersOfBothFiles) {
  const AgentConfig found = Read(
      {"mcp:\n  servers:\n    fetch: {command: uvx, args: [mcp-server-fetch, 5]}\n    far: {url: https://x.example}\n",
       "mcp:\n  servers:\n    fetch: {env: {TOKEN: secret}}\n"});
  ASSERT_EQ(found.servers.size(), 2U);
  EXPECT_THAT(found.servers[0].command, ElementsAre("uvx", "mcp-server-fetch", "5"));
  EXPECT_THAT(found.servers[0].variables, ElementsAre("TOKEN"));
  EXPECT_THAT(found.servers[1].command, IsEmpty());
}

class ImportConfig : public CommandLineTest {
 protected:
  ImportConfig() {
    files_ = {Write("fastagent.config.yaml", std::string("default_model: haiku\nopenai:\n  api_key: ") + kKey +
                                                 "\ngeneric:\n  base_url: http://localhost:1234/v1\nmcp:\n  servers:\n"
                                                 "    fetch: {command: uvx, args: [\"it's\"], env: {A_TOKEN: x}}\n")};
  }

  std::string Write(const std::string& name, const std::string& text) {
    const fs::path file = folder.Write(name, text);
    ::chmod(file.c_str(), 0600);
    return file.string();
  }

  int Import(bool write) {
    std::vector<std::string> words = {"import-config"};
    words.insert(words.end(), files_.begin(), files_.end());
    if (write) words.emplace_back("--write");
    return Run(words);
  }

  fs::path config() const { return home() / ".config" / "upskill"; }

  std::vector<std::string> files_;
};

TEST_F(ImportConfig, ShowsWhatItMeansAndWritesNothing) {
  ASSERT_EQ(Import(false), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("skill_generation_model: \"haiku\""), HasSubstr("key          openai"),
                         HasSubstr("export GENERIC_BASE_URL=http://localhost:1234/v1"), HasSubstr("--mcp-env A_TOKEN"),
                         HasSubstr("import-config --write"), Not(HasSubstr(kKey))));
  EXPECT_FALSE(fs::exists(config()));
}

TEST_F(ImportConfig, WritesKeysThatAreMissing) {
  fs::create_directories(config());
  ASSERT_TRUE(WriteFileAtomically(config() / "keys.toml", "anthropic = \"an-older-key-of-mine\"").ok());
  ::chmod((config() / "keys.toml").c_str(), 0600);
  ASSERT_EQ(Import(true), 0) << error;
  EXPECT_EQ(*ReadFile(config() / "keys.toml"),
            std::string("anthropic = \"an-older-key-of-mine\"\nopenai = \"") + kKey + "\"\n");
  EXPECT_EQ(*ReadFile(config() / "config.yaml"), "skill_generation_model: \"haiku\"\n");
  EXPECT_THAT(out, Not(HasSubstr(kKey)));
  ASSERT_EQ(Import(true), 0) << error;  // the second time there is nothing to add
  EXPECT_EQ(*ReadFile(config() / "keys.toml"),
            std::string("anthropic = \"an-older-key-of-mine\"\nopenai = \"") + kKey + "\"\n");
}

TEST_F(ImportConfig, ANewKeysFileIsTheUsersAlone) {
  ASSERT_EQ(Import(true), 0) << error;
  struct stat status{};
  ASSERT_EQ(::stat((config() / "keys.toml").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(ImportConfig, KeepsTheUsersKeysAndConfiguration) {
  variables["OPENAI_API_KEY"] = "the-users-own-key-123";
  fs::create_directories(config());
  ASSERT_TRUE(WriteFileAtomically(config() / "config.yaml", "eval_model: opus\n").ok());
  ASSERT_EQ(Import(true), 0) << error;
  EXPECT_THAT(out, HasSubstr("you have another one, which is used"));
  EXPECT_FALSE(fs::exists(config() / "keys.toml"));
  EXPECT_EQ(*ReadFile(config() / "config.yaml"), "eval_model: opus\n");
}

TEST_F(ImportConfig, RefusesFilesOfOthersAndLinks) {
  ::chmod(files_[0].c_str(), 0666);
  EXPECT_EQ(Import(true), 2);
  EXPECT_THAT(error, HasSubstr("other users can change it"));
  ::chmod(files_[0].c_str(), 0600);
  const fs::path link = folder.path() / "link.yaml";
  fs::create_symlink(files_[0], link);
  files_ = {link.string()};
  EXPECT_EQ(Import(true), 2);
  EXPECT_THAT(error, HasSubstr("it is a link"));
  files_ = {(folder.path() / "missing.yaml").string()};
  EXPECT_EQ(Import(false), 2);
  EXPECT_THAT(error, HasSubstr("there is no such file"));
}

TEST_F(ImportConfig, TakesTimeInStepWithItsInput) {
  const Catalog catalog = *LoadCatalog();
  const auto reading = [&](std::size_t keys) {
    Json document = Json::object();
    for (std::size_t i = 0; i < keys; ++i)
      document.get_ref<Json::object_t&>().emplace_back("key" + std::to_string(i), 1);
    return [document, &catalog] { ReadAgentConfig({document, document}, catalog); };
  };
  EXPECT_LT(GrowthPerDoubling(2'500, reading), kMaxGrowthPerDoubling);
}

}  // namespace
}  // namespace upskill

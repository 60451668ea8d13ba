// SPDX-License-Identifier: Apache-2.0
#include "model/api_key.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "util/known_secrets.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

Provider ProviderNamed(const std::string& name) {
  const Result<Catalog> catalog = LoadCatalog();
  EXPECT_TRUE(catalog.ok());
  const Provider* provider = catalog->FindProvider(name);
  EXPECT_NE(provider, nullptr) << name;
  return provider == nullptr ? Provider{} : *provider;
}

VariableLookup From(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  };
}

std::string KeyOf(const std::string& provider, std::map<std::string, std::string> variables) {
  const Result<Secret> key = FindApiKey(ProviderNamed(provider), "m", From(std::move(variables)));
  EXPECT_TRUE(key.ok()) << (key ? "" : key.error().message);
  return key ? key->reveal() : "";
}

Error ErrorOf(const std::string& provider, std::map<std::string, std::string> variables) {
  const Result<Secret> key = FindApiKey(ProviderNamed(provider), "haiku", From(std::move(variables)));
  EXPECT_FALSE(key.ok());
  return key ? Error{} : key.error();
}

void OnlyForMe(const fs::path& file) { fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write); }

TEST(FindApiKey, Environment) {
  EXPECT_EQ(KeyOf("anthropic", {{"ANTHROPIC_API_KEY", " key\n"}}), "key");
  EXPECT_EQ(KeyOf("anthropic", {{"ANTHROPIC_API_KEY", ""}, {"ANTHROPIC_AUTH_TOKEN", "token"}}), "token");
  EXPECT_EQ(KeyOf("generic", {}), "local");
  EXPECT_EQ(KeyOf("generic", {{"GENERIC_API_KEY", "mine"}}), "mine");
}

TEST(FindApiKey, NoKeySaysWhatToDo) {
  const Error error = ErrorOf("anthropic", {});
  EXPECT_EQ(error.kind, ErrorKind::kPermanent);
  EXPECT_EQ(error.message,
            "no key for provider 'anthropic' (model 'haiku'): set ANTHROPIC_API_KEY, or use a local model such as "
            "llama:model.gguf");
}

TEST(FindApiKey, AKeyCannotBreakOutOfItsHeader) {
  const Error error = ErrorOf("anthropic", {{"ANTHROPIC_API_KEY", "secret\r\nx-evil: 1"}});
  EXPECT_THAT(error.message, AllOf(HasSubstr("$ANTHROPIC_API_KEY"), Not(HasSubstr("secret"))));
}

TEST(FindApiKey, HuggingFaceLogin) {
  const TempFolder folder;
  folder.Write("home/.cache/huggingface/token", "hf_home\n");
  folder.Write("hub/token", "hf_hub");
  const fs::path named = folder.Write("named", "hf_named");
  const std::string home = (folder.path() / "home").string();
  EXPECT_EQ(KeyOf("hf", {{"HOME", home}}), "hf_home");
  EXPECT_EQ(KeyOf("hf", {{"HOME", home}, {"HF_HOME", (folder.path() / "hub").string()}}), "hf_hub");
  EXPECT_EQ(KeyOf("hf", {{"HOME", home}, {"HF_TOKEN_PATH", named.string()}}), "hf_named");
  EXPECT_EQ(KeyOf("hf", {{"HOME", home}, {"HF_TOKEN", "hf_variable"}}), "hf_variable");
  EXPECT_THAT(ErrorOf("openai", {{"HOME", home}}).message, HasSubstr("no key for provider 'openai'"));
}

TEST(FindApiKey, KeysFile) {
  const TempFolder folder;
  const fs::path file = folder.Write("home/.config/upskill/keys.toml", "anthropic = \"from-file\"\nxai = 7\n");
  OnlyForMe(file);
  const std::string home = (folder.path() / "home").string();
  EXPECT_EQ(KeyOf("anthropic", {{"HOME", home}}), "from-file");
  EXPECT_EQ(KeyOf("anthropic", {{"HOME", home}, {"ANTHROPIC_API_KEY", "variable"}}), "variable");
  EXPECT_EQ(KeyOf("generic", {{"HOME", home}}), "local");
  EXPECT_THAT(ErrorOf("groq", {{"HOME", home}}).message, HasSubstr("no key"));
  EXPECT_THAT(ErrorOf("xai", {{"HOME", home}}).message, HasSubstr("keys.toml:2:7: 'xai' must be a quoted key"));
}

TEST(FindApiKey, KeysFileReadableByOthersIsAnError) {
  const TempFolder folder;
  const fs::path file = folder.Write("upskill/keys.toml", "anthropic = \"from-file\"\n");
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  const Error error = ErrorOf("anthropic", {{"XDG_CONFIG_HOME", folder.path().string()}});
  EXPECT_EQ(error.kind, ErrorKind::kInput);
  EXPECT_THAT(error.message, AllOf(HasSubstr("chmod 600 " + file.string()), Not(HasSubstr("from-file"))));
}

TEST(FindApiKey, KeysFileOfAnotherUserIsAnError) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const TempFolder folder;
  const fs::path file = folder.Write("upskill/keys.toml", "anthropic = \"from-file\"\n");
  OnlyForMe(file);
  ASSERT_EQ(::chown(file.c_str(), 12345, 12345), 0);
  const Error error = ErrorOf("anthropic", {{"XDG_CONFIG_HOME", folder.path().string()}});
  EXPECT_EQ(error.kind, ErrorKind::kInput);
  EXPECT_THAT(error.message, AllOf(HasSubstr("keys.toml belongs to another user"), Not(HasSubstr("from-file"))));
}

TEST(FindApiKey, KeysFileBehindALinkIsCheckedItself) {
  const TempFolder folder;
  const fs::path file = folder.Write("dotfiles/keys.toml", "anthropic = \"from-file\"\n");
  fs::create_directory(folder.path() / "upskill");
  fs::create_symlink("../dotfiles/keys.toml", folder.path() / "upskill/keys.toml");
  const std::string config = folder.path().string();
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
  EXPECT_THAT(ErrorOf("anthropic", {{"XDG_CONFIG_HOME", config}}).message, HasSubstr("chmod 600"));
  OnlyForMe(file);
  EXPECT_EQ(KeyOf("anthropic", {{"XDG_CONFIG_HOME", config}}), "from-file");
}

// Opening a pipe would wait for its other end.
TEST(FindApiKey, KeysFileThatIsNoFile) {
  const TempFolder folder;
  fs::create_directory(folder.path() / "upskill");
  ASSERT_EQ(::mkfifo((folder.path() / "upskill/keys.toml").c_str(), 0600), 0);
  EXPECT_THAT(ErrorOf("anthropic", {{"XDG_CONFIG_HOME", folder.path().string()}}).message,
              HasSubstr("keys.toml is not a regular file"));
}

TEST(FindApiKey, AFoundKeyIsMaskedFromThenOn) {
  EXPECT_EQ(KeyOf("anthropic", {{"ANTHROPIC_API_KEY", "sk-found-here-1"}}), "sk-found-here-1");
  EXPECT_EQ(MaskSecrets("a sk-found-here-1"), "a ***");
}

TEST(RememberKeys, OfAllProvidersWhereverTheyAre) {
  const TempFolder folder;
  OnlyForMe(folder.Write("home/.config/upskill/keys.toml", "xai = \"key-of-file-1\"\nother = \"key-of-file-2\"\n"));
  folder.Write("home/.cache/huggingface/token", "key-of-login-3\n");
  const std::string text = "key-of-file-1 key-of-file-2 key-of-login-3 key-of-shell-4 key-of-shell-5";
  EXPECT_EQ(MaskSecrets(text), text);
  RememberKeys(*LoadCatalog(), From({{"HOME", (folder.path() / "home").string()},
                                     {"ANTHROPIC_API_KEY", "key-of-shell-4"},
                                     {"ANTHROPIC_AUTH_TOKEN", "key-of-shell-5"}}));
  EXPECT_EQ(MaskSecrets(text), "*** *** *** *** ***");
}

TEST(FindApiKey, ABrokenKeysFileIsNotQuoted) {
  const TempFolder folder;
  OnlyForMe(folder.Write("upskill/keys.toml", "anthropic = sk-secret\n"));
  const Error error = ErrorOf("anthropic", {{"XDG_CONFIG_HOME", folder.path().string()}});
  EXPECT_THAT(error.message, AllOf(HasSubstr("keys.toml:1:"), Not(HasSubstr("sk-secret"))));
}

}  // namespace
}  // namespace upskill

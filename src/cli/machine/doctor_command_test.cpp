// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
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

class DoctorCommand : public CommandLineTest {
 protected:
  // The state and the text of what has this name; empty if nothing has.
  std::string Found(const std::string& name) {
    EXPECT_LE(Run({"doctor", "--json"}), 1);
    const Json json = OutAsJson();
    for (const Json& finding : json.at("findings")) {
      if (finding["name"] == name)
        return finding["state"].get<std::string>() + ": " + finding["text"].get<std::string>();
    }
    return "";
  }
};

TEST_F(DoctorCommand, SaysWhatThereIs) {
  EXPECT_EQ(Run({"doctor"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("Models\n"), HasSubstr("default model"), HasSubstr("Checks that run something\n"),
                         HasSubstr("Folders\n"), HasSubstr("Settings\n")));
  EXPECT_EQ(error, "");
}

TEST_F(DoctorCommand, NamesKeysAndNeverShowsThem) {
  variables["ANTHROPIC_API_KEY"] = "sk-ant-secret-0123456789";
  EXPECT_EQ(Found("anthropic"), "ready: key in $ANTHROPIC_API_KEY");
  EXPECT_THAT(out, Not(HasSubstr("secret-0123")));
  EXPECT_EQ(Run({"doctor"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("OPENAI_API_KEY"), Not(HasSubstr("secret-0123"))));
}

TEST_F(DoctorCommand, NamesTheFileThatSetsWhat) {
  folder.Write("config.yaml", "eval_model: sonnet\nruns_dir: elsewhere\n");
  EXPECT_EQ(Found("configuration"),
            "ready: " + (folder.path() / "config.yaml").string() + " sets eval_model, runs_dir");
  EXPECT_EQ(Found("runs"), "ready: elsewhere (made when it is needed)");
}

TEST_F(DoctorCommand, ABrokenConfigurationIsAProblem) {
  folder.Write("config.yaml", "eval_model: [\n");
  EXPECT_EQ(Run({"doctor"}), 1);
  EXPECT_THAT(out, AllOf(HasSubstr("✗ configuration"), HasSubstr("config.yaml")));
  folder.Write("config.yaml", "eval_modell: sonnet\n");
  EXPECT_THAT(Found("configuration"), HasSubstr("sets nothing"));
  EXPECT_THAT(out, HasSubstr("eval_modell"));
}

TEST_F(DoctorCommand, AFolderThatCannotBeWritten) {
  folder.Write("file", "");
  variables["UPSKILL_CACHE"] = (folder.path() / "file/cache").string();
  EXPECT_THAT(Found("cache"), HasSubstr("broken: "));
  EXPECT_EQ(Run({"doctor"}), 1);
}

TEST_F(DoctorCommand, AProgramOfAnotherVersionThanTheTestedOne) {
  const std::string package = "p/node_modules/@openai/codex/";
  const auto install = [&](const std::string& version) {
    folder.Write(package + "package.json", R"({"name": "@openai/codex", "version": ")" + version + "\"}");
  };
  folder.Write(package + "codex", "");
  fs::permissions(folder.path() / package / "codex", fs::perms::owner_all);
  variables["PATH"] = (folder.path() / package).string();
  install("0.1.2");
  EXPECT_THAT(Found("agent:codex"), AllOf(HasSubstr("ready: Codex 0.1.2"), HasSubstr("tested with ")));
  const std::string text = Found("agent:codex");
  const std::string tested = text.substr(text.find("tested with ") + 12);
  install(tested.substr(0, tested.find(':')));
  EXPECT_THAT(Found("agent:codex"), AllOf(HasSubstr("ready: Codex"), Not(HasSubstr("tested with"))));
}

TEST_F(DoctorCommand, ANodeThatIsTooOldForAProgram) {
  const std::string package = "p/node_modules/@openai/codex/";
  folder.Write(package + "package.json", R"({"name": "@openai/codex", "engines": {"node": ">=22.19.0"}})");
  folder.Write(package + "codex", "#!/usr/bin/env node\n");
  variables["PATH"] = (folder.path() / package).string();
  for (const auto& [version, is_old] :
       {std::pair("v20.20.2", true), {"v22.9.0", true}, {"v22.19.0", false}, {"v24.1.0", false}}) {
    folder.Write(package + "node", fmt::format("#!/bin/sh\necho {}\n", version));
    for (const char* name : {"codex", "node"}) fs::permissions(folder.path() / package / name, fs::perms::owner_all);
    const std::string found = Found("agent:codex");
    EXPECT_THAT(found, testing::StartsWith(is_old ? "absent" : "ready")) << version;
    EXPECT_EQ(found.find(version) != std::string::npos, is_old) << found;
  }
}

TEST_F(DoctorCommand, FitsNarrowTerminals) {
  columns = 60;
  EXPECT_EQ(Run({"doctor"}), 0);
  EXPECT_THAT(out, HasSubstr("\n                       "));
}

}  // namespace
}  // namespace upskill

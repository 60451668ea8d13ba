// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/models/sandbox_option.h"
#include "cli/models/toolchains.h"
#include "support/command_line.h"
#include "support/zip.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class ToolchainCommand : public CommandLineTest {
 protected:
  ToolchainCommand() { variables["UPSKILL_CACHE"] = (folder.path() / "cache").string(); }

  fs::path Place() {
    const Toolchain& cuda = *FindKnownToolchain("cuda");
    return folder.path() / "cache/toolchains" / (cuda.name + "-" + cuda.version);
  }
};

TEST_F(ToolchainCommand, ListsWhatThereIs) {
  EXPECT_EQ(Run({"toolchain"}), 0);
  EXPECT_THAT(out, AllOf(HasSubstr("cuda"), HasSubstr("129 MB")));
  EXPECT_EQ(Run({"toolchain", "--json"}), 0);
  const Result<Json> json = ParseJson(out, "out");
  ASSERT_TRUE(json.ok()) << out;
  EXPECT_EQ((*json)["toolchains"][0]["name"], "cuda");
}

TEST_F(ToolchainCommand, ChecksUseWhatIsInstalled) {
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0) << "a sandbox's commands can read it";
  fs::create_directories(Place());
  Env env;
  env.variable = [this](const std::string& name) { return std::optional(variables[name]); };
  const Result<SandboxOptions> options = SandboxOptionsOf({}, env);
  ASSERT_TRUE(options.ok());
  EXPECT_THAT(options->toolchains, Contains(Place()));
  EXPECT_EQ(Run({"toolchain"}), 0);
  EXPECT_THAT(out, HasSubstr("cuda-13"));
  EXPECT_EQ(Run({"toolchain", "add", "cuda"}), 0) << "it is there";
  EXPECT_EQ(out, Place().string() + "\n");
  EXPECT_EQ(Run({"toolchain", "remove", "cuda"}), 0);
  EXPECT_FALSE(fs::exists(Place()));
  EXPECT_EQ(Run({"toolchain", "remove", "cuda"}), 2);
  EXPECT_THAT(error, HasSubstr("the toolchain cuda isn't installed"));
}

// Root's commands run as another user, who can't read a temporary folder of root.
TEST_F(ToolchainCommand, LeavesOutWhatCommandsCantRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root's folders are closed to its commands";
  EXPECT_EQ(Run({"toolchain", "add", "cuda"}), 2) << "before a download";
  EXPECT_THAT(error, AllOf(HasSubstr("checks couldn't use the toolchain cuda in " + Place().parent_path().string()),
                           HasSubstr(folder.path().string() + " is closed to other users; set UPSKILL_CACHE to")));
  fs::create_directories(Place());
  EXPECT_EQ(Run({"toolchain", "add", "cuda"}), 2) << "it is there";
  Env env;
  env.variable = [this](const std::string& name) { return std::optional(variables[name]); };
  env.error = [this](const TerminalText& text) { error += text.text(); };
  error.clear();
  const Result<SandboxOptions> options = SandboxOptionsOf({}, env);
  ASSERT_TRUE(options.ok());
  EXPECT_THAT(options->toolchains, Not(Contains(Place())));
  EXPECT_THAT(error,
              HasSubstr("warning: the toolchain cuda in " + Place().string() + " isn't used: when upskill runs"));
  SandboxChoice none;
  none.none = true;
  EXPECT_THAT(SandboxOptionsOf(none, env)->toolchains, Contains(Place()));
}

TEST_F(ToolchainCommand, NamesThatAreUnknown) {
  EXPECT_EQ(Run({"toolchain", "add", "cude"}), 2);
  EXPECT_THAT(error, HasSubstr("unknown toolchain 'cude'; did you mean 'cuda'?; there are: cuda"));
}

TEST_F(ToolchainCommand, UnpacksOnlyWhatBelongsToIt) {
  const fs::path a = folder.Write("a.whl", ZipOf({{"nvidia/cu13/bin/tool", "#!/bin/sh\n"},
                                                  {"nvidia/cu13/include/a.h", "int a;\n"},
                                                  {"a-1.dist-info/METADATA", "x"}}));
  const fs::path into = folder.path() / "unpacked";
  const Status unpacked = UnpackPackages({a}, "nvidia/cu13/", into);
  ASSERT_TRUE(unpacked.ok()) << unpacked.error().message;
  EXPECT_EQ(*ReadFile(into / "include/a.h"), "int a;\n");
  EXPECT_NE(fs::status(into / "bin/tool").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_EQ(fs::status(into / "include/a.h").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_FALSE(fs::exists(into / "METADATA"));
}

TEST_F(ToolchainCommand, RefusesOtherPackages) {
  const fs::path other = folder.Write("b.whl", ZipOf({{"else/x", "x"}}));
  EXPECT_THAT(UnpackPackages({other}, "nvidia/cu13/", folder.path() / "u1").error().message,
              HasSubstr("not the package that is expected"));
  const fs::path outside =
      folder.Write("c.whl", ZipOf({{"nvidia/cu13/x", "x"}, {"nvidia/cu13/../../../escaped", "x"}}));
  EXPECT_FALSE(UnpackPackages({outside}, "nvidia/cu13/", folder.path() / "u2").ok());
  EXPECT_FALSE(fs::exists(folder.path() / "escaped"));
  const fs::path cut = folder.Write("d.whl", ZipOf({{"nvidia/cu13/x", "x"}}).substr(0, 40));
  EXPECT_FALSE(UnpackPackages({cut}, "nvidia/cu13/", folder.path() / "u3").ok());
}

}  // namespace
}  // namespace upskill

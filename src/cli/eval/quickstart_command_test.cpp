// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cli/env/example_skill.h"
#include "support/command_line.h"
#include "support/source_dir.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Runs in a folder of its own that has the example skill.
class Quickstart : public CommandLineTest {
 protected:
  Quickstart() : before_(fs::current_path()) {
    fs::create_directories(folder.path() / "examples/skills");
    fs::copy(SourceDir() / "examples/skills/kernel-builder-cuda-kernels",
             folder.path() / "examples/skills/kernel-builder-cuda-kernels", fs::copy_options::recursive);
    fs::current_path(folder.path());
  }
  ~Quickstart() override { fs::current_path(before_); }
  Quickstart(const Quickstart&) = delete;
  Quickstart& operator=(const Quickstart&) = delete;

 private:
  fs::path before_;
};

TEST_F(Quickstart, MeasuresTheExampleInThreeSteps) {
  variables["ANTHROPIC_API_KEY"] = "sk-ant-secret-0123456789";
  ASSERT_EQ(Run({"quickstart", "-m", "sim:base=0.2,skill=0.9"}), 0) << error;
  EXPECT_THAT(out, AllOf(HasSubstr("1/3  The model: sim:base=0.2,skill=0.9"), HasSubstr("2/3  Its answers"),
                         HasSubstr("upskill eval examples/skills/kernel-builder-cuda-kernels --runs 3"),
                         HasSubstr("lift"), HasSubstr("3/3  The report"), HasSubstr("upskill init my-skill"),
                         Not(HasSubstr("--max-cost")), Not(HasSubstr("at most"))));
  EXPECT_TRUE(fs::exists("upskill-quickstart.html"));
  EXPECT_THAT(out, Not(HasSubstr("secret-0123")));
}

TEST_F(Quickstart, UsesAKeyOnlyIfAModelIsNamedAndLimitsTheCost) {
  variables["ANTHROPIC_API_KEY"] = "sk-ant-secret-0123456789";
  stop = 1;  // asks nothing
  Run({"quickstart"});
  EXPECT_THAT(out, AllOf(HasSubstr("in process"), HasSubstr("With your key: upskill quickstart -m haiku")));
  Run({"quickstart", "-m", "haiku"});
  EXPECT_THAT(out, AllOf(HasSubstr("for at most $0.50"), HasSubstr("-m haiku --max-cost 0.5")));
  Run({"quickstart", "-m", "mine", "--base-url", "http://localhost:9/v1"});
  EXPECT_THAT(out, AllOf(HasSubstr("-m mine --base-url http://localhost:9/v1"), Not(HasSubstr("$"))));
}

TEST_F(Quickstart, FitsIntoATerminal) {
  variables["NO_COLOR"] = "1";
  terminal = true;
  columns = 80;
  ASSERT_EQ(Run({"quickstart", "-m", "sim:base=0.2,skill=0.9"}), 0) << error;
  for (const std::string_view line : SplitLines(out)) {
    if (line.starts_with("     upskill eval examples")) continue;  // to be copied
    EXPECT_LE(DisplayColumns(line), columns) << line;
  }
}

TEST_F(Quickstart, FindsTheExampleFromABuildFolder) {
  const TempFolder elsewhere;
  fs::current_path(elsewhere.path());
  Env env;
  env.data_dir = folder.path() / "build/release/src/share/upskill";
  EXPECT_TRUE(FindExampleSkill(env));
}

TEST_F(Quickstart, WithoutTheExampleItSaysWhatElseToDo) {
  fs::remove_all("examples");
  EXPECT_EQ(Run({"quickstart"}), 2);
  EXPECT_THAT(error, HasSubstr("upskill eval path/to/skill"));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
// What can't be checked here, through the real binary: skipped and said so, never passed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include "support/subprocess.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kKernel = R"({"id": "kernel", "input": "Write a CUDA kernel.",
    "checks": [{"type": "cuda_compile"}], "reference": "```cuda\n__global__ void f() {}\n```"})";
constexpr const char* kColour =
    R"({"id": "colour", "input": "Which colour?", "expected": {"contains": "teal"}, "reference": "teal"})";

// Where the sandbox finds an nvcc although the home folder has none.
bool HasCompiler() {
  constexpr std::array kPlaces = {"/usr/local/bin/nvcc", "/usr/bin/nvcc", "/var/cache/upskill/toolchains"};
  return std::any_of(kPlaces.begin(), kPlaces.end(), [](const char* place) { return std::filesystem::exists(place); });
}

class Skipped : public testing::Test {
 protected:
  void SetUp() override {
    if (HasCompiler()) GTEST_SKIP() << "nvcc is installed for all users";
  }

  void WriteSkill(const std::string& cases) {
    folder_.Write("s/SKILL.md", "---\nname: s\ndescription: Writes kernels.\n---\nteal\n");
    folder_.Write("s/tests.json", "[" + cases + "]");
  }

  ProcessOutcome Run(const std::vector<std::string>& arguments) const { return RunUpskill(arguments, folder_.path()); }

  TempFolder folder_;
};

TEST_F(Skipped, ASuiteThatOnlyCompilesCuda) {
  WriteSkill(kKernel);
  const ProcessOutcome check = Run({"check", "s", "-o", "check.xml"});
  EXPECT_EQ(check.exit_code, 3) << check.out;
  EXPECT_THAT(check.out, AllOf(HasSubstr("kernel  not checked"), HasSubstr("skipped in 1 case: cuda_compile"),
                               HasSubstr("0 of 0 right answers pass"), HasSubstr("1 answer not checked")));
  EXPECT_THAT(
      ReadFile(folder_.path() / "check.xml").value(),
      AllOf(HasSubstr("failures=\"0\" errors=\"0\" skipped=\"1\""), HasSubstr("<skipped message=\"cuda_compile")));
  EXPECT_EQ(Run({"check", "s", "--strict"}).exit_code, 1);

  const ProcessOutcome eval = Run({"eval", "s", "-m", "sim:base=1,skill=1"});
  EXPECT_EQ(eval.exit_code, 2) << eval.out;
  EXPECT_THAT(eval.error, AllOf(HasSubstr("no case can be run, because its check cuda_compile"), HasSubstr("nvcc")));
  EXPECT_THAT(eval.out, Not(HasSubstr("100 %")));
}

TEST_F(Skipped, ACaseThatCompilesCudaBesideAnother) {
  WriteSkill(std::string(kKernel) + "," + kColour);
  const ProcessOutcome eval = Run({"eval", "s", "-m", "sim:base=1,skill=1"});
  EXPECT_EQ(eval.exit_code, 0) << eval.error;
  EXPECT_THAT(eval.error, AllOf(HasSubstr("(\"kernel\") is left out: its check cuda_compile"), HasSubstr("nvcc")));
  EXPECT_THAT(eval.out, AllOf(HasSubstr("1 case × "), HasSubstr("1/1"), HasSubstr("1 case left out")));
  EXPECT_EQ(Run({"report", "latest", "-o", "run.xml"}).exit_code, 0);
  EXPECT_THAT(
      ReadFile(folder_.path() / "run.xml").value(),
      AllOf(HasSubstr("skipped=\"1\""), HasSubstr("<testcase name=\"kernel\""), HasSubstr("left out: its check")));
  const ProcessOutcome check = Run({"check", "s"});
  EXPECT_EQ(check.exit_code, 0) << check.out;
  EXPECT_THAT(check.out, HasSubstr("1 of 1 right answers pass, 0 of 0 wrong answers fail; 1 answer not checked"));
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <map>
#include <string>

#include "check/check_makers.h"
#include "support/check_cases.h"
#include "support/kernel_project.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

std::string Block(const std::string& info, const std::string& content) {
  return "```" + info + "\n" + content + "```\n";
}

// The answer of a model without tools that writes these files.
std::string AnswerWith(const std::map<std::string, std::string>& files, const std::string& folder = "") {
  std::string answer = "Here is the project.\n\n";
  for (const auto& [path, content] : files) answer += "**" + folder + path + "**:\n\n" + Block("", content) + "\n";
  return answer;
}

const char* const kPlain = R"({"type": "kernel_builder"})";

TEST(KernelBuilderCheck, ALoneBuildTomlIsJudgedAlone) {
  const CheckSpec spec = SpecFrom(kPlain);
  EXPECT_TRUE(Passes(spec, "Use this:\n\n" + Block("toml build.toml", kValidBuildToml)));
  EXPECT_TRUE(Passes(spec, "Use this:\n\n" + Block("toml", kValidBuildToml))) << "the only block";
  EXPECT_TRUE(Passes(spec, Block("", kValidBuildToml)));
  EXPECT_TRUE(Passes(spec, kValidBuildToml)) << "the whole answer";
  EXPECT_TRUE(Passes(spec, Block("bash", "nix run .#build\n") + Block("toml", kValidBuildToml)));
  EXPECT_EQ(DetailOf(spec, Block("toml", "[kernel]\n")),
            "build.toml: there is no [general]; build.toml: there is no framework section: add one of [torch], "
            "[torch-noarch] and [tvm-ffi]");
  EXPECT_EQ(DetailOf(spec, "The capability of an H100 is 9.0."), "the answer has no file build.toml");
  EXPECT_EQ(DetailOf(spec, ""), "the answer has no file build.toml");
}

TEST(KernelBuilderCheck, TheWordsAloneDontPass) {
  const CheckSpec contains = SpecFrom(R"({"type": "contains", "values": "9.0"})");
  const CheckSpec spec = SpecFrom(R"({"type": "kernel-builder", "capabilities": ["9.0"]})");
  std::string wrong = kValidBuildToml;
  wrong.replace(wrong.find("[\"8.0\", \"9.0\"]"), 14, "[9.0]");
  for (const std::string& answer : {std::string("Set it to 9.0."), Block("toml", wrong)}) {
    EXPECT_TRUE(Passes(contains, answer));
    EXPECT_FALSE(Passes(spec, answer));
  }
  EXPECT_TRUE(Passes(spec, Block("toml", kValidBuildToml)));
}

TEST(KernelBuilderCheck, AWholeProjectIsJudgedWhole) {
  const CheckSpec spec = SpecFrom(kPlain);
  EXPECT_TRUE(Passes(spec, AnswerWith(ValidKernelProject())));
  EXPECT_TRUE(Passes(spec, AnswerWith(ValidKernelProject(), "fused-rmsnorm/"))) << "in a folder of its own";
  std::map<std::string, std::string> files = ValidKernelProject();
  files.erase("rmsnorm_cpu/rmsnorm.cpp");
  EXPECT_THAT(DetailOf(spec, AnswerWith(files)),
              HasSubstr("build.toml, line 23, column 8: the source `rmsnorm_cpu/rmsnorm.cpp` doesn't exist"));
  EXPECT_TRUE(Passes(SpecFrom(R"({"type": "kernel_builder", "require": ["build_toml"]})"), AnswerWith(files)));
  EXPECT_TRUE(Passes(SpecFrom(R"({"type": "kernel_builder", "require": ["bindings", "layout"]})"), AnswerWith(files)));
  EXPECT_FALSE(Passes(SpecFrom(R"({"type": "kernel_builder", "require": ["sources"]})"), AnswerWith(files)));
  EXPECT_FALSE(
      Passes(SpecFrom(R"({"type": "kernel_builder", "require": ["sources"]})"), Block("toml", kValidBuildToml)));
}

TEST(KernelBuilderCheck, FilesOfTheCaseBelongToTheProject) {
  Case test_case;
  test_case.id = "c";
  test_case.checks = {SpecFrom(kPlain)};
  std::string content;
  for (const auto& [path, text] : ValidKernelProject()) {
    if (path == "rmsnorm_cpu/rmsnorm.cpp") {
      content = text;
    } else {
      test_case.files.emplace_back(path, text);
    }
  }
  const Result<CaseChecks> checks = CaseChecks::Make(test_case);
  ASSERT_TRUE(checks.ok());
  EXPECT_TRUE(AllPass(checks->Run(Block("cpp rmsnorm_cpu/rmsnorm.cpp", content))));
  EXPECT_FALSE(AllPass(checks->Run("I can't.")));
  test_case.files.clear();
  test_case.output_file = "build.toml";
  const Result<CaseChecks> output = CaseChecks::Make(test_case);
  EXPECT_TRUE(AllPass(output->Run(Block("", kValidBuildToml))));
}

TEST(KernelBuilderCheck, OptionsSayWhatElseIsExpected) {
  const std::string answer = Block("toml", kValidBuildToml);
  EXPECT_EQ(DetailOf(SpecFrom(R"({"type": "kernel_builder", "capabilities": ["9.0", "10.0"]})"), answer),
            "build.toml: expected code for the capability 10.0; the CUDA kernels list 8.0, 9.0");
  EXPECT_EQ(DetailOf(SpecFrom(R"({"type": "kernel_builder", "backends": ["cuda", "rocm"]})"), answer),
            "build.toml: expected the backend rocm in `backends` of [general]");
  std::string v4 = kValidBuildToml;
  v4.erase(v4.find("edition = 5\n"), 12);
  EXPECT_TRUE(Passes(SpecFrom(kPlain), Block("toml", v4)));
  EXPECT_EQ(DetailOf(SpecFrom(R"({"type": "kernel_builder", "edition": 5})"), Block("toml", v4)),
            "build.toml: [general] has no `edition = 5`, which is expected here");
  const CheckResult result =
      ResultOf(SpecFrom(R"({"type": "kernel_builder", "file": "build.toml", "require": ["layout"], )"
                        R"("capabilities": ["9.0"], "edition": 5})"),
               answer);
  EXPECT_EQ(result.name, "kernel_builder build.toml (layout, 9.0, edition 5)");
}

TEST(KernelBuilderCheck, NamesAllProblemsUnlessTheyAreVeryMany) {
  const auto detail = [](const std::string& keys) {
    return DetailOf(SpecFrom(R"({"type": "kernel_builder", "capabilities": ["9.0"]})"),
                    Block("toml", "[general]\n" + keys + "edition=5\n"));
  };
  const std::string few = detail("a=1\nb=1\nc=1\nd=1\ne=1\nf=1\n");
  EXPECT_THAT(few, HasSubstr("expected code for the capability 9.0; no CUDA kernel is built for it"));
  for (const char* key : {"`a`", "`b`", "`c`", "`d`", "`e`", "`f`"}) EXPECT_THAT(few, HasSubstr(key));
  EXPECT_THAT(few, testing::Not(HasSubstr(" more")));
  std::string keys;
  for (int i = 0; i < 300; ++i) keys += "key_that_is_unknown_" + std::to_string(i) + "=1\n";
  const std::string many = detail(keys);
  EXPECT_THAT(many, HasSubstr(" more"));
  EXPECT_LT(many.size(), 5'000U);
}

TEST(KernelBuilderCheck, TheFileSaysWhichProject) {
  const std::string answer = AnswerWith({{"a/build.toml", "x = 1\n"}, {"project/build.toml", kValidBuildToml}});
  EXPECT_FALSE(Passes(SpecFrom(kPlain), answer));
  EXPECT_TRUE(Passes(SpecFrom(R"({"type": "kernel_builder", "file": "project/build.toml"})"), answer));
  EXPECT_EQ(DetailOf(SpecFrom(R"({"type": "kernel_builder", "file": "b/build.toml"})"), answer),
            "the answer has no file b/build.toml");
}

TEST(KernelBuilderCheck, RejectsBadOptions) {
  for (const char* options :
       {R"("require": ["all"])", R"("require": "layout")", R"("require": [])", R"("capabilities": [9.0])",
        R"("capabilities": ["sm_90"])", R"("backends": ["hip"])", R"("edition": 3)", R"("edition": "5")"}) {
    EXPECT_THAT(ErrorOf(SpecFrom(R"({"type": "kernel_builder", )" + std::string(options) + "}")), HasSubstr("must be"))
        << options;
  }
}

}  // namespace
}  // namespace upskill

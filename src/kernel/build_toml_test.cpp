// SPDX-License-Identifier: Apache-2.0
#include "kernel/build_toml.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "kernel/rules.h"
#include "support/kernel_project.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::string> ProblemsOf(const std::string& text) {
  std::vector<std::string> texts;
  for (const KernelProblem& problem : ParseBuildToml(text).problems) texts.push_back(ProblemText(problem));
  return texts;
}

// The examples that kernel-builder's own parser accepts (kernels 0.17.2).
constexpr const char* kNoarch = R"([general]
name = "triton-softmax"
version = 0
edition = 5
license = "mit"
backends = ["cuda", "rocm"]
python-depends = ["einops"]

[torch-noarch]
cuda_capabilities = ["8.0", "9.0"]
)";
constexpr const char* kV4 = R"([general]
name = "two-kernels"
version = 2
license = "Apache-2.0"
backends = ["cuda", "cpu"]
source = "git@github.com:some-org/two-kernels.git"

[general.cuda]
minver = "12.6"

[torch]
src = ["torch-ext/torch_binding.cpp"]

[kernel.a]
backend = "cuda"
depends = ["torch", "cutlass_4_0"]
src = ["a/a.cu"]
cuda-flags = ["--use_fast_math"]

[kernel.b]
backend = "cpu"
depends = ["torch"]
src = ["b/b.cpp"]
)";
constexpr const char* kV3 = R"([general]
name = "old"
backends = ["cuda"]

[torch]
src = ["torch-ext/torch_binding.cpp"]

[kernel.a]
backend = "cuda"
depends = ["torch"]
src = ["a/a.cu"]
)";
constexpr const char* kV2 = R"([general]
name = "old"
universal = false
cuda-minver = "12.4"

[torch]
src = ["torch-ext/torch_binding.cpp"]

[kernel.a]
backend = "cuda"
depends = ["torch"]
src = ["a/a.cu"]
)";
constexpr const char* kV1 = R"([general]
name = "old"

[torch]
src = ["torch-ext/torch_binding.cpp"]
universal = false

[kernel.a]
language = "cuda-hipify"
depends = ["torch"]
rocm-archs = ["gfx942"]
src = ["a/a.cu"]
)";

TEST(ParseBuildToml, ReadsWhatIsValid) {
  for (const char* text : {kValidBuildToml, kNoarch, kV4}) EXPECT_THAT(ProblemsOf(text), IsEmpty()) << text;
  const BuildToml build = ParseBuildToml(kV4).build;
  EXPECT_EQ(build.schema, kSchemaV4);
  EXPECT_EQ(build.name.text, "two-kernels");
  EXPECT_EQ(build.framework, KernelFramework::kTorch);
  ASSERT_THAT(build.kernels, SizeIs(2));
  EXPECT_EQ(build.kernels[0].name, "a");
  EXPECT_EQ(build.kernels[0].backend.text, "cuda");
  EXPECT_EQ(build.kernels[1].src.front().text, "b/b.cpp");
  EXPECT_EQ(build.kernels[1].src.front().at.line, 23U);
  EXPECT_TRUE(HasBackend(build, "cpu"));
  EXPECT_FALSE(HasBackend(build, "rocm"));
}

TEST(ParseBuildToml, OldFormatsMustBeMigrated) {
  for (const auto& [text, schema] : {std::pair(kV3, "v3"), std::pair(kV2, "v2"), std::pair(kV1, "v1")}) {
    const std::vector<std::string> problems = ProblemsOf(text);
    ASSERT_FALSE(problems.empty()) << schema;
    EXPECT_THAT(problems.front(), HasSubstr("build.toml, line 1, column 1: this is the old " + std::string(schema) +
                                            " format, which kernel-builder no longer builds; migrate it with"));
  }
}

TEST(ParseBuildToml, AMistakeWithoutEditionIsReadByV4) {
  std::string text = kV4;
  text.replace(text.find("backend = \"cpu\""), 15, "backend = \"hip\"");
  EXPECT_THAT(
      ProblemsOf(text),
      ElementsAre(HasSubstr("line 21, column 11: [kernel.b] has the backend `hip`; compiled kernels have one of "
                            "cpu, cuda, metal, rocm, xpu (read by the rules before editions")));
  text = kV4;
  text.replace(text.find("[torch]"), 7, "[torch]\nstable-abi = {cuda = \"2.11\"}");
  EXPECT_THAT(ProblemsOf(text), ElementsAre(HasSubstr("`stable-abi` in [torch] must be a string such as")));
  text = kV4;
  text.replace(text.find("[general.cuda]"), 14, "[general.tpu]\n\n[general.cuda]");
  EXPECT_THAT(ProblemsOf(text),
              ElementsAre(HasSubstr("[general] has no key `tpu`; it needs `edition = 5` in [general]")));
}

// A line instead of another in the valid file, and whether kernel-builder's parser accepts it.
TEST(ParseBuildToml, KeysAndValues) {
  struct Line {
    const char* from;
    const char* to;
    bool valid;
  };
  const std::vector<Line> lines = {
      {"\"fused-rmsnorm\"", "\"a--b\"", true},
      {"\"fused-rmsnorm\"", "\"ab\"", true},
      {"\"fused-rmsnorm\"", "\"fast_rmsnorm\"", false},
      {"\"fused-rmsnorm\"", "\"FastNorm\"", false},
      {"\"fused-rmsnorm\"", "\"x\"", false},
      {"\"fused-rmsnorm\"", "\"norm-\"", false},
      {"\"fused-rmsnorm\"", "\"2norm\"", false},
      {"\"fused-rmsnorm\"", "\"\"", false},
      {"version = 1", "version = 0", true},
      {"version = 1", "version = \"1\"", false},
      {"edition = 5", "edition = 4", false},
      {"edition = 5", "edition = 5\nupstream = \"https://github.com/org/repo.git\"", true},
      {"edition = 5", "edition = 5\nupstream = \"git+ssh://git@github.com/org/repo\"", true},
      {"edition = 5", "edition = 5\nupstream = \"ftp://github.com/org/repo\"", false},
      {"edition = 5", "edition = 5\nupstream = \"github.com:org/repo\"", false},
      {"edition = 5", "edition = 5\nupstream = \"org/repo\"", false},
      {"edition = 5", "edition = 5\nupstream = \"https://\"", false},
      {"edition = 5", "edition = 5\nkernel-depends = [{repo-id = \"a/b\", version = 1}]", true},
      {"edition = 5", "edition = 5\nkernel-depends = [{repo-id = \"a/b\", revision = \"main\"}]", true},
      {"edition = 5", "edition = 5\nkernel-depends = [{repo-id = \"a/b\", version = 1, revision = \"x\"}]", false},
      {"edition = 5", "edition = 5\nkernel-depends = [{version = 1}]", false},
      {"edition = 5", "edition = 5\nkernel-depends = [{repo-id = \"a/b\", version = \"1\"}]", false},
      {"backends = [\"cuda\", \"cpu\"]", "backends = []", true},
      {"backends = [\"cuda\", \"cpu\"]", "backends = [\"cuda\", \"cuda\"]", true},
      {"backends = [\"cuda\", \"cpu\"]", "backends = \"cuda\"", false},
      {"backends = [\"cuda\", \"cpu\"]", "backends = [\"CUDA\"]", false},
      {"backends = [\"cuda\", \"cpu\"]\n", "", false},
      {"[general.hub]", "[general.cuda]\nminver = \" 12.4 \"\n[general.hub]", true},
      {"[general.hub]", "[general.cuda]\nmaxver = \"12.x\"\n[general.hub]", false},
      {"[general.hub]", "[general.cuda]\nmaxver = \"12\"\n[general.hub]", false},
      {"[general.hub]", "[general.cuda]\nmaxver = \"12.4.1\"\n[general.hub]", false},
      {"[general.hub]", "[general.cuda]\nmaxver = \"\"\n[general.hub]", false},
      {"[general.hub]", "[general.tpu]\nkernel-depends = []\n[general.hub]", false},
      {"[general.hub]", "[general.rocm]\n[general.hub]", false},
      {"[torch]", "[torch]\nstable-abi = \"2.11\"", true},
      {"[torch]", "[torch]\nstable-abi = {cuda = \"2.11\"}", true},
      {"[torch]", "[torch]\nstable-abi = {gpu = \"2.11\"}", false},
      {"[torch]", "[torch]\npyext = [\"py\", \"json\"]\ncxx-flags = [\"-O3\"]", true},
      {"[torch]", "[torch]\nhip-flags = []", false},
      {"[torch]", "[tvm-ffi]", true},
      {"[torch]", "[jax]", false},
      {"src = [\"torch-ext/torch_binding.cpp\", \"torch-ext/torch_binding.h\"]", "", true},
      {"src = [\"rmsnorm_cpu/rmsnorm.cpp\"]", "", false},
      {"src = [\"rmsnorm_cpu/rmsnorm.cpp\"]", "src = \"rmsnorm_cpu/rmsnorm.cpp\"", false},
      {"backend = \"cpu\"", "backend = \"xpu\"\nsycl-flags = [\"-O2\"]", true},
      {"backend = \"cpu\"", "backend = \"cpu\"\nsycl-flags = [\"-O2\"]", false},
      {"backend = \"cpu\"", "backend = \"rocm\"\nrocm-archs = [\"gfx942\"]\nhip-flags = []", true},
      {"backend = \"cpu\"\n", "", false},
      {"backend = \"cpu\"", "backend = [\"cpu\"]", false},
      {"cuda-capabilities = [\"8.0\", \"9.0\"]", "cuda-minver = \"12.8\"", true},
      {"cuda-capabilities = [\"8.0\", \"9.0\"]", "cuda-minver = 12.8", false},
      {"cuda-capabilities = [\"8.0\", \"9.0\"]", "cuda-capabilities = [\"sm_90\"]", true},
      {"[kernel.rmsnorm]", "[[kernel.rmsnorm]]", false},
  };
  for (const Line& line : lines) {
    const std::string text =
        WithReplaced({{"build.toml", kValidBuildToml}}, "build.toml", line.from, line.to).at("build.toml");
    EXPECT_EQ(ProblemsOf(text).empty(), line.valid) << line.to;
  }
}

TEST(ParseBuildToml, SyntaxErrorsHaveTheirPlace) {
  EXPECT_THAT(ProblemsOf("[general]\nname = \n"),
              ElementsAre(HasSubstr("build.toml, line 2, column 8: not valid TOML")));
  EXPECT_THAT(ProblemsOf("name = 'a'\nname = 'b'\n"), ElementsAre(HasSubstr("build.toml, line 2")));
  EXPECT_THAT(ProblemsOf("\xEF\xBB\xBF" + std::string(kValidBuildToml)), IsEmpty());
  EXPECT_THAT(ProblemsOf(""), ElementsAre(HasSubstr("there is no [general]"), HasSubstr("no framework section")));
}

TEST(BuildsForCapability, FollowsTheKernelsAndTheirLists) {
  const BuildToml listed = ParseBuildToml(kValidBuildToml).build;
  EXPECT_TRUE(BuildsForCapability(listed, "9.0"));
  EXPECT_FALSE(BuildsForCapability(listed, "9.0a"));
  EXPECT_FALSE(BuildsForCapability(listed, "10.0"));
  EXPECT_THAT(ListedCapabilities(listed), ElementsAre("8.0", "9.0"));
  const BuildToml all = ParseBuildToml(kV4).build;
  EXPECT_TRUE(BuildsForCapability(all, "9.0")) << "the builder's own list has it";
  EXPECT_FALSE(BuildsForCapability(all, "3.5"));
  EXPECT_TRUE(BuildsForCapability(ParseBuildToml(kNoarch).build, "9.0"));
  std::string accelerated = kValidBuildToml;
  accelerated.replace(accelerated.find("\"9.0\""), 5, "\"9.0a\"");
  EXPECT_TRUE(BuildsForCapability(ParseBuildToml(accelerated).build, "9.0"));
  EXPECT_TRUE(BuildsForCapability(ParseBuildToml(accelerated).build, "9.0a"));
}

}  // namespace
}  // namespace upskill

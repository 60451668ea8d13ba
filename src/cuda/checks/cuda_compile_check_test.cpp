// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_compile_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "check/check.h"
#include "skill/suite.h"

namespace upskill {
namespace {

using testing::HasSubstr;

Result<CaseChecks> CompileChecks(const std::string& check, const Sandbox& sandbox = DefaultSandbox()) {
  ASSIGN_OR_RETURN(const Suite suite, ParseSuite(R"([{"id": "c", "input": "i", "checks": [)" + check + "]}]", "t"));
  return CaseChecks::Make(suite.cases[0], sandbox);
}

constexpr const char* kScale = R"(__global__ void scale(float* x, float by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= by;
}
void Launch(float* x, float by, int n) { scale<<<(n + 255) / 256, 256>>>(x, by, n); }
)";

constexpr const char* kTiled = R"(#include <cuda_pipeline.h>
__global__ void tiled(const float4* in, float4* out) {
  __shared__ __align__(128) float4 tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];
}
)";

class CudaCompileTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<CaseChecks> checks = CompileChecks(R"({"type": "cuda_compile"})");
    ASSERT_TRUE(checks.ok()) << checks.error().message;
    if (const std::string reason = checks->WhyNoneCanPass(); !reason.empty()) GTEST_SKIP() << reason;
  }

  static std::string Named(const std::string& name, const std::string& content) {
    return "`" + name + "`:\n```cuda\n" + content + "```\n";
  }

  // Why the check fails; empty if it passes.
  static std::string Problem(const std::string& check, const std::string& answer) {
    const Result<CaseChecks> checks = CompileChecks(check);
    if (!checks.ok()) return checks.error().message;
    const CheckResult result = checks->Run(answer)[0];
    EXPECT_NE(result.outcome, Outcome::kSkip) << result.detail;
    if (result.run) {
      EXPECT_THAT(result.run->tools, testing::StartsWith("nvcc "));
    }
    return result.detail;
  }
};

TEST_F(CudaCompileTest, CompilesKernels) {
  EXPECT_EQ(Problem(R"({"type": "cuda_compile"})", Named("src/scale.cu", kScale)), "");
  EXPECT_EQ(Problem(R"({"type": "cuda_compile"})", std::string("Here:\n```cuda\n") + kScale + "```\n"), "");
  EXPECT_EQ(Problem(R"({"type": "cuda_compile", "file": "a.cu", "arch": "sm_80"})", Named("a.cu", kScale)), "");
}

TEST_F(CudaCompileTest, NamesWhatDoesNotCompile) {
  EXPECT_THAT(Problem(R"({"type": "cuda_compile"})", Named("k.cu", "__global__ void f(float* x) { *x = y; }\n")),
              HasSubstr("doesn't compile: k.cu(1): error: identifier \"y\" is undefined"));
  EXPECT_THAT(Problem(R"({"type": "cuda_compile"})", Named("k.cu", "__global__ void f() { asm(\"bogus;\"); }\n")),
              HasSubstr("doesn't compile: "));
  EXPECT_EQ(Problem(R"({"type": "cuda_compile"})", Named("k.cu", "int f() { return 1; }\n")),
            "it has no kernel (__global__ function)");
  EXPECT_EQ(Problem(R"({"type": "cuda_compile"})", "No code."), "the answer has no CUDA source");
  EXPECT_EQ(Problem(R"({"type": "cuda_compile", "file": "a.cu"})", Named("b.cu", kScale)),
            "the answer has no file a.cu");
}

TEST_F(CudaCompileTest, LooksAtWhatTheCompilerMade) {
  const std::string tiled = Named("tiled.cu", kTiled);
  EXPECT_EQ(Problem(R"({"type": "cuda_compile", "uses": ["cp.async", "bar.sync"], "not_uses": "tma",
                        "min_shared_alignment": 128, "max_shared_bytes": 1024, "spills": 0, "max_registers": 32})",
                    tiled),
            "");
  EXPECT_EQ(Problem(R"({"type": "cuda_compile", "uses": ["wgmma"]})", tiled), "it doesn't use \"wgmma\"");
  EXPECT_EQ(Problem(R"({"type": "cuda_compile", "not_uses": ["cp.async"]})", tiled), "it uses \"cp.async\"");
  EXPECT_EQ(Problem(R"({"type": "cuda_compile", "max_shared_bytes": 512})", tiled),
            "it has 1024 bytes of static shared memory, more than 512");
  EXPECT_THAT(Problem(R"({"type": "cuda_compile", "max_registers": 2})", tiled), HasSubstr("registers, more than 2"));
  EXPECT_THAT(Problem(R"({"type": "cuda_compile", "min_shared_alignment": 128})", Named("scale.cu", kScale)),
              HasSubstr("is aligned to 0 bytes, not 128"));
}

TEST(CudaCompile, IsSkippedWithoutACompiler) {
  SandboxOptions options;
  options.program = "upskill-missing-bwrap";
  const Sandbox none{options};
  const Result<CaseChecks> checks = CompileChecks(R"({"type": "cuda_compile"})", none);
  ASSERT_TRUE(checks.ok()) << checks.error().message;
  EXPECT_FALSE(checks->WhyNoneCanPass().empty());
  EXPECT_EQ(checks->Run(kScale)[0].outcome, Outcome::kSkip);
}

TEST(CudaCompile, NamesWhatIsWrongInASuite) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {R"({"type": "cuda_compile", "arch": "9.0"})", "\"arch\" of cuda_compile"},
      {R"({"type": "cuda_compile", "arch": "sm_90; rm -rf /"})", "\"arch\" of cuda_compile"},
      {R"({"type": "cuda_compile", "arch": 90})", "\"arch\" of cuda_compile"},
      {R"({"type": "cuda_compile", "uses": [1]})", "\"uses\" of cuda_compile"},
      {R"({"type": "cuda_compile", "not_uses": ""})", "\"not_uses\" of cuda_compile"},
      {R"({"type": "cuda_compile", "spills": -1})", "\"spills\" of cuda_compile"},
      {R"({"type": "cuda_compile", "max_registers": 2.5})", "\"max_registers\" of cuda_compile"}};
  for (const auto& [check, message] : wrong) {
    const Result<CaseChecks> checks = CompileChecks(check);
    ASSERT_FALSE(checks.ok()) << check;
    EXPECT_THAT(checks.error().message, HasSubstr(message));
  }
}

}  // namespace
}  // namespace upskill

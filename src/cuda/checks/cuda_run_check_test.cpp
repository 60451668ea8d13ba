// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_run_check.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "check/check.h"
#include "check/task_reader.h"
#include "cuda/checks/cuda_run_answers_test.h"
#include "cuda/checks/fake_torch_test.h"
#include "skill/suite.h"
#include "util/files.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using testing::HasSubstr;

Result<CaseChecks> ChecksOf(const Json& check, const Sandbox& sandbox = DefaultSandbox()) {
  const Json suite = Json::array({{{"id", "c"}, {"input", "i"}, {"checks", Json::array({check})}}});
  ASSIGN_OR_RETURN(const Suite parsed, ParseSuite(DumpJson(suite), "t"));
  return CaseChecks::Make(parsed.cases[0], sandbox);
}

Json SoftmaxCheck() {
  return Json{
      {"type", "cuda_run"},
      {"function", kSoftmaxFunction},
      {"arguments", Json::array({{{"name", "in"}, {"type", "f32"}, {"shape", {"rows", "cols"}}},
                                 {{"name", "out"}, {"type", "f32"}, {"shape", {"rows", "cols"}}, {"role", "out"}},
                                 {{"name", "rows"}, {"type", "i32"}, {"value", "rows"}},
                                 {{"name", "cols"}, {"type", "i32"}, {"value", "cols"}}})},
      {"sizes",
       Json::array(
           {{{"rows", 3}, {"cols", 131}}, {{"rows", 1}, {"cols", 1}}, {{"rows", 2}, {"cols", 64}, {"scale", 300}}})},
      {"timeout_seconds", 60},
      {"reference_code", R"(void reference(const float* in, float* out, int rows, int cols) {
  for (int r = 0; r < rows; ++r) {
    double top = -INFINITY, sum = 0;
    for (int c = 0; c < cols; ++c) top = std::max(top, double(in[r * cols + c]));
    for (int c = 0; c < cols; ++c) sum += std::exp(in[r * cols + c] - top);
    for (int c = 0; c < cols; ++c) out[r * cols + c] = float(std::exp(in[r * cols + c] - top) / sum);
  }
})"}};
}

std::string Answer(const CudaAnswer& answer) {
  return fmt::format("`softmax.cu`:\n```cuda\n{}\n{} {}\n```\n", kSoftmaxKernel, kSoftmaxFunction, answer.code);
}

class CudaRunTest : public testing::Test {
 protected:
  void SetUp() override {
    const Result<CaseChecks> checks = ChecksOf(SoftmaxCheck());
    ASSERT_TRUE(checks.ok()) << checks.error().message;
    if (const std::string reason = checks->WhyNoneCanPass(); !reason.empty()) GTEST_SKIP() << reason;
  }

  static CheckResult ResultOf(const Json& check, const std::string& answer) {
    const Result<CaseChecks> checks = ChecksOf(check);
    EXPECT_TRUE(checks.ok()) << checks.error().message;
    return checks->Run(answer)[0];
  }
};

TEST_F(CudaRunTest, HonestAnswersPass) {
  const Result<CaseChecks> checks = ChecksOf(SoftmaxCheck());
  ASSERT_TRUE(checks.ok());
  for (const CudaAnswer& answer : kHonestAnswers) {
    const CheckResult result = checks->Run(Answer(answer))[0];
    EXPECT_EQ(result.outcome, Outcome::kPass) << answer.name << ": " << result.detail;
    EXPECT_THAT(result.run.value_or(CheckRun()).tools, testing::StartsWith("nvcc "));
  }
}

// Published ways to pass a test of kernels without computing the result by one, and attacks on the test itself.
TEST_F(CudaRunTest, CheatingAnswersFail) {
  const Result<CaseChecks> checks = ChecksOf(SoftmaxCheck());
  ASSERT_TRUE(checks.ok());
  std::size_t caught = 0;
  std::string passed;
  for (const CudaAnswer& answer : kCheatingAnswers) {
    const CheckResult result = checks->Run(Answer(answer))[0];
    EXPECT_NE(result.outcome, Outcome::kSkip) << answer.name << ": " << result.detail;
    if (result.outcome == Outcome::kFail) ++caught;
    if (result.outcome == Outcome::kPass) passed += fmt::format("{}; ", answer.name);
  }
  EXPECT_EQ(caught, kCheatingAnswers.size()) << passed;
}

TEST_F(CudaRunTest, FaultsOfKernelsAreNamedWithTheirPlace) {
  std::string racy(kSoftmaxKernel);
  racy.replace(racy.find("__syncthreads();"), 16, "");
  const std::string code =
      fmt::format("`s.cu`:\n```cuda\n{}\n{} {}\n```\n", racy, kSoftmaxFunction, kHonestAnswers[0].code);
  const CheckResult result = ResultOf(SoftmaxCheck(), code);
  EXPECT_EQ(result.outcome, Outcome::kFail);
  EXPECT_THAT(result.detail, AllOf(HasSubstr("race"), HasSubstr("s.cu:")));
}

TEST_F(CudaRunTest, WhatDoesntCompileOrIsMissingFails) {
  const auto with = [](std::string_view code) {
    return ResultOf(SoftmaxCheck(), fmt::format("`s.cu`:\n```cuda\n{}\n```\n", code)).detail;
  };
  EXPECT_THAT(with("__global__ void k() { x = 1; }"), HasSubstr("doesn't compile: s.cu(1): error"));
  EXPECT_THAT(with("__global__ void k() {}"), HasSubstr("it doesn't define launch_softmax(float const*"));
  EXPECT_EQ(ResultOf(SoftmaxCheck(), "No code.").detail, "the answer has no CUDA source");
}

TEST_F(CudaRunTest, WhatNeedsPyTorchIsSkippedWithTheCure) {
  for (const char* header : {"torch/extension.h", "c10/cuda/CUDAStream.h", "pybind11/pybind11.h"}) {
    const CheckResult result =
        ResultOf(SoftmaxCheck(), fmt::format("`s.cu`:\n```cuda\n#include <{}>\n{}\n```\n", header, kSoftmaxKernel));
    EXPECT_EQ(result.outcome, Outcome::kSkip) << header;
    // Where PyTorch's headers are installed, it is one that they include.
    EXPECT_THAT(result.detail, AllOf(HasSubstr("it includes "), HasSubstr("ask for a function"))) << header;
  }
  EXPECT_EQ(ResultOf(SoftmaxCheck(), "`s.cu`:\n```cuda\n#include <absent/torch.h>\n```\n").outcome, Outcome::kFail);
}

TEST_F(CudaRunTest, PythonThatCompilesItsCudaCodeItselfIsSkippedWithTheCure) {
  const std::string python = fmt::format(
      "```python\nfrom torch.utils.cpp_extension import load_inline\nm = load_inline(name='m', cuda_sources='{}')\n"
      "class ModelNew: pass\n```\n",
      kSoftmaxKernel);
  Json named = SoftmaxCheck();
  named["file"] = "model_new.py";
  for (const Json& check : {SoftmaxCheck(), named, Json{{"type", "cuda_compile"}}}) {
    for (const std::string& answer : {python, "`model_new.py`:\n" + python}) {
      const CheckResult result = ResultOf(check, answer);
      EXPECT_EQ(result.outcome, Outcome::kSkip) << result.detail;
      EXPECT_THAT(result.detail, HasSubstr("ask for a .cu file"));
    }
  }
  const CheckResult right =
      ResultOf(SoftmaxCheck(), fmt::format("`softmax.cu`:\n```cuda\n// as load_inline(…) takes it\n{}\n{} {}\n```\n",
                                           kSoftmaxKernel, kSoftmaxFunction, kHonestAnswers[0].code));
  EXPECT_EQ(right.outcome, Outcome::kPass) << right.detail;
}

TEST_F(CudaRunTest, AnswersInKernelBenchsFormatRun) {
  Json check = SoftmaxCheck();
  check.erase("function");
  check["init_inputs"] = Json::array({2});
  const auto result_of = [&](std::string_view launch, std::string_view forward = "m.softmax(x)") {
    return ResultOf(check, fmt::format(R"(```python
import torch
from torch.utils.cpp_extension import load_inline
m = load_inline("m", "torch::Tensor softmax(torch::Tensor x);", r"""{}
torch::Tensor softmax(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  {}
  return y;
}}""", functions=["softmax"])
class ModelNew(torch.nn.Module):
    def __init__(self, factor):
        super().__init__()
    def forward(self, x):
        return {}
```)",
                                       kSoftmaxKernel, launch, forward));
  };
  constexpr std::string_view kLaunch =
      "softmax<<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));";
  const CheckResult right = result_of(kLaunch);
  EXPECT_EQ(right.outcome, Outcome::kPass) << right.detail;
  const auto detail = [&](std::string_view launch, std::string_view forward = "m.softmax(x)") {
    const CheckResult result = result_of(launch, forward);
    EXPECT_EQ(result.outcome, Outcome::kFail) << launch << forward << result.detail;
    return result.detail;
  };
  EXPECT_THAT(detail("nothing<<<1, 1>>>(); return x;"), HasSubstr("copied from an input"));
  EXPECT_THAT(detail("TORCH_CHECK(x.dim() == 3, x.sizes(), \" has no batches\");"),
              HasSubstr("[3, 131] has no batches"));
  EXPECT_THAT(detail(kLaunch, "m.softmax(x).view(-1)"), HasSubstr("not Float [3, 131]"));
  const CheckResult lacking = result_of("y = torch::softmax(x, 1);");
  EXPECT_EQ(lacking.outcome, Outcome::kSkip);
  EXPECT_EQ(lacking.detail, "the stand-in for PyTorch lacks softmax");
}

TEST_F(CudaRunTest, ATaskFileOfKernelBenchIsTheReference) {
  const TempFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  std::filesystem::create_directories(folder.path() / "site" / "torch");
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "site" / "torch" / "__init__.py", std::string(kFakeTorch)));
  ASSERT_TRUE(WriteFileAtomically(folder.path() / "stretch.py", std::string(kStretchTask)));
  SandboxOptions options;
  options.toolchains = {folder.path() / "site"};
  const Sandbox sandbox(options);
  const Suite suite = LoadSuiteOrTasks(folder.path() / "stretch.py", {}, sandbox).value();
  const CaseChecks checks = CaseChecks::Make(suite.cases[0], sandbox).value();
  const auto result_of = [&](std::string_view expression) {
    return checks.Run(fmt::format(R"(```python
import torch
from torch.utils.cpp_extension import load_inline
m = load_inline("m", "torch::Tensor stretch(torch::Tensor x, double factor);", r"""
__global__ void stretch_kernel(const float* x, float* y, int n, float factor) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = {};
}}
torch::Tensor stretch(torch::Tensor x, double factor) {{
  auto y = torch::empty_like(x);
  stretch_kernel<<<(x.numel() + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel(), factor);
  return y;
}}""", functions=["stretch"])
class ModelNew(torch.nn.Module):
    def __init__(self, factor, widths):
        super().__init__()
        self.factor = factor
        assert isinstance(widths, tuple) and widths[1] == 7
    def forward(self, values, share):
        return m.stretch(values, self.factor * share)
```)",
                                  expression))[0];
  };
  EXPECT_EQ(result_of("factor * x[i]").outcome, Outcome::kPass) << result_of("factor * x[i]").detail;
  EXPECT_EQ(result_of("factor * fabsf(x[i])").outcome, Outcome::kFail) << "rand() makes no negative numbers";
  EXPECT_THAT(result_of("1.01f * factor * x[i]").detail, HasSubstr("instead of"));
}

// The sum of few enough numbers that the host may copy all of them.
Json SumCheck() {
  return Json{{"type", "cuda_run"},
              {"function", "void launch_sum(const float* in, float* out, int n)"},
              {"arguments", Json::array({{{"name", "in"}, {"type", "f32"}, {"shape", {"n"}}},
                                         {{"name", "out"}, {"type", "f32"}, {"shape", {1}}, {"role", "out"}},
                                         {{"name", "n"}, {"type", "i32"}, {"value", "n"}}})},
              {"sizes", Json::array({{{"n", 33}}, {{"n", 8}}})},
              {"timeout_seconds", 60},
              {"reference_code", R"(void reference(const float* in, float* out, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = float(sum);
})"}};
}

TEST_F(CudaRunTest, TheHostCantDeliverResultsByWhatItLaunches) {
  Result<CaseChecks> checks = ChecksOf(SumCheck());
  ASSERT_TRUE(checks.ok()) << checks.error().message;
  const auto result_of = [&](std::string_view code) {
    return checks->Run(fmt::format(R"(`sum.cu`:
```cuda
#include <cuda_runtime.h>
#include <cstring>
__device__ unsigned bits;
template <int B> __global__ void set() {{ bits |= 1u << B; }}
__global__ void clear() {{ bits = 0; }}
__global__ void take(float* out) {{ *out = __uint_as_float(bits); }}
__global__ void count(unsigned char* to) {{ *to = blockDim.x - 1; }}
__global__ void value(float* out, float sum) {{ *out = sum; }}
__global__ void place(float* out, const char* at, const char* start) {{ *out = __uint_as_float(at - start); }}
__global__ void add(const float* in, float* out, int n) {{
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}}
template <int B> void go(unsigned b) {{
  if (b >> B & 1) set<B><<<1, 1>>>();
  if constexpr (B > 0) go<B - 1>(b);
}}
float on_host(const float* in, int n) {{
  float h[64], sum = 0;
  cudaMemcpy(h, in, n * 4, cudaMemcpyDeviceToHost);
  for (int i = 0; i < n; ++i) sum += h[i];
  return sum;
}}
void launch_sum(const float* in, float* out, int n) {{
  unsigned b = 0;
  float sum = 0;
  {}
}}
```
)",
                                   code))[0];
  };
  const std::string host = "sum = on_host(in, n); memcpy(&b, &sum, 4); ";
  for (const char* cheat : {
           "clear<<<1, 1>>>(); go<31>(b); take<<<1, 1>>>(out);",
           "value<<<1, 1>>>(out, sum);",
           "for (int i = 0; i < 4; ++i) count<<<1, (b >> 8 * i & 255) + 1>>>((unsigned char*)out + i);",
           "for (int i = 0; i < 4; ++i) cudaMemset((char*)out + i, b >> 8 * i, 1); clear<<<1, 1>>>();",
           "cudaMemcpyToSymbol(bits, &b, 4); take<<<1, 1>>>(out);",
           "place<<<1, 1>>>(out, (const char*)in + b, (const char*)in);",
       }) {
    const CheckResult result = result_of(host + cheat);
    EXPECT_EQ(result.outcome, Outcome::kFail) << cheat;
  }
  for (const char* honest :
       {"add<<<1, 1>>>(in, out, n);", "add<<<1, 1>>>(in, out, n); cudaMemcpy(&sum, out, 4, cudaMemcpyDeviceToHost);"}) {
    const CheckResult result = result_of(honest);
    EXPECT_EQ(result.outcome, Outcome::kPass) << honest << result.detail;
  }
  // Nor where results must be equal, and repetitions have equal inputs.
  Json deterministic = SumCheck();
  deterministic["deterministic"] = true;
  checks = ChecksOf(deterministic);
  EXPECT_EQ(result_of(host + "clear<<<1, 1>>>(); go<31>(b); take<<<1, 1>>>(out);").outcome, Outcome::kFail);
  EXPECT_EQ(result_of("add<<<1, 1>>>(in, out, n);").outcome, Outcome::kPass);
}

TEST_F(CudaRunTest, ThePrecisionIsThatOfTheComputationsExecuted) {
  Json check = SumCheck();
  check["precision"] = "f16";
  check["arguments"][1]["tolerance"] = 0.1;
  const auto result_of = [&](std::string_view code) {
    return ResultOf(check,
                    fmt::format("`sum.cu`:\n```cuda\n#include <cuda_fp16.h>\n__global__ void add(const float* in, "
                                "float* out, int n) {{\n{}\n}}\nvoid launch_sum(const float* in, float* out, int "
                                "n) {{ add<<<1, 1>>>(in, out, n); }}\n```\n",
                                code));
  };
  const std::string in_float =
      "float sum = 0; for (int i = 0; i < n; ++i) sum += __half2float(__float2half(in[i])); *out = sum;";
  for (const std::string& cheat :
       {in_float, "__half h = in[0]; if (n < 0) h = __hadd(h, h); " + in_float + "if (n < 0) *out = h;",
        in_float + "*out += __half2float(__hsub(__float2half(sum), __float2half(sum)));"}) {
    EXPECT_THAT(result_of(cheat).detail, HasSubstr("don't compute in f16")) << cheat;
  }
  const CheckResult honest =
      result_of("__half sum = 0; for (int i = 0; i < n; ++i) sum = __hadd(sum, __float2half(in[i])); *out = sum;");
  EXPECT_EQ(honest.outcome, Outcome::kPass) << honest.detail;
}

TEST_F(CudaRunTest, ALauncherOfTheCheckRunsAKernelOfTheAnswer) {
  Json check = SoftmaxCheck();
  check["file"] = "kernel.cu";
  check["launcher"] =
      "#include \"kernel.cu\"\nvoid launch_softmax(const float* in, float* out, int rows, int cols) {\n"
      "  softmax<<<rows, 128>>>(in, out, cols);\n}\n";
  const CheckResult result = ResultOf(check, fmt::format("`kernel.cu`:\n```cuda\n{}```\n", kSoftmaxKernel));
  EXPECT_EQ(result.outcome, Outcome::kPass) << result.detail;
}

TEST_F(CudaRunTest, AProgramOfItsOwnRuns) {
  const Json check = {{"type", "cuda_run"}, {"stdout", "^sum 10\n$"}};
  const auto program = [](std::string_view main) {
    return fmt::format(R"(`p.cu`:
```cuda
#include <cstdio>
__global__ void add(int* sum) {{ atomicAdd(sum, threadIdx.x); }}
int main() {{ {} }}
```
)",
                       main);
  };
  const CheckResult good = ResultOf(check, program(R"(int *d, h = 0; cudaMalloc(&d, 4); cudaMemset(d, 0, 4);
    add<<<1, 5>>>(d); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); printf("sum %d\n", h);)"));
  EXPECT_EQ(good.outcome, Outcome::kPass) << good.detail;
  EXPECT_EQ(ResultOf(check, program("puts(\"sum 10\");")).detail, "it launches no kernel");
  EXPECT_THAT(ResultOf(check, program("return 3;")).detail, HasSubstr("exit code 3"));
}

TEST_F(CudaRunTest, AReferenceThatDoesntCompileIsntTheAnswersFault) {
  Json check = SoftmaxCheck();
  check["reference_code"] = "void reference(const float*, float*, int, int) { oops }";
  const CheckResult result = ResultOf(check, Answer(kHonestAnswers[0]));
  EXPECT_EQ(result.outcome, Outcome::kSkip);
  EXPECT_THAT(result.detail, HasSubstr("the check's own reference"));
}

TEST(CudaRun, IsSkippedWithTheReasonWhereItCantRun) {
  SandboxOptions options;
  options.program = "/nonexistent/bwrap";
  const Sandbox none(options);
  const Result<CaseChecks> checks = ChecksOf(SoftmaxCheck(), none);
  ASSERT_TRUE(checks.ok()) << checks.error().message;
  EXPECT_THAT(checks->WhyNoneCanPass(), HasSubstr("cuda_run launch_softmax can't run: there is no sandbox"));
  const CheckResult result = checks->Run(Answer(kHonestAnswers[0]))[0];
  EXPECT_EQ(result.outcome, Outcome::kSkip);
  EXPECT_THAT(result.detail, HasSubstr("there is no sandbox"));
}

}  // namespace
}  // namespace upskill

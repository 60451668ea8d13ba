// SPDX-License-Identifier: Apache-2.0
#include "cuda/checks/cuda_bindings_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "check/check.h"
#include "skill/suite.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

// Passes sources on to g++, as nvcc does with C++; its PTX is empty.
constexpr const char* kNvcc = R"(#!/bin/sh
if [ "$1" = --version ]; then echo 'Cuda compilation tools, release 13.0, V13.0.88'; exit; fi
skip=
for word; do
  shift
  [ "$skip" != --keep-dir ] || : >"$word/k.ptx"
  [ -z "$skip" ] || { skip=; continue; }
  case $word in
    -Xcompiler | --keep | -arch=*) ;;
    --keep-dir | -Xptxas) skip=$word ;;
    -w,*) set -- "$@" $(echo "$word" | tr , ' ') ;;
    *.cu) set -- "$@" -x c++ -fsyntax-only -D__global__= "$word" ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec g++ "$@"
)";

// What the tests below need of PyTorch, in its place.
constexpr const char* kLibrary = R"(#pragma once
#include <cstdint>
namespace torch {
struct Tensor {};
enum DispatchKey { kCUDA };
template <typename T> struct IsArgument { static constexpr bool value = true; };
template <> struct IsArgument<float> { static constexpr bool value = false; };
struct Library {
  void def(const char*) {}
  template <typename... Args> void impl(const char*, DispatchKey, void (*)(Args...)) {
    static_assert((IsArgument<Args>::value && ...), "INVALID TYPE: float is not supported as an argument type");
  }
};
}
#define TORCH_LIBRARY(NAME, MODULE) static void Registers(torch::Library& MODULE)
)";

constexpr const char* kVersion = R"(#pragma once
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 12
#define TORCH_VERSION_PATCH 1
)";

class CudaBindingsTest : public testing::Test {
 protected:
  CudaBindingsTest() {
    nvcc_ = folder_.path() / "nvcc";
    folder_.Write("nvcc/bin/nvcc", kNvcc);
    fs::permissions(nvcc_ / "bin/nvcc", fs::perms(0755));
    // As in an installation of PyTorch.
    torch_ = folder_.path() / "torch";
    folder_.Write("torch/include/torch/library.h", kLibrary);
    folder_.Write("torch/include/torch/csrc/api/include/torch/version.h", kVersion);
    fs::permissions(folder_.path(), fs::perms(0755));
  }

  static std::string Binding(const std::string& argument, const std::string& registration = "TORCH_LIBRARY_EXPAND") {
    return "#include <torch/library.h>\n#include \"registration.h\"\nvoid scale(torch::Tensor& x, " + argument +
           " by) {}\n" + registration +
           "(TORCH_EXTENSION_NAME, ops) {\n  ops.def(\"scale\");\n  ops.impl(\"scale\", torch::kCUDA, &scale);\n}\n"
           "REGISTER_EXTENSION(TORCH_EXTENSION_NAME)\n";
  }

  static std::string Named(const std::string& name, const std::string& content) {
    return "`" + name + "`:\n```cpp\n" + content + "```\n";
  }

  CheckResult ResultOf(const std::string& answer, const std::vector<fs::path>& toolchains,
                       const std::string& check = R"({"type": "cuda_bindings"})") {
    SandboxOptions options;
    options.toolchains = toolchains;
    const Sandbox sandbox{options};
    const Result<Suite> suite = ParseSuite(R"([{"id": "c", "input": "i", "checks": [)" + check + "]}]", "t");
    EXPECT_TRUE(suite.ok());
    const Result<CaseChecks> checks = CaseChecks::Make(suite->cases[0], sandbox);
    EXPECT_TRUE(checks.ok());
    why_none_ = checks->WhyNoneCanPass();
    return checks->Run(answer)[0];
  }

  // Why the check fails; empty if it passes.
  std::string Problem(const std::string& answer, const std::string& check = R"({"type": "cuda_bindings"})") {
    const CheckResult result = ResultOf(answer, {nvcc_, torch_}, check);
    EXPECT_NE(result.outcome, Outcome::kSkip) << result.detail;
    return result.detail;
  }

  void SetUp() override {
    if (!DefaultSandbox().Available() || !DefaultSandbox().HasProgram("g++")) GTEST_SKIP() << "no sandbox or g++";
  }

  TempFolder folder_;
  fs::path nvcc_;
  fs::path torch_;
  std::string why_none_;
};

TEST_F(CudaBindingsTest, CompilesWithTheHeaders) {
  const CheckResult result = ResultOf(Named("torch-ext/torch_binding.cpp", Binding("double")), {nvcc_, torch_});
  EXPECT_EQ(result.outcome, Outcome::kPass) << result.detail;
  ASSERT_TRUE(result.run);
  EXPECT_EQ(result.run->tools, "torch 2.12.1, nvcc 13.0.88");
  EXPECT_EQ(Problem("Here:\n```cpp\n" + Binding("double") + "```\n"), "");
  EXPECT_EQ(Problem(Named("a/b.cpp", Binding("double")), R"({"type": "cuda_bindings", "file": "a/b.cpp"})"), "");
}

TEST_F(CudaBindingsTest, NamesWhatDoesNotCompile) {
  EXPECT_THAT(Problem(Named("torch-ext/torch_binding.cpp", Binding("float"))),
              HasSubstr("float is not supported as an argument type"));
  EXPECT_THAT(Problem(Named("torch-ext/torch_binding.cpp", Binding("flaot"))),
              StartsWith("doesn't compile: torch-ext/"));
  EXPECT_THAT(Problem(Named("b.cpp", "#include <torch/absent.h>\n" + Binding("double"))),
              HasSubstr("torch/absent.h: No such file"));
  EXPECT_THAT(Problem(Named("good.cpp", Binding("double")) + Named("second.cpp", "int f() { return x; }\n")),
              HasSubstr("second.cpp"));
}

TEST_F(CudaBindingsTest, WantsARegistration) {
  EXPECT_EQ(Problem(Named("b.cpp", "#include <torch/library.h>\nvoid f() {}\n")),
            "it registers no operator (TORCH_LIBRARY_EXPAND)");
  EXPECT_EQ(Problem("I can't do that."), "the answer has no binding in C++");
  EXPECT_EQ(Problem(Named("b.cpp", Binding("double")), R"({"type": "cuda_bindings", "file": "c.cpp"})"),
            "the answer has no file c.cpp");
}

TEST_F(CudaBindingsTest, AnswersDoNotReplaceTheGeneratedHeader) {
  EXPECT_EQ(Problem(Named("torch-ext/registration.h", "#error mine\n") +
                    Named("torch-ext/torch_binding.cpp", Binding("double"))),
            "");
}

TEST_F(CudaBindingsTest, IsSkippedWithoutHeadersOrCompiler) {
  const std::string answer = Named("b.cpp", Binding("double"));
  EXPECT_EQ(ResultOf(answer, {nvcc_}).outcome, Outcome::kSkip);
  EXPECT_THAT(why_none_, AllOf(HasSubstr("cuda_bindings"), HasSubstr("upskill toolchain add torch")));
  if (DefaultSandbox().HasProgram("nvcc")) return;
  EXPECT_EQ(ResultOf(answer, {torch_}).outcome, Outcome::kSkip);
  EXPECT_THAT(why_none_, HasSubstr("upskill toolchain add cuda"));
}

TEST_F(CudaBindingsTest, CudaSourcesFindTheHeadersToo) {
  const std::string kernel = Named("k.cu", "#include <torch/library.h>\n__global__ void k() {}\n");
  // A header that no installed PyTorch has either.
  const std::string absent = Named("k.cu", "#include <torch/absent.h>\n__global__ void k() {}\n");
  const CheckResult without = ResultOf(absent, {nvcc_}, R"({"type": "cuda_compile"})");
  EXPECT_EQ(without.outcome, Outcome::kSkip);
  EXPECT_THAT(without.detail, HasSubstr("PyTorch's headers, which aren't here: `upskill toolchain add torch`"));
  EXPECT_EQ(Problem(kernel, R"({"type": "cuda_compile"})"), "it has no kernel (__global__ function)");
}

}  // namespace
}  // namespace upskill

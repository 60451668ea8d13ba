// SPDX-License-Identifier: Apache-2.0
// Judging a project takes time for the size of its files, whatever is in them.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kernel/build_toml.h"
#include "kernel/kernel_project.h"
#include "support/kernel_project.h"
#include "support/work_meter.h"

namespace upskill {
namespace {

std::string Repeated(const std::string& text, std::size_t count) {
  std::string repeated;
  repeated.reserve(text.size() * count);
  for (std::size_t i = 0; i < count; ++i) repeated += text;
  return repeated;
}

double GrowthOfBinding(const std::string& piece, std::size_t count) {
  return GrowthPerDoubling(count, [&](std::size_t size) {
    KernelFiles files = ValidKernelProject();
    files["torch-ext/torch_binding.cpp"] =
        "TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {\n" + Repeated(piece, size);
    return [files = std::move(files)] { EXPECT_FALSE(JudgeKernelProject(files, {}).problems.empty()); };
  });
}

TEST(JudgeKernelProject, WorkGrowsInStepWithTheBinding) {
  const std::vector<std::string> pieces = {"ops.def(\"f(Tensor! a) -> ()\");\n",
                                           "ops.impl(\"f\", torch::kCUDA, &rmsnorm);\n",
                                           "ops.def(",
                                           "f f(",
                                           "void rmsnorm(int a);\n",
                                           "#if X\n",
                                           "R\"(",
                                           "((({",
                                           "#include \"torch_binding.h\"\n",
                                           "PYBIND11_MODULE\n"};
  for (const std::string& piece : pieces) EXPECT_LT(GrowthOfBinding(piece, 1000), kMaxGrowthPerDoubling) << piece;
}

TEST(ParseBuildToml, WorkGrowsInStepWithTheFile) {
  const auto growth = [](const std::string& start, const auto& piece) {
    return GrowthPerDoubling(500, [&](std::size_t size) {
      std::string text = start;
      for (std::size_t i = 0; i < size; ++i) text += piece(i);
      return [text = std::move(text)] { EXPECT_GE(ParseBuildToml(text).problems.size(), 1U); };
    });
  };
  const auto numbered = [](const std::string& before, const std::string& after) {
    return [=](std::size_t i) { return before + std::to_string(i) + after; };
  };
  EXPECT_LT(growth("[general]\n", numbered("k", " = 1\n")), kMaxGrowthPerDoubling);
  EXPECT_LT(growth("", numbered("[kernel.k", "]\nbackend = 'x'\n")), kMaxGrowthPerDoubling);
  EXPECT_LT(growth("[torch]\nsrc = [", numbered("'", "', 1,\n")), kMaxGrowthPerDoubling);
}

TEST(ParseBuildToml, DeepNestingIsRefused) {
  const std::vector<std::string> texts = {Repeated("a.", 400'000) + "b = 1\n", "[" + Repeated("a.", 400'000) + "b]\n",
                                          "a = " + Repeated("[", 500'000),     "a = " + Repeated("{a = ", 100'000),
                                          Repeated("[[a]]\n", 100'000),        std::string(2'000'000, ' ')};
  for (const std::string& text : texts) EXPECT_FALSE(ParseBuildToml(text).problems.empty()) << text.substr(0, 20);
}

TEST(JudgeKernelProject, ALargeProjectHasItsLimits) {
  KernelFiles files = ValidKernelProject();
  std::string defs;
  for (int i = 0; i < 20'000; ++i) defs += "ops.def(\"f" + std::to_string(i) + "(Tensor x) -> ()\");\n";
  files["torch-ext/torch_binding.cpp"] = "TORCH_LIBRARY_EXPAND(TORCH_EXTENSION_NAME, ops) {\n" + defs + "}\n";
  const JudgedProject judged = JudgeKernelProject(files, {});
  EXPECT_EQ(judged.problems.size(), 100U);
  EXPECT_GT(judged.problem_count, 20'000U);
}

}  // namespace
}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_kernel.h"

#include <algorithm>
#include <string>
#include <vector>

#include "fuzz/fuzz_checks.h"
#include "kernel/build_toml.h"
#include "kernel/kernel_project.h"
#include "kernel/op_schema.h"
#include "util/invariant.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostMessageBytes = 2'000;

constexpr const char* kBuild = R"([general]
name = "fuzzed"
version = 1
edition = 5
license = "mit"
backends = ["cuda"]
[torch]
src = ["torch-ext/torch_binding.cpp"]
[kernel.fuzzed]
backend = "cuda"
depends = ["torch"]
src = ["a.cu"]
)";

// A problem is in a line that its file has, and can be printed.
void CheckProblems(const std::vector<KernelProblem>& problems, const KernelFiles& files) {
  for (const KernelProblem& problem : problems) {
    const std::string text = ProblemText(problem);
    CHECK(!problem.message.empty() && text.size() <= kMostMessageBytes);
    CHECK(!FindInvalidUtf8(text));
    const auto file = files.find(problem.file);
    if (problem.at.line == 0 || file == files.end()) continue;
    const auto lines = std::count(file->second.begin(), file->second.end(), '\n') + 1;
    CHECK(problem.at.line <= static_cast<std::size_t>(lines) + 1);
  }
}

}  // namespace

void FuzzBuildToml(std::string_view input) {
  const KernelFiles files = {{"build.toml", std::string(input)}, {"torch-ext/a/__init__.py", "import a\n"}};
  const JudgedProject judged = JudgeKernelProject(files, {});
  CheckProblems(judged.problems, files);
  CHECK(judged.problem_count >= judged.problems.size());
  const ParsedBuildToml parsed = ParseBuildToml(input);
  if (!parsed.problems.empty()) return;
  CHECK(parsed.build.name.text.size() >= 2 && parsed.build.framework != KernelFramework::kNone);
  for (const BuildKernel& kernel : parsed.build.kernels) CHECK(!kernel.backend.text.empty());
}

void FuzzKernelBinding(std::string_view input) {
  const KernelFiles files = {{"build.toml", kBuild},
                             {"a.cu", "void f(torch::Tensor& out, int64_t n) {}\n"},
                             {"torch-ext/fuzzed/__init__.py", std::string(input)},
                             {"torch-ext/torch_binding.cpp", std::string(input)}};
  CheckProblems(JudgeKernelProject(files, {}).problems, files);
}

void FuzzOpSchema(std::string_view input) {
  const Result<OpSchema> schema = ParseOpSchema(input);
  if (!Parsed(schema)) return;
  CHECK(!schema->name.empty());
  for (const OpArgument& argument : schema->arguments) CHECK(!argument.name.empty() && !argument.type.text.empty());
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/build_schema.h"
#include "kernel/kernel_problem.h"
#include "util/text.h"

namespace upskill {

struct PlacedText {
  std::string text;
  TextPosition at;  // in build.toml
};

enum class KernelFramework { kNone, kTorch, kTorchNoarch, kTvmFfi };

// [kernel.NAME]
struct BuildKernel {
  std::string name;
  TextPosition at;
  PlacedText backend;
  std::vector<PlacedText> src;
  std::vector<PlacedText> include;
  std::vector<PlacedText> capabilities;  // cuda-capabilities
  std::vector<PlacedText> rocm_archs;
};

// What a build.toml says, as far as it could be read.
struct BuildToml {
  BuildSchema schema = kSchemaV5;
  PlacedText name;
  std::vector<PlacedText> backends;
  TextPosition backends_at;
  // Python packages, each with its backend; empty for those of [general].
  std::vector<std::pair<std::string, PlacedText>> python_depends;
  KernelFramework framework = KernelFramework::kNone;
  TextPosition framework_at;
  std::vector<PlacedText> src;  // of [torch] or [tvm-ffi]
  std::vector<PlacedText> include;
  std::vector<PlacedText> capabilities;  // of [torch-noarch]
  std::vector<BuildKernel> kernels;
};

struct ParsedBuildToml {
  BuildToml build;
  // Why kernel-builder's parser refuses the file, with the place of each reason; none if it builds it. A file without
  // `edition` is judged by the rules of v4, which it builds with a warning; v3 and older formats are refused.
  std::vector<KernelProblem> problems;
};

// Parses a build.toml, whose place in messages is `file`. Takes time for the size of the text.
ParsedBuildToml ParseBuildToml(std::string_view text, const std::string& file = "build.toml");

}  // namespace upskill

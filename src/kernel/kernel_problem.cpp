// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace upskill {

std::string ProblemText(const KernelProblem& problem) {
  if (problem.at.line == 0) return fmt::format("{}: {}", problem.file, problem.message);
  return fmt::format("{}, line {}, column {}: {}", problem.file, problem.at.line, problem.at.column, problem.message);
}

void ProblemList::Add(std::string file, TextPosition at, const std::string& message) {
  constexpr std::size_t kMostColumns = 500;
  if (++count_ <= kMostKept) kept_.push_back({std::move(file), at, ExcerptLine(message, kMostColumns)});
}

std::vector<KernelProblem> ProblemList::Sorted() && {
  const auto place = [](const KernelProblem& one) {
    return std::tuple(!one.file.ends_with("build.toml"), std::string_view(one.file), one.at.line, one.at.column);
  };
  std::stable_sort(kept_.begin(), kept_.end(),
                   [&](const KernelProblem& a, const KernelProblem& b) { return place(a) < place(b); });
  return std::move(kept_);
}

std::string CodeQuoted(std::string_view text) { return "`" + ExcerptLine(text, 60) + "`"; }

}  // namespace upskill

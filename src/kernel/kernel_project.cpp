// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel_project.h"

#include <utility>

#include "kernel/rules.h"

namespace upskill {

JudgedProject JudgeKernelProject(const KernelFiles& files, const ProjectParts& parts) {
  const auto build_toml = files.find("build.toml");
  if (build_toml == files.end()) return {{}, {{"build.toml", {.line = 0, .column = 0}, "there is no such file"}}, 1};
  ParsedBuildToml parsed = ParseBuildToml(build_toml->second);
  ProblemList problems;
  for (const KernelProblem& problem : parsed.problems) problems.Add(problem.file, problem.at, problem.message);
  const BuildToml& build = parsed.build;
  AddBuildProblems(build, "build.toml", problems);
  if (build.framework != KernelFramework::kNone && (parts.sources || parts.bindings)) {
    const ProjectCode code(build, files);
    if (parts.sources) AddSourceProblems(build, files, code, problems);
    if (parts.sources) AddLinkageProblems(build, code, problems);
    if (parts.bindings) AddBindingProblems(build, files, code, problems);
  }
  if (parts.layout) {
    AddLayoutProblems(build, files, problems);
    if (!build.name.text.empty()) AddPythonProblems(build, files, PackageFolder(build), problems);
  }
  const std::size_t count = problems.count();
  return {std::move(parsed.build), std::move(problems).Sorted(), count};
}

}  // namespace upskill

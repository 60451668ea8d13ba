// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "kernel/build_toml.h"
#include "kernel/kernel_problem.h"
#include "kernel/project_code.h"

namespace upskill {

// What of a project is judged, beside its build.toml.
struct ProjectParts {
  bool sources = true;   // AddSourceProblems
  bool layout = true;    // AddLayoutProblems, AddPythonProblems
  bool bindings = true;  // AddBindingProblems
};

struct JudgedProject {
  BuildToml build;
  std::vector<KernelProblem> problems;  // those of build.toml first; the first hundred
  std::size_t problem_count = 0;
};

// Judges a project of Hugging Face's kernel-builder by its text alone: nothing is compiled. `files` are relative to the
// folder of build.toml, which must be one of them. The other parts are judged only if build.toml can be read; takes
// time for the size of the files.
JudgedProject JudgeKernelProject(const KernelFiles& files, const ProjectParts& parts);

}  // namespace upskill

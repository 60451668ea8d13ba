// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel_problem.h"
#include "kernel/project_code.h"

namespace upskill {

// `from .layers import RMSNorm as Norm, Linear`
struct PythonImport {
  struct Name {
    std::string_view name;
    std::string_view alias;  // the name itself if there is none
  };
  std::string_view module;  // ".layers"
  std::vector<Name> names;
  std::size_t offset = 0;    // of the statement
  bool is_indented = false;  // in a function, or perhaps in try
};

// The relative `from … import …` of a text without strings and comments.
std::vector<PythonImport> RelativeImports(std::string_view plain);

// Of the package in `folder`, as far as its __init__.py imports it: relative imports of modules that don't exist, of
// names that a module doesn't have, and such names in __all__. A name that occurs anywhere in a module counts as there.
void AddNameProblems(const KernelFiles& files, const std::string& folder, ProblemList& problems);

}  // namespace upskill

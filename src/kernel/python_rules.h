// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "kernel/build_toml.h"
#include "kernel/kernel_problem.h"
#include "kernel/project_code.h"

namespace upskill {

// The Python package of a project, in `folder` ("torch-ext/my_kernel"): relative imports of its own modules, operators
// through `from ._ops import ops` and not through torch.ops.<name>; nothing compiled at run time, unless the project is
// [torch-noarch]. Only the import
// statements and attribute chains are looked at, without strings and comments.
void AddPythonProblems(const BuildToml& build, const KernelFiles& files, const std::string& folder,
                       ProblemList& problems);

// The statements of Python without comments and the contents of strings; line by line as it was.
std::string PythonWithoutStrings(std::string_view text);

// Where the text has `chain` as a whole chain of names ("ops", "torch.ops"), from `from` on; npos if nowhere.
std::size_t FindChain(std::string_view text, std::string_view chain, std::size_t from = 0);
bool HasChain(std::string_view line, std::string_view text);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/build_toml.h"
#include "kernel/kernel_problem.h"
#include "kernel/op_schema.h"
#include "kernel/project_code.h"

namespace upskill {

// The schemas of operators, by their names without overloads.
using RegisteredOperators = std::map<std::string, std::vector<OpSchema>, std::less<>>;

// The operators that a project registers: each schema is one, each has an implementation and each implementation a
// schema that its C++ function fits; the function exists, in a file that is compiled; each backend with kernels has
// implementations for its device. Returns them, or nothing if not all of them can be read.
std::optional<RegisteredOperators> AddOperatorProblems(const BuildToml& build, const ProjectCode& code,
                                                       ProblemList& problems);

}  // namespace upskill

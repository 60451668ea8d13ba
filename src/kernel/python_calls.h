// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernel/kernel_problem.h"
#include "kernel/operator_rules.h"
#include "kernel/project_code.h"

namespace upskill {

// The uses of operators in the Python package in `folder`, through what is imported from ._ops: each is one that the
// project registers, in C++ or in Python, and a call gives the arguments of its schema.
void AddCallProblems(const KernelFiles& files, const std::string& folder, const RegisteredOperators& operators,
                     ProblemList& problems);

}  // namespace upskill

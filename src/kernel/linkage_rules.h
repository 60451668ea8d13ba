// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "kernel/build_toml.h"
#include "kernel/kernel_problem.h"
#include "kernel/project_code.h"

namespace upskill {

// Functions that one file declares and another defines so that they can't be linked: static, in another namespace, or
// with other parameters. Only a declaration without any definition that fits, and a definition without any declaration,
// are compared with each other, among the files that are compiled for a backend. Also functions that are declared and
// used but not defined, and calls with too many or too few arguments, or without a declaration.
void AddLinkageProblems(const BuildToml& build, const ProjectCode& code, ProblemList& problems);

// What to say about the use of a function of the project in a file that doesn't include its declaration.
std::string UndeclaredText(std::string_view function);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace upskill {

// What the fuzzers do with one file of a kernel-builder project.

void FuzzBuildToml(std::string_view input);
void FuzzKernelBinding(std::string_view input);  // torch_binding.cpp, and the same text as a module of Python
void FuzzOpSchema(std::string_view input);

}  // namespace upskill

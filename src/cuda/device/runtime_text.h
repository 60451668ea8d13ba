// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace upskill {

// The sources of the CUDA runtime that programs are linked with (assets/cuda_runtime), by name. They are compiled
// where programs are, so that they fit the headers of any version of CUDA; runtime.cpp includes the others.
std::map<std::string, std::string> CudaRuntimeSources();

}  // namespace upskill

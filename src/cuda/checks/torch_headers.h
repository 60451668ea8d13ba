// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sandbox/sandbox.h"

namespace upskill {

// PyTorch's headers as commands in the sandbox find them.
struct TorchHeaders {
  std::string version;                       // 2.9.1
  std::string options;                       // for nvcc and g++: where they are, and what they need to be told
  std::map<std::string, std::string> files;  // for the workspace, which `options` refers to
};

// In the first toolchain that has them: one that `upskill toolchain add torch` has made, or the folder `torch` of an
// installed PyTorch. `files` stand in for the headers of CUDA's libraries, which aren't installed with
// nvcc.
std::optional<TorchHeaders> FindTorchHeaders(const Sandbox& sandbox);

// kernel-builder's registration.h, which it generates in each project, without the headers of Python.
const char* RegistrationHeader();

// What to do where there are no headers.
inline constexpr const char* kHowToAddTorch =
    "`upskill toolchain add torch` downloads them, --toolchain names the folder torch of an installation";

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"
#include "sandbox/sandbox.h"
#include "util/result.h"

namespace upskill {

// How the user wants commands of suites to run.
struct SandboxChoice {
  bool none = false;
  std::vector<std::string> toolchains;
};

// With the toolchains that are given, then those that `upskill toolchain add` has installed: all that the
// sandbox's commands can read, with a warning about each other one. Error: a toolchain that
// isn't a folder, or one that would show the user's own files.
Result<SandboxOptions> SandboxOptionsOf(const SandboxChoice& choice, const Env& env);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cuda/device/kernel_runner.h"
#include "sandbox/sandbox.h"

namespace upskill {

// The command that compiles the sources with the emulated runtime: it prints the compiler's version on a line, then
// the program. Adds the runtime's files to those of the command.
SandboxCommand BuildCommand(const KernelSources& sources);

// What the command's outcome means.
KernelBuild ReadBuild(const SandboxOutcome& outcome);

// "Compiling entry function 'NAME' … Used 32 registers" of ptxas -v, by name.
std::map<std::string, std::uint32_t> RegistersOf(std::string_view assembler);

}  // namespace upskill

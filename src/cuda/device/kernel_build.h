// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cuda/device/kernel_runner.h"
#include "sandbox/sandbox.h"

namespace upskill {

// The command that compiles the sources' driver with the emulated runtime and prints the object: once for all answers
// that a check judges, and out of reach of their files.
SandboxCommand DriverCommand(const std::string& driver);

// The command that compiles the sources and links them with the driver's object or, if there is no driver, with the
// emulated runtime: it prints the compiler's version on a line, then the program. Adds its own files to the answer's.
SandboxCommand BuildCommand(const KernelSources& sources, const std::string& driver_object);

// What the command's outcome means.
KernelBuild ReadBuild(const SandboxOutcome& outcome);

// The header of PyTorch that the compiler's messages say is missing, or one that comes with it; empty if none is.
std::string_view MissingTorchHeader(std::string_view messages);

// "Compiling entry function 'NAME' … Used 32 registers" of ptxas -v, by name.
std::map<std::string, std::uint32_t> RegistersOf(std::string_view assembler);

}  // namespace upskill

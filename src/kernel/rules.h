// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/build_toml.h"
#include "kernel/kernel_problem.h"
#include "kernel/op_schema.h"
#include "kernel/project_code.h"

namespace upskill {

// Functions that one file declares and another defines so that they can't be linked: static, in another namespace, or
// with other parameters. Only a declaration without any definition that fits, and a definition without any declaration,
// are compared with each other, among the files that are compiled for a backend. Also functions that are declared and
// used but not defined, and calls with too many or too few arguments, or without a declaration.
void AddLinkageProblems(const BuildToml& build, const ProjectCode& code, ProblemList& problems);

// What to say about the use of a function of the project in a file that doesn't include its declaration.
std::string UndeclaredText(std::string_view function);

// The schemas of operators, by their names without overloads.
using RegisteredOperators = std::map<std::string, std::vector<OpSchema>, std::less<>>;

// The operators that a project registers: each schema is one, each has an implementation and each implementation a
// schema that its C++ function fits; the function exists, in a file that is compiled; each backend with kernels has
// implementations for its device. Returns them, or nothing if not all of them can be read.
std::optional<RegisteredOperators> AddOperatorProblems(const BuildToml& build, const ProjectCode& code,
                                                       ProblemList& problems);

// How kernel-builder wants a [torch] project to register its functions: no pybind11, names that the build chooses
// (TORCH_LIBRARY_EXPAND, REGISTER_EXTENSION), a schema for each operator that fits its C++ function, and an
// implementation that exists, for each backend; and Python calls no other operators, with the arguments of the schema.
void AddBindingProblems(const BuildToml& build, const KernelFiles& files, const ProjectCode& code,
                        ProblemList& problems);

// The files of a project against the lists in its build.toml: each `src` exists and suits the kernel's backend, each
// header that is included is listed, and so is each file with a function that the listed ones use.
void AddSourceProblems(const BuildToml& build, const KernelFiles& files, const ProjectCode& code,
                       ProblemList& problems);

// The folder for the Python package: torch-ext/my_kernel.
std::string PackageFolder(const BuildToml& build);

// The Python package is where the name of the kernel says, and nothing is written by hand that the build generates.
void AddLayoutProblems(const BuildToml& build, const KernelFiles& files, ProblemList& problems);

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

// What kernel-builder's parser accepts and its build then refuses: capabilities that it has no code for, kernels of
// backends that aren't listed, no backends at all, Python packages that it doesn't know.
void AddBuildProblems(const BuildToml& build, const std::string& file, ProblemList& problems);

// Whether the project has code for the CUDA capability ("9.0", "9.0a"): in one of its CUDA kernels, or as a project
// without compiled code that is for CUDA. A kernel without cuda-capabilities is built for all that the builder
// supports.
bool BuildsForCapability(const BuildToml& build, std::string_view capability);

bool HasBackend(const BuildToml& build, std::string_view backend);

// The capabilities that the project's CUDA kernels list, for messages; empty if they list none.
std::vector<std::string> ListedCapabilities(const BuildToml& build);

}  // namespace upskill

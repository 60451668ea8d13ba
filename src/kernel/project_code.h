// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/build_toml.h"
#include "kernel/cpp_tokens.h"
#include "kernel/kernel_problem.h"

namespace upskill {

// The files of a project by path, relative to the folder of its build.toml.
using KernelFiles = std::map<std::string, std::string>;

enum class CodeKind { kNone, kCompiled, kHeader, kShader };

// The kind by the file's extension: .cu, .cpp, …; .h, .cuh, …; .metal.
CodeKind CodeKindOf(std::string_view path);

// A path as it is looked up: without "./", "a/../" and the like.
std::string NormalPath(std::string_view path);

// A file of C++ or CUDA code.
struct CodeFile {
  std::string_view path;
  CodeKind kind = CodeKind::kNone;
  bool is_listed = false;   // in a `src` of build.toml
  bool is_reached = false;  // compiled, or included by what is
  CppText code;
};

// The C++ and CUDA code of a project. Refers to its files. Files over 1 MiB are left out.
class ProjectCode {
 public:
  ProjectCode(const BuildToml& build, const KernelFiles& files);

  const std::vector<CodeFile>& files() const { return files_; }
  // The file that #include "name" finds, or nullptr: beside the file, in the folders of `include`, or in the project's.
  const CodeFile* Included(const CodeFile& from, const CppInclude& include) const;
  // The files that these sources and what they include consist of.
  std::set<const CodeFile*> Reached(const std::vector<PlacedText>& sources) const;
  // Whether code in this branch of #if may be compiled for the backend, by the macros that kernel-builder defines for
  // it (CUDA_KERNEL): conditions are false that need another backend's, or a macro that nothing defines.
  bool IsCompiled(const CodeFile& file, std::uint32_t branch, std::string_view backend) const;
  // A macro that the conditions around this branch ask for, and that is like those of kernel-builder, but isn't defined
  // for any backend: CUDA_KERNELS. Empty if there is none.
  std::string_view UnknownMacro(const CodeFile& file, std::uint32_t branch) const;
  bool IsInMacro(std::string_view name) const { return in_macros_.contains(name); }
  // At a token of a file.
  static void Add(ProblemList& problems, const CodeFile& file, std::size_t token, const std::string& message);

 private:
  bool IsDefined(std::string_view macro, std::string_view backend) const;
  bool IsFalse(std::string_view condition, std::string_view backend) const;
  std::size_t Find(const std::string& path) const;  // files_.size() if there is none

  std::vector<CodeFile> files_;  // sorted by path
  std::vector<std::string> include_folders_;
  std::set<std::string_view> in_macros_;  // the names and texts of all macros
  std::string_view build_toml_;           // which may define more, in flags
};

// All `src` entries of a build.toml.
std::vector<PlacedText> AllSources(const BuildToml& build);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernel/build_values.h"
#include "kernel/cpp_signature.h"
#include "kernel/rules.h"
#include "kernel/words.h"
#include "util/list.h"

namespace upskill {
namespace {

constexpr std::array<std::string_view, 3> kGenerated = {"setup.py", "pyproject.toml", "CMakeLists.txt"};

// A file of the same name in another folder, for messages.
std::string ElsewhereHint(const KernelFiles& files, const std::string& path) {
  const std::string name = "/" + path.substr(path.rfind('/') + 1);
  for (const auto& [other, content] : files) {
    if (("/" + other).ends_with(name)) return fmt::format("; there is {}", CodeQuoted(other));
  }
  return "";
}

void AddMissing(const PlacedText& source, const KernelFiles& files, ProblemList& problems) {
  const std::string path = NormalPath(source.text);
  if (path.starts_with('/') || path == ".." || path.starts_with("../")) {
    problems.Add(
        "build.toml", source.at,
        fmt::format("the source {} is outside the project; paths are relative to build.toml", CodeQuoted(source.text)));
  } else if (!files.contains(path)) {
    const std::string hint = problems.keeps_more() ? ElsewhereHint(files, path) : "";
    problems.Add("build.toml", source.at, fmt::format("the source {} doesn't exist{}", CodeQuoted(source.text), hint));
  }
}

void AddUnsuitable(const BuildKernel& kernel, ProblemList& problems) {
  const std::string& backend = kernel.backend.text;
  for (const PlacedText& source : kernel.src) {
    const bool cuda_source = source.text.ends_with(".cu") || source.text.ends_with(".cuh");
    if (cuda_source && (backend == "cpu" || backend == "metal")) {
      problems.Add("build.toml", source.at,
                   fmt::format("{} is CUDA code, but the kernel's backend is {}", CodeQuoted(source.text), backend));
    }
    if (CodeKindOf(source.text) == CodeKind::kShader && backend != "metal") {
      problems.Add(
          "build.toml", source.at,
          fmt::format("{} is a Metal shader, but the kernel's backend is {}", CodeQuoted(source.text), backend));
    }
  }
}

// A backend whose kernels list only headers.
void AddEmptyBackends(const BuildToml& build, ProblemList& problems) {
  std::map<std::string_view, const BuildKernel*> empty;
  for (const BuildKernel& kernel : build.kernels) empty.emplace(kernel.backend.text, &kernel);
  for (const BuildKernel& kernel : build.kernels) {
    const bool compiles = std::any_of(kernel.src.begin(), kernel.src.end(), [](const PlacedText& source) {
      const CodeKind kind = CodeKindOf(source.text);
      return kind == CodeKind::kCompiled || kind == CodeKind::kShader;
    });
    if (compiles) empty.erase(kernel.backend.text);
  }
  for (const auto& [backend, kernel] : empty) {
    if (backend.empty()) continue;
    problems.Add("build.toml", kernel->at,
                 fmt::format("no kernel for {} has a source that is compiled (.cu, .cpp, …) in `src`", backend));
  }
}

// Whether the header may be a library's: these are below folders of their own, or have well-known names.
bool MayBeOfLibrary(std::string_view name, const std::set<std::string_view>& folders) {
  constexpr std::array<std::string_view, 14> kStarts = {"cu",  "hip", "nv",   "std",  "device_", "driver_", "host_",
                                                        "mma", "sm_", "math", "omp.", "string.", "assert.", "Python."};
  constexpr std::array<std::string_view, 8> kLibraries = {"cutlass", "cute",  "cub",  "cuda",
                                                          "thrust",  "torch", "ATen", "c10"};
  while (name.starts_with("../") || name.starts_with("./")) name.remove_prefix(name.find('/') + 1);
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos)
    return IsOneOf(name.substr(0, slash), kLibraries) || !folders.contains(name.substr(0, slash));
  return std::any_of(kStarts.begin(), kStarts.end(), [&](auto start) { return name.starts_with(start); });
}

// Headers that no file of the project is called like.
void AddAbsentHeaders(const BuildToml& build, const KernelFiles& files, const ProjectCode& code,
                      ProblemList& problems) {
  std::set<std::string_view> names = {"registration.h"};
  std::set<std::string_view> folders;
  for (const auto& [path, content] : files) {
    std::string_view rest = path;
    for (std::size_t slash = rest.find('/'); slash != std::string_view::npos; slash = rest.find('/')) {
      folders.insert(rest.substr(0, slash));
      rest.remove_prefix(slash + 1);
    }
    names.insert(rest);
  }
  for (const CodeFile& file : code.files()) {
    if (!file.is_reached) continue;
    for (const CppInclude& include : file.code.includes) {
      const bool compiled = std::any_of(build.kernels.begin(), build.kernels.end(), [&](const BuildKernel& kernel) {
        return code.IsCompiled(file, include.branch, kernel.backend.text);
      });
      if (!include.quoted || !compiled || names.contains(include.name.substr(include.name.rfind('/') + 1)) ||
          MayBeOfLibrary(include.name, folders))
        continue;
      problems.Add(std::string(file.path), PositionAt(file.code.text, file.code.OffsetOf(include.name)),
                   fmt::format("{} is included, but isn't in the project", CodeQuoted(include.name)));
    }
  }
}

void AddUnlistedHeaders(const ProjectCode& code, ProblemList& problems) {
  std::set<std::string_view> named;
  for (const CodeFile& file : code.files()) {
    if (!file.is_reached || !file.is_listed) continue;
    for (const CppInclude& include : file.code.includes) {
      // What isn't reached hasn't been found when includes were followed, or there are too many.
      const CodeFile* const header = include.quoted ? code.Included(file, include) : nullptr;
      if (header == nullptr || header->is_listed || !header->is_reached || header->path.ends_with("registration.h"))
        continue;
      if (!named.insert(header->path).second) continue;
      problems.Add(std::string(file.path), PositionAt(file.code.text, file.code.OffsetOf(include.name)),
                   fmt::format("{} is included, but no `src` of build.toml lists it", CodeQuoted(header->path)));
    }
  }
}

// Files that nobody lists, although they define what the listed ones use and nobody else defines.
void AddUnlistedDefinitions(const ProjectCode& code, ProblemList& problems) {
  std::map<std::string_view, const CodeFile*> unlisted;
  for (const CodeFile& file : code.files()) {
    if (file.is_reached || file.kind != CodeKind::kCompiled) continue;
    for (const CppSignature& function : FindSignatures(file.code, nullptr)) {
      if (function.is_definition) unlisted.emplace(function.name, &file);
    }
  }
  if (unlisted.empty()) return;
  std::set<std::string, std::less<>> names;
  for (const auto& [name, file] : unlisted) names.emplace(name);
  // How often each occurs apart from its declarations.
  std::map<std::string_view, std::size_t> uses;
  std::map<std::string_view, std::size_t> declarations;
  for (const CodeFile& file : code.files()) {
    if (!file.is_reached) continue;
    for (const CppSignature& function : FindSignatures(file.code, &names)) {
      if (function.is_definition) {
        unlisted.erase(function.name);
      } else {
        ++declarations[function.name];
      }
    }
    for (const CppToken& token : file.code.tokens) {
      if (token.kind == CppToken::Kind::kName && names.contains(token.text)) ++uses[token.text];
    }
  }
  std::set<std::string_view> named;
  for (const auto& [name, file] : unlisted) {
    const bool needed = declarations[name] > 0 && uses[name] > declarations[name];
    if (!needed || !named.insert(file->path).second) continue;
    problems.Add("build.toml", fmt::format("no `src` lists {}, which defines the function {} that listed files use",
                                           CodeQuoted(file->path), CodeQuoted(name)));
  }
}

}  // namespace

void AddSourceProblems(const BuildToml& build, const KernelFiles& files, const ProjectCode& code,
                       ProblemList& problems) {
  std::set<std::string_view> seen;
  for (const PlacedText& source : build.src) {
    if (seen.insert(source.text).second) AddMissing(source, files, problems);
  }
  for (const BuildKernel& kernel : build.kernels) {
    for (const PlacedText& source : kernel.src) {
      if (seen.insert(source.text).second) AddMissing(source, files, problems);
    }
    AddUnsuitable(kernel, problems);
  }
  AddEmptyBackends(build, problems);
  AddAbsentHeaders(build, files, code, problems);
  AddUnlistedHeaders(code, problems);
  AddUnlistedDefinitions(code, problems);
}

std::string PackageFolder(const BuildToml& build) {
  return (build.framework == KernelFramework::kTvmFfi ? "tvm-ffi-ext/" : "torch-ext/") + KernelPackage(build.name.text);
}

void AddLayoutProblems(const BuildToml& build, const KernelFiles& files, ProblemList& problems) {
  for (const std::string_view name : kGenerated) {
    if (files.contains(std::string(name)))
      problems.Add(std::string(name), "kernel-builder generates this file; leave it out");
  }
  if (build.name.text.empty()) return;
  const std::string folder = PackageFolder(build);
  if (files.contains(folder + "/_ops.py"))
    problems.Add(folder + "/_ops.py", "kernel-builder generates this file; leave it out");
  if (files.contains(folder + "/__init__.py")) return;
  std::string other;
  const std::string parent = folder.substr(0, folder.find('/') + 1);
  for (auto file = files.lower_bound(parent); file != files.end() && file->first.starts_with(parent); ++file) {
    const std::string_view rest = std::string_view(file->first).substr(parent.size());
    if (rest.ends_with("/__init__.py") && rest.find('/') == rest.rfind('/')) other = file->first;
  }
  problems.Add(
      "build.toml", build.name.at,
      fmt::format("the package of {} must be {}/__init__.py, which doesn't exist{}", CodeQuoted(build.name.text),
                  folder, other.empty() ? "" : fmt::format("; there is {}", CodeQuoted(other))));
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "kernel/project_code.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include "kernel/build_values.h"
#include "kernel/words.h"
#include "util/list.h"

namespace upskill {
namespace {

constexpr std::size_t kMostCodeBytes = std::size_t{1} << 20U;
constexpr std::size_t kMostIncludeFolders = 20;
constexpr int kMostIncludes = 10'000;  // that are followed
constexpr std::array<std::string_view, 7> kCompiledExtensions = {"cu", "cpp", "cc", "cxx", "c", "mm", "hip"};
constexpr std::array<std::string_view, 8> kHeaderExtensions = {"h", "hpp", "cuh", "hh", "hxx", "inc", "inl", "ipp"};

}  // namespace

CodeKind CodeKindOf(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || path.find('/', dot) != std::string_view::npos) return CodeKind::kNone;
  const std::string_view extension = path.substr(dot + 1);
  const auto has = [&](const auto& list) { return std::find(list.begin(), list.end(), extension) != list.end(); };
  if (has(kCompiledExtensions)) return CodeKind::kCompiled;
  if (has(kHeaderExtensions)) return CodeKind::kHeader;
  return extension == "metal" ? CodeKind::kShader : CodeKind::kNone;
}

std::string NormalPath(std::string_view path) {
  return std::filesystem::path(path).lexically_normal().generic_string();
}

std::vector<PlacedText> AllSources(const BuildToml& build) {
  std::vector<PlacedText> sources = build.src;
  for (const BuildKernel& kernel : build.kernels) sources.insert(sources.end(), kernel.src.begin(), kernel.src.end());
  return sources;
}

ProjectCode::ProjectCode(const BuildToml& build, const KernelFiles& files) {
  std::set<std::string> listed;
  for (const PlacedText& source : AllSources(build)) listed.insert(NormalPath(source.text));
  for (const auto& [path, content] : files) {
    const CodeKind kind = CodeKindOf(path);
    if (kind != CodeKind::kCompiled && kind != CodeKind::kHeader) continue;
    if (content.size() > kMostCodeBytes) continue;
    files_.push_back({path, kind, listed.contains(path), false, TokenizeCpp(content)});
  }
  std::set<std::string> folders;
  const auto add = [&](const std::vector<PlacedText>& include) {
    for (const PlacedText& folder : include) {
      if (folders.size() < kMostIncludeFolders) folders.insert(NormalPath(folder.text));
    }
  };
  add(build.include);
  for (const BuildKernel& kernel : build.kernels) add(kernel.include);
  folders.insert("");
  include_folders_.assign(folders.begin(), folders.end());
  for (const CodeFile* file : Reached(AllSources(build)))
    files_[static_cast<std::size_t>(file - files_.data())].is_reached = true;
  for (const CodeFile& file : files_) {
    for (const CppToken& token : file.code.tokens) {
      if (token.in_define) in_macros_.insert(token.text);
    }
  }
  if (const auto toml = files.find("build.toml"); toml != files.end()) build_toml_ = toml->second;
}

std::size_t ProjectCode::Find(const std::string& path) const {
  const auto found =
      std::lower_bound(files_.begin(), files_.end(), path,
                       [](const CodeFile& file, const std::string& wanted) { return file.path < wanted; });
  if (found == files_.end() || found->path != path) return files_.size();
  return static_cast<std::size_t>(found - files_.begin());
}

const CodeFile* ProjectCode::Included(const CodeFile& from, const CppInclude& include) const {
  constexpr std::size_t kLongestName = 300;
  if (include.name.size() > kLongestName) return nullptr;
  const std::filesystem::path name(include.name);
  const auto found = [&](const std::filesystem::path& folder) -> const CodeFile* {
    const std::size_t at = Find((folder / name).lexically_normal().generic_string());
    return at < files_.size() ? &files_[at] : nullptr;
  };
  if (include.quoted) {
    if (const CodeFile* beside = found(std::filesystem::path(from.path).parent_path())) return beside;
  }
  for (const std::string& folder : include_folders_) {
    if (const CodeFile* file = found(folder)) return file;
  }
  if (!include.quoted) return nullptr;
  // In a folder that only the build knows.
  const std::string end = "/" + std::string(include.name);
  const auto elsewhere =
      std::find_if(files_.begin(), files_.end(), [&](const CodeFile& file) { return file.path.ends_with(end); });
  return elsewhere == files_.end() ? nullptr : &*elsewhere;
}

std::set<const CodeFile*> ProjectCode::Reached(const std::vector<PlacedText>& sources) const {
  std::set<const CodeFile*> reached;
  std::vector<const CodeFile*> open;
  const auto add = [&](const CodeFile* file) {
    if (reached.insert(file).second) open.push_back(file);
  };
  for (const PlacedText& source : sources) {
    const std::size_t at = Find(NormalPath(source.text));
    if (at < files_.size() && files_[at].kind == CodeKind::kCompiled) add(&files_[at]);
  }
  int followed = 0;
  while (!open.empty()) {
    const CodeFile& file = *open.back();
    open.pop_back();
    for (const CppInclude& include : file.code.includes) {
      if (++followed > kMostIncludes) return reached;
      if (const CodeFile* const included = Included(file, include)) add(included);
    }
  }
  return reached;
}

bool ProjectCode::IsDefined(std::string_view macro, std::string_view backend) const {
  constexpr std::array<std::string_view, 5> kOfBuilder = {"CPU_KERNEL", "CUDA_KERNEL", "METAL_KERNEL", "ROCM_KERNEL",
                                                          "XPU_KERNEL"};
  // Those of compilers and PyTorch.
  constexpr std::array<std::string_view, 4> kOfOthers = {"_", "USE_", "TORCH_", "C10_"};
  if (IsOneOf(macro, kOfBuilder)) {
    return std::equal(backend.begin(), backend.end(), macro.begin(), macro.end() - 7,
                      [](char a, char b) { return a - 'a' == b - 'A'; });
  }
  return std::any_of(kOfOthers.begin(), kOfOthers.end(), [&](auto start) { return macro.starts_with(start); }) ||
         macro.ends_with("VERSION") || macro == "NDEBUG" || macro == "WIN32" || in_macros_.contains(macro) ||
         build_toml_.find(macro) != std::string_view::npos;
}

// Of conditions that only ask whether macros are defined, all of them or any.
bool ProjectCode::IsFalse(std::string_view condition, std::string_view backend) const {
  const CppText code = TokenizeCpp(condition);
  std::size_t names = 0;
  std::size_t undefined = 0;
  bool needs_all = false;
  for (std::size_t i = 0; i < code.tokens.size(); ++i) {
    needs_all = needs_all || code.Is(i, "&");
    if (code.IsName(i) && !code.Is(i, "defined")) {
      ++names;
      if (!IsDefined(code.tokens[i].text, backend)) ++undefined;
    } else if (!code.Is(i, "defined") &&
               !IsOneOf(code.tokens[i].text, std::array<std::string_view, 4>{"(", ")", "&", "|"})) {
      return false;
    }
  }
  return undefined > 0 && (needs_all || undefined == names);
}

std::string_view ProjectCode::UnknownMacro(const CodeFile& file, std::uint32_t branch) const {
  for (; branch != 0; branch = file.code.branches[branch].around) {
    const std::string_view condition = file.code.branches[branch].condition;
    for (const CppToken& token : TokenizeCpp(condition).tokens) {
      if (token.text == "!") break;
      const bool is_known = std::any_of(kCompiledBackends.begin(), kCompiledBackends.end(),
                                        [&](std::string_view backend) { return IsDefined(token.text, backend); });
      if (token.text.find("KERNEL") != std::string_view::npos && !is_known) return token.text;
    }
  }
  return {};
}

bool ProjectCode::IsCompiled(const CodeFile& file, std::uint32_t branch, std::string_view backend) const {
  for (; branch != 0; branch = file.code.branches[branch].around) {
    if (IsFalse(file.code.branches[branch].condition, backend)) return false;
  }
  return true;
}

void ProjectCode::Add(ProblemList& problems, const CodeFile& file, std::size_t token, const std::string& message) {
  TextPosition at = {.line = 0, .column = 0};
  if (problems.keeps_more() && token < file.code.tokens.size())
    at = PositionAt(file.code.text, file.code.OffsetOf(file.code.tokens[token].text));
  problems.Add(std::string(file.path), at, message);
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "kernel/project_code.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

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
  FollowIncludes();
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
  return nullptr;
}

void ProjectCode::FollowIncludes() {
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    files_[i].is_reached = files_[i].is_listed && files_[i].kind == CodeKind::kCompiled;
    if (files_[i].is_reached) open.push_back(i);
  }
  int followed = 0;
  while (!open.empty()) {
    const CodeFile& file = files_[open.back()];
    open.pop_back();
    for (const CppInclude& include : file.code.includes) {
      if (++followed > kMostIncludes) return;
      const CodeFile* const included = Included(file, include);
      if (included == nullptr || included->is_reached) continue;
      const auto at = static_cast<std::size_t>(included - files_.data());
      files_[at].is_reached = true;
      open.push_back(at);
    }
  }
}

void ProjectCode::Add(ProblemList& problems, const CodeFile& file, std::size_t token, const std::string& message) {
  TextPosition at = {.line = 0, .column = 0};
  if (problems.keeps_more() && token < file.code.tokens.size())
    at = PositionAt(file.code.text, file.code.OffsetOf(file.code.tokens[token].text));
  problems.Add(std::string(file.path), at, message);
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "model/hub/gguf_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRepoPrefix = "models--";
constexpr std::size_t kMaxFiles = 100'000;  // maximum number of files examined in a snapshot

std::string Value(const VariableLookup& variable, const std::string& name) { return variable(name).value_or(""); }

// Expands a leading `~` like a shell.
fs::path Expanded(const std::string& path, const std::string& home) {
  if (path == "~" || path.starts_with("~/")) return fs::path(home) / (path.size() > 2 ? path.substr(2) : "");
  return path;
}

// The snapshots of a repository: refs/main first, then the others from the newest on.
std::vector<fs::path> SnapshotsOf(const fs::path& repo_folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  const fs::path snapshots = repo_folder / "snapshots";
  const Result<std::string> main = ReadFile(repo_folder / "refs" / "main", 1024);
  const std::string newest = main ? std::string(Trim(*main)) : "";
  std::error_code code;
  for (fs::directory_iterator it(snapshots, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    if (!it->is_directory(ignored)) continue;
    const bool is_main = it->path().filename() == newest;
    found.emplace_back(is_main ? fs::file_time_type::max() : it->last_write_time(ignored), it->path());
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<fs::path> paths;
  paths.reserve(found.size());
  for (auto& [time, path] : found) paths.push_back(std::move(path));
  return paths;
}

// The GGUF files of a snapshot as paths in the repository; broken links are left out.
std::vector<std::string> GgufsIn(const fs::path& snapshot) {
  std::vector<std::string> files;
  std::error_code code;
  std::size_t seen = 0;
  for (fs::recursive_directory_iterator it(snapshot, code), end; !code && it != end && seen < kMaxFiles;
       it.increment(code), ++seen) {
    std::error_code ignored;
    if (!ToLowerAscii(it->path().extension().string()).starts_with(".gguf") || !it->is_regular_file(ignored)) continue;
    files.push_back(it->path().lexically_relative(snapshot).generic_string());
  }
  return files;
}

// "models--org--repo" → "org/repo"; empty: not the folder of a model.
std::string RepoOfFolder(std::string_view folder) {
  if (!folder.starts_with(kRepoPrefix)) return {};
  std::string repo(folder.substr(kRepoPrefix.size()));
  const std::size_t separator = repo.find("--");
  if (separator == std::string::npos) return {};
  repo.replace(separator, 2, "/");
  return ParseGgufName(repo) ? repo : "";
}

void AddModelsOf(const fs::path& repo_folder, const std::string& repo, std::vector<CachedGguf>& list) {
  std::set<std::string> seen;
  for (const fs::path& snapshot : SnapshotsOf(repo_folder)) {
    for (const GgufModel& model : GgufModelsIn(GgufsIn(snapshot))) {
      if (!seen.insert(model.shown()).second) continue;
      CachedGguf cached{repo, model.quant, snapshot / model.shown(), 0, model.missing == 0};
      for (const std::string& part : model.parts) {
        std::error_code code;
        const std::uintmax_t size = fs::file_size(snapshot / part, code);
        if (!code) cached.bytes += size;
      }
      list.push_back(std::move(cached));
    }
  }
}

}  // namespace

fs::path HubCacheOf(const VariableLookup& variable) {
  const std::string home = Value(variable, "HOME");
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const std::string value = Value(variable, name); !value.empty()) return Expanded(value, home);
  }
  if (const std::string value = Value(variable, "HF_HOME"); !value.empty()) return Expanded(value, home) / "hub";
  if (const std::string value = Value(variable, "XDG_CACHE_HOME"); !value.empty())
    return Expanded(value, home) / "huggingface" / "hub";
  return home.empty() ? fs::path() : fs::path(home) / ".cache" / "huggingface" / "hub";
}

fs::path RepoFolder(const fs::path& cache, const std::string& repo) {
  std::string folder = std::string(kRepoPrefix) + repo;
  if (const std::size_t slash = folder.find('/'); slash != std::string::npos) folder.replace(slash, 1, "--");
  return cache / folder;
}

Result<fs::path> FindCachedGguf(const fs::path& cache, const GgufName& name) {
  Error first{ErrorKind::kNotFound, fmt::format("{} is not in the cache {}", name.text(), cache.string())};
  if (cache.empty()) return first;
  for (const fs::path& snapshot : SnapshotsOf(RepoFolder(cache, name.repo))) {
    const Result<GgufModel> model = ChooseGguf(GgufsIn(snapshot), name);
    if (model) return snapshot / model->parts.front();
    if (model.error().kind != ErrorKind::kNotFound) return model.error().With("in the cache");
  }
  return first;
}

std::vector<CachedGguf> ListCachedGgufs(const fs::path& cache) {
  std::vector<CachedGguf> list;
  if (cache.empty()) return list;
  std::vector<std::pair<std::string, fs::path>> repos;
  std::error_code code;
  for (fs::directory_iterator it(cache, code), end; !code && it != end; it.increment(code)) {
    std::string repo = RepoOfFolder(it->path().filename().string());
    if (!repo.empty()) repos.emplace_back(std::move(repo), it->path());
  }
  std::sort(repos.begin(), repos.end());
  for (const auto& [repo, folder] : repos) AddModelsOf(folder, repo, list);
  return list;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "skill/skill_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <system_error>

#include "skill/specification.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 11> kEvaluationEntries = {
    "skill_meta.json",      "lineage.json",      "tests.json", "tests", "answers", "evals", "upskill.json", "runs",
    "promptfooconfig.yaml", "eval_queries.json", ".upskill"};
constexpr long long kMaxTreeEntries = 100'000;
constexpr int kMaxTreeLevels = 32;
constexpr std::size_t kMaxSkillFiles = 2000;
constexpr std::size_t kMaxSkillEntries = 10 * kMaxSkillFiles;

// `.upskill-…`: a skill that is just being installed, or whose installation was interrupted.
bool IsPassedOver(const fs::path& folder) {
  return folder == ".git" || folder == "node_modules" || folder.string().starts_with(".upskill-");
}

}  // namespace

Result<std::vector<std::string>> FindSkillFolders(const fs::path& root) {
  std::vector<std::string> folders;
  if (SpecifiedFile(root)) return std::vector<std::string>{root.string()};
  std::error_code code;
  long long visited = 0;
  fs::recursive_directory_iterator entry(root, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    if (++visited > kMaxTreeEntries) {
      return InputError(fmt::format("{}: more than {} files and folders; name a smaller tree", root.string(),
                                    WithThousands(kMaxTreeEntries)));
    }
    std::error_code ignored;
    if (!fs::is_directory(entry->symlink_status(ignored))) continue;
    const fs::path& path = entry->path();
    const fs::path name = path.filename();
    const bool is_skill = !IsPassedOver(name) && SpecifiedFile(path).has_value();
    if (is_skill) folders.push_back(path.string());
    if (is_skill || IsPassedOver(name)) {
      entry.disable_recursion_pending();
    } else if (entry.depth() >= kMaxTreeLevels) {
      return InputError(
          fmt::format("{}: more than {} levels of folders; name a smaller tree", root.string(), kMaxTreeLevels));
    }
  }
  if (code) return Error{ErrorKind::kIo, fmt::format("reading {}: {}", root.string(), code.message())};
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<std::string> ListSkillFiles(const fs::path& folder) {
  std::vector<std::string> files;
  std::error_code code;
  std::size_t visited = 0;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    if (++visited > kMaxSkillEntries || files.size() == kMaxSkillFiles) break;
    std::error_code ignored;
    const fs::file_status status = entry->symlink_status(ignored);
    if (fs::is_directory(status) && (IsPassedOver(entry->path().filename()) || entry.depth() >= kMaxTreeLevels))
      entry.disable_recursion_pending();
    if (fs::is_regular_file(status)) files.push_back(entry->path().lexically_relative(folder).generic_string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool IsEvaluationFile(std::string_view name) {
  const std::string first = ToLowerAscii(name.substr(0, name.find('/')));
  return std::find(kEvaluationEntries.begin(), kEvaluationEntries.end(), first) != kEvaluationEntries.end();
}

std::vector<std::string> HiddenBySuite(const fs::path& folder, const fs::path& suite) {
  std::error_code code;
  const fs::path file = fs::weakly_canonical(suite, code).lexically_relative(fs::weakly_canonical(folder, code));
  if (suite.empty() || file.empty() || file == "." || *file.begin() == "..") return {};
  return {file.generic_string(), (file.parent_path() / "answers").generic_string()};
}

bool IsAtOrBelow(std::string_view name, const std::vector<std::string>& paths) {
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    return name == path || (name.starts_with(path) && name.substr(path.size()).starts_with('/'));
  });
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "skill/skill_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <system_error>

#include "skill/specification.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr long long kMaxTreeEntries = 100'000;
constexpr int kMaxTreeLevels = 32;

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
    const bool is_skill = SpecifiedFile(path).has_value();
    if (is_skill) folders.push_back(path.string());
    if (is_skill || name == ".git" || name == "node_modules") {
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

}  // namespace upskill

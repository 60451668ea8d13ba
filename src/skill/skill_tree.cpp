// SPDX-License-Identifier: Apache-2.0
#include "skill/skill_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <system_error>
#include <utility>

#include "skill/specification.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 11> kEvaluationEntries = {
    "skill_meta.json",      "lineage.json",      "tests.json", "tests", "answers", "evals", "upskill.json", "runs",
    "promptfooconfig.yaml", "eval_queries.json", ".upskill"};
constexpr long long kMaxTreeEntries = 100'000;
constexpr int kMaxTreeLevels = 32;
constexpr std::size_t kMaxSkillEntries = 20 * kMaxSkillFiles;

// The file that a link in the skill leads to, if it is a file of the same skill.
Result<fs::path> TargetInside(const fs::path& folder, const fs::path& link) {
  std::error_code code;
  const fs::path root = fs::canonical(folder, code);
  const fs::path target = fs::canonical(link, code);
  if (code) {
    return InputError(fmt::format("{} is a symbolic link that leads to nothing; remove it", link.string()));
  }
  const auto [end, inside] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
  if (end != root.end()) {
    return InputError(
        fmt::format("{} is a symbolic link to {}, which is outside the skill; put a copy of the file "
                    "there instead",
                    link.string(), target.string()));
  }
  if (!fs::is_regular_file(target, code)) {
    return InputError(
        fmt::format("{} is a symbolic link to what isn't a file; put the files there instead", link.string()));
  }
  return target;
}

// The path of a place in the folder, and of where it leads to there if it is a link.
void AddPathsInside(const fs::path& folder, const fs::path& place, std::vector<std::string>& paths) {
  std::error_code code;
  const fs::path root = fs::weakly_canonical(folder, code);
  for (const fs::path& path :
       {fs::weakly_canonical(FolderOf(place), code) / place.filename(), fs::weakly_canonical(place, code)}) {
    const fs::path inside = path.lexically_relative(root);
    if (!inside.empty() && inside != "." && *inside.begin() != "..") paths.push_back(inside.generic_string());
  }
}

// The folders of runs, and where hidden links lead.
void AddPathsFound(const fs::path& folder, std::vector<std::string>& paths) {
  const SkillListing listing = ListSkillFolder(folder, IsPassedOver);
  for (const auto& [name, type] : listing.entries) {
    const fs::path path = name;
    if (path.filename() == "samples.jsonl" &&
        listing.entries.contains((path.parent_path() / "plan.json").generic_string()))
      paths.push_back(path.parent_path().generic_string());
    if (type == fs::file_type::symlink && (IsEvaluationFile(name) || IsAtOrBelow(name, paths)))
      AddPathsInside(folder, folder / name, paths);
  }
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
    // The cases of a plugin may have skills of their own to work with.
    const bool of_cases = path.filename() == "evals" && fs::exists(path.parent_path() / ".claude-plugin", ignored);
    const bool passed_over = of_cases || IsPassedOver(path.string());
    const bool is_skill = !passed_over && SpecifiedFile(path).has_value();
    if (is_skill) folders.push_back(path.string());
    if (is_skill || passed_over) {
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

bool IsPassedOver(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return name == ".git" || name == "node_modules" || name.starts_with(".upskill-");
}

SkillListing ListSkillFolder(const fs::path& folder, const LeftOut& left_out) {
  SkillListing listing;
  std::size_t visited = 0;
  std::vector<fs::path> unread = {folder};
  while (!unread.empty()) {
    const fs::path reading = std::move(unread.back());
    unread.pop_back();
    std::error_code code;
    for (fs::directory_iterator entry(reading, code), end; !code && entry != end; entry.increment(code)) {
      std::string name = entry->path().lexically_relative(folder).generic_string();
      if (++visited > kMaxSkillEntries || std::count(name.begin(), name.end(), '/') > kMaxTreeLevels) {
        listing.status = InputError(
            fmt::format("{}: more than {} files, or folders deeper than {}; give a folder that holds one skill",
                        folder.string(), kMaxSkillEntries, kMaxTreeLevels));
        break;
      }
      if (left_out && left_out(name)) continue;
      std::error_code ignored;
      const fs::file_type type = entry->symlink_status(ignored).type();
      if (type == fs::file_type::directory) {
        unread.push_back(entry->path());
      } else {
        listing.entries.emplace(std::move(name), type);
      }
    }
    if (code) listing.status = ErrnoError("reading", reading, code.value());
  }
  return listing;
}

std::vector<std::string> ListSkillFiles(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& [name, type] : ListSkillFolder(folder, IsPassedOver).entries) {
    if (type == fs::file_type::regular && files.size() < kMaxSkillFiles) files.push_back(name);
  }
  return files;
}

Error SkillLimits::TooLarge(const std::string& source) const {
  return InputError(
      fmt::format("{}: a skill may have {} files of at most {} each, {} together; leave out what isn't "
                  "part of it",
                  source, WithThousands(static_cast<long long>(files)), BytesText(file_bytes), BytesText(total_bytes)));
}

Result<FileMap> ReadSkillFiles(const fs::path& folder, const LeftOut& left_out, OddEntries odd,
                               const SkillLimits& limits) {
  const SkillListing listing = ListSkillFolder(folder, left_out);
  if (odd == OddEntries::kErrors) RETURN_IF_ERROR(listing.status);
  FileMap files;
  std::size_t total = 0;
  for (const auto& [name, type] : listing.entries) {
    fs::path file = folder / name;
    if (type != fs::file_type::regular) {
      if (odd == OddEntries::kLeftOut) continue;
      if (type != fs::file_type::symlink)
        return InputError(fmt::format("{} is neither a file nor a folder; remove it", file.string()));
      ASSIGN_OR_RETURN(file, TargetInside(folder, file));
    }
    std::error_code ignored;
    if (files.size() == limits.files || fs::file_size(file, ignored) > limits.file_bytes)
      return limits.TooLarge(folder.string());
    ASSIGN_OR_RETURN(std::string content, ReadFile(file, limits.file_bytes));
    total += content.size();
    if (total > limits.total_bytes) return limits.TooLarge(folder.string());
    const bool executable = (fs::status(file, ignored).permissions() & fs::perms::owner_exec) != fs::perms::none;
    files[name] = {std::move(content), executable};
  }
  return files;
}

bool IsEvaluationFile(std::string_view name) {
  const std::string first = ToLowerAscii(name.substr(0, name.find('/')));
  return std::find(kEvaluationEntries.begin(), kEvaluationEntries.end(), first) != kEvaluationEntries.end();
}

std::vector<std::string> HiddenPaths(const std::vector<fs::path>& folders, const Suite& suite,
                                     const std::vector<fs::path>& places) {
  std::vector<fs::path> outside = places;
  std::vector<fs::path> files = suite.files.cases;
  files.push_back(suite.source);
  for (const fs::path& file : files) {
    std::error_code code;
    outside.insert(outside.end(),
                   {file, FolderOf(file) / "answers", FolderOf(fs::weakly_canonical(file, code)) / "answers"});
  }
  std::vector<std::string> hidden;
  for (const fs::path& folder : folders) {
    for (const fs::path& value : suite.files.values) AddPathsInside(folder, value, hidden);
  }
  std::erase_if(hidden, [](const std::string& name) { return IsAtOrBelow(name, {"references", "scripts", "assets"}); });
  for (const fs::path& folder : folders) {
    for (const fs::path& place : outside) AddPathsInside(folder, place, hidden);
  }
  for (const fs::path& folder : folders) AddPathsFound(folder, hidden);
  return hidden;
}

bool IsAtOrBelow(std::string_view name, const std::vector<std::string>& paths) {
  const std::string lower = ToLowerAscii(name);
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    return lower == ToLowerAscii(path) || lower.starts_with(ToLowerAscii(path) + '/');
  });
}

}  // namespace upskill

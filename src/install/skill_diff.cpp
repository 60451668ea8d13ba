// SPDX-License-Identifier: Apache-2.0
#include "install/skill_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::size_t kFewestLines = 3;                    // shown of a file
constexpr std::size_t kMostCells = std::size_t{4} << 20U;  // of the table that a comparison fills

bool IsText(std::string_view content) {
  return content.find('\0') == std::string_view::npos && !FindInvalidUtf8(content);
}

// Takes the lines from both that are the same at one end, by `last`.
void DropCommonEnds(Lines& a, Lines& b) {
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.pop_back();
    b.pop_back();
  }
  const auto same = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  a.erase(a.begin(), a.begin() + same);
  b.erase(b.begin(), b.begin() + same);
}

// The lines of `a` that are removed and those of `b` that are added, by their longest common subsequence. If that would
// take too long, all are.
std::vector<DiffLine> ChangedLines(std::string_view before, std::string_view after) {
  Lines a = SplitLines(before);
  Lines b = SplitLines(after);
  DropCommonEnds(a, b);
  const std::size_t width = b.size() + 1;
  const bool is_compared = (a.size() + 1) <= kMostCells / width;
  // common[i * width + j]: the length for the lines from a[i] and b[j] on.
  std::vector<std::uint32_t> common(is_compared ? (a.size() + 1) * width : 0);
  for (std::size_t i = a.size(); is_compared && i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i * width + j] = a[i] == b[j] ? common[(i + 1) * width + j + 1] + 1
                                           : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  std::vector<DiffLine> changed;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    const bool both = i < a.size() && j < b.size();
    if (both && is_compared && a[i] == b[j]) {
      ++i;
      ++j;
    } else if (i < a.size() && (!both || !is_compared || common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      changed.push_back({DiffLine::Kind::kRemoved, std::string(a[i++])});
    } else {
      changed.push_back({DiffLine::Kind::kAdded, std::string(b[j++])});
    }
  }
  return changed;
}

std::vector<DiffLine> ChangesOfFile(const std::string& name, const SkillFile* before, const SkillFile* after) {
  const auto size = [](const SkillFile* file) { return file == nullptr ? 0 : file->content.size(); };
  const auto content = [](const SkillFile* file) {
    return file == nullptr ? std::string_view() : std::string_view(file->content);
  };
  std::string notes = before == nullptr ? " (new)" : after == nullptr ? " (removed)" : "";
  if (after != nullptr && after->executable && (before == nullptr || !before->executable)) notes += " (executable)";
  const bool is_text = IsText(content(before)) && IsText(content(after));
  if (!is_text) notes += fmt::format(" (not text, {} bytes before, {} after)", size(before), size(after));
  std::vector<DiffLine> lines = {{DiffLine::Kind::kFile, name + notes}};
  if (!is_text) return lines;
  std::vector<DiffLine> changed = ChangedLines(content(before), content(after));
  lines.insert(lines.end(), std::make_move_iterator(changed.begin()), std::make_move_iterator(changed.end()));
  return lines;
}

}  // namespace

std::vector<DiffLine> SkillDiff(const FileMap& before, const FileMap& after, std::size_t most_lines) {
  std::set<std::string> names;
  for (const FileMap* files : {&before, &after}) {
    for (const auto& [name, file] : *files) names.insert(name);
  }
  std::vector<std::vector<DiffLine>> changed;  // by file, its name first
  for (const std::string& name : names) {
    const auto find = [&](const FileMap& files) {
      const auto found = files.find(name);
      return found == files.end() ? nullptr : &found->second;
    };
    const SkillFile* const old_file = find(before);
    const SkillFile* const new_file = find(after);
    const bool is_same = old_file != nullptr && new_file != nullptr && old_file->content == new_file->content &&
                         old_file->executable == new_file->executable;
    if (is_same) continue;
    changed.push_back(ChangesOfFile(name, old_file, new_file));
  }
  std::vector<DiffLine> lines;
  const std::size_t share = 1 + std::max(kFewestLines, most_lines / std::max<std::size_t>(1, changed.size()));
  for (std::vector<DiffLine>& file : changed) {
    const std::size_t shown = std::min(share, file.size());
    lines.insert(lines.end(), std::make_move_iterator(file.begin()),
                 std::make_move_iterator(file.begin() + static_cast<std::ptrdiff_t>(shown)));
    if (shown < file.size())
      lines.push_back(
          {DiffLine::Kind::kFile, fmt::format("  … {} not shown", Counted(file.size() - shown, "more line"))});
  }
  return lines;
}

}  // namespace upskill

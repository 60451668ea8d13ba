// SPDX-License-Identifier: Apache-2.0
#include "teach/merge_bodies.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxMergedLines = 2000;

using Lines = std::vector<std::string_view>;

// For each line of `base`, the line of `other` that it is in a longest common subsequence.
std::vector<std::optional<std::size_t>> Matches(const Lines& base, const Lines& other) {
  const std::size_t width = other.size() + 1;
  std::vector<std::size_t> longest((base.size() + 1) * width, 0);  // of the lines from here on
  for (std::size_t i = base.size(); i-- > 0;) {
    for (std::size_t j = other.size(); j-- > 0;) {
      longest[i * width + j] = base[i] == other[j] ? longest[(i + 1) * width + j + 1] + 1
                                                   : std::max(longest[(i + 1) * width + j], longest[i * width + j + 1]);
    }
  }
  std::vector<std::optional<std::size_t>> matches(base.size());
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < base.size() && j < other.size()) {
    if (base[i] == other[j]) {
      matches[i++] = j++;
    } else if (longest[(i + 1) * width + j] >= longest[i * width + j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return matches;
}

Lines Part(const Lines& lines, std::size_t begin, std::size_t end) {
  return {lines.begin() + static_cast<std::ptrdiff_t>(begin), lines.begin() + static_cast<std::ptrdiff_t>(end)};
}

Lines MergePart(const Lines& base, const Lines& a, const Lines& b) {
  if (a == base || a == b) return b;
  if (b == base) return a;
  Lines both = a;
  // A block of code needs all of its lines.
  const bool has_code = std::any_of(b.begin(), b.end(), [](std::string_view line) {
    return Trim(line).starts_with("```") || Trim(line).starts_with("~~~");
  });
  for (const std::string_view line : b) {
    if (has_code || std::find(a.begin(), a.end(), line) == a.end()) both.push_back(line);
  }
  return both;
}

}  // namespace

std::string MergeBodies(const std::string& base, const std::string& a, const std::string& b) {
  const Lines base_lines = SplitLines(base);
  const Lines a_lines = SplitLines(a);
  const Lines b_lines = SplitLines(b);
  if (std::max({base_lines.size(), a_lines.size(), b_lines.size()}) > kMaxMergedLines) return "";
  const auto in_a = Matches(base_lines, a_lines);
  const auto in_b = Matches(base_lines, b_lines);
  Lines merged;
  std::size_t base_at = 0;
  std::size_t a_at = 0;
  std::size_t b_at = 0;
  const auto merge_up_to = [&](std::size_t base_end, std::size_t a_end, std::size_t b_end) {
    const Lines part =
        MergePart(Part(base_lines, base_at, base_end), Part(a_lines, a_at, a_end), Part(b_lines, b_at, b_end));
    merged.insert(merged.end(), part.begin(), part.end());
  };
  for (std::size_t i = 0; i < base_lines.size(); ++i) {
    if (!in_a[i] || !in_b[i]) continue;
    merge_up_to(i, *in_a[i], *in_b[i]);
    merged.push_back(base_lines[i]);
    base_at = i + 1;
    a_at = *in_a[i] + 1;
    b_at = *in_b[i] + 1;
  }
  merge_up_to(base_lines.size(), a_lines.size(), b_lines.size());
  std::string text;
  for (const std::string_view line : merged) text += std::string(line) + "\n";
  return text;
}

}  // namespace upskill

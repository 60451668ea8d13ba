// SPDX-License-Identifier: Apache-2.0
#include "util/nearest_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace upskill {
namespace {

constexpr std::size_t kShortWord = 3;
constexpr std::size_t kLongestName = 64;  // longer words are data, not misspelt names

std::string Bare(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string bare(word);
  std::transform(bare.begin(), bare.end(), bare.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return bare;
}

}  // namespace

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, std::exchange(row, std::move(before_last)));
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> NearestName(std::string_view word, const std::vector<std::string>& names) {
  const std::string given = Bare(word);
  if (given.empty() || given.size() > kLongestName) return std::nullopt;
  std::size_t best = given.size() <= kShortWord ? 1 : std::max<std::size_t>(2, given.size() / 3);
  std::optional<std::string> nearest;
  std::optional<std::string> longer;  // claude-code, of claude
  for (const std::string& name : names) {
    const std::string bare = Bare(name);
    if (bare.size() < 2) continue;  // any letter is near to any other
    if (!longer && given.size() > kShortWord && bare.starts_with(given + "-")) longer = name;
    const std::size_t distance = EditDistance(given, bare);
    if (distance >= bare.size() || distance > best || (nearest && distance == best)) continue;
    best = distance;
    nearest = name;
  }
  const bool is_longer = longer && (!nearest || EditDistance(given, Bare(*nearest)) > 1);
  return is_longer ? longer : nearest;
}

std::optional<std::string> NearestKey(std::string_view word, std::span<const std::string_view> keys) {
  constexpr std::size_t kShortKey = 5;
  if (word.size() < 2 || word.size() > kLongestName) return std::nullopt;
  if (std::find(keys.begin(), keys.end(), word) != keys.end()) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t best = (word.size() <= kShortKey ? 1 : 2) + 1;
  for (const std::string_view key : keys) {
    const std::size_t distance = key.size() < 3 ? best : EditDistance(word, key);
    if (distance >= best || distance >= key.size()) continue;
    best = distance;
    nearest = std::string(key);
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& names) {
  const std::optional<std::string> nearest = NearestName(word, names);
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : "";
}

}  // namespace upskill

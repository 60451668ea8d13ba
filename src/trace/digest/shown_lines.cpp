// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/shown_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/digest/excerpt.h"
#include "trace/digest/line_importance.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kShortestAnchor = 4;  // bytes of a line with which a run may begin
constexpr std::size_t kMostPlaces = 16;     // that are tried for each line
// What is worth a line that says so. A run of very short lines counts from kManyLines on, so that each search is short.
constexpr std::size_t kFewestLines = 3;
constexpr std::size_t kFewestBytes = 200;
constexpr std::size_t kManyLines = 60;

std::string_view Plain(std::string_view line) {
  line = WithoutLineNumber(line);
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) line.remove_suffix(1);
  return line;
}

std::string RunMark(std::size_t count, const std::string& where, std::string_view first, std::string_view last) {
  constexpr std::size_t kBytes = 60;
  return fmt::format("[{} lines {}, from \"{}\" to \"{}\"]", count, where, HeadAndTail(Trim(first), kBytes),
                     HeadAndTail(Trim(last), kBytes));
}

}  // namespace

void ShownLines::Add(std::string_view text, const std::string& where) {
  texts_.emplace_back(text);
  where_.push_back(where);
  for (const std::string_view line : SplitLines(texts_.back())) {
    const std::string_view plain = Plain(line);
    if (Trim(plain).size() >= kShortestAnchor) {
      std::vector<std::size_t>& places = places_[plain];
      if (places.size() < kMostPlaces) places.push_back(lines_.size());
    }
    lines_.push_back(plain.data() == nullptr ? std::string_view("") : plain);
    text_of_.push_back(texts_.size() - 1);
  }
  lines_.emplace_back();
  text_of_.push_back(texts_.size() - 1);
}

std::size_t ShownLines::RunLength(const std::vector<std::string_view>& lines, std::size_t from, std::size_t at) const {
  std::size_t count = 0;
  while (from + count < lines.size() && lines_[at + count].data() != nullptr &&
         lines_[at + count] == Plain(lines[from + count]))
    ++count;
  return count;
}

std::string ShownLines::WithoutRepeats(std::string_view text) const {
  const std::vector<std::string_view> lines = SplitLines(text);
  std::string kept;
  const auto keep = [&](std::string_view line) { kept.append(line).append("\n"); };
  for (std::size_t i = 0; i < lines.size();) {
    std::size_t length = 0;
    std::size_t best = 0;
    if (const auto found = places_.find(Plain(lines[i])); found != places_.end()) {
      for (const std::size_t at : found->second) {
        const std::size_t run = RunLength(lines, i, at);
        if (run > length) best = at;
        length = std::max(length, run);
      }
    }
    std::size_t bytes = 0;
    for (std::size_t k = i; k < i + std::min(length, kManyLines); ++k) bytes += lines[k].size();
    if (length >= kManyLines || (length >= kFewestLines && bytes >= kFewestBytes)) {
      keep(RunMark(length, where_[text_of_[best]], Plain(lines[i]), Plain(lines[i + length - 1])));
      i += length;
    } else {
      keep(lines[i++]);
    }
  }
  if (!kept.empty() && !text.ends_with('\n')) kept.pop_back();
  return kept;
}

}  // namespace upskill

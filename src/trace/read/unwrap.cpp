// SPDX-License-Identifier: Apache-2.0
#include "trace/read/unwrap.h"

#include <fmt/format.h>

#include <algorithm>

#include "util/text.h"

namespace upskill {
namespace {

std::string_view FirstWord(std::string_view text) { return text.substr(0, text.find(' ')); }

std::string_view LastWord(std::string_view text) {
  const std::size_t space = text.rfind(' ');
  return space == std::string_view::npos ? text : text.substr(space + 1);
}

bool EndsWithOneSpace(std::string_view row) {
  return row.size() > 1 && row.back() == ' ' && row[row.size() - 2] != ' ';
}

constexpr std::string_view kUrlSigns = "/._-=?&#%~+:,;@";

bool MayBeInUrl(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAsciiAlphanumeric(c) || kUrlSigns.find(c) != std::string_view::npos; });
}

// Whether `word` can only be the rest of a URL: no ordinary word has these signs.
bool IsRestOfUrl(std::string_view word) {
  word = word.substr(0, word.find_last_not_of(".,;:)") + 1);
  return word.find("://") == std::string_view::npos && word.find_first_of(kUrlSigns) != std::string_view::npos &&
         MayBeInUrl(word);
}

bool SplitsUrl(std::string_view row, std::string_view next, std::size_t columns) {
  const std::size_t scheme = LastWord(row).find("http");
  if (scheme == std::string_view::npos || DisplayColumns(row) != columns) return false;
  const std::string_view start = LastWord(row).substr(scheme);
  const std::string_view rest = FirstWord(next);
  return start.find("://") != std::string_view::npos && MayBeInUrl(start) && IsRestOfUrl(rest) &&
         start.size() + rest.size() > columns;
}

bool IsOneLine(std::string_view row, std::string_view next, std::size_t columns) {
  if (row.empty() || next.empty()) return false;
  const std::size_t width = DisplayColumns(row);
  if (EndsWithOneSpace(row) && next.front() != ' ')
    return width <= columns && width + DisplayColumns(FirstWord(next)) > columns;
  if (row.back() == ' ' || width != columns) return false;
  if (next.size() > 1 && next.front() == ' ') return IsAsciiAlphanumeric(next[1]);
  return SplitsUrl(row, next, columns);
}

}  // namespace

std::string JoinWrappedRows(const std::vector<std::string_view>& rows, std::size_t columns) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && !IsOneLine(rows[i - 1], rows[i], columns)) text += '\n';
    text += rows[i];
  }
  return text;
}

std::string JoinWrappedArgument(const std::vector<std::string_view>& rows, std::size_t columns) {
  const auto breaks_here = [&](std::size_t i) {  // after row i
    const std::string_view row = rows[i];
    return !row.empty() && !rows[i + 1].empty() && row.back() != '\\' && rows[i + 1].front() != ' ' &&
           DisplayColumns(row) + 1 + DisplayColumns(FirstWord(rows[i + 1])) > columns;
  };
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    if (!breaks_here(i)) return JoinWrappedRows(rows, columns);
  }
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) {
      // A row that is full, or nearly so where boxes are wider than texts, and ends inside a path or another long word.
      constexpr std::size_t kNearly = 4;
      const std::string_view before = rows[i - 1];
      const std::size_t width = DisplayColumns(before);
      const bool path = before.back() == '/' && width + kNearly >= columns;
      const bool word = width == columns && LastWord(before).size() + FirstWord(rows[i]).size() > columns;
      const bool inside = IsAsciiAlphanumeric(rows[i].front()) && (path || word);
      if (!inside && before.back() != ' ') text += ' ';
    }
    text += rows[i];
  }
  return text;
}

namespace {

// One row of a numbered diff, apart from its gutter.
struct DiffRow {
  std::size_t number = 0;
  std::size_t mark_column = 0;
  char mark = ' ';
  std::string_view text;
};

std::optional<DiffRow> NumberedRow(std::string_view row) {
  DiffRow parsed;
  std::size_t at = row.find_first_not_of(' ');
  if (at == std::string_view::npos || row[at] < '0' || row[at] > '9') return std::nullopt;
  while (at < row.size() && row[at] >= '0' && row[at] <= '9') {
    if (parsed.number > 10'000'000) return std::nullopt;
    parsed.number = parsed.number * 10 + static_cast<std::size_t>(row[at++] - '0');
  }
  parsed.mark_column = at + 1;
  if (parsed.number == 0) return std::nullopt;
  if (at == row.size()) return parsed;
  if (row[at] != ' ') return std::nullopt;
  if (parsed.mark_column >= row.size()) return parsed;
  parsed.mark = row[parsed.mark_column];
  if (parsed.mark != ' ' && parsed.mark != '+' && parsed.mark != '-') return std::nullopt;
  const std::string_view rest = row.substr(parsed.mark_column + 1);
  if (rest.empty()) return parsed;
  // The text follows two spaces, in some versions none.
  const std::size_t gap = rest.starts_with("  ") ? 2 : 0;
  parsed.text = rest.substr(gap);
  return parsed;
}

// The rest of a line whose first row is `first` and whose last row so far is `before`; `full`: that row is full. One
// space separates it from its mark; a second one belongs to the text, unless the row before has it already.
std::optional<std::string> RestOfLine(std::string_view row, const DiffRow& first, std::string_view before, bool full) {
  if (row.size() <= first.mark_column + 2) return std::nullopt;
  if (row.find_first_not_of(' ') < first.mark_column || row[first.mark_column] != first.mark) return std::nullopt;
  if (row[first.mark_column + 1] != ' ') return std::nullopt;
  std::string_view text = row.substr(first.mark_column + 2);
  if (text.front() == ' ') {
    const bool inside_name = before.ends_with('.') && text.size() > 1 && text[1] >= 'a' && text[1] <= 'z';
    if (before.ends_with(' ') || !full || inside_name) text.remove_prefix(1);
  }
  return std::string(text);
}

struct DiffLineText {
  std::size_t number = 0;
  char mark = ' ';
  std::string text;
  bool begins_hunk = false;
};

std::optional<std::vector<DiffLineText>> LinesOfScreenDiff(const std::vector<std::string_view>& rows) {
  std::size_t widest = 0;
  for (const std::string_view row : rows) widest = std::max(widest, DisplayColumns(row));
  std::vector<DiffLineText> lines;
  DiffRow first;
  bool begins_hunk = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string_view row = rows[i];
    if (Trim(row) == "..." || Trim(row) == "…") {
      begins_hunk = true;
      continue;
    }
    if (const std::optional<DiffRow> numbered = NumberedRow(row)) {
      first = *numbered;
      lines.push_back({first.number, first.mark, std::string(first.text), begins_hunk});
      begins_hunk = false;
      continue;
    }
    if (Trim(row).empty()) continue;
    if (lines.empty() || begins_hunk) return std::nullopt;
    const std::optional<std::string> rest =
        RestOfLine(row, first, lines.back().text, DisplayColumns(rows[i - 1]) >= widest);
    if (!rest) return std::nullopt;
    lines.back().text += *rest;
  }
  if (lines.empty()) return std::nullopt;
  return lines;
}

}  // namespace

std::optional<std::string> HunksOfScreenDiff(const std::vector<std::string_view>& rows) {
  const std::optional<std::vector<DiffLineText>> lines = LinesOfScreenDiff(rows);
  if (!lines) return std::nullopt;
  std::string text;
  for (std::size_t begin = 0; begin < lines->size();) {
    std::size_t end = begin + 1;
    while (end < lines->size() && !(*lines)[end].begins_hunk) ++end;
    std::size_t before = 0;
    std::size_t after = 0;
    std::string hunk;
    for (std::size_t i = begin; i < end; ++i) {
      const DiffLineText& line = (*lines)[i];
      before += line.mark == '+' ? 0 : 1;
      after += line.mark == '-' ? 0 : 1;
      hunk += fmt::format("{}{}\n", line.mark, line.text);
    }
    // The old numbers aren't drawn; those of the new file place the hunk.
    const std::size_t number = (*lines)[begin].number;
    text += fmt::format("@@ -{},{} +{},{} @@\n", number, before, number, after) + hunk;
    begin = end;
  }
  return text;
}

}  // namespace upskill

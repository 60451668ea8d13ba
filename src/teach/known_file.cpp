// SPDX-License-Identifier: Apache-2.0
#include "teach/known_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "trace/digest/excerpt.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxLines = 20'000;
constexpr std::size_t kMaxPreview = 1000;  // lines; each gap of a difference is looked for in them

bool IsDigitChar(char c) { return c >= '0' && c <= '9'; }

// The whole number that `text` begins with after `before`, in a line such as "Wrote 37 lines to a.toml".
std::optional<std::size_t> NumberBefore(std::string_view line, std::string_view word) {
  const std::size_t at = line.find(word);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && IsDigitChar(line[begin - 1])) --begin;
  const std::optional<std::int64_t> number = ParseWholeNumber(line.substr(begin, at - begin), 0, 10'000'000);
  return number ? std::optional(static_cast<std::size_t>(*number)) : std::nullopt;
}

// Without blanks at its ends, which may be no-break spaces in the copy of a screen.
std::string_view Bare(std::string_view line) {
  constexpr std::string_view kNoBreakSpace = "\u00a0";
  line = Trim(line);
  while (line.starts_with(kNoBreakSpace)) line = Trim(line.substr(kNoBreakSpace.size()));
  return line;
}

// "[27 lines are not in the export]", "[line 7 is not in the recording]", "… +27 lines".
bool IsOmission(std::string_view line) {
  const std::string_view shown = Trim(line);
  return (shown.starts_with('[') && ContainsAny(shown, {" not in the export", " not in the recording"})) ||
         shown.starts_with("[end of the beginning as first written]") ||
         shown.starts_with("[the content is not followed here") ||
         (shown.starts_with("…") && shown.find("line") != std::string_view::npos);
}

// A line of a numbered difference: its number, a sign or a space, and the text.
struct NumberedLine {
  std::size_t number = 0;
  char sign = ' ';
  std::string text;
};

std::optional<NumberedLine> ReadNumbered(std::string_view line) {
  std::size_t at = line.find_first_not_of(' ');
  if (at == std::string_view::npos || !IsDigitChar(line[at])) return std::nullopt;
  const std::size_t begin = at;
  while (at < line.size() && IsDigitChar(line[at])) ++at;
  if (at < line.size() && line[at] != ' ') return std::nullopt;
  const std::optional<std::int64_t> number = ParseWholeNumber(line.substr(begin, at - begin), 1, 10'000'000);
  if (!number) return std::nullopt;
  NumberedLine read{static_cast<std::size_t>(*number), ' ', std::string(line.substr(at))};
  if (read.text.size() > 1 && (read.text[1] == '+' || read.text[1] == '-')) std::swap(read.sign, read.text[1]);
  return read;
}

// Appends the part that a terminal wrapped to the next line. Blanks at the end of a screen line aren't in a copy, so
// one is put back between words.
void Join(std::string_view part, std::string& line) {
  if (line.empty() || part.empty() || line.back() == ' ') {
    line += part;
  } else if (part.front() == ' ' && line.back() == '.') {
    line += part.substr(1);
  } else {
    if (part.front() != ' ' && line.back() != '.' && line.back() != '(') line += ' ';
    line += part;
  }
}

// One piece of output about a file: the first lines of what was written, or a numbered difference.
struct Segment {
  std::vector<std::string_view> lines;  // without the headline
  bool headed = false;                  // the output began with a headline, as that of an agent's tool does
  std::optional<std::size_t> written;   // lines of the written file
  std::size_t added = 0;
  std::size_t removed = 0;
};

bool IsHeadline(std::string_view line) {
  const std::string_view shown = Bare(line);
  const bool starts = shown.starts_with("Wrote ") || shown.starts_with("Updated ") || shown.starts_with("Added ") ||
                      shown.starts_with("Removed ");
  return starts && ContainsAny(shown, {" line", " addition", " removal"});
}

std::vector<Segment> SegmentsOf(const std::vector<FileEdit>& edits) {
  std::vector<Segment> segments;
  for (const FileEdit& edit : edits) {
    bool begun = false;
    for (const std::string_view line : SplitLines(edit.after)) {
      if (IsHeadline(line)) {
        Segment segment;
        segment.headed = true;
        segment.written = NumberBefore(line, " lines to");
        segment.added = NumberBefore(line, " addition").value_or(0);
        segment.removed = NumberBefore(line, " removal").value_or(0);
        segments.push_back(std::move(segment));
        begun = true;
      } else {
        if (!begun) segments.emplace_back();
        begun = true;
        segments.back().lines.push_back(line);
      }
    }
  }
  return segments;
}

std::vector<NumberedLine> NumberedOf(const Segment& segment) {
  std::vector<NumberedLine> numbered;
  std::size_t others = 0;
  for (const std::string_view line : segment.lines) {
    if (Trim(line).empty() || Trim(line) == "..." || IsOmission(line)) continue;
    if (std::optional<NumberedLine> read = ReadNumbered(line)) {
      numbered.push_back(*std::move(read));
      continue;
    }
    ++others;
    if (numbered.empty()) continue;
    std::string_view part = Trim(line);
    const bool signed_part = part.size() > 1 && numbered.back().sign != ' ' && part.front() == numbered.back().sign;
    if (signed_part) {
      part = line.substr(line.find(numbered.back().sign) + 1);
      if (part.starts_with(' ')) part.remove_prefix(1);
    }
    Join(part, numbered.back().text);
  }
  if (numbered.size() < 2 || others > 3 * numbered.size()) return {};
  // The column where the text begins, which differs between versions of the program.
  std::size_t indent = 4;
  for (const NumberedLine& line : numbered) indent = std::min(indent, line.text.find_first_not_of(' '));
  for (NumberedLine& line : numbered) line.text.erase(0, std::min(indent, line.text.size()));
  return numbered;
}

struct Preview {
  std::vector<std::string_view> lines;  // without blank ones, which the copy leaves out
  std::size_t covers = 0;               // lines of the file, blank ones included; 0: unknown
};

Preview PreviewOf(const Segment& segment) {
  Preview preview;
  std::optional<std::size_t> omitted;
  for (const std::string_view line : segment.lines) {
    if (IsOmission(line)) {
      omitted = NumberBefore(line, " line");
      break;
    }
    if (!Trim(line).empty() && preview.lines.size() < kMaxPreview) preview.lines.push_back(line);
  }
  if (segment.written && *segment.written >= omitted.value_or(0))
    preview.covers = *segment.written - omitted.value_or(0);
  return preview;
}

// Lines [first, last] of a file: those of the preview between the lines that precede and follow them in both. Nothing
// if the preview doesn't tell them all.
std::optional<std::vector<std::string>> FillFrom(const Preview& preview, const std::string& before,
                                                 const std::string& after, std::size_t first, std::size_t last) {
  const auto at = std::find(preview.lines.begin(), preview.lines.end(), std::string_view(before));
  if (at == preview.lines.end() || preview.covers < last) return std::nullopt;
  if (std::find(at + 1, preview.lines.end(), std::string_view(before)) != preview.lines.end()) return std::nullopt;
  const auto rest = static_cast<std::size_t>(preview.lines.end() - at) - 1;
  const auto most = at + 1 + static_cast<std::ptrdiff_t>(std::min(rest, last - first + 1));
  // The preview has no blank lines, so the following one may come earlier.
  const auto end = Trim(after).empty() ? most : std::find(at + 1, most, std::string_view(after));
  if (end != most && std::find(end + 1, most, std::string_view(after)) != most) return std::nullopt;
  return std::vector<std::string>(at + 1, end);
}

// The final version that the last numbered difference shows, with the first unchanged gap filled from the preview.
KnownFile FromDifference(const std::vector<NumberedLine>& numbered, const Preview& preview,
                         std::optional<std::size_t> total) {
  std::map<std::size_t, std::string> lines;
  std::set<std::size_t> added;
  std::set<std::size_t> removed;
  for (const NumberedLine& line : numbered) {
    if (line.sign != '-') lines[line.number] = line.text;
    if (line.sign == '-') removed.insert(line.number);
    if (line.sign == '+') added.insert(line.number);
  }
  // Up to the first line that was only added or only removed, the numbers of both versions agree.
  std::set<std::size_t> shifting;
  std::set_symmetric_difference(added.begin(), added.end(), removed.begin(), removed.end(),
                                std::inserter(shifting, shifting.begin()));
  const std::size_t agree_to = shifting.empty() ? kMaxLines : *shifting.begin();
  KnownFile known;
  std::size_t previous = 0;
  std::string before;
  bool gaps = false;
  for (const auto& [number, text] : lines) {
    bool gap = number != previous + 1;
    if (gap && previous > 0 && number <= agree_to) {
      if (const auto filled = FillFrom(preview, before, text, previous + 1, number - 1)) {
        for (const std::string& line : *filled) known.lines.push_back({line, false});
        gap = false;
      }
    }
    gaps = gaps || gap;
    known.lines.push_back({text, gap});
    previous = number;
    if (!Trim(text).empty()) before = text;
  }
  known.complete = !gaps && total && *total <= previous + 1;  // the count may include an empty last line
  return known;
}

KnownFile FromSegments(const std::vector<Segment>& segments) {
  std::vector<NumberedLine> numbered;
  Preview preview;
  std::optional<std::size_t> total;
  std::size_t differences = 0;
  for (const Segment& segment : segments) {
    std::vector<NumberedLine> lines = NumberedOf(segment);
    if (segment.written || lines.empty()) {
      preview = PreviewOf(segment);
      total = segment.written;
      numbered.clear();
      differences = 0;
      continue;
    }
    numbered = std::move(lines);
    ++differences;
    if (total) total = *total + segment.added - std::min(segment.removed, *total + segment.added);
  }
  if (!numbered.empty()) return FromDifference(numbered, differences == 1 ? preview : Preview(), total);
  KnownFile known;
  for (const std::string_view line : preview.lines) known.lines.push_back({std::string(line), false});
  known.complete = preview.covers > 0 && total && preview.covers >= *total;
  return known;
}

KnownFile FromText(std::string_view text) {
  KnownFile known;
  known.complete = true;
  bool gap = false;
  bool outdated = false;  // in the beginning as first written
  for (const std::string_view line : SplitLines(text)) {
    if (line.starts_with("[below: the beginning as first written")) outdated = true;
    if (outdated) {
      outdated = !line.starts_with("[end of the beginning as first written]");
      gap = true;
      known.complete = false;
      continue;
    }
    if (known.lines.size() == kMaxLines) {
      known.complete = false;
      break;
    }
    if (IsOmission(line)) {
      gap = true;
      known.complete = false;
      continue;
    }
    known.lines.push_back({std::string(line), std::exchange(gap, false)});
  }
  return known;
}

// What replacements and patches added, each after a gap: where they are in the file isn't known.
KnownFile FromAdditions(const std::vector<FileEdit>& edits) {
  KnownFile known;
  for (const FileEdit& edit : edits) {
    const std::vector<std::string> added = LinesOf(edit).added;
    for (std::size_t i = 0; i < added.size(); ++i) known.lines.push_back({added[i], i == 0});
  }
  return known;
}

}  // namespace

KnownFile KnownFileFrom(const FileDetail& file) {
  KnownFile known;
  if (file.whole || !file.content.empty()) {
    known = FromText(file.content);
    known.complete = known.complete && file.whole && file.edits.empty();
  } else {
    const std::vector<Segment> segments = SegmentsOf(file.edits);
    const bool screen =
        std::any_of(segments.begin(), segments.end(), [](const Segment& segment) { return segment.headed; });
    known = screen ? FromSegments(segments) : FromAdditions(file.edits);
  }
  known.path = file.path;
  while (!known.lines.empty() && Trim(known.lines.back().text).empty()) known.lines.pop_back();
  return known;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/excerpt.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/digest/line_importance.h"
#include "util/text.h"

namespace upskill {
namespace {

// The first `bytes` of `text`, without splitting a character.
std::string_view CutAt(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80) --bytes;
  return text.substr(0, bytes);
}

std::string_view TailAt(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t from = text.size() - bytes;
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0U) == 0x80) ++from;
  return text.substr(from);
}

struct Scored {
  std::size_t index = 0;
  int weight = 0;
};

// How informative a line is about failure or success: 0 for most lines.
int LineWeight(std::string_view line) {
  struct Cue {
    std::string_view word;
    int weight;
  };
  constexpr std::array<Cue, 26> kCues = {{
      {"error", 6},     {"fatal", 6},     {"exception", 6},   {"traceback", 4}, {"assert", 4},       {"failed", 5},
      {"failure", 5},   {"undefined", 4}, {"not found", 4},   {"cannot", 4},    {"expected", 4},     {"missing", 3},
      {"denied", 4},    {"invalid", 3},   {"unsupported", 3}, {"must ", 3},     {"required", 2},     {"fix", 3},
      {"because", 2},   {"warning", 2},   {"deprecated", 2},  {"passed", 2},    {"no such file", 4}, {"mismatch", 4},
      {"exit code", 3}, {"solution", 3},
  }};
  const std::string lower = ToLowerAscii(line.substr(0, 2000));
  int weight = 0;
  for (const Cue& cue : kCues) {
    if (lower.find(cue.word) != std::string::npos) weight += cue.weight;
  }
  return weight;
}

int WeightOfClass(LineClass kind) {
  if (kind >= LineClass::kShape) return 7;
  return kind <= LineClass::kStatement ? 0 : 3;
}

// A line of a diff; `text` is part of one of the two texts.
struct DiffLine {
  enum class Kind { kSame, kRemoved, kAdded, kGap };  // kGap: omitted lines, without text
  Kind kind = Kind::kSame;
  std::string_view text;
};

// The diff of two lists that begin and end with different lines.
void AppendMiddle(std::span<const std::string_view> a, std::span<const std::string_view> b,
                  std::vector<DiffLine>& diff) {
  // Very different texts are replaced as a whole.
  constexpr std::size_t kMaxCells = 4'000'000;
  if (a.size() * b.size() > kMaxCells) {
    for (const std::string_view line : a) diff.push_back({DiffLine::Kind::kRemoved, line});
    for (const std::string_view line : b) diff.push_back({DiffLine::Kind::kAdded, line});
    return;
  }
  // Lengths of the longest common subsequences of the suffixes.
  std::vector<std::vector<unsigned>> common(a.size() + 1, std::vector<unsigned>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t k = b.size(); k-- > 0;)
      common[i][k] = a[i] == b[k] ? common[i + 1][k + 1] + 1 : std::max(common[i + 1][k], common[i][k + 1]);
  }
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < a.size() || k < b.size()) {
    if (i < a.size() && k < b.size() && a[i] == b[k]) {
      if (diff.empty() || diff.back().kind != DiffLine::Kind::kGap) diff.push_back({DiffLine::Kind::kGap, ""});
      ++i;
      ++k;
    } else if (i < a.size() && (k == b.size() || common[i + 1][k] >= common[i][k + 1])) {
      diff.push_back({DiffLine::Kind::kRemoved, a[i++]});
    } else {
      diff.push_back({DiffLine::Kind::kAdded, b[k++]});
    }
  }
}

// The lines that differ, with one line of context.
std::vector<DiffLine> DiffOf(std::string_view before, std::string_view after) {
  const std::vector<std::string_view> a = SplitLines(before);
  const std::vector<std::string_view> b = SplitLines(after);
  std::size_t same_front = 0;
  while (same_front < std::min(a.size(), b.size()) && a[same_front] == b[same_front]) ++same_front;
  std::size_t same_back = 0;
  while (same_back < std::min(a.size(), b.size()) - same_front &&
         a[a.size() - 1 - same_back] == b[b.size() - 1 - same_back])
    ++same_back;
  std::vector<DiffLine> diff;
  if (same_front > 0) diff.push_back({DiffLine::Kind::kSame, a[same_front - 1]});
  AppendMiddle(std::span(a).subspan(same_front, a.size() - same_back - same_front),
               std::span(b).subspan(same_front, b.size() - same_back - same_front), diff);
  if (same_back > 0) diff.push_back({DiffLine::Kind::kSame, a[a.size() - same_back]});
  return diff;
}

}  // namespace

std::string HeadAndTail(std::string_view text, std::size_t max_bytes) {
  text = Trim(text);
  if (text.size() <= max_bytes) return std::string(text);
  const std::size_t head = max_bytes * 3 / 5;
  return std::string(CutAt(text, head)) + " … " + std::string(TailAt(text, max_bytes - head));
}

std::string Excerpt(std::string_view text, std::size_t max_bytes) {
  text = Trim(text);
  if (text.size() <= max_bytes) return std::string(text);
  const std::vector<std::string_view> lines = SplitLines(text);
  if (lines.size() < 3) return HeadAndTail(text, max_bytes);
  std::vector<Scored> order;
  std::unordered_map<std::string, int> seen;
  order.reserve(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // Marks of an earlier excerpt are dropped; they are added again where needed.
    const bool says_nothing = Trim(lines[i]).empty() || lines[i] == "…";
    int weight = says_nothing ? -1 : LineWeight(lines[i]);
    if (!says_nothing) {
      const LineClass kind = ClassOfLine(lines[i]);
      const int repetitions = seen[LineSkeleton(lines[i])]++;
      // Names and values are always kept; other lines are worth less with each one like them.
      weight = kind <= LineClass::kStatement ? std::max(0, weight - 2 * repetitions) : weight + WeightOfClass(kind);
    }
    if (i == 0) weight += 4;
    if (i + 2 >= lines.size()) weight += 5;
    order.push_back({i, weight});
  }
  std::stable_sort(order.begin(), order.end(), [](const Scored& a, const Scored& b) { return a.weight > b.weight; });
  const std::size_t max_line = std::max<std::size_t>(max_bytes / 3, 80);
  std::vector<std::size_t> chosen;
  std::size_t used = 0;
  for (const Scored& scored : order) {
    const std::size_t cost = std::min(lines[scored.index].size(), max_line) + 5;
    if (scored.weight < 0) continue;
    if (used + cost > max_bytes) {
      // Uninformative lines are taken from the front in one piece, so that headings keep their text.
      if (scored.weight == 0) break;
      continue;
    }
    used += cost;
    chosen.push_back(scored.index);
  }
  std::sort(chosen.begin(), chosen.end());
  std::string out;
  std::size_t next = 0;
  for (const std::size_t index : chosen) {
    if (!out.empty()) out += '\n';
    if (index != next) out += "…\n";
    const std::string_view line = lines[index];
    out += line.size() <= max_line ? std::string(line) : HeadAndTail(line, max_line);  // with its indentation
    next = index + 1;
  }
  return out.empty() ? HeadAndTail(text, max_bytes) : out;
}

std::string DiffLines(std::string_view before, std::string_view after) {
  std::string out;
  for (const DiffLine& line : DiffOf(before, after)) {
    switch (line.kind) {
      case DiffLine::Kind::kSame:
        out += ' ';
        break;
      case DiffLine::Kind::kRemoved:
        out += '-';
        break;
      case DiffLine::Kind::kAdded:
        out += '+';
        break;
      case DiffLine::Kind::kGap:
        out += " …";
        break;
    }
    out.append(line.text).append(1, '\n');
  }
  return out;
}

EditedLines LinesOf(const FileEdit& edit) {
  EditedLines lines;
  switch (edit.kind) {
    case FileEdit::Kind::kWrite:
      for (const std::string_view line : SplitLines(edit.after)) lines.added.emplace_back(line);
      break;
    case FileEdit::Kind::kReplace:
      for (const DiffLine& line : DiffOf(edit.before, edit.after)) {
        if (line.kind == DiffLine::Kind::kRemoved) lines.removed.emplace_back(line.text);
        if (line.kind == DiffLine::Kind::kAdded) lines.added.emplace_back(line.text);
      }
      break;
    case FileEdit::Kind::kPatch:  // the notation of the patch that the agent wrote
      for (const std::string_view line : SplitLines(edit.after)) {
        if (line.starts_with('-')) lines.removed.emplace_back(line.substr(1));
        if (line.starts_with('+')) lines.added.emplace_back(line.substr(1));
      }
      break;
    case FileEdit::Kind::kDelete:
      break;
  }
  return lines;
}

}  // namespace upskill

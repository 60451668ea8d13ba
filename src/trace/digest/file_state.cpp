// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/file_state.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <utility>

#include "trace/digest/excerpt.h"
#include "util/text.h"

namespace upskill {
namespace {

// Beyond these a hostile recording would cost more than it can tell; what comes then is kept without its place.
constexpr std::size_t kMostRuns = 1000;
constexpr std::size_t kMostParts = 2000;
constexpr std::size_t kMostRemoved = 5000;
constexpr std::size_t kMostLines = 1'000'000;
constexpr std::size_t kMostWork = 50'000'000;

std::vector<std::string> LinesIn(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : SplitLines(text)) lines.emplace_back(line);
  return lines;
}

std::string JoinedLines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text.append(line).append(1, '\n');
  return text;
}

bool ReplaceText(std::vector<std::string>& lines, const FileEdit& edit) {
  const std::string text = JoinedLines(lines);
  std::size_t at = text.find(edit.before);
  if (at == std::string::npos) return false;
  std::string after = text.substr(0, at);
  std::size_t from = at;
  while (at != std::string::npos) {
    after.append(text, from, at - from).append(edit.after);
    from = at + edit.before.size();
    at = edit.everywhere ? text.find(edit.before, from) : std::string::npos;
  }
  after.append(text, from);
  lines = LinesIn(after);
  return true;
}

}  // namespace

struct FileState::Hunk {
  std::size_t number = 0;          // of its first line in the new file; 0: not told
  std::vector<std::string> lines;  // each after its mark: ' ', '+' or '-'

  std::vector<std::string> Old() const { return Side('+'); }
  std::vector<std::string> New() const { return Side('-'); }

 private:
  std::vector<std::string> Side(char without) const {
    std::vector<std::string> side;
    for (const std::string& line : lines) {
      if (line.front() != without) side.push_back(line.substr(1));
    }
    return side;
  }
};

bool FileState::whole() const {
  return ends_ && runs_.size() == 1 && runs_.front().start == 1 && loose_.empty() && !unknown_change_;
}

void FileState::NoteRemoved(std::string_view line) {
  if (!Trim(line).empty() && removed_.size() < kMostRemoved) removed_.emplace_back(line);
}

void FileState::Read(std::string_view text, std::size_t number, bool whole) {
  std::vector<std::string> lines = LinesIn(text);
  if (number == 0 || lines.empty() || number + lines.size() > kMostLines) return;
  if (whole) {
    runs_.assign(1, {1, std::move(lines)});
    ends_ = true;
    loose_.clear();
    beginning_.clear();
    return;
  }
  if (!runs_.empty()) return;
  runs_.push_back({number, std::move(lines)});
}

void FileState::WriteBeginning(std::string_view text) {
  for (const Run& run : runs_)
    std::for_each(run.lines.begin(), run.lines.end(), [&](auto& line) { NoteRemoved(line); });
  runs_.clear();
  loose_.clear();
  ends_ = false;
  followed_ = true;
  unknown_change_ = false;
  beginning_ = LinesIn(text);
}

void FileState::Apply(const FileEdit& edit, std::size_t most_growth) {
  switch (edit.kind) {
    case FileEdit::Kind::kWrite:
      return Write(edit.after);
    case FileEdit::Kind::kReplace:
      return Replace(edit, most_growth);
    case FileEdit::Kind::kPatch:
      return Patch(edit.after);
    case FileEdit::Kind::kDelete: {
      const std::size_t work = work_;
      const std::size_t grown = grown_;
      *this = FileState();
      work_ = work;
      grown_ = grown;
      return;
    }
  }
}

void FileState::Write(std::string_view text) {
  std::string before;
  for (const Run& run : runs_) before += JoinedLines(run.lines);
  if (!before.empty()) {
    const FileEdit edit{FileEdit::Kind::kReplace, "", before, std::string(text)};
    for (const std::string& line : LinesOf(edit).removed) NoteRemoved(line);
  }
  runs_.assign(1, {1, LinesIn(text)});
  ends_ = true;
  followed_ = true;
  unknown_change_ = false;
  loose_.clear();
  beginning_.clear();
}

// The bytes that the edit would add to these lines by replacing more than one occurrence.
std::size_t FileState::Growth(const std::vector<std::string>& lines, const FileEdit& edit) const {
  if (!edit.everywhere || edit.after.size() <= edit.before.size()) return 0;
  const std::string text = JoinedLines(lines);
  std::size_t count = 0;
  for (std::size_t at = text.find(edit.before); at != std::string::npos;
       at = text.find(edit.before, at + edit.before.size()))
    ++count;
  return count < 2 ? 0 : (count - 1) * (edit.after.size() - edit.before.size());
}

void FileState::StopFollowing() {
  runs_.clear();
  loose_.clear();
  beginning_.clear();
  ends_ = false;
  followed_ = false;
}

void FileState::Replace(const FileEdit& edit, std::size_t most_growth) {
  for (const std::string& line : LinesOf(edit).removed) NoteRemoved(line);
  if (!followed_) return;
  constexpr std::size_t kWorkPerLine = 10;
  bool too_long = false;
  const auto replace = [&](std::vector<std::string>& lines) {
    std::size_t bytes = 0;
    for (const std::string& line : lines) bytes += line.size();
    constexpr std::size_t kBytesPerLine = 64;  // longer lines count as several
    work_ = std::min(kMostWork, work_ + bytes / kBytesPerLine);
    const std::size_t growth = Growth(lines, edit);
    too_long = growth > most_growth;
    if (!too_long) grown_ += growth;
    return too_long || ReplaceText(lines, edit);
  };
  if (!edit.before.empty() && MayLookFor(kWorkPerLine)) {
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::size_t size = runs_[i].lines.size();
      if (!replace(runs_[i].lines)) continue;
      if (too_long) return StopFollowing();
      for (std::size_t k = i + 1; k < runs_.size(); ++k) runs_[k].start += runs_[i].lines.size() - size;
      return;
    }
    const bool found = std::any_of(loose_.begin(), loose_.end(), replace) || replace(beginning_);
    if (too_long) StopFollowing();
    if (found) return;
  }
  if (loose_.size() < kMostParts && !edit.after.empty()) loose_.push_back(LinesIn(edit.after));
}

// Whether a change of `lines` lines may still be searched for in all known lines; adds the work to what was done.
bool FileState::MayLookFor(std::size_t lines) {
  std::size_t known = runs_.size() + loose_.size() + beginning_.size();
  for (const Run& run : runs_) known += run.lines.size();
  for (const std::vector<std::string>& part : loose_) known += part.size();
  if (lines > 0 && known > (kMostWork - work_) / lines) return false;
  work_ += known * lines;
  return true;
}

bool FileState::ReplaceBlock(std::vector<std::string>& lines, const Hunk& hunk) {
  const std::vector<std::string> old_lines = hunk.Old();
  if (old_lines.empty()) return false;
  const auto at = std::search(lines.begin(), lines.end(), old_lines.begin(), old_lines.end());
  if (at == lines.end()) return false;
  const auto rest = lines.erase(at, at + static_cast<std::ptrdiff_t>(old_lines.size()));
  const std::vector<std::string> new_lines = hunk.New();
  lines.insert(rest, new_lines.begin(), new_lines.end());
  return true;
}

void FileState::Patch(std::string_view text) {
  static const RE2 place_pattern(R"(^@@ -\d+(?:,\d+)? \+(\d{1,7})(?:,\d+)? @@)");
  std::vector<Hunk> hunks;
  for (const std::string_view line : SplitLines(text)) {
    if (line.starts_with("@@")) {
      Hunk hunk;
      RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), place_pattern, &hunk.number);
      hunks.push_back(std::move(hunk));
      continue;
    }
    const bool heading = hunks.empty() && (line.starts_with("--- ") || line.starts_with("+++ ") ||
                                           line.starts_with("diff ") || line.starts_with("index "));
    if (heading || line.starts_with("\\ No newline")) continue;
    if (hunks.empty()) hunks.emplace_back();
    const bool marked = !line.empty() && (line.front() == ' ' || line.front() == '+' || line.front() == '-');
    hunks.back().lines.push_back(marked ? std::string(line) : " " + std::string(line));
  }
  for (const Hunk& hunk : hunks) {
    if (hunk.lines.empty()) continue;
    for (const std::string& line : hunk.lines) {
      if (line.front() == '-') NoteRemoved(std::string_view(line).substr(1));
    }
    const bool may_look = MayLookFor(hunk.lines.size());
    if (may_look && whole() && ReplaceBlock(runs_.front().lines, hunk)) continue;
    if (may_look && hunk.number > 0 && !whole() && runs_.size() < kMostRuns) {
      ApplyByNumber(hunk);
      continue;
    }
    const bool known =
        may_look && (std::any_of(runs_.begin(), runs_.end(), [&](Run& run) { return ReplaceBlock(run.lines, hunk); }) ||
                     std::any_of(loose_.begin(), loose_.end(), [&](auto& part) { return ReplaceBlock(part, hunk); }));
    if (!known && loose_.size() < kMostParts) loose_.push_back(hunk.New());
  }
}

void FileState::ApplyByNumber(const Hunk& hunk) {
  std::size_t number = hunk.number;
  for (const std::string& line : hunk.lines) {
    const std::string_view text = std::string_view(line).substr(1);
    if (line.front() == '-') {
      Erase(number);
    } else if (line.front() == '+') {
      Insert(number++, text);
    } else {
      Set(number++, text);
    }
  }
  MergeRuns();
}

void FileState::Set(std::size_t number, std::string_view line) {
  for (Run& run : runs_) {
    if (number < run.start || number > run.end()) continue;
    if (number < run.end()) {
      run.lines[number - run.start] = line;
      return;
    }
    const bool taken = std::any_of(runs_.begin(), runs_.end(), [&](const Run& other) { return other.start == number; });
    if (taken) continue;
    run.lines.emplace_back(line);
    return;
  }
  const auto after = std::find_if(runs_.begin(), runs_.end(), [&](const Run& run) { return run.start > number; });
  runs_.insert(after, Run{number, {std::string(line)}});
}

void FileState::Insert(std::size_t number, std::string_view line) {
  bool placed = false;
  for (Run& run : runs_) {
    if (run.start >= number) {
      ++run.start;
    } else if (number <= run.end()) {
      run.lines.insert(run.lines.begin() + static_cast<std::ptrdiff_t>(number - run.start), std::string(line));
      placed = true;
    }
  }
  if (!placed) Set(number, line);
}

void FileState::Erase(std::size_t number) {
  for (Run& run : runs_) {
    if (run.start > number) {
      --run.start;
    } else if (number < run.end()) {
      run.lines.erase(run.lines.begin() + static_cast<std::ptrdiff_t>(number - run.start));
    }
  }
  std::erase_if(runs_, [](const Run& run) { return run.lines.empty(); });
}

void FileState::MergeRuns() {
  std::vector<Run> merged;
  for (Run& run : runs_) {
    if (!merged.empty() && merged.back().end() >= run.start) {
      // Where runs overlap, a recording contradicts itself; the earlier lines stay.
      const std::size_t known = std::min(merged.back().end() - run.start, run.lines.size());
      std::move(run.lines.begin() + static_cast<std::ptrdiff_t>(known), run.lines.end(),
                std::back_inserter(merged.back().lines));
    } else {
      merged.push_back(std::move(run));
    }
  }
  runs_ = std::move(merged);
}

// The lines of the beginning as first written that fill a gap of `count` lines between two known ones; empty if it has
// another number of lines between them, or has these lines more than once.
std::vector<std::string> FileState::FromBeginning(const std::string& before, const std::string& after,
                                                  std::size_t count) const {
  const auto from = std::find(beginning_.begin(), beginning_.end(), before);
  if (from == beginning_.end() || static_cast<std::size_t>(beginning_.end() - from) <= count + 1) return {};
  const auto to = from + static_cast<std::ptrdiff_t>(count + 1);
  if (*to != after || std::count(beginning_.begin(), beginning_.end(), before) > 1) return {};
  if (std::count(beginning_.begin(), beginning_.end(), after) > 1) return {};
  return {from + 1, to};
}

// A gap of `count` lines between two known lines, filled from the file as it was first written: at most `count` lines.
// They may be out of date, and blank lines are missing. Empty if the first version doesn't show what follows `before`.
std::vector<std::string> FileState::FirstWrittenAfter(const std::string& before, const std::string& after,
                                                      std::size_t count) const {
  const auto from = std::find(beginning_.begin(), beginning_.end(), before);
  if (from == beginning_.end() || std::count(beginning_.begin(), beginning_.end(), before) > 1) return {};
  const auto most = static_cast<std::ptrdiff_t>(std::min(count, static_cast<std::size_t>(beginning_.end() - from) - 1));
  return {from + 1, std::find(from + 1, from + 1 + most, after)};
}

std::string FileState::Text() const {
  std::string text;
  if (!followed_) text += "[the content is not followed here: replacing all occurrences of a text made it too long]\n";
  // Later versions of the first lines take the place of those first written.
  if (!beginning_.empty() && runs_.empty()) {
    text += JoinedLines(beginning_) + "[the rest of the file is not in the recording]\n";
  } else if (!beginning_.empty() && runs_.front().start > 1) {
    text += "[below: the beginning as first written, perhaps changed since and without its blank lines]\n";
    text += JoinedLines(beginning_) + "[end of the beginning as first written]\n";
  }
  std::size_t next = 1;
  const Run* previous = nullptr;
  for (const Run& run : runs_) {
    std::vector<std::string> filled;
    std::vector<std::string> first_written;
    if (previous != nullptr && run.start > next && !previous->lines.empty() && !run.lines.empty()) {
      filled = FromBeginning(previous->lines.back(), run.lines.front(), run.start - next);
      first_written = FirstWrittenAfter(previous->lines.back(), run.lines.front(), run.start - next);
    }
    if (!filled.empty()) {
      text += JoinedLines(filled);
    } else if (run.start == next + 1) {
      text += fmt::format("[line {} is not in the recording]\n", next);
    } else if (run.start > next) {
      text += fmt::format("[lines {} to {} are not in the recording]\n", next, run.start - 1);
    }
    if (filled.empty() && !first_written.empty()) {
      text +=
          "[below: the beginning as first written goes on here, perhaps changed since and without its blank lines]\n";
      text += JoinedLines(first_written) + "[end of the beginning as first written]\n";
    }
    text += JoinedLines(run.lines);
    next = run.end();
    previous = &run;
  }
  if (!runs_.empty() && !ends_) text += fmt::format("[lines from {} on, if any, are not in the recording]\n", next);
  for (const std::vector<std::string>& part : loose_) {
    text += "[elsewhere in the file; the lines around this part are not in the recording]\n" + JoinedLines(part);
  }
  if (unknown_change_) text += "[above: before a later change that is not in the recording]\n";
  return text;
}

std::string FileState::Replaced() const {
  std::set<std::string_view> present;
  for (const Run& run : runs_) present.insert(run.lines.begin(), run.lines.end());
  for (const std::vector<std::string>& part : loose_) present.insert(part.begin(), part.end());
  std::string text;
  for (const std::string& line : removed_) {
    if (present.insert(line).second) text.append(line).append(1, '\n');
  }
  return text;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/digest/digest_item.h"
#include "trace/digest/file_moves.h"
#include "trace/digest/file_state.h"
#include "trace/read/record_parser.h"
#include "trace/read/tool_use.h"
#include "util/text.h"

namespace upskill {
namespace {

// The history of one file.
struct FileHistory {
  FileState state;
  bool written = false;  // whole, at some time
  bool deleted = false;
  std::string first;
  std::vector<FileEdit> edits;  // that didn't find their place in a file that was known
  std::size_t versions = 0;
  std::size_t event = kNoIndex;  // of the last change
};

bool Worked(const Trace& trace, const Event& call) {
  if (call.partner == kNoIndex) return false;  // without a result it may not have happened
  const CallStatus status = trace.events[call.partner].status;
  return status == CallStatus::kOk || status == CallStatus::kUnknown;
}

// The files of a trace by path; they follow moves.
class FileHistories {
 public:
  bool contains(const std::string& path) const { return files_.contains(path); }
  FileHistory* Find(const std::string& path) {
    const auto found = files_.find(path);
    return found == files_.end() ? nullptr : &found->second;
  }
  FileHistory& At(const std::string& path) {
    const auto [entry, added] = files_.try_emplace(path);
    if (added) ForEachPart(path, [&](std::string_view part) { with_part_[std::string(part)].insert(path); });
    return entry->second;
  }
  std::map<std::string, FileHistory> Take() { return std::move(files_); }

  void Move(FileMove move) {
    const std::string name = move.from.substr(move.from.rfind('/') + 1);
    const auto candidates = with_part_.find(name);
    if (candidates == with_part_.end()) return;
    std::vector<std::pair<std::string, MovedPath>> moved;
    for (const std::string& path : candidates->second) {
      std::optional<MovedPath> after = PathAfter(move, path);
      if (!after) continue;
      // A folder of that name takes it in.
      if (!move.to.ends_with('/') && IsFolder(after->root + move.to)) {
        move.to += '/';
        after = PathAfter(move, path);
      }
      moved.emplace_back(path, *std::move(after));
    }
    const bool one = std::all_of(moved.begin(), moved.end(),
                                 [&](const auto& each) { return each.second.root == moved.front().second.root; });
    if (!one || moved.size() > moves_left_) return;
    moves_left_ -= moved.size();
    for (auto& [from, after] : moved) {
      FileHistory file = std::move(files_.at(from));
      Remove(from);
      At(after.path) = std::move(file);
    }
  }

 private:
  template <typename F>
  static void ForEachPart(std::string_view path, const F& f) {
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      if (end > begin) f(path.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  bool IsFolder(const std::string& path) const {
    const auto first = files_.lower_bound(path + "/");
    return first != files_.end() && first->first.starts_with(path + "/");
  }

  void Remove(const std::string& path) {
    files_.erase(path);
    ForEachPart(path, [&](std::string_view part) { with_part_[std::string(part)].erase(path); });
  }

  std::map<std::string, FileHistory> files_;
  std::unordered_map<std::string, std::set<std::string>> with_part_;  // name of a file or folder → paths
  std::size_t moves_left_ = 20'000;                                   // a folder may be moved back and forth
};

// Lowers `room`, the bytes by which the files of a trace may still grow beyond what is recorded.
void Apply(const FileEdit& edit, std::size_t event, FileHistory& file, std::size_t& room) {
  ++file.versions;
  file.event = event;
  file.deleted = edit.kind == FileEdit::Kind::kDelete;
  const std::size_t grown = file.state.grown();
  file.state.Apply(edit, room);
  room -= file.state.grown() - grown;
  if (edit.kind == FileEdit::Kind::kWrite) {
    if (!file.written) file.first = edit.after;
    file.written = true;
    file.edits.clear();
  } else if (edit.kind == FileEdit::Kind::kDelete) {
    file.written = false;
  } else if (!file.state.whole()) {
    file.edits.push_back(edit);
  }
}

// "     1→text" or "1\ttext" in each line, as tools that read files number them: the lines without their numbers, and
// the number of the first one; 0 if they aren't numbered in order.
std::pair<std::string, std::size_t> WithoutLineNumbers(std::string_view text) {
  static const RE2 numbered_pattern(R"(^ *(\d{1,7})(?:→|\t)(.*)$)");
  std::string plain;
  std::size_t first = 0;
  std::size_t next = 0;
  for (const std::string_view line : SplitLines(text)) {
    std::size_t number = 0;
    re2::StringPiece content;
    if (!RE2::FullMatch(re2::StringPiece(line.data(), line.size()), numbered_pattern, &number, &content)) {
      if (next == 0 || line.empty() || line.starts_with("<system-reminder>")) break;
      return {"", 0};
    }
    if (next != 0 && number != next) return {"", 0};
    if (next == 0) first = number;
    next = number + 1;
    plain.append(content.data(), content.size()).append(1, '\n');
  }
  return {plain, first};
}

// What the agent had read of a file before it changed it.
void ApplyRead(const Trace& trace, std::size_t read, FileHistory& file) {
  const Event& call = trace.events[read];
  const Event& result = trace.events[call.partner];
  const auto [text, number] = WithoutLineNumbers(result.text);
  if (number == 0 || result.shortened) return;
  const ParsedRecord arguments = ParseRecord(call.text);
  const bool part = !arguments.value || arguments.value->contains("offset") || arguments.value->contains("limit");
  constexpr std::size_t kMostLinesOfRead = 2000;  // tools stop there without a word
  const bool cut = std::count(text.begin(), text.end(), '\n') >= static_cast<std::ptrdiff_t>(kMostLinesOfRead);
  file.state.Read(text, number, number == 1 && !part && !cut);
}

// Whether a character divides the words of a command or the parts of a path.
bool DividesNames(char c) {
  return std::string_view(" \t\r\n\"'`/\\()[]{}<>|&;:,=*?!#$^").find(c) != std::string_view::npos;
}

// Calls f(word) for each word that may be a file's name.
template <typename F>
void ForEachNameIn(std::string_view text, const F& f) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && !DividesNames(text[end])) ++end;
    if (end > i) f(text.substr(i, end - i));
    i = end + 1;
  }
}

// The last call whose command has a word, of the calls that don't only look at files or move them. An index, because
// searching all commands for each file would take quadratic time.
std::unordered_map<std::string_view, std::size_t> LastCallsByName(const Trace& trace) {
  static const RE2 moving_pattern(
      R"(^\s*(?:git|mkdir|rm|mv|cp|touch|chmod|ln|cd)\b[^&;|]*(?:(?:&&|;)\s*(?:git|mkdir|rm|mv|cp|touch|chmod|ln|cd)\b[^&;|]*)*$)");
  std::unordered_map<std::string_view, std::size_t> last;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& call = trace.events[i];
    if (call.kind != EventKind::kToolCall || call.abandoned || call.command.empty()) continue;
    if (MayWriteFile(call) || IsLookingAround(call) || RE2::PartialMatch(call.command, moving_pattern)) continue;
    ForEachNameIn(call.command, [&](std::string_view name) { last[name] = i; });
  }
  return last;
}

// How the file's last version is known: by a later command that names it.
HowKnown EvidenceOfFile(const Trace& trace, const std::unordered_map<std::string_view, std::size_t>& last_calls,
                        std::string_view path, std::size_t changed) {
  std::string_view name;  // of one with spaces, the last word
  ForEachNameIn(path, [&](std::string_view word) { name = word; });
  constexpr std::size_t kShortest = 4;
  const auto call = name.size() < kShortest ? last_calls.end() : last_calls.find(name);
  if (call != last_calls.end() && call->second > changed) return EvidenceOfCall(trace, call->second);
  return trace.passed_checks ? HowKnown::kPassedChecks : HowKnown::kOnlyWritten;
}

DigestItem FileItem(const Trace& trace, const std::unordered_map<std::string_view, std::size_t>& last_calls,
                    const std::string& path, FileHistory file) {
  DigestItem item;
  item.kind = DigestKind::kFile;
  item.key = "file " + path;
  const double late = static_cast<double>(file.event + 1) / static_cast<double>(trace.events.size());
  item.value = 50 + 20 * late + std::min<double>(8, 2.0 * static_cast<double>(file.versions - 1));
  item.places = {PlaceOf(trace, file.event)};
  item.event = file.event;
  if (file.versions < 2 || !file.state.whole()) file.first.clear();
  item.evidence = EvidenceOfFile(trace, last_calls, path, file.event);
  item.detail = FileDetail{path,
                           file.state.whole(),
                           file.state.Text(),
                           std::move(file.first),
                           file.state.whole() ? std::vector<FileEdit>() : std::move(file.edits),
                           file.deleted,
                           file.versions,
                           file.state.Replaced()};
  return item;
}

// A change that is recorded apart from its call: hunks, or the content as far as it is shown.
void ApplyChange(const Event& event, std::size_t index, FileHistory& file, std::size_t& room) {
  if (event.text.starts_with("@@") || !event.shortened) {
    const bool hunks = event.text.find("@@") != std::string::npos || event.text.empty();
    const FileEdit::Kind kind = hunks || event.tool.empty() ? FileEdit::Kind::kPatch : FileEdit::Kind::kWrite;
    Apply({kind, event.path, "", event.text + "\n"}, index, file, room);
    return;
  }
  std::string beginning;
  for (const std::string_view line : SplitLines(event.text)) {
    if (!line.starts_with('[') || !line.ends_with(" not in the recording]")) beginning.append(line).append(1, '\n');
  }
  ++file.versions;
  file.event = index;
  file.deleted = false;
  file.state.WriteBeginning(beginning);
}

// A change of a known file by a call whose arguments the recording leaves out.
void NoteUnknownChange(const Trace& trace, const Event& event, std::size_t index, FileHistories& files) {
  FileHistory* const file = files.Find(event.path);
  if (!trace.lossy || file == nullptr || !event.command.empty()) return;
  if (const std::string tool = ToLowerAscii(event.tool); tool != "edit" && tool != "multiedit") return;
  ++file->versions;
  file->event = index;
  file->state.NoteUnknownChange();
}

}  // namespace

std::vector<DigestItem> CollectFiles(const Trace& trace, std::size_t trace_index) {
  FileHistories files;
  std::size_t room = FileState::kMostGrowth;
  std::map<std::string, std::size_t> reads;  // of files that aren't changed yet
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const Event& event = trace.events[i];
    if (event.abandoned) continue;
    if (event.kind == EventKind::kFileChange && event.partner == kNoIndex && !event.path.empty())
      ApplyChange(event, i, files.At(event.path), room);
    if (event.kind != EventKind::kToolCall || event.partner == kNoIndex) continue;
    if (!event.command.empty() && Worked(trace, event) && !trace.events[event.partner].text.starts_with("mv: ")) {
      for (FileMove& move : MovesOf(event.command)) files.Move(std::move(move));
    }
    if (!MayWriteFile(event)) {
      if (!event.path.empty()) reads[event.path] = i;
      continue;
    }
    if (!Worked(trace, event)) continue;
    const std::vector<FileEdit> edits = EditsOfCall(event);
    if (edits.empty()) NoteUnknownChange(trace, event, i, files);
    for (const FileEdit& edit : edits) {
      if (edit.path.empty()) continue;
      const bool known = files.contains(edit.path);
      FileHistory& file = files.At(edit.path);
      if (const auto read = reads.find(edit.path); !known && read != reads.end() && edit.kind != FileEdit::Kind::kWrite)
        ApplyRead(trace, read->second, file);
      Apply(edit, i, file, room);
    }
  }
  const std::unordered_map<std::string_view, std::size_t> last_calls = LastCallsByName(trace);
  std::map<std::string, FileHistory> last = files.Take();
  std::vector<DigestItem> items;
  items.reserve(last.size());
  for (auto& [path, file] : last) items.push_back(FileItem(trace, last_calls, path, std::move(file)));
  for (DigestItem& item : items) item.trace = trace_index;
  return items;
}

}  // namespace upskill

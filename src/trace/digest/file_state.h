// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trace/file_edit.h"

namespace upskill {

// A file's content as far as a recording tells it: rebuilt from writes, replacements and patches, in their order. Lines
// that the recording doesn't hold stay unknown; they are never guessed.
class FileState {
 public:
  static constexpr std::size_t kMostGrowth = std::size_t{4} << 20U;

  // The lines of `text` from line `number` (from 1) on, as something read them. `whole`: they are all of the file.
  void Read(std::string_view text, std::size_t number, bool whole);
  // What a recording shows of a file that was written: its beginning.
  void WriteBeginning(std::string_view text);
  // `most_growth`: bytes that replacing all occurrences of a text may add to what is known; beyond that the content is
  // not followed.
  void Apply(const FileEdit& edit, std::size_t most_growth = kMostGrowth);
  // A change of which only the file's name is recorded.
  void NoteUnknownChange() { unknown_change_ = true; }
  // The bytes that such replacements have added so far.
  std::size_t grown() const { return grown_; }

  bool whole() const;
  // The content; where lines are unknown, a line in square brackets says so.
  std::string Text() const;
  // Lines that edits removed or replaced and that aren't in the content any more, in order, each once.
  std::string Replaced() const;

 private:
  // Known lines in a row, of which the first has this number.
  struct Run {
    std::size_t start = 1;
    std::vector<std::string> lines;
    std::size_t end() const { return start + lines.size(); }
  };
  struct Hunk;

  void Write(std::string_view text);
  void Replace(const FileEdit& edit, std::size_t most_growth);
  std::size_t Growth(const std::vector<std::string>& lines, const FileEdit& edit) const;
  void StopFollowing();
  void Patch(std::string_view text);
  bool MayLookFor(std::size_t lines);
  bool ReplaceBlock(std::vector<std::string>& lines, const Hunk& hunk);
  void ApplyByNumber(const Hunk& hunk);
  void Set(std::size_t number, std::string_view line);
  void Insert(std::size_t number, std::string_view line);
  void Erase(std::size_t number);
  void MergeRuns();
  std::vector<std::string> FromBeginning(const std::string& before, const std::string& after, std::size_t count) const;
  std::vector<std::string> FirstWrittenAfter(const std::string& before, const std::string& after,
                                             std::size_t count) const;
  void NoteRemoved(std::string_view line);

  std::vector<Run> runs_;                        // by number, not touching each other
  bool ends_ = false;                            // the last run ends where the file does
  std::vector<std::vector<std::string>> loose_;  // parts whose place isn't known
  std::vector<std::string> beginning_;           // as first written, perhaps without its blank lines
  std::vector<std::string> removed_;
  bool followed_ = true;  // false: a change would have made the content too long
  bool unknown_change_ = false;
  std::size_t grown_ = 0;  // bytes
  std::size_t work_ = 0;   // spent on finding the places of changes, in lines
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "util/files.h"
#include "util/result.h"

namespace upskill {

// Reads a trace once, from front to back in blocks, from a file, a pipe or memory. Holds one record and the peeked
// bytes, never a whole JSONL file. Not thread-safe.
class LineSource {
 public:
  static Result<LineSource> OpenFile(const std::filesystem::path& path);
  static LineSource FromDescriptor(Fd fd, std::string name);
  static LineSource FromText(std::string text, std::string name);

  const std::string& name() const { return name_; }

  // The front of the trace, for detection, without consuming it: at least `least` bytes, and more until they contain a
  // line end, up to `most` or the end. Drops a byte order mark.
  Result<std::string_view> Peek(std::size_t least, std::size_t most);

  struct Line {
    std::string_view text;   // without its end; valid until the next call
    std::size_t number = 0;  // from 1
    bool ended = true;       // false: the last line has no newline
    bool too_long = false;   // longer than the limit: `text` is the front of the line, the rest was skipped
  };
  // The next line; nothing at the end. Memory use stays below `max_bytes` plus a block.
  Result<std::optional<Line>> Next(std::size_t max_bytes);

  // The rest. Error: it is larger than `max_bytes`.
  Result<std::string> ReadAll(std::size_t max_bytes);

 private:
  Status Fill();  // appends a block to the buffer, or sets at_end_
  Result<std::optional<Line>> PassOverLine();

  std::string name_;
  Fd fd_;
  std::string buffer_;
  std::string front_;      // of a line that was skipped
  std::size_t start_ = 0;  // of the unread part of buffer_
  std::size_t line_ = 0;
  bool at_end_ = false;
  bool mark_checked_ = false;
};

}  // namespace upskill

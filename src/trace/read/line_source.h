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

// A trace's bytes, read once from front to back in blocks, from a file, a pipe or memory. Holds one record and what was
// peeked at, never the whole of a JSONL file. Not thread-safe.
class LineSource {
 public:
  static Result<LineSource> OpenFile(const std::filesystem::path& path);
  static LineSource FromDescriptor(Fd fd, std::string name);
  static LineSource FromText(std::string text, std::string name);

  const std::string& name() const { return name_; }

  // The bytes at the front that detection may look at: at least `least` bytes, or more until a line end stands in them,
  // up to `most`, or all there is. They are still to be read. Drops a byte order mark.
  Result<std::string_view> Peek(std::size_t least, std::size_t most);

  struct Line {
    std::string_view text;   // without its end; valid until the next call
    std::size_t number = 0;  // from 1
    bool ended = true;       // false: the last line, without a newline
    bool too_long = false;   // longer than the limit: `text` is its front part, the rest was passed over
  };
  // The next line, nothing at the end. Memory stays below `max_bytes` plus a block.
  Result<std::optional<Line>> Next(std::size_t max_bytes);

  // All that is left. An error when it is larger than `max_bytes`.
  Result<std::string> ReadAll(std::size_t max_bytes);

 private:
  Status Fill();  // appends a block to the buffer, or sets at_end_
  Result<std::optional<Line>> PassOverLine();

  std::string name_;
  Fd fd_;
  std::string buffer_;
  std::string front_;      // of a line that was passed over
  std::size_t start_ = 0;  // of what is unread in buffer_
  std::size_t line_ = 0;
  bool at_end_ = false;
  bool mark_checked_ = false;
};

}  // namespace upskill

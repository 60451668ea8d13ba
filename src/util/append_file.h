// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string_view>

#include "util/files.h"
#include "util/result.h"

namespace upskill {

// An append-only file. Each Append is one write(2) of a whole record without known secrets, so that readers and other
// writers never see interleaved records; a failed or short write is undone. One owner, not thread-safe.
class AppendFile {
 public:
  // Creates the file if it doesn't exist. Fails while another AppendFile, in any process, has it open (flock; not
  // detected on file systems without locks). With `drop_torn_line`, bytes after the last newline (a record cut off by a
  // crash) are removed first. A link or another thing than a file is an error.
  static Result<AppendFile> Open(const std::filesystem::path& path, bool drop_torn_line);

  Status Append(std::string_view record);
  Status Sync();  // to the disk, with the file's name

 private:
  AppendFile(Fd fd, std::filesystem::path path, bool is_new)
      : fd_(std::move(fd)), path_(std::move(path)), has_unsynced_name_(is_new) {}
  Status CutTo(off_t size);

  Fd fd_;
  std::filesystem::path path_;
  bool has_unsynced_name_;
  std::optional<off_t> torn_at_;  // where a partial record starts that could not be removed yet
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// A file or folder that a shell command moved: `mv a.py b.py`, `git mv src/old src/new`.
struct FileMove {
  std::string from;
  std::string to;  // with a slash at the end: a folder that `from` goes into
};

// The moves of a shell command, in order, with the folder of a `cd` before them. Names with wildcards or variables are
// left out: the recording doesn't say what they stood for.
std::vector<FileMove> MovesOf(std::string_view command);

// Where a file is after a move of it or of a folder that it is in.
struct MovedPath {
  std::string root;  // what the file's path has before the command's name; different ones are different files
  std::string path;
};
// Empty: the file stays. The file's path or the command's may be absolute.
std::optional<MovedPath> PathAfter(const FileMove& move, std::string_view path);

}  // namespace upskill

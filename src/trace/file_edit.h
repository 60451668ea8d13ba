// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace upskill {

// What a call does to a file, according to its arguments.
struct FileEdit {
  enum class Kind { kWrite, kReplace, kPatch, kDelete };
  Kind kind = Kind::kWrite;
  std::string path;
  std::string before;       // kReplace: the old text
  std::string after;        // kWrite: the whole content; kReplace: the new text; kPatch: the hunks, as recorded
  bool everywhere = false;  // kReplace: all occurrences, not only the first
};

}  // namespace upskill

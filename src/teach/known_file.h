// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trace/digest/digest_item.h"

namespace upskill {

// A line of a file's final version.
struct KnownLine {
  std::string text;
  bool after_gap = false;  // the recording leaves out lines before it
};

// What a recording tells of a file's final version, in order.
struct KnownFile {
  std::string path;
  std::vector<KnownLine> lines;
  bool complete = false;  // no line is missing
};

// From a write, from edits, or from what a screen copy shows of both: numbered differences, in which a terminal has
// wrapped long lines, and the first lines of a written file. Nothing is made up: lines that aren't recorded are gaps.
KnownFile KnownFileFrom(const FileDetail& file);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trace/file_edit.h"

namespace upskill {

// The lines of a long text that tell most (errors, expectations, results), with its beginning and its end, in their
// order; at most about `max_bytes`. What is left out is marked with `…`.
std::string Excerpt(std::string_view text, std::size_t max_bytes);

// Head and tail of one piece of text, cut at characters.
std::string HeadAndTail(std::string_view text, std::size_t max_bytes);

// The lines that differ, as a unified diff without file names and with one line of context.
std::string DiffLines(std::string_view before, std::string_view after);

// The lines that an edit took out and brought in.
struct EditedLines {
  std::vector<std::string> removed;
  std::vector<std::string> added;
};
EditedLines LinesOf(const FileEdit& edit);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trace/file_edit.h"

namespace upskill {

// The most informative lines of a long text (errors, expectations, results), with its beginning and end, in order; at
// most about `max_bytes`. Gaps are marked with `…`.
std::string Excerpt(std::string_view text, std::size_t max_bytes);

// The head and tail of a text, cut at characters.
std::string HeadAndTail(std::string_view text, std::size_t max_bytes);

// The lines that differ, as a unified diff without file names, with one line of context.
std::string DiffLines(std::string_view before, std::string_view after);

// The lines that an edit removed and added.
struct EditedLines {
  std::vector<std::string> removed;
  std::vector<std::string> added;
};
EditedLines LinesOf(const FileEdit& edit);

}  // namespace upskill

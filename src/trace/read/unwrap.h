// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// Rows of a copied terminal screen as lines again. Two rows are joined only if the screen itself shows that they are
// one line; otherwise they stay apart, because joining two lines of code can turn code into a comment. Evidence of a
// wrap, where `columns` is the width of the text's area:
// - The row ends with exactly one space, where terminal programs break lines, and the first word of the next row, which
//   isn't indented, wouldn't have fitted behind it.
// - The row is full, and the next one begins with the one space that had no room.
// - The row is full and ends inside a URL that is longer than a row, and the next row is the rest of it.
std::string JoinWrappedRows(const std::vector<std::string_view>& rows, std::size_t columns);

// Joins the rows of one argument of a call, which is usually one line: if every row ends where a wrap would have broken
// a single line, it is one. `columns` counts from the beginning of the rows' text.
std::string JoinWrappedArgument(const std::vector<std::string_view>& rows, std::size_t columns);

// A numbered diff as Claude Code draws it ("  12 +  text", continuation rows without a number) as the hunks of a
// unified diff, with its lines joined. Line numbers are those of the new file. Nothing if the rows are something else.
std::optional<std::string> HunksOfScreenDiff(const std::vector<std::string_view>& rows);

}  // namespace upskill

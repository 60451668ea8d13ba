// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "eval/verdict/judged_run.h"

namespace upskill {

// `text` on one line of GitHub Markdown, also in a table, and at most `columns` wide: nothing in it is markup, a link
// or a mention.
std::string MarkdownText(std::string_view text, std::size_t columns = 200);

// A summary for the comment of a pull request: for each run a table of verdicts, then what one should know about it.
std::string MarkdownReport(std::span<const JudgedRun> runs);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

inline constexpr std::size_t kMaxAuditedBytes = std::size_t{2} << 20U;  // of a file

// How the text of a file can be read.
enum class Reading {
  kRaw,          // as it is; of a file that isn't text, its first bytes
  kPlain,        // compatible and look-alike letters as ASCII, without invisible characters, continued lines joined
  kUnquoted,     // the same as a shell takes it: without quotes in words, values for variables
  kHidden,       // what a reader of the page doesn't see: comments, text after many blank lines, encoded text
  kFrontmatter,  // of SKILL.md
};

// Lines end in \n; a \r stands for the end of a line that is joined with the next one.
struct ReadableText {
  Reading reading = Reading::kRaw;
  std::string text;
  std::size_t first_line = 1;
};

// Whether agents run the file rather than read it, by its name and first line.
bool IsScript(std::string_view name, std::string_view content);

// All readings of a file, of its first kMaxAuditedBytes. Those that would repeat another one are left out.
std::vector<ReadableText> ReadingsOf(std::string_view name, std::string_view content);

// The text with characters that can't be seen as \u{…}.
std::string WithVisibleCharacters(std::string_view text);

}  // namespace upskill

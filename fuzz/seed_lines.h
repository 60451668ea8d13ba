// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// The name of the file in a parser's folder of the corpus that has an input on each of its lines.
inline constexpr std::string_view kSeedLinesName = "seeds.txt";

struct SeedLine {
  std::string bytes;
  bool is_valid = false;  // a comment above it says what it is; fuzzers have found the others
};

// An input as one line of printable ASCII: \n, \t and \\ as in C, \xHH for other bytes and for a # at the beginning.
std::string SeedLineOf(std::string_view bytes);

// The inputs of such a file. Lines that begin with # are comments, and empty lines end what a comment is about.
std::vector<SeedLine> ReadSeedLines(std::string_view text);

}  // namespace upskill

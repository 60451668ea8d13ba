// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace upskill {

inline constexpr std::size_t kMaxEnvFileBytes = std::size_t{64} << 10U;

// NAME=value in a `.env` file.
struct EnvLine {
  std::string name;
  std::string value;
  std::size_t line = 0;  // from 1, where it begins
};

struct EnvFileText {
  std::vector<EnvLine> lines;           // in order; of several with one name, the last one counts
  std::vector<std::size_t> unreadable;  // lines that are no assignment
};

// Reads the text of a `.env` file as python-dotenv does: optional `export `, quoted values that may span lines, with
// the escapes \\ and \' in single and \\ \' \" \a \b \f \n \r \t \v in double quotes, comments, CRLF, a byte order
// mark. Unlike there, `${NAME}` isn't expanded, and only ASCII white space separates. A name without `=` is left out.
// Takes time in step with the text's size.
EnvFileText ParseEnvFile(std::string_view text);

}  // namespace upskill

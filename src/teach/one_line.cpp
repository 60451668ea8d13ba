// SPDX-License-Identifier: Apache-2.0
#include "teach/one_line.h"

#include "util/text.h"

namespace upskill {

std::string OneLine(std::string_view text) {
  if (FindInvalidUtf8(text)) return OneLine(ReplaceInvalidUtf8(text));
  std::string line;
  bool space = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= 0x20 || byte == 0x7F) {
      space = !line.empty();
      continue;
    }
    if (space) line += ' ';
    space = false;
    line += c;
  }
  return line;
}

}  // namespace upskill

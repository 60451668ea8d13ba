// SPDX-License-Identifier: Apache-2.0
#include "fuzz/seed_lines.h"

#include <charconv>
#include <cstddef>

namespace upskill {

namespace {

constexpr unsigned char kDelete = 0x7F;

std::string UnescapedLine(std::string_view line) {
  std::string bytes;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      bytes += line[i];
      continue;
    }
    const char kind = line[++i];
    unsigned code = 0;
    if (kind == 'x' && i + 2 < line.size() &&
        std::from_chars(line.data() + i + 1, line.data() + i + 3, code, 16).ptr == line.data() + i + 3) {
      bytes += static_cast<char>(code);
      i += 2;
    } else {
      bytes += kind == 'n' ? '\n' : kind == 't' ? '\t' : kind;
    }
  }
  return bytes;
}

}  // namespace

std::string SeedLineOf(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string line;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (c == '\\') {
      line += "\\\\";
    } else if (byte < ' ' || byte >= kDelete || (c == '#' && line.empty())) {
      line += {'\\', 'x', kDigits[byte / 16], kDigits[byte % 16]};
    } else {
      line += c;
    }
  }
  return line;
}

std::vector<SeedLine> ReadSeedLines(std::string_view text) {
  std::vector<SeedLine> inputs;
  bool is_valid = false;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') {
      is_valid = !line.empty();
    } else {
      inputs.push_back({UnescapedLine(line), is_valid});
    }
  }
  return inputs;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/check.h"
#include "util/fences.h"

namespace upskill {
namespace {

bool IsNameCharacter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.' || c == '/' || byte >= 0x80;
}

bool StartsName(std::string_view before) {
  if (before.ends_with("./")) before.remove_suffix(2);
  return before.empty() || !IsNameCharacter(before.back());
}

bool EndsName(std::string_view after) {
  // The full stop of a sentence: "Here is build.toml."
  if (after.starts_with('.')) after.remove_prefix(1);
  return after.empty() || !IsNameCharacter(after.front());
}

// Whether the line contains `file` as a whole name, not as a part of "my-build.toml" or "old/build.toml".
bool NamesFile(std::string_view line, std::string_view file) {
  for (std::size_t at = line.find(file); at != std::string_view::npos; at = line.find(file, at + 1)) {
    if (StartsName(line.substr(0, at)) && EndsName(line.substr(at + file.size()))) return true;
  }
  return false;
}

}  // namespace

std::string OutputFileContent(std::string_view answer, const std::string& file) {
  if (file.empty()) return std::string(answer);
  std::vector<FencedBlock> blocks = FindFencedBlocks(answer);
  const auto last = std::find_if(blocks.rbegin(), blocks.rend(), [&](const FencedBlock& block) {
    return NamesFile(block.info, file) || NamesFile(block.line_before, file);
  });
  if (last != blocks.rend()) return std::move(last->content);
  return blocks.size() == 1 ? std::move(blocks.front().content) : std::string(answer);
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "check/fenced_blocks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "check/check.h"
#include "util/text.h"

namespace upskill {
namespace {

struct Fence {
  char mark = '`';
  std::size_t length = 0;
  std::string_view rest;  // trimmed
};

std::optional<Fence> FenceAt(std::string_view line) {
  line = Trim(line);
  if (line.empty() || (line.front() != '`' && line.front() != '~')) return std::nullopt;
  Fence fence;
  fence.mark = line.front();
  fence.length = std::min(line.find_first_not_of(fence.mark), line.size());
  fence.rest = Trim(line.substr(fence.length));
  if (fence.length < 3) return std::nullopt;
  // ```this``` is code within a line.
  if (fence.mark == '`' && fence.rest.find('`') != std::string_view::npos) return std::nullopt;
  return fence;
}

bool Closes(const Fence& fence, const Fence& opening) {
  return fence.mark == opening.mark && fence.length >= opening.length && fence.rest.empty();
}

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

// Whether `file` stands in the line as a name of its own: not inside of "my-build.toml" or "old/build.toml".
bool NamesFile(std::string_view line, std::string_view file) {
  for (std::size_t at = line.find(file); at != std::string_view::npos; at = line.find(file, at + 1)) {
    if (StartsName(line.substr(0, at)) && EndsName(line.substr(at + file.size()))) return true;
  }
  return false;
}

}  // namespace

std::vector<FencedBlock> FindFencedBlocks(std::string_view text) {
  std::vector<FencedBlock> blocks;
  std::optional<Fence> opening;
  std::size_t content_start = 0;
  std::string_view line_before;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::size_t next = std::min(end + 1, text.size());
    const std::string_view line = text.substr(start, end - start);
    const std::optional<Fence> fence = FenceAt(line);
    if (opening) {
      if (fence && Closes(*fence, *opening)) {
        blocks.push_back({opening->rest, line_before, text.substr(content_start, start - content_start)});
        opening.reset();
        line_before = {};
      }
    } else if (fence) {
      opening = fence;
      content_start = next;
    } else if (!Trim(line).empty()) {
      line_before = Trim(line);
    }
    start = next;
  }
  if (opening) blocks.push_back({opening->rest, line_before, text.substr(content_start)});
  return blocks;
}

std::string_view OutputFileContent(std::string_view answer, const std::string& file) {
  if (file.empty()) return answer;
  const std::vector<FencedBlock> blocks = FindFencedBlocks(answer);
  const auto last = std::find_if(blocks.rbegin(), blocks.rend(), [&](const FencedBlock& block) {
    return NamesFile(block.info, file) || NamesFile(block.line_before, file);
  });
  if (last != blocks.rend()) return last->content;
  return blocks.size() == 1 ? blocks.front().content : answer;
}

}  // namespace upskill

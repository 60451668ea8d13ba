// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/file_moves.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kEndsCommand = ";&|\n";

// The words of the simple commands of a shell's line; quotes are taken off.
std::vector<std::vector<std::string>> SimpleCommands(std::string_view line) {
  std::vector<std::vector<std::string>> commands(1);
  std::string word;
  bool has_word = false;
  char quote = '\0';
  const auto end_word = [&] {
    if (has_word) commands.back().push_back(std::exchange(word, {}));
    has_word = false;
  };
  for (const char c : line) {
    if (quote != '\0') {
      if (c == quote) {
        quote = '\0';
      } else {
        word += c;
      }
    } else if (c == '\'' || c == '"') {
      quote = c;
      has_word = true;
    } else if (kEndsCommand.find(c) != std::string_view::npos) {
      end_word();
      if (!commands.back().empty()) commands.emplace_back();
    } else if (c == ' ' || c == '\t') {
      end_word();
    } else {
      word += c;
      has_word = true;
    }
  }
  end_word();
  return commands;
}

bool IsPlainName(std::string_view name) {
  return !name.empty() && name.find_first_of("*?[]{}$`~<>()\\") == std::string_view::npos && name != "." &&
         name != "..";
}

std::string Below(const std::string& folder, std::string_view name) {
  while (name.starts_with("./")) name.remove_prefix(2);
  if (folder.empty() || name.starts_with('/')) return std::string(name);
  return folder + (folder.ends_with('/') ? "" : "/") + std::string(name);
}

// The sources and the target of one `mv`.
void AddMoves(const std::vector<std::string>& words, const std::string& folder, std::vector<FileMove>& moves) {
  const std::size_t first = words[0] == "git" ? 2 : 1;
  std::vector<std::string> names;
  for (std::size_t i = first; i < words.size(); ++i) {
    if (!words[i].starts_with('-')) names.push_back(words[i]);
  }
  if (names.size() < 2 || !std::all_of(names.begin(), names.end(), IsPlainName)) return;
  std::string to = Below(folder, names.back());
  if (names.size() > 2 && !to.ends_with('/')) to += '/';
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    std::string from = Below(folder, names[i]);
    while (from.ends_with('/')) from.pop_back();
    moves.push_back({std::move(from), to});
  }
}

std::string_view LastName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// `whole` without `end`, if it ends with these parts of a path.
std::optional<std::string_view> BeforeParts(std::string_view whole, std::string_view end) {
  if (!whole.ends_with(end)) return std::nullopt;
  const std::string_view before = whole.substr(0, whole.size() - end.size());
  return before.empty() || before.ends_with('/') ? std::optional(before) : std::nullopt;
}

}  // namespace

std::vector<FileMove> MovesOf(std::string_view command) {
  constexpr std::size_t kLongest = 20'000;
  std::vector<FileMove> moves;
  if (command.find("mv ") == std::string_view::npos) return moves;
  std::string folder;
  for (const std::vector<std::string>& words : SimpleCommands(command.substr(0, kLongest))) {
    if (words.empty()) continue;
    if (words[0] == "cd" && words.size() == 2) folder = IsPlainName(words[1]) ? Below(folder, words[1]) : "";
    if (words[0] == "mv" || (words.size() > 1 && words[0] == "git" && words[1] == "mv")) AddMoves(words, folder, moves);
  }
  return moves;
}

std::optional<MovedPath> PathAfter(const FileMove& move, std::string_view path) {
  const std::string to = move.to.ends_with('/') ? move.to + std::string(LastName(move.from)) : move.to;
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string_view moved = path.substr(0, end);
    const std::string_view rest = end == std::string_view::npos ? "" : path.substr(end);
    // The path may have folders that the command's names don't have, or the other way round.
    if (const auto root = BeforeParts(moved, move.from); root && !move.from.empty()) {
      const std::string base = to.starts_with('/') ? "" : std::string(*root);
      return MovedPath{std::string(*root), base + to + std::string(rest)};
    }
    if (const auto root = BeforeParts(move.from, moved); root && to.starts_with(*root))
      return MovedPath{"", to.substr(root->size()) + std::string(rest)};
    if (end == std::string_view::npos) return std::nullopt;
  }
}

}  // namespace upskill

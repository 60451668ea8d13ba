// SPDX-License-Identifier: Apache-2.0
#include "model/desk_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>
#include <unordered_map>

#include "model/structured_answer.h"
#include "util/byte_order_mark.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kRequestEnd = "-request.md";
constexpr std::string_view kAnswerEnd = "-answer.md";
constexpr std::string_view kMarkStart = "<!-- upskill request ";
constexpr std::string_view kMarkEnd = " -->";
constexpr std::size_t kKeyDigits = 16;
// The next request gets the number after the largest, so there must be one.
constexpr int kMaxNumber = 999'999'999;

std::string JoinAt(const std::vector<std::string_view>& lines, std::size_t at, std::size_t count) {
  const auto first = lines.begin() + static_cast<std::ptrdiff_t>(at);
  return fmt::format("{}", fmt::join(first, first + static_cast<std::ptrdiff_t>(count), "\n"));
}

// Another name for the same number, such as 1-request.md, isn't ours.
std::optional<int> NumberBefore(std::string_view end, std::string_view name) {
  if (!name.ends_with(end)) return std::nullopt;
  const std::optional<std::int64_t> number = ParseWholeNumber(name.substr(0, name.size() - end.size()), 1, kMaxNumber);
  if (!number || fmt::format("{:04}{}", *number, end) != name) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

std::string DeskRequestName(int number) { return fmt::format("{:04}{}", number, kRequestEnd); }
std::string DeskNewName(int number) { return fmt::format("{:04}-new.md", number); }
std::string DeskAnswerName(int number) { return fmt::format("{:04}{}", number, kAnswerEnd); }

Result<DeskNumbers> DeskNumbersIn(const fs::path& folder) {
  std::error_code code;
  const fs::directory_iterator entries(folder, code);
  if (code) return ErrnoError("listing", folder, code.value());
  DeskNumbers numbers;
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename().string();
    const std::optional<int> request = NumberBefore(kRequestEnd, name);
    if (request) numbers.requests.insert(*request);
    numbers.last = std::max({numbers.last, request.value_or(0), NumberBefore(kAnswerEnd, name).value_or(0)});
  }
  return numbers;
}

fs::path DeskFileToPaste(const fs::path& folder, int number, bool whole) {
  std::error_code code;
  const fs::path only_new = folder / DeskNewName(number);
  return !whole && fs::exists(only_new, code) ? only_new : folder / DeskRequestName(number);
}

bool IsForNewChat(std::string_view request) {
  const std::vector<std::string_view> lines = SplitLines(request);
  return std::find(lines.begin(), lines.end(), kForNewChat) != lines.end();
}

std::string DeskKeyOf(std::string_view request) { return Sha256Hex(request).substr(0, kKeyDigits); }

std::string DeskMark(const std::string& key) { return fmt::format("{}{}{}", kMarkStart, key, kMarkEnd); }

std::optional<std::string> DeskKeyIn(std::string_view file) {
  std::string_view line = file.substr(0, file.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() != kMarkStart.size() + kKeyDigits + kMarkEnd.size()) return std::nullopt;
  if (!line.starts_with(kMarkStart) || !line.ends_with(kMarkEnd)) return std::nullopt;
  std::string key(line.substr(kMarkStart.size(), kKeyDigits));
  if (key.find_first_not_of("0123456789abcdef") != std::string::npos) return std::nullopt;
  return key;
}

std::string DeskNewText(std::string_view request, const std::vector<DeskEarlier>& earlier) {
  constexpr std::size_t kLeastLines = 10;
  constexpr std::size_t kLeastBytes = 2000;
  constexpr std::size_t kShown = 60;  // columns
  struct Place {
    const std::vector<std::string_view>* lines;
    std::size_t at;
    int number;
  };
  std::vector<std::vector<std::string_view>> texts;
  texts.reserve(earlier.size());
  for (const DeskEarlier& one : earlier) texts.push_back(SplitLines(one.text));
  // Where the first `kLeastLines` lines of a passage are, by their text. The latest request counts.
  std::unordered_map<std::string, Place> places;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    for (std::size_t i = 0; i + kLeastLines <= texts[k].size(); ++i)
      places[JoinAt(texts[k], i, kLeastLines)] = {&texts[k], i, earlier[k].number};
  }
  const std::vector<std::string_view> lines = SplitLines(request);
  std::string text;
  bool replaced = false;
  for (std::size_t i = 0; i < lines.size();) {
    const auto place = i + kLeastLines <= lines.size() ? places.find(JoinAt(lines, i, kLeastLines)) : places.end();
    std::size_t same = 0;
    std::size_t bytes = 0;
    if (place != places.end()) {
      const auto& [other, at, number] = place->second;
      for (; i + same < lines.size() && at + same < other->size() && lines[i + same] == (*other)[at + same]; ++same)
        bytes += lines[i + same].size() + 1;
    }
    if (bytes < kLeastBytes) {
      text.append(lines[i++]).append("\n");
      continue;
    }
    replaced = true;
    std::size_t first = i;
    std::size_t last = i + same - 1;
    while (first < last && Trim(lines[first]).empty()) ++first;
    while (last > first && Trim(lines[last]).empty()) --last;
    text += fmt::format("\n[{} lines as in request {}, from \"{}\" to \"{}\"]\n\n", same, place->second.number,
                        CutToColumns(lines[first], kShown), CutToColumns(lines[last], kShown));
    i += same;
  }
  return replaced ? text : "";
}

std::string DeskAnswerText(std::string_view file) {
  if (file.starts_with(kByteOrderMark)) file.remove_prefix(kByteOrderMark.size());
  return std::string(Trim(ReplaceInvalidUtf8(file)));
}

}  // namespace upskill

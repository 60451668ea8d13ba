// SPDX-License-Identifier: Apache-2.0
#include "model/desk_files.h"

#include <fmt/format.h>

#include <cstdint>

#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kRequestEnd = "-request.md";
constexpr std::string_view kAnswerEnd = "-answer.md";
constexpr std::string_view kMarkStart = "<!-- upskill request ";
constexpr std::string_view kMarkEnd = " -->";
constexpr std::size_t kKeyDigits = 16;
// The next request gets the number after the largest, so there must be one.
constexpr int kMaxNumber = 999'999'999;

// Another name for the same number, such as 1-request.md, isn't ours.
std::optional<int> NumberBefore(std::string_view end, std::string_view name) {
  if (!name.ends_with(end)) return std::nullopt;
  const std::optional<std::int64_t> number = ParseWholeNumber(name.substr(0, name.size() - end.size()), 1, kMaxNumber);
  if (!number || fmt::format("{:04}{}", *number, end) != name) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

std::string DeskRequestName(int number) { return fmt::format("{:04}{}", number, kRequestEnd); }
std::string DeskAnswerName(int number) { return fmt::format("{:04}{}", number, kAnswerEnd); }

std::optional<int> DeskRequestNumber(std::string_view name) { return NumberBefore(kRequestEnd, name); }
std::optional<int> DeskAnswerNumber(std::string_view name) { return NumberBefore(kAnswerEnd, name); }

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

std::string DeskAnswerText(std::string_view file) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (file.starts_with(kByteOrderMark)) file.remove_prefix(kByteOrderMark.size());
  return std::string(Trim(ReplaceInvalidUtf8(file)));
}

}  // namespace upskill

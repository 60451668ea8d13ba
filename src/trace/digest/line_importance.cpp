// SPDX-License-Identifier: Apache-2.0
#include "trace/digest/line_importance.h"

#include <re2/re2.h>

#include <algorithm>

#include "util/text.h"

namespace upskill {
namespace {

bool IsMatch(std::string_view text, const RE2& pattern) {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

bool IsRegistration(std::string_view line) {
  static const RE2 pattern(
      R"((?i)\.(?:def|impl)\(\s*["']|\bregister\w*\s*[(<]|[A-Z]_REGISTER\w*\(|\bTORCH_LIBRARY|_MODULE\(|TORCH_EXTENSION_NAME|)"
      R"(@[\w.]+\.(?:route|get|post|put|delete|command|task|register|tool|fixture)\b|)"
      R"(\.(?:include_\w+|mount|register)\(\w|\badd_(?:subcommand|command|route|executable|library|test|parser|url_rule)\(|\bentry_points\b|\bconsole_scripts\b)");
  // A call statement whose first argument is a quoted name: `router.HandleFunc("/zones", zones)`.
  static const RE2 named_pattern(R"(^[\w.:]+(?:<[\w:, ]+>)?\(\s*["'][\w./:{}<>*@-]+["']\s*[,)])");
  static const RE2 printing_pattern(
      R"((?i)^(?:\w*print\w*|.*\b(?:log\w*|warn|error|debug|info|assert\w*|expect\w*|raise|throw)\b.*\(\s*["']))");
  return IsMatch(line, pattern) || (IsMatch(line, named_pattern) && !IsMatch(line, printing_pattern));
}

bool IsExport(std::string_view line) {
  static const RE2 pattern(
      R"(__all__|^(?:export (?:default|const|function|class|type|\{|\*)|pub (?:use|mod) )|module\.exports)");
  return IsMatch(line, pattern);
}

bool IsVersion(std::string_view line) {
  static const RE2 pattern(R"((?i)(?:==|>=|~=|<=|@\^?|\^)\s*v?\d+\.\d+|\bversion\w*\b.{0,20}\d+\.\d+|)"
                           R"(\b(?:cuda|python|torch|node|gcc|clang|cmake|rustc?|go|java|numpy|driver)[ -]?v?\d+\.\d+|)"
                           R"(\brelease v?\d+\.\d+|^"[\w@/.-]+":\s*"[~^]?\d+\.\d+)");
  return IsMatch(line, pattern);
}

bool IsShape(std::string_view line) {
  static const RE2 pattern(
      R"([\[(](?:batch\w*|[BNT]|bs)\s*,|\bshapes?\b.*[\[(]|torch\.Size\(|\.(?:dim|ndim)(?:\(\))? == \d)");
  return IsMatch(line, pattern);
}

bool IsSignature(std::string_view line) {
  static const RE2 pattern(
      R"(^(?:async )?def \w+\(|^(?:export )?(?:abstract )?class \w+|^(?:pub(?:\(\w+\))? )?(?:async )?fn \w+|^func [\w(]|)"
      R"(^(?:struct|enum|interface|trait|type|namespace) \w+|^template\s*<|^#define \w+|^(?:export )?(?:async )?function \w+|)"
      R"(^(?:[\w:<>*&]+ )+[*&]*[\w:]+\([^;{}]*\)(?: const)?\s*[;{]$)");
  return IsMatch(line, pattern);
}

bool IsConfiguration(std::string_view line) {
  static const RE2 pattern(
      R"(^[A-Za-z_][\w.-]*\s*=\s*(?:["'\[{]|-?\d|true|false)[^;]*$|^"[\w./@-]+":\s*\S|^[a-z_][\w.-]*:\s+\S+(?: \S+){0,4}$|^\[\[?[\w."-]+\]\]?$)");
  return IsMatch(line, pattern);
}

}  // namespace

LineClass ClassOfLine(std::string_view line) {
  line = Trim(line);
  constexpr std::size_t kShortest = 5;
  constexpr std::size_t kLongest = 400;
  if (line.size() < kShortest || line.size() > kLongest) return LineClass::kOther;
  if (IsRegistration(line)) return LineClass::kRegistration;
  if (IsExport(line)) return LineClass::kExport;
  if (IsVersion(line)) return LineClass::kVersion;
  if (IsShape(line)) return LineClass::kShape;
  if (IsSignature(line)) return LineClass::kSignature;
  return IsConfiguration(line) ? LineClass::kConfiguration : LineClass::kOther;
}

std::string LineSkeleton(std::string_view line) {
  constexpr std::size_t kLongest = 400;
  std::string skeleton;
  line = Trim(line).substr(0, kLongest);
  for (std::size_t i = 0; i < line.size();) {
    const char c = line[i];
    const auto is_word = [](char w) {
      return (w >= 'a' && w <= 'z') || (w >= 'A' && w <= 'Z') || (w >= '0' && w <= '9') || w == '_' ||
             static_cast<unsigned char>(w) >= 0x80;
    };
    if (is_word(c)) {
      while (i < line.size() && is_word(line[i])) ++i;
      skeleton += 'a';
    } else if (c == '"' || c == '\'') {
      const std::size_t end = line.find(c, i + 1);
      i = end == std::string_view::npos ? line.size() : end + 1;
      skeleton += '"';
    } else {
      if (c != ' ' && c != '\t') skeleton += c;
      ++i;
    }
  }
  return skeleton;
}

}  // namespace upskill

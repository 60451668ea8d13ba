// SPDX-License-Identifier: Apache-2.0
#include "util/env_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "util/byte_order_mark.h"

namespace upskill {
namespace {

constexpr std::string_view kBlanks = " \t\v\f";     // within a line
constexpr std::string_view kWhite = " \t\v\f\r\n";  // also between lines

class EnvFileReader {
 public:
  explicit EnvFileReader(std::string_view text) : text_(text) {}

  EnvFileText Read() {
    EnvFileText out;
    while (true) {
      Skip(kWhite);
      if (AtEnd()) return out;
      const std::size_t line = LineHere();
      EnvLine found;
      found.line = line;
      bool has_value = false;
      if (TakeAssignment(found, has_value)) {
        if (has_value) out.lines.push_back(std::move(found));
      } else {
        out.unreadable.push_back(line);
        SkipToLineEnd();
      }
    }
  }

 private:
  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  bool AtLineEnd() const { return AtEnd() || text_[at_] == '\n' || text_[at_] == '\r'; }
  void Skip(std::string_view set) { at_ = std::min(text_.find_first_not_of(set, at_), text_.size()); }
  void SkipToLineEnd() { at_ = std::min(text_.find_first_of("\r\n", at_), text_.size()); }

  // The line that is being read. Called for increasing places only.
  std::size_t LineHere() {
    for (; counted_ < at_; ++counted_) {
      const bool is_crlf = text_[counted_] == '\r' && counted_ + 1 < text_.size() && text_[counted_ + 1] == '\n';
      if (text_[counted_] == '\n' || (text_[counted_] == '\r' && !is_crlf)) ++line_;
    }
    return line_;
  }

  // A whole assignment, a name alone or a comment. False: something else.
  bool TakeAssignment(EnvLine& found, bool& has_value) {
    TakeExport();
    if (Peek() != '#') {
      if (!TakeName(found.name)) return false;
      Skip(kBlanks);
      if (Peek() == '=') {
        ++at_;
        const std::size_t before = at_;
        Skip(kBlanks);
        std::optional<std::string> value = TakeValue(at_ > before);
        if (!value) return false;
        found.value = *std::move(value);
        has_value = true;
      }
    }
    Skip(kBlanks);
    if (Peek() == '#') SkipToLineEnd();
    return AtLineEnd();
  }

  void TakeExport() {
    constexpr std::string_view kExport = "export";
    if (!text_.substr(at_).starts_with(kExport)) return;
    const std::size_t after = text_.find_first_not_of(kBlanks, at_ + kExport.size());
    if (after == at_ + kExport.size() || after == std::string_view::npos) return;
    at_ = after;
  }

  bool TakeName(std::string& name) {
    if (Peek() == '\'') {
      const std::size_t end = text_.find('\'', at_ + 1);
      if (end == std::string_view::npos || end == at_ + 1) return false;
      name = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return true;
    }
    const std::size_t end = std::min(text_.find_first_of("=# \t\v\f\r\n", at_), text_.size());
    name = text_.substr(at_, end - at_);
    at_ = end;
    return !name.empty();
  }

  std::optional<std::string> TakeValue(bool after_blank) {
    if (AtLineEnd()) return std::string();
    if (Peek() == '\'') return TakeQuoted('\'', "\\'");
    if (Peek() == '"') return TakeQuoted('"', "\\'\"abfnrtv");
    const std::size_t begin = at_;
    SkipToLineEnd();
    std::string_view value = text_.substr(begin, at_ - begin);
    if (after_blank && value.starts_with('#')) return std::string();
    // A comment begins at the first `#` after white space.
    for (std::size_t hash = value.find('#'); hash != std::string_view::npos; hash = value.find('#', hash + 1)) {
      if (hash == 0 || kBlanks.find(value[hash - 1]) == std::string_view::npos) continue;
      value = value.substr(0, hash);
      break;
    }
    return std::string(value.substr(0, value.find_last_not_of(kBlanks) + 1));
  }

  // Up to the first quote without a backslash before it; without any, up to the last one in the text.
  std::optional<std::string> TakeQuoted(char quote, std::string_view escapes) {
    std::size_t end = std::string_view::npos;
    for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
      if (text_[i] == quote) {
        end = i;
        break;
      }
      if (text_[i] == '\\' && i + 1 < text_.size() && text_[i + 1] == quote) end = ++i;
    }
    if (end == std::string_view::npos) {
      at_ += 1;
      return std::nullopt;
    }
    const std::string_view raw = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return Unescaped(raw, escapes);
  }

  static std::string Unescaped(std::string_view raw, std::string_view escapes) {
    constexpr std::string_view kNames = "abfnrtv";
    constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v";
    std::string value;
    for (std::size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '\\' || i + 1 >= raw.size() || escapes.find(raw[i + 1]) == std::string_view::npos) {
        value += raw[i];
        continue;
      }
      const char escaped = raw[++i];
      const std::size_t name = kNames.find(escaped);
      value += name == std::string_view::npos ? escaped : kMeanings[name];
    }
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

EnvFileText ParseEnvFile(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return EnvFileReader(text).Read();
}

}  // namespace upskill

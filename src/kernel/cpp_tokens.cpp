// SPDX-License-Identifier: Apache-2.0
#include "kernel/cpp_tokens.h"

#include <algorithm>

#include "kernel/words.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kLongestRawDelimiter = 16;

bool IsNameByte(char c) { return IsAsciiWord(c) || static_cast<unsigned char>(c) >= 0x80; }
bool IsNameStart(char c) { return IsNameByte(c) && !IsAsciiDigit(c); }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

class CppTokenizer {
 public:
  explicit CppTokenizer(std::string_view text) : text_(text) {
    code_.text = text;
    code_.branches.emplace_back();
  }

  CppText Take() && {
    while (at_ < text_.size()) Step();
    MatchBrackets();
    return std::move(code_);
  }

 private:
  char Peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  std::string_view Rest() const { return text_.substr(at_); }

  void Step() {
    const char c = Peek();
    if (c == '\n') {
      ++at_;
      line_start_ = true;
      in_define_ = false;
    } else if (IsBlank(c) || SkipJoinedLine()) {
      at_ += IsBlank(c) ? 1 : 0;
    } else if (!SkipComment()) {
      if (c == '#' && line_start_) {
        TakeDirective();
      } else {
        line_start_ = false;
        TakeToken(c);
      }
    }
  }

  // A backslash at the end of a line joins the next line to it.
  bool SkipJoinedLine() {
    if (Peek() != '\\') return false;
    const std::size_t length = Peek(1) == '\n' ? 2 : (Peek(1) == '\r' && Peek(2) == '\n' ? 3 : 0);
    at_ += length;
    return length > 0;
  }

  bool SkipComment() {
    if (Peek() != '/') return false;
    if (Peek(1) == '/') {
      at_ = EndOfLine(at_);
      return true;
    }
    if (Peek(1) != '*') return false;
    const std::size_t end = text_.find("*/", at_ + 2);
    at_ = end == std::string_view::npos ? text_.size() : end + 2;
    return true;
  }

  // The end of the line, with the lines that backslashes join to it.
  std::size_t EndOfLine(std::size_t from) const {
    while (true) {
      const std::size_t end = std::min(text_.find('\n', from), text_.size());
      std::size_t last = end;
      if (last > from && text_[last - 1] == '\r') --last;
      if (end == text_.size() || last == from || text_[last - 1] != '\\') return end;
      from = end + 1;
    }
  }

  void TakeDirective() {
    ++at_;
    while (IsBlank(Peek())) ++at_;
    const std::size_t start = at_;
    while (IsNameByte(Peek())) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    const std::size_t end = EndOfLine(at_);
    const std::string_view rest = Trim(text_.substr(at_, end - at_));
    if (name == "define") {
      // An include guard is no branch.
      if (!guard_.empty() && FirstName(rest) == guard_) branch_ = code_.branches[branch_].around;
      guard_ = {};
      in_define_ = true;  // its text is tokens like any others
      line_start_ = false;
      return;
    }
    at_ = end;
    guard_ = {};
    if (name == "include") {
      TakeInclude(rest);
    } else if (name == "if" || name == "ifdef" || name == "ifndef") {
      if (name == "ifndef") guard_ = FirstName(rest);
      OpenBranch(branch_, name == "if" && IsConstant(rest, '0'), name == "if" && IsConstant(rest, '1'));
      if (name != "ifndef") code_.branches.back().condition = rest;
    } else if ((name == "elif" || name == "else") && !open_.empty()) {
      NextBranch();
      if (name == "elif") code_.branches.back().condition = rest;
    } else if (name == "endif" && !open_.empty()) {
      branch_ = open_.back().around;
      open_.pop_back();
    }
  }

  static std::string_view FirstName(std::string_view text) {
    return text.substr(0,
                       static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), IsNameByte) - text.begin()));
  }

  static bool IsConstant(std::string_view condition, char value) {
    return !condition.empty() && condition.front() == value && (condition.size() == 1 || !IsNameByte(condition[1]));
  }

  void TakeInclude(std::string_view rest) {
    if (Dead() || rest.size() < 2) return;
    const bool quoted = rest.front() == '"';
    if (!quoted && rest.front() != '<') return;
    const std::size_t end = rest.find(quoted ? '"' : '>', 1);
    if (end != std::string_view::npos) code_.includes.push_back({rest.substr(1, end - 1), quoted, branch_});
  }

  bool Dead() const { return code_.branches[branch_].dead; }

  void OpenBranch(std::uint32_t around, bool is_zero, bool is_one) {
    open_.push_back({around, is_one});
    AddBranch(around, is_zero);
  }

  void AddBranch(std::uint32_t around, bool dead) {
    code_.branches.push_back({around, dead || code_.branches[around].dead, {}});
    branch_ = static_cast<std::uint32_t>(code_.branches.size() - 1);
  }

  void NextBranch() { AddBranch(open_.back().around, open_.back().first_is_live); }

  void TakeToken(char c) {
    if (IsNameStart(c)) {
      TakeName();
    } else if (IsAsciiDigit(c) || (c == '.' && IsAsciiDigit(Peek(1)))) {
      TakeNumber();
    } else if (c == '"') {
      TakeQuoted('"');
    } else if (c == '\'') {
      TakeQuoted('\'');
    } else {
      const std::size_t length = c == ':' && Peek(1) == ':' ? 2 : 1;
      Add(CppToken::Kind::kPunctuation, at_, at_ + length);
      at_ += length;
    }
  }

  void TakeName() {
    const std::size_t start = at_;
    while (at_ < text_.size() && IsNameByte(text_[at_])) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (Peek() == '"' && (name == "R" || name == "u8R" || name == "LR" || name == "uR" || name == "UR") && TakeRaw())
      return;
    Add(CppToken::Kind::kName, start, at_);
  }

  // R"delimiter(…)delimiter"; without its end, the rest of the text.
  bool TakeRaw() {
    const std::string_view start = text_.substr(at_ + 1, kLongestRawDelimiter + 1);
    const std::size_t delimiter = start.find('(');
    if (delimiter == std::string_view::npos) return false;
    const std::size_t content = at_ + 1 + delimiter + 1;
    const std::string close = ")" + std::string(start.substr(0, delimiter)) + "\"";
    const std::size_t end = std::min(text_.find(close, content), text_.size());
    Add(CppToken::Kind::kString, content, end);
    at_ = std::min(end + close.size(), text_.size());
    return true;
  }

  void TakeNumber() {
    const std::size_t start = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      const bool sign = (c == '+' || c == '-') && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      const bool separator = c == '\'' && IsNameByte(Peek(1));
      if (!IsNameByte(c) && c != '.' && !sign && !separator) break;
      ++at_;
    }
    Add(CppToken::Kind::kNumber, start, at_);
  }

  // A string or character; without its closing quote, it ends with the line.
  void TakeQuoted(char quote) {
    const std::size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    if (quote == '"') {
      Add(CppToken::Kind::kString, start, at_);
    } else {
      Add(CppToken::Kind::kNumber, start, at_);
    }
    if (Peek() == quote) ++at_;
  }

  void Add(CppToken::Kind kind, std::size_t start, std::size_t end) {
    if (!Dead()) code_.tokens.push_back({kind, in_define_, branch_, text_.substr(start, end - start)});
  }

  void MatchBrackets() {
    code_.partner.resize(code_.tokens.size());
    std::vector<std::uint32_t> open;
    for (std::uint32_t i = 0; i < code_.tokens.size(); ++i) {
      code_.partner[i] = i;
      if (code_.tokens[i].kind != CppToken::Kind::kPunctuation) continue;
      const char c = code_.tokens[i].text.front();
      if (c == '(' || c == '[' || c == '{') {
        open.push_back(i);
      } else if (c == ')' || c == ']' || c == '}') {
        const char opening = c == ')' ? '(' : (c == ']' ? '[' : '{');
        // A brace ends what was left open within it.
        while (c == '}' && !open.empty() && code_.tokens[open.back()].text.front() != '{') open.pop_back();
        if (open.empty() || code_.tokens[open.back()].text.front() != opening) continue;
        code_.partner[i] = open.back();
        code_.partner[open.back()] = i;
        open.pop_back();
      }
    }
  }

  struct Open {
    std::uint32_t around;
    bool first_is_live;  // after `#if 1`, the other branches are disabled
  };

  std::string_view text_;
  CppText code_;
  std::size_t at_ = 0;
  bool line_start_ = true;
  bool in_define_ = false;
  std::string_view guard_;  // the name in the #ifndef of the line before
  std::uint32_t branch_ = 0;
  std::vector<Open> open_;
};

}  // namespace

CppText TokenizeCpp(std::string_view text) { return CppTokenizer(text).Take(); }

std::string TakeStrings(const CppText& code, std::size_t& token) {
  std::string value;
  for (; token < code.tokens.size() && code.tokens[token].kind == CppToken::Kind::kString; ++token) {
    const std::string_view text = code.tokens[token].text;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\' || i + 1 == text.size()) {
        value += text[i];
        continue;
      }
      ++i;
      if (text[i] == 'n' || text[i] == 't' || text[i] == '\n' || text[i] == '\r') {
        value += ' ';
      } else {
        value += text[i];
      }
    }
  }
  return value;
}

}  // namespace upskill

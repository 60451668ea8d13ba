// SPDX-License-Identifier: Apache-2.0
#include "prompts/prompt_template.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "util/text.h"

namespace upskill {

// Splits a text into pieces.
class PromptParser {
 public:
  PromptParser(const std::string& text, const std::set<std::string>& known, const std::string& source)
      : text_(text), known_(known), source_(source) {}

  Result<PromptTemplate> Parse() {
    while (at_ < text_.size()) {
      const std::size_t open = std::min(text_.find("{{", at_), text_.size());
      if (open == text_.size()) {
        AddText(open);
        break;
      }
      RETURN_IF_ERROR(TakeTag(open));
    }
    if (!sections_.empty())
      return At(sections_.back().second, fmt::format("{{{{#{0}}}}} without {{{{/{0}}}}}", sections_.back().first));
    return std::move(parsed_);
  }

 private:
  using Piece = PromptTemplate::Piece;
  using Kind = Piece::Kind;

  Error At(std::size_t offset, const std::string& problem) const {
    return InputError(fmt::format("{}:{}: {}", source_, PositionAt(text_, offset).line, problem));
  }

  void AddText(std::size_t end) {
    if (end > at_) parsed_.pieces_.push_back({Kind::kText, text_.substr(at_, end - at_)});
    at_ = end;
  }

  Status TakeTag(std::size_t open) {
    const std::size_t close = text_.find_first_of("}\n", open);
    if (text_.compare(std::min(close, text_.size()), 2, "}}") != 0) return At(open, "{{ without }} on the same line");
    std::string_view tag = std::string_view(text_).substr(open + 2, close - open - 2);
    Kind kind = Kind::kValue;
    if (tag.starts_with('#')) kind = Kind::kIfFilled;
    if (tag.starts_with('^')) kind = Kind::kIfEmpty;
    if (tag.starts_with('/')) kind = Kind::kEnd;
    if (kind != Kind::kValue) tag.remove_prefix(1);
    const std::string name(Trim(tag));
    if (!known_.contains(name)) {
      constexpr std::size_t kShownName = 60;
      const std::string hint =
          known_.empty() ? "this prompt has none" : fmt::format("this prompt has {}", fmt::join(known_, ", "));
      return At(open, fmt::format("unknown placeholder {{{{{}}}}}; {}", ExcerptLine(name, kShownName), hint));
    }
    if (kind == Kind::kIfFilled || kind == Kind::kIfEmpty) sections_.emplace_back(name, open);
    if (kind == Kind::kEnd) {
      if (sections_.empty() || sections_.back().first != name)
        return At(open, fmt::format("{{{{/{0}}}}} without {{{{#{0}}}}}", name));
      sections_.pop_back();
    }
    constexpr int kMaxUses = 20;  // a value may be long: 100 kB for the material
    if (kind == Kind::kValue && ++uses_[name] > kMaxUses)
      return At(open, fmt::format("{{{{{}}}}} is used more than {} times", name, kMaxUses));
    const auto [begin, end] = kind == Kind::kValue ? std::pair(open, close + 2) : Line(open, close + 2);
    AddText(begin);
    parsed_.pieces_.push_back({kind, name});
    at_ = end;
    return {};
  }

  // The line of a section's tag, which goes with it if there is nothing else; otherwise the tag, from `open` to
  // `close`.
  std::pair<std::size_t, std::size_t> Line(std::size_t open, std::size_t close) const {
    constexpr std::string_view kBlank = " \t\r";
    std::size_t begin = open;
    while (begin > at_ && kBlank.find(text_[begin - 1]) != std::string_view::npos) --begin;
    const std::size_t end = std::min(text_.find_first_not_of(kBlank, close), text_.size());
    const bool starts_line = begin == 0 || text_[begin - 1] == '\n';
    const bool ends_line = end == text_.size() || text_[end] == '\n';
    if (!starts_line || !ends_line) return {open, close};
    return {begin, std::min(end + 1, text_.size())};
  }

  const std::string& text_;
  const std::set<std::string>& known_;
  const std::string& source_;
  std::size_t at_ = 0;
  std::map<std::string, int> uses_;
  std::vector<std::pair<std::string, std::size_t>> sections_;  // open ones, with their offsets
  PromptTemplate parsed_;
};

Result<PromptTemplate> PromptTemplate::Parse(const std::string& text, const std::set<std::string>& known,
                                             const std::string& source) {
  return PromptParser(text, known, source).Parse();
}

std::string PromptTemplate::Render(const PromptValues& values) const {
  std::string out;
  std::size_t depth = 0;   // of open sections
  std::size_t hidden = 0;  // the depth of the outermost one that is left out; 0: none is
  for (const Piece& piece : pieces_) {
    const auto value = values.find(piece.text);
    const bool filled = value != values.end() && !value->second.empty();
    switch (piece.kind) {
      case Piece::Kind::kText:
        if (hidden == 0) out += piece.text;
        break;
      case Piece::Kind::kValue:
        if (hidden == 0 && filled) out += value->second;
        break;
      case Piece::Kind::kIfFilled:
      case Piece::Kind::kIfEmpty:
        ++depth;
        if (hidden == 0 && filled != (piece.kind == Piece::Kind::kIfFilled)) hidden = depth;
        break;
      case Piece::Kind::kEnd:
        if (hidden == depth) hidden = 0;
        --depth;
        break;
    }
  }
  return std::string(Trim(out));
}

std::set<std::string> PromptTemplate::Placeholders() const {
  std::set<std::string> names;
  for (const Piece& piece : pieces_) {
    if (piece.kind == Piece::Kind::kValue) names.insert(piece.text);
  }
  return names;
}

}  // namespace upskill

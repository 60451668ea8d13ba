// SPDX-License-Identifier: Apache-2.0
#include "skill/strict_yaml_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "skill/unicode_text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxKeyCharacters = 1024;

}  // namespace

std::string_view NameOfYamlToken(YamlToken::Kind kind) {
  switch (kind) {
    case YamlToken::Kind::kStreamStart:
      return "<stream start>";
    case YamlToken::Kind::kStreamEnd:
      return "<stream end>";
    case YamlToken::Kind::kDirective:
      return "<directive>";
    case YamlToken::Kind::kDocumentStart:
      return "<document start>";
    case YamlToken::Kind::kDocumentEnd:
      return "<document end>";
    case YamlToken::Kind::kSequenceStart:
      return "<block sequence start>";
    case YamlToken::Kind::kMappingStart:
      return "<block mapping start>";
    case YamlToken::Kind::kBlockEnd:
      return "<block end>";
    case YamlToken::Kind::kFlowSequenceStart:
      return "[";
    case YamlToken::Kind::kFlowMappingStart:
      return "{";
    case YamlToken::Kind::kFlowSequenceEnd:
      return "]";
    case YamlToken::Kind::kFlowMappingEnd:
      return "}";
    case YamlToken::Kind::kBlockEntry:
      return "-";
    case YamlToken::Kind::kFlowEntry:
      return ",";
    case YamlToken::Kind::kKey:
      return "?";
    case YamlToken::Kind::kValue:
      return ":";
    case YamlToken::Kind::kAlias:
      return "<alias>";
    case YamlToken::Kind::kAnchor:
      return "<anchor>";
    case YamlToken::Kind::kTag:
      return "<tag>";
    case YamlToken::Kind::kScalar:
      return "<scalar>";
    case YamlToken::Kind::kComment:
      return "<comment>";
  }
  return "";
}

YamlScanner::YamlScanner(std::string_view text) : text_(text) { Add(Kind::kStreamStart, text_.mark(), text_.mark()); }

void YamlScanner::Ready() {
  while (NeedMore()) FetchMore();
  GatherComments();
  if (!text_.failed() && !tokens_.empty()) return;
  tokens_.clear();
  done_ = true;
  Add(Kind::kStreamEnd, text_.mark(), text_.mark());
}

bool YamlScanner::NextIs(Kind kind) {
  Ready();
  return tokens_.front().kind == kind && !RefusesFirst();
}

const YamlToken& YamlScanner::Next() {
  Ready();
  return tokens_.front();
}

YamlToken YamlScanner::Take() {
  Ready();
  TakeCommentsAfterFirst();
  ++taken_;
  YamlToken token = std::move(tokens_.front());
  tokens_.pop_front();
  return token;
}

// Reports a token that StrictYAML has no use for.
bool YamlScanner::RefusesFirst() {
  const YamlToken& first = tokens_.front();
  switch (first.kind) {
    case Kind::kTag:
      text_.Fail("While scanning", first.end, "Found disallowed tag tokens (do not specify types in markup)",
                 first.start);
      return true;
    case Kind::kFlowSequenceStart:
    case Kind::kFlowMappingStart:
      text_.Fail("While scanning", first.start,
                 "Found ugly disallowed JSONesque flow mapping (surround with ' and ' to make text appear literally)",
                 first.end, first.start);
      return true;
    case Kind::kAnchor:
      text_.Fail("While scanning", first.start,
                 "Found confusing disallowed anchor token (surround with ' and ' to make text appear literally)",
                 first.end, first.start);
      return true;
    default:
      return false;
  }
}

bool YamlScanner::NeedMore() {
  if (done_ || text_.failed()) return false;
  if (tokens_.empty()) return true;
  DropStaleKeys();
  const auto first = std::min_element(possible_keys_.begin(), possible_keys_.end(),
                                      [](const auto& a, const auto& b) { return a.second.token < b.second.token; });
  return first != possible_keys_.end() && first->second.token == taken_;
}

// One comment at the front, and what follows it while more is needed.
void YamlScanner::GatherComments() {
  if (tokens_.empty()) return;
  if (tokens_.front().kind == Kind::kComment) {
    tokens_.pop_front();
    ++taken_;
  }
  while (NeedMore()) {
    FetchMore();
    if (tokens_.empty()) return;
    if (tokens_.front().kind != Kind::kComment) continue;
    tokens_.pop_front();
    ++taken_;
  }
  if (!done_ && tokens_.size() < 2) FetchMore();
}

void YamlScanner::TakeCommentsAfterFirst() {
  if (tokens_.size() < 2 || tokens_[1].kind != Kind::kComment) return;
  const Kind first = tokens_.front().kind;
  const bool same_line = tokens_.front().end.line == tokens_[1].start.line;
  const bool takes_same_line = first == Kind::kScalar || first == Kind::kValue || first == Kind::kFlowSequenceEnd ||
                               first == Kind::kFlowMappingEnd;
  if (same_line ? !takes_same_line : first != Kind::kScalar) return;
  while (tokens_.size() > 1 && tokens_[1].kind == Kind::kComment) {
    ++taken_;
    tokens_.erase(tokens_.begin() + 1);
    FetchMore();
  }
}

void YamlScanner::FetchMore() {
  if (text_.failed()) return;
  if (const std::optional<YamlMark> comment = SkipToNextToken()) return Add(Kind::kComment, *comment, text_.mark());
  FetchToken();
}

void YamlScanner::FetchToken() {
  DropStaleKeys();
  UnwindIndent(static_cast<std::ptrdiff_t>(text_.column()));
  const char32_t c = text_.Peek();
  if (text_.failed()) return;
  if (c == YamlText::kEnd) return FetchStreamEnd();
  if (c == '%' && text_.column() == 0) return FetchDirective();
  if (c == '-' && AtDocumentIndicator(U"---")) return FetchDocumentIndicator(Kind::kDocumentStart);
  if (c == '.' && AtDocumentIndicator(U"...")) return FetchDocumentIndicator(Kind::kDocumentEnd);
  if (FetchIndicator(c) || FetchScalar(c)) return;
  text_.Fail("while scanning for the next token", std::nullopt,
             fmt::format("found character {} that cannot start any token", PythonLiteral({&c, 1})), text_.mark());
}

bool YamlScanner::FetchIndicator(char32_t c) {
  switch (c) {
    case '[':
      FetchFlowStart(Kind::kFlowSequenceStart, c);
      return true;
    case '{':
      FetchFlowStart(Kind::kFlowMappingStart, c);
      return true;
    case ']':
      FetchFlowEnd(Kind::kFlowSequenceEnd);
      return true;
    case '}':
      FetchFlowEnd(Kind::kFlowMappingEnd);
      return true;
    case ',':
      allow_key_ = true;
      RemovePossibleKey();
      AddIndicator(Kind::kFlowEntry);
      return true;
    case '-':
      if (!IsYamlSpaceOrEnd(text_.Peek(1))) return false;
      FetchBlockEntry();
      return true;
    case '?':
      if (flow_.empty() && !IsYamlSpaceOrEnd(text_.Peek(1))) return false;
      FetchKey();
      return true;
    case ':':
      if (!IsAtKeyEnd()) return false;
      FetchValue();
      return true;
    default:
      return false;
  }
}

bool YamlScanner::FetchScalar(char32_t c) {
  if (c == '*' || c == '&' || c == '!') {
    SavePossibleKey();
    allow_key_ = false;
    tokens_.push_back(c == '!' ? ScanTag() : ScanAnchor());
    return true;
  }
  if ((c == '|' || c == '>') && flow_.empty()) {
    allow_key_ = true;
    RemovePossibleKey();
    tokens_.push_back(ScanBlock(c == '>'));
    return true;
  }
  const bool quoted = c == '\'' || c == '"';
  if (!quoted && !StartsPlain()) return false;
  SavePossibleKey();
  allow_key_ = false;
  tokens_.push_back(quoted ? ScanQuoted(c) : ScanPlain());
  return true;
}

// Whether the ':' here separates a key from its value.
bool YamlScanner::IsAtKeyEnd() const {
  const bool space = IsYamlSpaceOrEnd(text_.Peek(1));
  if (flow_.empty() || flow_.back() == '[') return space;
  return space || tokens_.empty() || tokens_.back().kind != Kind::kValue;
}

bool YamlScanner::StartsPlain() const {
  constexpr std::u32string_view kIndicators = U"-?:,[]{}#&*!|>'\"%@`";
  const char32_t c = text_.Peek();
  if (!IsYamlSpaceOrEnd(c) && kIndicators.find(c) == std::u32string_view::npos) return true;
  const char32_t next = text_.Peek(1);
  if (c == ':' && !flow_.empty()) return next != ' ' && next != '\t';
  return !IsYamlSpaceOrEnd(next) && (c == '-' || (flow_.empty() && (c == '?' || c == ':')));
}

bool YamlScanner::AtDocumentIndicator(std::u32string_view indicator) const {
  return text_.column() == 0 && text_.LooksAt(indicator) && IsYamlSpaceOrEnd(text_.Peek(3));
}

void YamlScanner::FailKey(const PossibleKey& key) {
  text_.Fail("while scanning a simple key", key.mark, "could not find expected ':'", text_.mark(), key.mark);
}

// A key ends on its own line and has at most kMaxKeyCharacters.
void YamlScanner::DropStaleKeys() {
  for (auto key = possible_keys_.begin(); key != possible_keys_.end();) {
    const YamlMark& mark = key->second.mark;
    if (mark.line == text_.line() && text_.mark().index - mark.index <= kMaxKeyCharacters) {
      ++key;
      continue;
    }
    if (key->second.required) return FailKey(key->second);
    key = possible_keys_.erase(key);
  }
}

void YamlScanner::SavePossibleKey() {
  const bool required = flow_.empty() && indent_ == static_cast<std::ptrdiff_t>(text_.column());
  if (!allow_key_) return;
  RemovePossibleKey();
  possible_keys_[flow_.size()] = PossibleKey{taken_ + tokens_.size(), required, text_.mark()};
}

void YamlScanner::RemovePossibleKey() {
  const auto key = possible_keys_.find(flow_.size());
  if (key == possible_keys_.end()) return;
  if (key->second.required) return FailKey(key->second);
  possible_keys_.erase(key);
}

void YamlScanner::UnwindIndent(std::ptrdiff_t column) {
  if (!flow_.empty()) return;
  while (indent_ > column) {
    indent_ = indents_.back();
    indents_.pop_back();
    Add(Kind::kBlockEnd, text_.mark(), text_.mark());
  }
}

bool YamlScanner::AddIndent(std::size_t column) {
  const auto wanted = static_cast<std::ptrdiff_t>(column);
  if (indent_ >= wanted) return false;
  indents_.push_back(indent_);
  indent_ = wanted;
  return true;
}

void YamlScanner::Add(Kind kind, const YamlMark& start, const YamlMark& end) {
  tokens_.push_back({kind, start, end, U"", false});
}

void YamlScanner::AddIndicator(Kind kind, std::size_t size) {
  const YamlMark start = text_.mark();
  text_.Forward(size);
  Add(kind, start, text_.mark());
}

void YamlScanner::FetchStreamEnd() {
  UnwindIndent(-1);
  RemovePossibleKey();
  allow_key_ = false;
  possible_keys_.clear();
  Add(Kind::kStreamEnd, text_.mark(), text_.mark());
  done_ = true;
}

void YamlScanner::FetchDirective() {
  UnwindIndent(-1);
  RemovePossibleKey();
  allow_key_ = false;
  tokens_.push_back(ScanDirective());
}

void YamlScanner::FetchDocumentIndicator(Kind kind) {
  UnwindIndent(-1);
  RemovePossibleKey();
  allow_key_ = false;
  AddIndicator(kind, 3);
}

void YamlScanner::FetchFlowStart(Kind kind, char32_t bracket) {
  SavePossibleKey();
  flow_ += bracket;
  allow_key_ = true;
  AddIndicator(kind);
}

void YamlScanner::FetchFlowEnd(Kind kind) {
  RemovePossibleKey();
  if (!flow_.empty()) flow_.pop_back();
  allow_key_ = false;
  AddIndicator(kind);
}

void YamlScanner::FetchBlockEntry() {
  if (flow_.empty()) {
    if (!allow_key_)
      return text_.Fail(std::nullopt, std::nullopt, "sequence entries are not allowed here", text_.mark());
    if (AddIndent(text_.column())) Add(Kind::kSequenceStart, text_.mark(), text_.mark());
  }
  allow_key_ = true;
  RemovePossibleKey();
  AddIndicator(Kind::kBlockEntry);
}

void YamlScanner::FetchKey() {
  if (flow_.empty()) {
    if (!allow_key_) return text_.Fail(std::nullopt, std::nullopt, "mapping keys are not allowed here", text_.mark());
    if (AddIndent(text_.column())) Add(Kind::kMappingStart, text_.mark(), text_.mark());
  }
  allow_key_ = flow_.empty();
  RemovePossibleKey();
  AddIndicator(Kind::kKey);
}

void YamlScanner::FetchValue() {
  const auto possible = possible_keys_.find(flow_.size());
  if (possible != possible_keys_.end()) {
    const PossibleKey key = possible->second;
    possible_keys_.erase(possible);
    const auto place = [&] { return tokens_.begin() + static_cast<std::ptrdiff_t>(key.token - taken_); };
    tokens_.insert(place(), YamlToken{Kind::kKey, key.mark, key.mark, U"", false});
    if (flow_.empty() && AddIndent(key.mark.column))
      tokens_.insert(place(), YamlToken{Kind::kMappingStart, key.mark, key.mark, U"", false});
    allow_key_ = false;
  } else {
    if (flow_.empty()) {
      if (!allow_key_)
        return text_.Fail(std::nullopt, std::nullopt, "mapping values are not allowed here", text_.mark());
      if (AddIndent(text_.column())) Add(Kind::kMappingStart, text_.mark(), text_.mark());
    }
    allow_key_ = flow_.empty();
    RemovePossibleKey();
  }
  AddIndicator(Kind::kValue);
}

}  // namespace upskill

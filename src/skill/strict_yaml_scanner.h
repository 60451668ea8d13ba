// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skill/strict_yaml_text.h"

namespace upskill {

// A token of YAML. Directives, anchors and tags are tokens too, because problems of what stands before them are
// reported first.
struct YamlToken {
  enum class Kind {
    kStreamStart,
    kStreamEnd,
    kDirective,
    kDocumentStart,
    kDocumentEnd,
    kSequenceStart,
    kMappingStart,
    kBlockEnd,
    kFlowSequenceStart,
    kFlowMappingStart,
    kFlowSequenceEnd,
    kFlowMappingEnd,
    kBlockEntry,
    kFlowEntry,
    kKey,
    kValue,
    kAlias,
    kAnchor,
    kTag,
    kScalar,
    kComment,
  };

  Kind kind = Kind::kStreamEnd;
  YamlMark start;
  YamlMark end;
  std::u32string text;  // of a scalar, an alias or a directive
  bool plain = false;   // a scalar without quotes, not in a block
};

// What messages call a token: '<block end>', '?'.
std::string_view NameOfYamlToken(YamlToken::Kind kind);

// Splits a YAML text into tokens as ruamel.yaml 0.16 (strict_yaml_licence.txt) does for StrictYAML, in the same order
// and with the same messages. After a problem, or the end, every token is the end of the stream. Not thread-safe.
class YamlScanner {
 public:
  using Kind = YamlToken::Kind;

  explicit YamlScanner(std::string_view text);

  // Whether the next token is of this kind. One that StrictYAML refuses is a problem where it is looked for.
  bool NextIs(Kind kind);
  const YamlToken& Next();
  YamlToken Take();

  YamlText& text() { return text_; }

 private:
  // The beginning of a key that isn't announced by '?', while it may still turn out to be one.
  struct PossibleKey {
    std::size_t token = 0;  // its number, counted from the first of the text
    bool required = false;
    YamlMark mark;
  };

  void Ready();
  bool NeedMore();
  void FetchMore();
  void FetchToken();
  bool FetchIndicator(char32_t c);
  bool FetchScalar(char32_t c);
  void GatherComments();
  void TakeCommentsAfterFirst();
  bool RefusesFirst();
  bool IsAtKeyEnd() const;
  bool StartsPlain() const;
  bool AtDocumentIndicator(std::u32string_view indicator) const;

  void DropStaleKeys();
  void SavePossibleKey();
  void RemovePossibleKey();
  void FailKey(const PossibleKey& key);
  void UnwindIndent(std::ptrdiff_t column);
  bool AddIndent(std::size_t column);
  void Add(Kind kind, const YamlMark& start, const YamlMark& end);
  void AddIndicator(Kind kind, std::size_t size = 1);

  void FetchStreamEnd();
  void FetchDirective();
  void FetchDocumentIndicator(Kind kind);
  void FetchFlowStart(Kind kind, char32_t bracket);
  void FetchFlowEnd(Kind kind);
  void FetchBlockEntry();
  void FetchKey();
  void FetchValue();

  // strict_yaml_scalars.cpp
  std::optional<YamlMark> SkipToNextToken();  // where a comment or blank lines that were passed over began
  void SkipComment();
  YamlToken ScanPlain();
  bool ScanPlainSpaces(std::u32string& spaces);  // false: a document ends here
  YamlToken ScanQuoted(char32_t quote);
  void ScanQuotedText(char32_t quote, const YamlMark& start, std::u32string& text);
  bool ScanEscape(const YamlMark& start, std::u32string& text);
  void ScanQuotedSpaces(const YamlMark& start, std::u32string& text);
  std::u32string ScanQuotedBreaks(const YamlMark& start);
  YamlToken ScanBlock(bool folded);
  struct BlockHeader {
    std::optional<bool> keep;  // of the line ends at the end: all or none; without it, one
    std::size_t increment = 0;
  };
  BlockHeader ScanBlockHeader(const YamlMark& start);
  void ScanIncrement(const YamlMark& start, BlockHeader& header);
  void SkipRestOfLine(const char* context, const YamlMark& start);
  std::u32string ScanFirstBreaks(std::size_t& indent);
  std::u32string ScanBreaks(std::size_t indent);
  std::u32string ScanBlockLines(bool folded, std::size_t indent, bool top_level, std::u32string& breaks,
                                std::u32string& line_break);

  // strict_yaml_markup.cpp
  YamlToken ScanDirective();
  bool ScanVersion(const YamlMark& start, std::u32string& text);
  bool ScanNumber(const YamlMark& start, std::u32string& text);
  YamlToken ScanAnchor();
  YamlToken ScanTag();
  std::u32string ScanTagHandle(const char* what, const YamlMark& start);
  void ScanTagUri(const char* what, const YamlMark& start);
  void ScanUriEscapes(const char* what, const YamlMark& start);
  void FailAtCharacter(const std::string& context, const YamlMark& start, std::string_view expected, char32_t found);

  YamlText text_;
  bool done_ = false;
  std::deque<YamlToken> tokens_;
  std::size_t taken_ = 0;
  std::ptrdiff_t indent_ = -1;
  std::vector<std::ptrdiff_t> indents_;
  std::u32string flow_;  // the open brackets
  bool allow_key_ = true;
  std::map<std::size_t, PossibleKey> possible_keys_;  // by the number of open brackets
};

}  // namespace upskill

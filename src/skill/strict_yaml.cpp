// SPDX-License-Identifier: Apache-2.0
#include "skill/strict_yaml.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "skill/strict_yaml_scanner.h"
#include "skill/unicode_text.h"

namespace upskill {
namespace {

using TokenKind = YamlToken::Kind;

// A value as written in the text. The items of a map are its keys and values in turn.
struct YamlNode {
  StrictYaml::Kind kind = StrictYaml::Kind::kText;
  std::u32string text;
  bool plain = false;
  std::vector<YamlNode> items;
  YamlMark start;  // for messages of the parser: of an empty value, where the next token ends
  YamlMark end;
  YamlMark place;  // where the value is, or would be
};

// Reads the document that a text consists of.
class YamlParser {
 public:
  explicit YamlParser(std::string_view text) : scanner_(text) {}

  // Nothing if there is no content. Problems are in the text.
  std::optional<YamlNode> ParseStream();

  YamlText& text() { return scanner_.text(); }

 private:
  void FailOnDirectives();
  YamlNode ParseNode(bool indentless);
  YamlNode ParseSequence();
  YamlNode ParseIndentlessSequence();
  YamlNode ParseMapping();
  YamlNode ParseKeyOrValue(bool value);
  void ExpectBlockEnd(const char* what, YamlNode& node);
  bool NextIsAnyOf(std::initializer_list<TokenKind> kinds);

  YamlScanner scanner_;
  std::size_t depth_ = 0;
};

YamlNode EmptyText(const YamlMark& mark, const YamlMark& place) {
  YamlNode node;
  node.start = mark;
  node.end = mark;
  node.place = place;
  return node;
}

bool YamlParser::NextIsAnyOf(std::initializer_list<TokenKind> kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [this](TokenKind kind) { return scanner_.NextIs(kind); });
}

std::optional<YamlNode> YamlParser::ParseStream() {
  scanner_.Take();  // the start of the stream
  if (NextIsAnyOf({TokenKind::kDirective, TokenKind::kDocumentStart})) {
    FailOnDirectives();
    return std::nullopt;
  }
  if (scanner_.NextIs(TokenKind::kStreamEnd)) return std::nullopt;
  YamlNode root = ParseNode(false);
  if (scanner_.NextIs(TokenKind::kDocumentEnd)) scanner_.Take();
  if (scanner_.NextIs(TokenKind::kDirective)) FailOnDirectives();
  if (!scanner_.NextIs(TokenKind::kStreamEnd)) {
    const YamlMark next = scanner_.Next().start;
    text().Fail("expected a single document in the stream", root.start, "but found another document", next);
  }
  return root;
}

// After directives a document would have to start with `---`, which would have ended the frontmatter.
void YamlParser::FailOnDirectives() {
  bool has_version = false;
  std::set<std::u32string> handles;
  while (scanner_.NextIs(TokenKind::kDirective)) {
    const YamlToken token = scanner_.Take();
    const std::u32string_view directive = token.text;
    if (directive.starts_with(U"YAML ")) {
      if (has_version) text().Fail(std::nullopt, std::nullopt, "found duplicate YAML directive", token.start);
      has_version = true;
      if (!directive.starts_with(U"YAML 1.")) {
        text().Fail(std::nullopt, std::nullopt, "found incompatible YAML document (version 1.* is required)",
                    token.start);
      }
    } else if (directive.starts_with(U"TAG ") && !handles.insert(token.text).second) {
      text().Fail(std::nullopt, std::nullopt,
                  fmt::format("duplicate tag handle {}", PythonLiteral(directive.substr(4))), token.start);
    }
  }
  const YamlToken& next = scanner_.Next();
  text().Fail(std::nullopt, std::nullopt,
              fmt::format("expected '<document start>', but found '{}'", NameOfYamlToken(next.kind)), next.start);
}

YamlNode YamlParser::ParseNode(bool indentless) {
  if (scanner_.NextIs(TokenKind::kAlias)) {
    const YamlToken alias = scanner_.Take();
    text().Fail(std::nullopt, std::nullopt, fmt::format("found undefined alias {}", PythonLiteral(alias.text)),
                alias.start);
    return {};
  }
  if (NextIsAnyOf({TokenKind::kAnchor, TokenKind::kTag})) return {};
  if (depth_ == kMaxStrictYamlDepth) {
    text().Fail(std::nullopt, std::nullopt, fmt::format("nested more than {} levels deep", kMaxStrictYamlDepth),
                scanner_.Next().start);
    return {};
  }
  ++depth_;
  YamlNode node;
  const YamlMark start = scanner_.Next().start;
  if (indentless && scanner_.NextIs(TokenKind::kBlockEntry)) {
    node = ParseIndentlessSequence();
  } else if (scanner_.NextIs(TokenKind::kScalar)) {
    YamlToken token = scanner_.Take();
    node = {StrictYaml::Kind::kText, std::move(token.text), token.plain, {}, token.start, token.end, token.start};
  } else if (NextIsAnyOf({TokenKind::kFlowSequenceStart, TokenKind::kFlowMappingStart})) {
    // The scanner has reported it.
  } else if (scanner_.NextIs(TokenKind::kSequenceStart)) {
    node = ParseSequence();
  } else if (scanner_.NextIs(TokenKind::kMappingStart)) {
    node = ParseMapping();
  } else {
    text().Fail("while parsing a block node", start,
                fmt::format("expected the node content, but found '{}'", NameOfYamlToken(scanner_.Next().kind)), start);
  }
  node.start = start;
  node.place = start;
  --depth_;
  return node;
}

void YamlParser::ExpectBlockEnd(const char* what, YamlNode& node) {
  if (!scanner_.NextIs(TokenKind::kBlockEnd)) {
    const YamlToken& next = scanner_.Next();
    text().Fail(fmt::format("while parsing a block {}", what), node.start,
                fmt::format("expected <block end>, but found '{}'", NameOfYamlToken(next.kind)), next.start);
  }
  node.end = scanner_.Take().end;
}

YamlNode YamlParser::ParseSequence() {
  YamlNode node;
  node.kind = StrictYaml::Kind::kList;
  node.start = scanner_.Take().start;
  while (scanner_.NextIs(TokenKind::kBlockEntry)) {
    const YamlMark after = scanner_.Take().end;
    const bool empty = NextIsAnyOf({TokenKind::kBlockEntry, TokenKind::kBlockEnd});
    node.items.push_back(empty ? EmptyText(after, after) : ParseNode(false));
  }
  ExpectBlockEnd("collection", node);
  return node;
}

YamlNode YamlParser::ParseIndentlessSequence() {
  YamlNode node;
  node.kind = StrictYaml::Kind::kList;
  while (scanner_.NextIs(TokenKind::kBlockEntry)) {
    const YamlMark after = scanner_.Take().end;
    const bool empty = NextIsAnyOf({TokenKind::kBlockEntry, TokenKind::kKey, TokenKind::kValue, TokenKind::kBlockEnd});
    node.items.push_back(empty ? EmptyText(after, after) : ParseNode(false));
  }
  node.end = scanner_.Next().start;
  return node;
}

YamlNode YamlParser::ParseMapping() {
  YamlNode node;
  node.kind = StrictYaml::Kind::kMap;
  node.start = scanner_.Take().start;
  while (!text().failed()) {
    if (scanner_.NextIs(TokenKind::kKey)) {
      node.items.push_back(ParseKeyOrValue(false));
    } else if (scanner_.NextIs(TokenKind::kValue)) {
      node.items.push_back(EmptyText(scanner_.Next().start, scanner_.Next().start));
    } else {
      break;
    }
    const bool has_value = scanner_.NextIs(TokenKind::kValue);
    node.items.push_back(has_value ? ParseKeyOrValue(true) : EmptyText(scanner_.Next().start, scanner_.Next().start));
  }
  ExpectBlockEnd("mapping", node);
  return node;
}

// What follows the token of a key or a value.
YamlNode YamlParser::ParseKeyOrValue(bool value) {
  const YamlMark after = scanner_.Take().end;
  const bool empty = NextIsAnyOf({TokenKind::kKey, TokenKind::kValue, TokenKind::kBlockEnd});
  if (!empty) return ParseNode(true);
  return EmptyText(value ? scanner_.Next().end : after, after);
}

bool IsMergeKey(const YamlNode& key) { return key.kind == StrictYaml::Kind::kText && key.plain && key.text == U"<<"; }

void CheckMerge(const YamlNode& map, const YamlNode& value, YamlText& text) {
  constexpr const char* kContext = "while constructing a mapping";
  if (value.kind == StrictYaml::Kind::kText) {
    text.Fail(kContext, map.start, "expected a mapping or list of mappings for merging, but found scalar", value.start);
  }
  for (const YamlNode& item : value.items) {
    if (value.kind != StrictYaml::Kind::kList || item.kind == StrictYaml::Kind::kMap) continue;
    text.Fail(kContext, map.start,
              fmt::format("expected a mapping for merging, but found {}",
                          item.kind == StrictYaml::Kind::kText ? "scalar" : "sequence"),
              item.start);
  }
}

void CheckIndentation(const YamlNode& map, YamlText& text) {
  std::optional<std::size_t> column;  // where the maps below begin
  for (std::size_t i = 0; i < map.items.size(); i += 2) {
    const YamlNode& value = map.items[i + 1];
    if (value.kind != StrictYaml::Kind::kMap || IsMergeKey(map.items[i])) continue;
    if (value.start.column == column.value_or(value.start.column)) {
      column = value.start.column;
      continue;
    }
    text.Fail("While parsing", value.start, "Found mapping with indentation inconsistent with previous mapping",
              value.end, value.start);
  }
}

// Looks for what is no problem of the syntax. What is inside a value comes before the problems of its key.
void CheckNode(const YamlNode& node, YamlText& text) {
  if (node.kind == StrictYaml::Kind::kList) {
    for (const YamlNode& item : node.items) CheckNode(item, text);
  }
  if (node.kind != StrictYaml::Kind::kMap) return;
  for (std::size_t i = 0; i < node.items.size(); i += 2) {
    if (!IsMergeKey(node.items[i])) continue;
    CheckMerge(node, node.items[i + 1], text);
    CheckNode(node.items[i + 1], text);
  }
  std::set<std::u32string_view> keys;
  for (std::size_t i = 0; i < node.items.size() && !text.failed(); i += 2) {
    const YamlNode& key = node.items[i];
    if (IsMergeKey(key)) continue;
    if (key.kind != StrictYaml::Kind::kText)
      text.Fail("while constructing a mapping", node.start, "found unhashable key", key.start);
    CheckNode(node.items[i + 1], text);
    if (keys.insert(key.text).second) continue;
    text.Fail("While parsing", key.start, fmt::format("Duplicate key '{}' found", EncodeUtf8(key.text)), key.end,
              key.start);
  }
  CheckIndentation(node, text);
}

StrictYaml ValueOf(const YamlNode& node) {
  StrictYaml value;
  value.kind = node.kind;
  value.line = node.place.line + 1;
  value.column = node.place.column + 1;
  if (node.kind == StrictYaml::Kind::kText) value.text = EncodeUtf8(node.text);
  if (node.kind == StrictYaml::Kind::kList) {
    for (const YamlNode& item : node.items) value.items.push_back(ValueOf(item));
  }
  for (std::size_t i = 0; node.kind == StrictYaml::Kind::kMap && i < node.items.size(); i += 2) {
    const YamlNode& key = node.items[i];
    if (IsMergeKey(key)) continue;  // what is merged isn't read by the reference implementation either
    value.keys.push_back({EncodeUtf8(key.text), key.place.line + 1, key.place.column + 1});
    value.items.push_back(ValueOf(node.items[i + 1]));
  }
  return value;
}

}  // namespace

const StrictYaml* StrictYaml::Find(std::string_view key) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& one) { return one.text == key; });
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

std::variant<StrictYaml, StrictYamlProblem> ReadStrictYaml(std::string_view text) {
  YamlParser parser(text);
  const std::optional<YamlNode> root = parser.ParseStream();
  if (root && !parser.text().failed()) CheckNode(*root, parser.text());
  if (parser.text().problem()) return *parser.text().problem();
  return root ? ValueOf(*root) : StrictYaml();
}

}  // namespace upskill

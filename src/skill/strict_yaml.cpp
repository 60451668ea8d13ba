// SPDX-License-Identifier: Apache-2.0
#include "skill/strict_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "skill/unicode_text.h"
#include "util/byte_order_mark.h"
#include "util/text.h"
#include "util/yaml_faults.h"

namespace upskill {
namespace {

using Kind = StrictYaml::Kind;

bool IsAllowedInYaml(char32_t c) {
  if (c < 0x80) return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c <= 0x7E);
  return c == 0x85 || (c >= 0xA0 && c != 0xFFFE && c != 0xFFFF);
}

// Half a surrogate pair ("\ud83d"), at which yaml-cpp stops, becomes U+FFFD.
std::string WithoutSurrogates(std::string text) {
  for (std::size_t at = text.find("\\u"); at != std::string::npos; at = text.find("\\u", at + 2)) {
    const std::string_view digits = std::string_view(text).substr(at + 2, 4);
    const bool hex = digits.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
    if (hex && digits.size() == 4 && (digits[0] == 'd' || digits[0] == 'D') && digits[1] > '7')
      text.replace(at + 2, 4, "FFFD");
  }
  return text;
}

// yaml-cpp writes "\N" and "\_" as a single byte, in Latin-1.
std::string WithUtf8(std::string_view text) {
  std::string fixed;
  while (const std::optional<std::size_t> bad = FindInvalidUtf8(text)) {
    fixed.append(text.substr(0, *bad)).append({'\xC2', text[*bad]});
    text.remove_prefix(*bad + 1);
  }
  return fixed.append(text);
}

bool CanBeMerged(const StrictYaml& value) {
  const auto is_map = [](const StrictYaml& item) { return item.kind == Kind::kMap; };
  return is_map(value) || (value.kind == Kind::kList && std::all_of(value.items.begin(), value.items.end(), is_map));
}

// Makes a value of the document that yaml-cpp reads. What StrictYAML refuses, or its parser but not yaml-cpp, is thrown
// like yaml-cpp's own errors. The text must outlive the reader.
class StrictReader : public YAML::EventHandler {
 public:
  explicit StrictReader(std::string_view text) : text_(text) {}

  StrictYaml Take() {
    CheckUpTo(text_.size());
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) Refuse(mark, "this isn't part of what begins above; check its indentation");
    started_ = true;
  }
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { Enter(mark); }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(mark, Kind::kList);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(mark, Kind::kMap);
  }
  void OnSequenceEnd() override { Leave(); }
  void OnMapEnd() override { Leave(); }

 private:
  // A list or map of which not all items have been read.
  struct Collection {
    StrictYaml value;
    YAML::Mark mark;
    std::set<std::string> names;  // the keys of a map
    std::size_t map_column = 0;   // where the maps in a map begin; 0: there was none
    bool has_key = false;         // whose value is next
    bool merges = false;          // the key is `<<`
  };

  [[noreturn]] static void Refuse(const YAML::Mark& mark, const std::string& reason) {
    throw YAML::ParserException(mark, reason);
  }
  [[noreturn]] static void RefuseAt(std::size_t offset, const std::string& reason) {
    YAML::Mark mark;
    mark.pos = static_cast<int>(offset);
    Refuse(mark, reason);
  }

  std::size_t OffsetOf(const YAML::Mark& mark) const {
    return std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
  }
  // The character at a place; a line end at the end.
  char At(std::size_t offset) const { return offset < text_.size() ? text_[offset] : '\n'; }

  bool AwaitsValue() const { return !open_.empty() && open_.back().has_key; }
  StrictYaml ValueAt(const YAML::Mark& mark, Kind kind) const;
  void Enter(const YAML::Mark& mark);
  void Open(const YAML::Mark& mark, Kind kind);
  void Leave();
  void Add(StrictYaml value, const YAML::Mark& mark);
  void AddKey(Collection& map, const StrictYaml& key, const YAML::Mark& mark);
  void AddToMap(Collection& map, StrictYaml value, const YAML::Mark& mark) const;

  void CheckUpTo(std::size_t end);
  std::size_t EndOfQuoted(std::size_t start);
  std::size_t EndOfBlock(std::size_t start);

  std::string_view text_;
  bool started_ = false;
  StrictYaml root_;
  std::vector<Collection> open_;  // the innermost last
  std::size_t checked_ = 0;       // the text before is known to be allowed
  std::size_t quoted_end_ = std::string_view::npos;
  YAML::Mark key_mark_;  // of the last key
};

// For yaml-cpp, some words are no value, like none at all, whose mark is that of what follows.
void StrictReader::OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) {
  Enter(mark);
  if (AwaitsValue() && key_mark_.pos == mark.pos) Refuse(mark, "a key must end with ':' on the same line");
  StrictYaml value = ValueAt(mark, Kind::kText);
  const bool is_key = !open_.empty() && open_.back().value.kind == Kind::kMap && !AwaitsValue();
  if (open_.empty() || is_key || mark.column > open_.back().mark.column) {
    for (const std::string_view word : {"~", "null", "Null", "NULL"}) {
      if (text_.substr(OffsetOf(mark)).starts_with(word)) value.text = word;
    }
  }
  if (AwaitsValue() && value.text.empty()) {
    const StrictYaml::Key& key = open_.back().value.keys.back();
    value.line = key.line;
    value.column = key.column + CountCodePoints(key.text) + 1;  // behind the colon, if the key isn't quoted
  }
  Add(std::move(value), mark);
}

void StrictReader::OnScalar(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                            const std::string& value) {
  Enter(mark);
  const std::size_t start = OffsetOf(mark);
  if (At(start) == '\'' || At(start) == '"') {
    checked_ = quoted_end_ = EndOfQuoted(start);
  } else if (At(start) == '|' || At(start) == '>') {
    checked_ = EndOfBlock(start);
  }
  StrictYaml text = ValueAt(mark, Kind::kText);
  text.text = WithUtf8(value);
  Add(std::move(text), mark);
}

StrictYaml StrictReader::ValueAt(const YAML::Mark& mark, Kind kind) const {
  const std::size_t end = OffsetOf(mark);
  const std::size_t before = std::min(end, static_cast<std::size_t>(std::max(mark.column, 0)));
  StrictYaml value;
  value.kind = kind;
  value.line = static_cast<std::size_t>(std::max(mark.line, 0)) + 1;
  value.column = CountCodePoints(text_.substr(end - before, before)) + 1;
  return value;
}

void StrictReader::Enter(const YAML::Mark& mark) {
  CheckUpTo(OffsetOf(mark));
  if (open_.size() >= kMaxStrictYamlDepth)
    Refuse(mark, fmt::format("nested more than {} levels deep", kMaxStrictYamlDepth));
  const char first = At(OffsetOf(mark));
  if (first == '[' || first == '{') {
    Refuse(mark, "`[…]` and `{…}` aren't allowed; quote a text, and write each item of a list or map on its own line");
  }
  if (first == '&' || first == '*') Refuse(mark, "anchors and aliases, `&…` and `*…`, aren't allowed; quote a text");
  if (first == '!') Refuse(mark, "tags, `!…`, aren't allowed; quote a text");
}

void StrictReader::Open(const YAML::Mark& mark, Kind kind) {
  Enter(mark);
  Collection& collection = open_.emplace_back();
  collection.value = ValueAt(mark, kind);
  collection.mark = mark;
}

void StrictReader::Leave() {
  Collection last = std::move(open_.back());
  open_.pop_back();
  Add(std::move(last.value), last.mark);
}

void StrictReader::Add(StrictYaml value, const YAML::Mark& mark) {
  if (open_.empty()) {
    root_ = std::move(value);
    return;
  }
  Collection& parent = open_.back();
  if (parent.value.kind == Kind::kList) {
    parent.value.items.push_back(std::move(value));
    return;
  }
  if (parent.has_key) {
    AddToMap(parent, std::move(value), mark);
  } else {
    AddKey(parent, value, mark);
  }
  parent.has_key = !parent.has_key;
}

void StrictReader::AddKey(Collection& map, const StrictYaml& key, const YAML::Mark& mark) {
  if (key.kind != Kind::kText) Refuse(mark, "a list or map can't be a key");
  key_mark_ = mark;
  map.merges = key.text == "<<" && At(OffsetOf(mark)) == '<';
  if (!map.merges && !map.names.insert(key.text).second)
    Refuse(mark, fmt::format("the key '{}' appears twice in a map", ExcerptLine(key.text, 60)));
  map.value.keys.push_back({key.text, key.line, key.column});
}

void StrictReader::AddToMap(Collection& map, StrictYaml value, const YAML::Mark& mark) const {
  if (map.merges) {  // StrictYAML reads none of it
    if (!CanBeMerged(value)) Refuse(mark, "the value of `<<` must be a map or a list of maps");
    map.value.keys.pop_back();
    return;
  }
  const char first = At(OffsetOf(mark));
  const bool in_line = value.kind == Kind::kText && first != '|' && first != '>';
  if (in_line && value.line > map.value.keys.back().line && mark.column <= map.mark.column)
    Refuse(mark, "a text must be indented more than its key; or a ':' is missing here");
  if (value.kind == Kind::kMap) {
    if (map.map_column != 0 && map.map_column != value.column)
      Refuse(mark, "not indented like the map of a key above, which is beside this one's");
    map.map_column = value.column;
  }
  map.value.items.push_back(std::move(value));
}

// Looks at what isn't in quotes or a block. Not all of it is before `end` if that is in a comment.
void StrictReader::CheckUpTo(std::size_t end) {
  for (; checked_ < end; ++checked_) {
    const char c = text_[checked_];
    const bool begins_line = checked_ == 0 || text_[checked_ - 1] == '\n';
    if (c == '#' && (begins_line || text_[checked_ - 1] == ' ' || checked_ == quoted_end_)) {
      checked_ = std::min(text_.find('\n', checked_), text_.size()) - 1;
    } else if (c == '\t') {
      RefuseAt(checked_, "tabs are allowed only in quotes, blocks and comments");
    } else if (c == '%' && begins_line) {
      RefuseAt(checked_, "directives, `%…`, aren't allowed");
    }
  }
}

std::size_t StrictReader::EndOfQuoted(std::size_t start) {
  const char quote = text_[start];
  for (std::size_t at = start + 1; at < text_.size(); ++at) {
    if (quote == '"' && text_[at] == '\\') {
      ++at;
      if (At(at) == '\'') RefuseAt(at - 1, "unknown escape, `\\'`, which needs no backslash");
    } else if (text_[at] == quote) {
      if (quote == '"' || At(at + 1) != '\'') return at + 1;
      ++at;
    }
  }
  RefuseAt(start, fmt::format("the quotation mark {} is never closed", quote));
}

std::size_t StrictReader::EndOfBlock(std::size_t start) {
  const std::size_t header = std::min(text_.find_first_not_of("|>+-0123456789", start), text_.size());
  if (At(header) != ' ' && At(header) != '\n')
    RefuseAt(header, "only `+`, `-` and a digit may follow the `|` or `>` of a block");
  std::size_t line_end = std::min(text_.find('\n', header), text_.size());
  CheckUpTo(line_end);
  const int around = open_.empty() ? -1 : open_.back().mark.column;
  while (line_end < text_.size()) {
    const std::size_t first = text_.find_first_not_of(' ', line_end + 1);
    if (first == std::string_view::npos) break;
    if (text_[first] != '\n' && static_cast<int>(first - line_end) - 1 <= around) return line_end + 1;
    line_end = std::min(text_.find('\n', first), text_.size());
  }
  return text_.size();
}

}  // namespace

const StrictYaml* StrictYaml::Find(std::string_view key) const {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const Key& one) { return one.text == key; });
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

std::variant<StrictYaml, StrictYamlProblem> ReadStrictYaml(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const auto problem_at = [&](std::size_t offset, std::string reason) {
    const TextPosition position = PositionAt(text, std::min(offset, text.size()));
    return StrictYamlProblem{std::move(reason), position.line, position.column};
  };
  if (text.size() > kMaxStrictYamlBytes) return problem_at(0, "larger than 1 MiB");
  const std::u32string characters = DecodeUtf8(text);
  const auto bad = std::find_if_not(characters.begin(), characters.end(), IsAllowedInYaml);
  if (bad != characters.end()) {
    return problem_at(EncodeUtf8({characters.begin(), bad}).size(),
                      fmt::format("the character U+{:04X} isn't allowed", static_cast<unsigned>(*bad)));
  }
  const std::string readable = WithoutSurrogates(std::string(text));
  StrictReader reader(readable);
  try {
    std::istringstream stream(readable);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(reader)) {
    }
    return reader.Take();
  } catch (const YAML::Exception& error) {
    return problem_at(static_cast<std::size_t>(std::max(error.mark.pos, 0)), PlainYamlReason(error.msg));
  } catch (const std::exception& error) {
    return problem_at(0, error.what());
  }
}

}  // namespace upskill

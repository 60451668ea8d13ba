// SPDX-License-Identifier: Apache-2.0
#include "util/yaml_faults.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <exception>
#include <sstream>
#include <utility>
#include <vector>

#include "util/byte_order_mark.h"
#include "util/text.h"

namespace upskill {
namespace {

// Whether a line's text begins with `- ` or with a plain word and a colon.
bool LooksLikeEntry(std::string_view text) {
  if (text == "-" || text.starts_with("- ")) return true;
  const std::size_t colon = text.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  if (colon + 1 < text.size() && text[colon + 1] != ' ') return false;
  const auto is_of_word = [](char c) { return IsAsciiAlphanumeric(c) || c == '_' || c == '-'; };
  return std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(colon), is_of_word);
}

// Looks at the quoted scalars of a document while yaml-cpp reads it. The text must outlive it.
class QuoteFinder : public YAML::EventHandler {
 public:
  explicit QuoteFinder(std::string_view text) : text_(text) {
    if (text_.starts_with(kByteOrderMark)) text_.remove_prefix(kByteOrderMark.size());
    for (std::size_t at = 0; at != std::string_view::npos; at = text_.find('\n', at)) {
      if (!lines_.empty()) ++at;
      lines_.push_back(at);
    }
  }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value style) override {
    Enter(mark, style);
  }
  void OnSequenceEnd() override { columns_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value style) override {
    Enter(mark, style);
  }
  void OnMapEnd() override { columns_.pop_back(); }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {
    if (fault_ || tag != "!" || mark.line < 0 || static_cast<std::size_t>(mark.line) >= lines_.size()) return;
    const std::size_t start = lines_[static_cast<std::size_t>(mark.line)] + static_cast<std::size_t>(mark.column);
    if (start >= text_.size() || (text_[start] != '"' && text_[start] != '\'')) return;
    const std::size_t end = EndOf(start);
    const char quote = text_[start];
    if (end == std::string_view::npos) {
      Report(mark, fmt::format("the quotation mark {} is never closed", quote));
    } else if (TakesInEntries(start, end)) {
      Report(mark, fmt::format("the quotation mark {} isn't closed before the next key or list item", quote));
    }
  }

  std::optional<YamlFault> Take() { return std::move(fault_); }

 private:
  // In a flow collection, indentation means nothing.
  void Enter(const YAML::Mark& mark, YAML::EmitterStyle::value style) {
    columns_.push_back(style == YAML::EmitterStyle::Flow ? -1 : mark.column);
  }

  void Report(const YAML::Mark& mark, std::string reason) {
    fault_ = YamlFault{static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1,
                       std::move(reason)};
  }

  // Where the closing mark is.
  std::size_t EndOf(std::size_t start) const {
    const char quote = text_[start];
    for (std::size_t at = start + 1; at < text_.size(); ++at) {
      if (quote == '"' && text_[at] == '\\') {
        ++at;
      } else if (text_[at] == quote) {
        if (quote == '"' || at + 1 == text_.size() || text_[at + 1] != '\'') return at;
        ++at;
      }
    }
    return std::string_view::npos;
  }

  bool TakesInEntries(std::size_t start, std::size_t end) const {
    if (columns_.empty() || columns_.back() < 0) return false;
    const auto around = static_cast<std::size_t>(columns_.back());
    for (std::size_t line = text_.find('\n', start); line < end; line = text_.find('\n', line + 1)) {
      const std::size_t first = text_.find_first_not_of(' ', line + 1);
      if (first >= end || first - line - 1 > around) continue;
      const std::size_t line_end = std::min(text_.find('\n', first), text_.size());
      if (LooksLikeEntry(text_.substr(first, line_end - first))) return true;
    }
    return false;
  }

  std::string_view text_;
  std::vector<std::size_t> lines_;  // where each begins
  std::vector<int> columns_;        // of the collections around, the innermost last; -1 in flow style
  std::optional<YamlFault> fault_;
};

}  // namespace

std::string PlainYamlReason(std::string_view message) {
  struct Reason {
    std::string_view of_library;
    std::string_view plain;
  };
  constexpr std::array<Reason, 15> kReasons = {{
      {"end of sequence flow not found", "`[` is never closed, or a comma is missing in the list"},
      {"end of map flow not found", "`{` is never closed, or a comma is missing in the map"},
      {"end of sequence not found", "expected a list item, `- …`, indented as the others"},
      {"end of map not found", "expected a key and its value, `key: …`, indented as the others"},
      {"illegal EOF in scalar", "a quotation mark is never closed"},
      {"illegal document indicator in scalar", "a quotation mark isn't closed before the document's end"},
      {"illegal tab when looking for indentation", "a tab indents this line; YAML allows only spaces"},
      {"illegal flow end", "`]` or `}` closes nothing"},
      {"illegal block entry", "a list item, `- …`, can't stand here"},
      {"illegal map key", "a key can't stand here"},
      {"illegal map value", "`: ` can't stand here; a value that contains ': ' must be quoted"},
      {"unknown token", "a value can't begin with this character; quote it"},
      // What follows it in the message may be any word of the file.
      {"the referenced anchor is not defined", "the referenced anchor is not defined"},
      {"unknown escape character", "unknown escape after `\\`; single quotes keep backslashes as they are"},
      {"cannot set zero indentation for a block scalar", "the indentation of a block can't be 0"},
  }};
  for (const Reason& one : kReasons) {
    if (message.starts_with(one.of_library)) return std::string(one.plain);
  }
  return std::string(message);
}

std::optional<YamlFault> FindOpenQuote(const std::string& text) {
  if (text.find_first_of("\"'") == std::string::npos) return std::nullopt;
  QuoteFinder finder(text);
  try {
    std::istringstream stream(text + "\n");  // yaml-cpp accepts an open quote only after the end of a line
    YAML::Parser parser(stream);
    parser.HandleNextDocument(finder);
  } catch (const std::exception&) {
    return finder.Take();  // what comes before a syntax error may be its cause
  }
  return finder.Take();
}

}  // namespace upskill

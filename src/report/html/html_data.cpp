// SPDX-License-Identifier: Apache-2.0
#include "report/html/html_data.h"

#include <fmt/format.h>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kChunkBytes = 256U << 10U;

// U+2028 and U+2029 end a line in older JavaScript.
bool IsLineSeparator(std::string_view text, std::size_t i) {
  return text.size() - i >= 3 && text[i + 1] == '\x80' && (text[i + 2] == '\xA8' || text[i + 2] == '\xA9');
}

// Bytes that need a look: controls, '"', '\\', '<', DEL and the first byte of U+2028.
bool NeedsEscape(char c) {
  return static_cast<unsigned char>(c) < 0x20U || c == '"' || c == '\\' || c == '<' || c == '\x7F' || c == '\xE2';
}

void AppendEscaped(std::string& out, std::string_view text) {
  std::size_t copied = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!NeedsEscape(c)) continue;
    if (c == '\xE2' && !IsLineSeparator(text, i)) continue;
    out.append(text.substr(copied, i - copied));
    copied = i + 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\xE2') {
      out += text[i + 2] == '\xA8' ? "\\u2028" : "\\u2029";
      i += 2;
      copied = i + 1;
    } else {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  out.append(text.substr(copied));
}

}  // namespace

void AppendScriptString(std::string& out, std::string_view text) {
  out += '"';
  if (FindInvalidUtf8(text)) {
    AppendEscaped(out, ReplaceInvalidUtf8(text));
  } else {
    AppendEscaped(out, text);
  }
  out += '"';
}

std::uint32_t TextTable::Add(std::string_view text) {
  const auto number = static_cast<std::uint32_t>(numbers_.size());
  if (const auto found = numbers_.find(text); found != numbers_.end()) return found->second;
  numbers_.emplace(text, number);
  if (chunks_.empty() || chunks_.back().size() >= kChunkBytes) {
    if (!chunks_.empty()) {
      chunks_.back() += ']';
      full_bytes_ += chunks_.back().size();
    }
    chunks_.emplace_back("[");
    first_.push_back(number);
  } else {
    chunks_.back() += ',';
  }
  AppendScriptString(chunks_.back(), text);
  return number;
}

void TextTable::Finish() {
  if (!chunks_.empty()) chunks_.back() += ']';
}

}  // namespace upskill

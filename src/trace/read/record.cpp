// SPDX-License-Identifier: Apache-2.0
#include "trace/read/record.h"

#include <algorithm>
#include <cmath>

#include "trace/read/record_parser.h"
#include "trace/trace.h"

namespace upskill {
namespace {

void AppendPart(std::string& text, std::string part) {
  if (part.empty()) return;
  if (text.empty()) {
    text = std::move(part);
    return;
  }
  text += '\n';
  text += part;
}

// The text of a content block of any of the APIs; blocks without text become a name in brackets.
std::string TakeBlockText(Json& block) {
  for (const char* key : {"text", "thinking", "output", "refusal", "reasoning"}) {
    std::string text = TakeString(block, key);
    if (!text.empty()) return text;
  }
  if (Json* content = FindMember(block, "content"); content != nullptr) return TakeText(*content);
  const std::string type = StringAt(block, "type");
  if (type.find("image") != std::string::npos || block.contains("inlineData")) return "[image]";
  if (type == "file" || type == "document" || type == "resource") return "[file]";
  if (type == "input_audio" || type == "audio") return "[audio]";
  return "";
}

}  // namespace

std::optional<std::string> CloseTruncatedJson(std::string_view text, std::size_t offset) {
  text = text.substr(0, std::min(offset, text.size()));
  std::string stack;
  std::string safe_stack;
  std::size_t safe_end = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      ++i;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
    } else if (c == '{' || c == '[') {
      stack += c;
      if (stack.size() > kMaxRecordDepth) return std::nullopt;
    } else if (c == '}' || c == ']') {
      if (stack.empty()) break;
      stack.pop_back();
      safe_end = i + 1;
      safe_stack = stack;
    } else if (c == ',' && !stack.empty()) {
      safe_end = i;
      safe_stack = stack;
    }
  }
  if (safe_end == 0) return std::nullopt;
  std::string closed(text.substr(0, safe_end));
  std::reverse(safe_stack.begin(), safe_stack.end());
  for (const char open : safe_stack) closed += open == '{' ? '}' : ']';
  return closed;
}

std::string TakeString(Json& object, const char* key) {
  Json* const member = FindMember(object, key);
  if (member == nullptr || !member->is_string()) return "";
  return std::move(member->get_ref<std::string&>());
}

std::optional<long long> NumberAt(const Json& object, const char* key) {
  const Json& member = Member(object, key);
  if (!member.is_number()) return std::nullopt;
  // Larger figures are damage; sums of valid ones stay far from overflow.
  const double value = member.get<double>();
  if (!std::isfinite(value) || std::fabs(value) > 9e15) return std::nullopt;
  return member.is_number_float() ? static_cast<long long>(value) : member.get<long long>();
}

std::optional<std::int64_t> TimeAt(const Json& object, const char* key) {
  const Json& member = Member(object, key);
  if (member.is_string()) return ParseTimestamp(member.get_ref<const std::string&>());
  const auto number = NumberAt(object, key);
  constexpr long long kYear10000 = 253'402'300'800'000;
  if (!number || *number <= 0 || *number >= kYear10000) return std::nullopt;
  // Seconds before the year 2286 are below 1e10, milliseconds after 1970-04-26 above.
  if (*number >= 10'000'000'000) return *number;
  if (!member.is_number_float()) return *number * 1000;
  return static_cast<std::int64_t>(member.get<double>() * 1000.0);
}

std::string TakeText(Json& content) {
  if (content.is_string()) return std::move(content.get_ref<std::string&>());
  if (content.is_object()) return TakeBlockText(content);
  std::string text;
  if (!content.is_array()) return text;
  for (Json& block : content) {
    AppendPart(text, block.is_string() ? std::move(block.get_ref<std::string&>()) : TakeBlockText(block));
  }
  return text;
}

}  // namespace upskill

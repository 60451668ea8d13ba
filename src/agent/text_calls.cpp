// SPDX-License-Identifier: Apache-2.0
#include "agent/text_calls.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostTextCalls = 100;

// The object that begins with the bracket at `start`, with raw control characters in its strings escaped; up to the end
// of the text if it isn't closed.
struct ObjectText {
  std::string json;
  std::size_t end = 0;
};

ObjectText ObjectAt(std::string_view text, std::size_t start) {
  ObjectText object;
  bool in_string = false;
  int depth = 0;
  std::size_t i = start;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\' && i + 1 < text.size()) {
      object.json += c;
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (in_string && (c == '\n' || c == '\r' || c == '\t')) {
      object.json += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
      continue;
    } else if (!in_string && (c == '{' || c == '}')) {
      depth += c == '{' ? 1 : -1;
    }
    object.json += text[i];
    if (depth == 0) break;
  }
  object.end = std::min(i + 1, text.size());
  return object;
}

// {"name": …, "arguments": {…}} and its relatives.
std::optional<ToolCall> CallOf(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const Json& function = Member(json, "function");
  if (function.is_object()) return CallOf(function);
  ToolCall call;
  for (const char* key : {"name", "tool", "tool_name", "function"}) {
    if (call.name.empty()) call.name = StringAt(json, key);
  }
  if (call.name.empty()) return std::nullopt;
  for (const char* key : {"arguments", "parameters", "input", "args"}) {
    const Json& given = Member(json, key);
    if (given.is_null()) continue;
    call.raw_arguments = given.is_string() ? given.get<std::string>() : DumpJson(given);
    Result<Json> read = ParseJson(call.raw_arguments, "arguments");
    if (read && read->is_object()) call.arguments = *std::move(read);
    return call;
  }
  return std::nullopt;
}

bool IsOffered(const std::vector<Tool>& tools, const std::string& name) {
  return std::any_of(tools.begin(), tools.end(), [&](const Tool& tool) { return tool.name == name; });
}

// A call that isn't valid JSON, so that the model is told; its name is found by its key.
ToolCall Unreadable(const std::string& json) {
  static const RE2 named(R"re("(?:name|tool|tool_name|function)"\s*:\s*"([^"\\]{1,64})")re");
  ToolCall call;
  RE2::PartialMatch(json, named, &call.name);
  call.raw_arguments = json;
  return call;
}

}  // namespace

std::vector<ToolCall> TakeCallsFromText(const std::vector<Tool>& tools, std::string& text) {
  // The start of a call: of a line, or behind a tag; perhaps in an array, and with its first brace doubled.
  static const RE2 start(
      R"re((?m)(^[ \t]*(?:<\|?/?[\w|]+\|?>[ \t]*)*(?:\[[ \t\n]*)?\{?)(\{\s*"(?:name|tool|tool_name|function|type|id|arguments|parameters)"))re");
  std::vector<ToolCall> calls;
  std::size_t first = std::string::npos;
  std::size_t from = 0;
  while (!tools.empty() && calls.size() < kMostTextCalls) {
    re2::StringPiece groups[3];
    if (!start.Match(text, from, text.size(), RE2::UNANCHORED, groups, 3)) break;
    const auto at = static_cast<std::size_t>(groups[2].data() - text.data());
    const ObjectText object = ObjectAt(text, at);
    Result<Json> json = ParseJson(object.json, "call");
    if (!json) {
      std::string single = object.json;
      RE2::GlobalReplace(&single, R"(\{\{)", "{");
      RE2::GlobalReplace(&single, R"(\}\})", "}");
      json = ParseJson(single, "call");
    }
    std::optional<ToolCall> call = json ? CallOf(*json) : Unreadable(object.json);
    from = object.end;
    if (!call || !IsOffered(tools, call->name)) continue;
    if (calls.empty()) first = static_cast<std::size_t>(groups[1].data() - text.data());
    calls.push_back(*std::move(call));
  }
  if (calls.empty()) return calls;
  text.resize(first);
  // What opened the call isn't part of the text.
  static const RE2 opening(R"re((?:\s*(?:```[\w-]*|<\|?[\w|]+\|?>))*\s*$)re");
  RE2::Replace(&text, opening, "");
  return calls;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "agent/text_calls.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "util/json.h"
#include "util/known_secrets.h"
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

// Whether `given` could be the tool's arguments: it has no keys but the tool's.
bool HasOnlyKeysOf(const Tool& tool, const Json& given) {
  const Json& properties = Member(tool.schema, "properties");
  return std::all_of(given.items().begin(), given.items().end(),
                     [&](const auto& item) { return FindMember(properties, item.key().c_str()) != nullptr; });
}

// {"name": …, "arguments": {…}} and its relatives, also with the arguments beside the name. A tool that isn't offered
// is called, too, if the object can hardly be anything else, so that the model is told.
std::optional<ToolCall> CallOf(const std::vector<Tool>& tools, const Json& json) {
  const Json& function = Member(json, "function");
  if (function.is_object()) return CallOf(tools, function);
  constexpr std::array<const char*, 4> kNames = {"name", "tool", "tool_name", "function"};
  const auto tool_at = [&](const char* key) {
    return std::find_if(tools.begin(), tools.end(), [&](const Tool& one) { return one.name == StringAt(json, key); });
  };
  const auto* name = std::find_if(kNames.begin(), kNames.end(), [&](auto* key) { return tool_at(key) != tools.end(); });
  const bool is_offered = name != kNames.end();
  if (!is_offered)
    name = std::find_if(kNames.begin(), kNames.end(), [&](auto* key) { return !StringAt(json, key).empty(); });
  if (name == kNames.end()) return std::nullopt;
  ToolCall call;
  call.name = StringAt(json, *name);
  const Json* given = FindMember(json, "arguments");
  for (const char* key : {"parameters", "input", "args"}) {
    if (given == nullptr && is_offered) given = FindMember(json, key);
  }
  Json beside = json;
  beside.erase(*name);
  if (given == nullptr && is_offered && !beside.empty() && HasOnlyKeysOf(*tool_at(*name), beside)) given = &beside;
  if (given == nullptr || given->is_null() || (!is_offered && !given->is_object())) return std::nullopt;
  Result<Json> read = given->is_string() ? ParseJson(given->get<std::string>(), "arguments") : Result<Json>(*given);
  if (read && read->is_object()) call.arguments = WithoutKnownSecrets(*std::move(read));
  call.raw_arguments = DumpJson(call.arguments.is_null() ? *given : call.arguments);
  return call;
}

void AddCalls(const std::vector<Tool>& tools, const Json& json, std::vector<ToolCall>& calls) {
  const Json& several = Member(json, "tool_calls");
  if (several.is_array()) {
    for (const Json& one : several) AddCalls(tools, one, calls);
  } else if (std::optional<ToolCall> call = CallOf(tools, json); call && calls.size() < kMostTextCalls) {
    calls.push_back(*std::move(call));
  }
}

// A call that isn't valid JSON, so that the model is told, if its name is one of `tools`; it is found by its key.
void AddUnreadable(const std::vector<Tool>& tools, const std::string& json, std::vector<ToolCall>& calls) {
  static const RE2 named(R"re("(?:name|tool|tool_name|function)"\s*:\s*"([^"\\]{1,64})")re");
  ToolCall call;
  RE2::PartialMatch(json, named, &call.name);
  if (std::none_of(tools.begin(), tools.end(), [&](const Tool& tool) { return tool.name == call.name; })) return;
  call.raw_arguments = json;
  calls.push_back(std::move(call));
}

Result<Json> ObjectIn(const ObjectText& object) {
  Result<Json> json = ParseJson(object.json, "call");
  if (json) return json;
  std::string single = object.json;
  RE2::GlobalReplace(&single, R"(\{\{)", "{");
  RE2::GlobalReplace(&single, R"(\}\})", "}");
  return ParseJson(single, "call");
}

struct CallsInText {
  std::vector<ToolCall> calls;
  std::size_t begin = 0;  // of the first one
  std::size_t end = 0;    // of the last one
};

// Some models go on with results that they invent. npos: there are none.
std::size_t BeginOfInvented(std::string_view text) {
  static const RE2 tag(R"re((<\|?(?:tool_response|tool_result|function_response|observation)s?\|?>))re");
  re2::StringPiece result;
  return RE2::PartialMatch(text, tag, &result) ? static_cast<std::size_t>(result.data() - text.data())
                                               : std::string_view::npos;
}

CallsInText FindCalls(const std::vector<Tool>& tools, std::string_view text) {
  // The start of a call: of a line, or behind a tag; perhaps in an array, and with its first brace doubled.
  static const RE2 start(
      R"re((?m)(^[ \t]*(?:<\|?/?[\w|]+\|?>[ \t]*)*(?:\[[ \t\n]*)?\{?)(\{\s*"(?:name|tool|tool_name|tool_calls|function|type|id|arguments|parameters)"))re");
  CallsInText found;
  re2::StringPiece groups[3];
  for (std::size_t from = 0; !tools.empty() && start.Match(text, from, text.size(), RE2::UNANCHORED, groups, 3);) {
    const auto at = static_cast<std::size_t>(groups[2].data() - text.data());
    if (BeginOfInvented(text.substr(from, at - from)) != std::string_view::npos) break;
    const ObjectText object = ObjectAt(text, at);
    from = object.end;
    std::vector<ToolCall> calls;
    if (const Result<Json> json = ObjectIn(object); json) {
      AddCalls(tools, *json, calls);
    } else {
      AddUnreadable(tools, object.json, calls);
    }
    if (calls.empty()) continue;
    if (found.calls.empty()) found.begin = static_cast<std::size_t>(groups[1].data() - text.data());
    found.end = object.end;
    calls.resize(std::min(calls.size(), kMostTextCalls - found.calls.size()));
    std::move(calls.begin(), calls.end(), std::back_inserter(found.calls));
  }
  return found;
}

}  // namespace

std::vector<ToolCall> TakeCallsFromText(const std::vector<Tool>& tools, std::string& text) {
  static const RE2 closing(R"re((?:[\s\]},;]|```|</?\|?[\w|]+\|?>)*)re");
  static const RE2 opening(R"re((?:\s*(?:```[\w-]*|<\|?[\w|]+\|?>))*\s*$)re");
  CallsInText found = FindCalls(tools, text);
  const std::string_view rest = std::string_view(text).substr(found.end);
  if (found.calls.empty() || !RE2::FullMatch(rest.substr(0, BeginOfInvented(rest)), closing)) return {};
  text.resize(found.begin);
  RE2::Replace(&text, opening, "");  // what opened the call isn't part of the text
  return std::move(found.calls);
}

bool LooksLikeCall(const std::vector<Tool>& tools, std::string_view text) {
  std::string names;
  for (const Tool& tool : tools) names += (names.empty() ? "" : "|") + RE2::QuoteMeta(tool.name);
  if (names.empty()) return false;
  // As other programs have models write them: tags, a name before arguments in brackets, "Action: NAME".
  const RE2 other(
      fmt::format(R"re((?m)^[ \t]*(?:<\|?/?[\w|]+\|?>[ \t]*)*(?:<(?:tool_call|function)\b|\[TOOL_CALLS\]|)re"
                  R"re("?(?:{0})"?[ \t]*[({{]|<(?:{0})\b|(?:Action|Tool|Function):[ \t]*`?(?:{0})\b))re",
                  names),
      RE2::Quiet);
  return RE2::PartialMatch(text, other) || !FindCalls(tools, text).calls.empty();
}

}  // namespace upskill

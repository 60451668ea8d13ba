// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/specstory_call.h"

#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::string_view kFence = "\n```";
constexpr std::string_view kNextFence = "\n```\n\n```text\n";  // the end of a block before the block of the result

std::string_view From(std::string_view text, std::size_t at) { return text.substr(std::min(at, text.size())); }

// What precedes `end`, which is at the end of the text.
std::string_view Without(std::string_view text, std::string_view end) {
  return text.ends_with(end) ? Trim(text.substr(0, text.size() - end.size())) : text;
}

// The content of a text that is a fenced block; other texts as they are.
std::string WithoutFence(std::string_view text) {
  text = Trim(text);
  if (!text.starts_with("```")) return std::string(text);
  std::string_view inner = From(text, text.find('\n'));
  const std::size_t end = inner.rfind(kFence);
  if (end != std::string_view::npos) inner = inner.substr(0, end);
  return std::string(inner.starts_with('\n') ? inner.substr(1) : inner);
}

// The parts of a call: what precedes the first block, the block of its argument (a program, a file), and the result.
struct CallParts {
  std::string_view head;
  std::optional<std::string> block;
  std::optional<std::string> result;
  bool failed = false;  // the export says so
};

// `body` begins with a line feed. `last`: the argument may itself contain blocks.
CallParts PartsOf(std::string_view body, bool has_block, bool last) {
  CallParts parts;
  for (const std::string_view mark : {"\n**Result:**", "\n**Error:**"}) {
    const std::size_t at = body.find(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view before = body.substr(0, at);
    parts.head = before.substr(0, before.find(kFence));
    if (parts.head.size() < before.size()) parts.block = WithoutFence(From(before, parts.head.size()));
    parts.result = WithoutFence(From(body, body.find('\n', at + 1)));
    parts.failed = body.substr(at).starts_with("\n**Error:**");
    return parts;
  }
  parts.head = body.substr(0, body.find(kFence));
  std::string_view rest = From(body, parts.head.size());
  const std::size_t next = last ? rest.rfind(kNextFence) : rest.find(kNextFence);
  if (has_block && next != std::string_view::npos) {
    parts.block = WithoutFence(rest.substr(0, next + kFence.size()));
    rest = rest.substr(next + kFence.size());
  } else if (has_block && !rest.empty() && !rest.starts_with("\n```text")) {
    parts.block = WithoutFence(rest);
    rest = {};
  }
  if (!rest.empty()) parts.result = WithoutFence(rest);
  return parts;
}

// The last line of `head` that is in backticks, which may contain others, without them; `rest`: the lines before it.
std::string QuotedLine(std::string_view head, std::string_view& rest) {
  head = Trim(head);
  const std::size_t begin = head.rfind('\n') == std::string_view::npos ? 0 : head.rfind('\n') + 1;
  const std::string_view line = Trim(head.substr(begin));
  rest = head;
  if (line.size() < 3 || line.front() != '`' || line.back() != '`') return "";
  rest = Trim(head.substr(0, begin));
  return std::string(line.substr(1, line.size() - 2));
}

CallStatus StatusOf(const std::string& result, bool shell, bool tells_failures) {
  static const RE2 failure(R"(^(?:Exit code [1-9-]|<tool_use_error>))");
  static const RE2 success(R"(^(?:The file .* has been updated|File created successfully))");
  if (RE2::PartialMatch(result, failure)) return CallStatus::kError;
  if (result.starts_with("The user doesn't want to proceed with this tool use")) return CallStatus::kRejected;
  return (shell && tells_failures) || RE2::PartialMatch(result, success) ? CallStatus::kOk : CallStatus::kUnknown;
}

// The file that a result names as written.
std::string WrittenPath(const std::string& result) {
  static const RE2 written(R"(^(?:The file |File created successfully at:? )(\S.*?)(?: has been updated| \(|$|\n))");
  std::string path;
  RE2::PartialMatch(result, written, &path);
  return path;
}

}  // namespace

SpecStoryCall ReadSpecStoryCall(std::string_view text, bool tells_failures) {
  SpecStoryCall call;
  const std::size_t tag_end = std::min(text.find('>'), text.size());
  const std::string tag(text.substr(0, std::min<std::size_t>(tag_end, 400)));
  RE2::PartialMatch(tag, R"re(data-tool-name="([^"]*)")re", &call.tool);
  const bool shell = tag.find("data-tool-type=\"shell\"") != std::string::npos;
  const bool writes = tag.find("data-tool-type=\"write\"") != std::string::npos;
  const bool reads = tag.find("data-tool-type=\"read\"") != std::string::npos;
  const std::string_view whole = Without(Trim(From(text, tag_end + 1)), "</details>");
  constexpr std::string_view kSummaryEnd = "</summary>";
  const std::size_t summary_end = whole.find(kSummaryEnd);
  const bool summarized = summary_end != std::string_view::npos;
  const std::string body = "\n" + std::string(summarized ? whole.substr(summary_end + kSummaryEnd.size()) : whole);
  CallParts parts = PartsOf(body, shell || writes, writes);
  std::string_view description;
  const std::string quoted = QuotedLine(parts.head, description);
  if (parts.result) call.status = StatusOf(*parts.result, shell, tells_failures);
  if (parts.failed) call.status = CallStatus::kError;
  std::string command = parts.block.value_or(quoted);
  if (shell && command.empty() && summarized)
    RE2::PartialMatch(std::string(whole.substr(0, summary_end)), "`([^`\n]+)`", &command);
  const std::string path = writes && parts.result && quoted.empty() ? WrittenPath(*parts.result) : quoted;
  call.arguments = Json::object();
  if (shell && !command.empty()) {
    call.arguments["command"] = command;
    if (!description.empty()) call.arguments["description"] = std::string(description);
  } else if ((reads || writes) && !path.empty()) {
    call.arguments["file_path"] = path;
    if (writes && parts.block) call.arguments["content"] = *parts.block;
  } else {
    std::string shown(Trim(parts.head));
    if (parts.block) shown += (shown.empty() ? "" : "\n") + *parts.block;
    call.arguments["text"] = shown;
  }
  call.result = std::move(parts.result);
  return call;
}

}  // namespace upskill

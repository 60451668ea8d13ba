// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/codex.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <array>

#include "trace/read/record_parser.h"
#include "util/text.h"

namespace upskill {
namespace {

// "apply_patch verification failed: …", "timeout_ms must be at least …", "failed to parse function arguments: …" etc.
bool SaysFailure(std::string_view text) {
  static const RE2 pattern(R"(^(?:failed (?:in|to) |[a-z_]+(?: [a-z]+)? failed(?: for|:)|[a-z_]+ must be |)"
                           R"(execution error|aborted by user|patch rejected|unsupported call))");
  text = text.substr(0, 100);
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern);
}

CallStatus StatusOfExitCode(long long code) { return code == 0 ? CallStatus::kOk : CallStatus::kError; }

// "Exit code: 1\nWall time: …" and "Process exited with code 1" in the head of newer outputs.
CallStatus StatusOfHead(std::string_view text) {
  for (const std::string_view mark : {"Exit code: ", "Process exited with code "}) {
    const std::size_t found = text.substr(0, 400).find(mark);
    if (found == std::string_view::npos) continue;
    const std::string_view number = text.substr(found + mark.size(), 1);
    if (!number.empty()) return number == "0" ? CallStatus::kOk : CallStatus::kError;
  }
  return CallStatus::kUnknown;
}

// The value of a literal of JavaScript, which includes its quotes.
std::string ValueOfLiteral(std::string_view literal) {
  if (literal.starts_with('"')) {
    if (const ParsedRecord parsed = ParseRecord(literal); parsed.value && parsed.value->is_string())
      return parsed.value->get<std::string>();
  }
  std::string value;
  for (std::size_t i = 1; i + 1 < literal.size(); ++i) {
    const bool escaped = literal[i] == '\\';
    if (escaped) ++i;
    const char c = literal[i];
    if (!escaped) {
      value += c;
    } else if (c != '\n') {
      value += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
  }
  return value;
}

CodexOutput TakeTextOutput(std::string text) {
  if (SaysFailure(text)) {
    const bool by_user = text.starts_with("aborted by user") || text.starts_with("patch rejected");
    return {std::move(text), by_user ? CallStatus::kRejected : CallStatus::kError};
  }
  if (Trim(text).starts_with('{') || Trim(text).starts_with('[')) {
    ParsedRecord parsed = ParseRecord(text);
    if (parsed.value && parsed.value->is_object() && parsed.value->contains("output")) {
      const auto code = NumberAt(Member(*parsed.value, "metadata"), "exit_code");
      return {TakeText((*parsed.value)["output"]), code ? StatusOfExitCode(*code) : CallStatus::kUnknown};
    }
    if (parsed.value && parsed.value->is_array() && !parsed.value->empty() &&
        Member((*parsed.value)[0], "text").is_string()) {
      return {TakeText(*parsed.value), CallStatus::kUnknown};
    }
  }
  const bool script_failed = text.starts_with("Script failed");  // its calls have records of their own
  const CallStatus status = script_failed ? CallStatus::kError : StatusOfHead(text);
  return {std::move(text), status};
}

}  // namespace

CodexOutput TakeCodexOutput(Json& output) {
  if (output.is_string()) return TakeTextOutput(std::move(output.get_ref<std::string&>()));
  const Json& success = Member(output, "success");
  CallStatus status = CallStatus::kUnknown;
  if (success.is_boolean()) status = success.get<bool>() ? CallStatus::kOk : CallStatus::kError;
  std::string text = TakeText(output);
  if (status == CallStatus::kUnknown) return TakeTextOutput(std::move(text));
  return {std::move(text), status};
}

CallStatus StatusOfCodexItem(const Json& item) {
  const std::string status = StringAt(item, "status");
  if (status == "declined") return CallStatus::kRejected;
  if (status == "failed") return CallStatus::kError;
  const Json& result = Member(item, "result");
  if (result.contains("Err") || Member(Member(result, "Ok"), "isError") == true || Member(result, "isError") == true)
    return CallStatus::kError;
  if (const auto code = NumberAt(item, "exit_code")) return StatusOfExitCode(*code);
  if (const Json& success = Member(item, "success"); success.is_boolean())
    return success.get<bool>() ? CallStatus::kOk : CallStatus::kError;
  return status == "completed" ? CallStatus::kOk : CallStatus::kUnknown;
}

std::string PatchOfChanges(const Json& changes) {
  std::string patch = "*** Begin Patch\n";
  for (const auto& [path, change] : changes.items()) {
    const std::string type = StringAt(change, "type");
    const bool added = type == "add";
    patch += fmt::format("*** {} File: {}\n", added ? "Add" : type == "delete" ? "Delete" : "Update", path);
    if (type == "delete") continue;
    const std::string text = StringAt(change, added ? "content" : "unified_diff");
    for (const std::string_view line : SplitLines(text)) patch += fmt::format("{}{}\n", added ? "+" : "", line);
  }
  return patch + "*** End Patch\n";
}

std::vector<ScriptedCall> CallsInScript(std::string_view script) {
  static const RE2 pattern(R"re((?s)tools\.(\w+)\((?:\s*(?:\{[^}]*?\bcmd["']?\s*:\s*)?)re"
                           R"re(("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`))?)re");
  std::vector<ScriptedCall> calls;
  re2::StringPiece rest(script.data(), script.size());
  std::string tool;
  std::string literal;
  while (RE2::FindAndConsume(&rest, pattern, &tool, &literal)) {
    const bool command = tool == "exec_command";
    if (literal.empty() && (command || tool == "apply_patch")) continue;  // what it did isn't known
    std::string value = ValueOfLiteral(literal);
    calls.push_back({tool, command ? Json::object({{"cmd", std::move(value)}}) : Json(std::move(value))});
  }
  return calls;
}

std::string_view CodexRequest(std::string_view text) {
  constexpr std::string_view kHeading = "## My request for Codex:";
  const std::string_view front = Trim(text);
  constexpr std::array<std::string_view, 11> kInjected = {"<environment_context>", "<user_instructions>",
                                                          "<recommended_plugins>", "# AGENTS.md instructions",
                                                          "<permissions",          "<skill>",
                                                          "<turn_aborted>",        "<subagent_notification>",
                                                          "<INSTRUCTIONS>",        "<collaboration_mode>",
                                                          "<user_shell_command>"};
  for (const std::string_view prefix : kInjected) {
    // The user may write about an element.
    if (front.starts_with(prefix) && (!prefix.starts_with('<') || front.find("</") != front.npos)) return {};
  }
  const std::size_t heading = front.find(kHeading);
  if (heading != std::string_view::npos) return Trim(front.substr(heading + kHeading.size()));
  return front;
}

}  // namespace upskill

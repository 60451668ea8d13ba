// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/chat_message.h"

#include <algorithm>
#include <utility>

#include "trace/formats/claude_text.h"
#include "util/text.h"

namespace upskill {
namespace {

void AddOpenAiCalls(TraceBuilder& builder, Json& message, const EventContext& stamp) {
  const auto add = [&](Json& function, const std::string& id) {
    // Some writers put the arguments in as an object.
    Json* const arguments = FindMember(function, "arguments");
    builder.AddCall(stamp, StringAt(function, "name"), id, arguments == nullptr ? Json() : std::move(*arguments));
  };
  for (const char* key : {"tool_calls", "toolCalls"}) {
    Json* const calls = FindMember(message, key);
    if (calls == nullptr || !calls->is_array()) continue;
    for (Json& call : *calls) {
      Json* const function = FindMember(call, "function");
      if (function != nullptr && function->is_object()) {
        add(*function, StringAt(call, "id"));
      } else if (function != nullptr && function->is_string()) {
        // Inspect: {id, function: "name", arguments: {…}}.
        Json* const arguments = FindMember(call, "arguments");
        builder.AddCall(stamp, function->get<std::string>(), StringAt(call, "id"),
                        arguments == nullptr ? Json() : std::move(*arguments));
      }
    }
  }
  if (Json* const call = FindMember(message, "function_call"); call != nullptr) add(*call, "");
}

CallStatus StatusOfToolMessage(const Json& message) {
  const Json& error = Member(message, "error");
  if (error.is_object()) {
    const std::string type = StringAt(error, "type");
    if (type == "approval") return CallStatus::kRejected;
    return type == "cancelled" ? CallStatus::kCancelled : CallStatus::kError;
  }
  const Json& is_error = Member(message, "is_error");
  if (is_error.is_boolean()) return is_error.get<bool>() ? CallStatus::kError : CallStatus::kOk;
  return CallStatus::kUnknown;
}

void AddToolMessage(TraceBuilder& builder, Json& message, const EventContext& stamp) {
  std::string id = StringAt(message, "tool_call_id");
  if (id.empty()) id = StringAt(message, "toolCallId");
  if (const Json& ids = Member(message, "tool_call_ids");
      id.empty() && ids.is_array() && !ids.empty() && ids[0].is_string()) {
    id = ids[0].get<std::string>();
  }
  const CallStatus status = StatusOfToolMessage(message);
  Json* const content = FindMember(message, "content");
  std::string text = content == nullptr ? std::string() : TakeText(*content);
  const std::string error = StringAt(Member(message, "error"), "message");
  if (!error.empty() && text.find(error) == std::string::npos) text += (text.empty() ? "" : "\n") + error;
  builder.AddResult(stamp, id, std::move(text), status);
}

// One block of an Anthropic content list. `kind`: of its texts.
void AddBlock(TraceBuilder& builder, Json& block, EventKind kind, const EventContext& stamp) {
  const std::string type = StringAt(block, "type");
  if (type == "tool_use" || type == "server_tool_use") {
    Json* const input = FindMember(block, "input");
    builder.AddCall(stamp, StringAt(block, "name"), StringAt(block, "id"),
                    input == nullptr ? Json() : std::move(*input));
  } else if (type.find("tool_result") != std::string::npos) {
    Json* const content = FindMember(block, "content");
    const CallStatus status = Member(block, "is_error") == true ? CallStatus::kError : CallStatus::kOk;
    builder.AddResult(stamp, StringAt(block, "tool_use_id"), content == nullptr ? "" : TakeText(*content), status);
  } else if (type == "thinking" || type == "reasoning") {
    builder.Add(stamp, EventKind::kReasoning, TakeText(block));
  } else if (type != "redacted_thinking") {
    builder.Add(stamp, kind, TakeText(block));
  }
}

bool IsMessageList(TraceFormat format) {
  return format == TraceFormat::kOpenAiMessages || format == TraceFormat::kAnthropicMessages;
}

// What a user typed, apart from what Claude Code adds: its sessions are often converted to lists of messages.
void AddUserText(TraceBuilder& builder, std::string text, const EventContext& stamp) {
  if (!IsMessageList(builder.trace().format)) {
    builder.Add(stamp, EventKind::kUser, std::move(text));
    return;
  }
  const bool request =
      Trim(text).starts_with("<command-message>");  // first in commands that are prompts, such as /init
  ClaudeUserText split = SplitClaudeUserText(std::move(text));
  using Kind = ClaudeUserText::Kind;
  if (split.kind == Kind::kCommand) {
    const bool local = split.typed.empty() && !request;
    builder.Add(stamp, local ? EventKind::kSystem : EventKind::kUser,
                split.command + (split.typed.empty() ? "" : " ") + std::move(split.typed));
    return;
  }
  builder.Add(stamp, EventKind::kSystem, std::move(split.injected));
  if (split.kind == Kind::kTyped) builder.Add(stamp, EventKind::kUser, std::move(split.typed));
}

// The texts of a user's message together, because they are one request, and its other blocks, in their order.
void AddUserBlocks(TraceBuilder& builder, Json& blocks, const EventContext& stamp) {
  std::string text;
  for (Json& block : blocks) {
    const std::string type = StringAt(block, "type");
    if (type.find("tool_result") != std::string::npos || type == "tool_use") {
      if (!text.empty()) AddUserText(builder, std::exchange(text, {}), stamp);
      AddBlock(builder, block, EventKind::kUser, stamp);
      continue;
    }
    const std::string part = TakeText(block);
    if (!text.empty() && !part.empty()) text += '\n';
    text += part;
  }
  if (!text.empty()) AddUserText(builder, std::move(text), stamp);
}

}  // namespace

TokenUsage ChatUsageOf(const Json& usage) {
  TokenUsage tokens;
  const Json* details = &Member(usage, "prompt_tokens_details");
  if (details->is_null()) details = &Member(usage, "input_tokens_details");
  const auto cached = NumberAt(*details, "cached_tokens");
  const bool anthropic = usage.contains("cache_read_input_tokens") || usage.contains("cache_creation_input_tokens");
  auto input = NumberAt(usage, "prompt_tokens");
  if (!input) input = NumberAt(usage, "input_tokens");
  tokens.cache_read = anthropic ? NumberAt(usage, "cache_read_input_tokens") : cached;
  tokens.cache_write =
      anthropic ? NumberAt(usage, "cache_creation_input_tokens") : NumberAt(*details, "cache_write_tokens");
  if (input) {
    const long long inside = anthropic ? 0 : tokens.cache_read.value_or(0) + tokens.cache_write.value_or(0);
    tokens.input = std::max(0LL, *input - inside);
  }
  tokens.output = NumberAt(usage, "completion_tokens");
  if (!tokens.output) tokens.output = NumberAt(usage, "output_tokens");
  const Json* parts = &Member(usage, "completion_tokens_details");
  if (parts->is_null()) parts = &Member(usage, "output_tokens_details");
  tokens.reasoning = NumberAt(*parts, "reasoning_tokens");
  return tokens;
}

bool AddChatMessage(TraceBuilder& builder, Json& message, EventContext stamp) {
  std::string role = StringAt(message, "role");
  if (role.empty()) role = StringAt(message, "from");  // ShareGPT
  if (role == "human") role = "user";
  if (role == "gpt") role = "assistant";
  if (role == "tool" || role == "function") {
    AddToolMessage(builder, message, stamp);
    return true;
  }
  const bool assistant = role == "assistant" || role == "model";
  if (!assistant && role != "user" && role != "system" && role != "developer") return false;
  EventKind kind = EventKind::kSystem;
  if (role == "user") kind = stamp.agent.empty() ? EventKind::kUser : EventKind::kSystem;
  if (assistant) {
    kind = EventKind::kAssistant;
    if (stamp.message == kNoIndex) stamp.message = builder.Message("", stamp.agent, StringAt(message, "model"));
    for (const char* key : {"reasoning_content", "reasoningContent", "reasoning", "thinking"}) {
      builder.Add(stamp, EventKind::kReasoning, TakeString(message, key));
    }
  }
  Json* content = FindMember(message, "content");
  if (content == nullptr) content = FindMember(message, "value");
  if (content != nullptr && kind == EventKind::kUser) {
    if (content->is_array()) {
      AddUserBlocks(builder, *content, stamp);
    } else {
      AddUserText(builder, TakeText(*content), stamp);
    }
  } else if (content != nullptr && content->is_array()) {
    for (Json& block : *content) AddBlock(builder, block, kind, stamp);
  } else if (content != nullptr) {
    builder.Add(stamp, kind, TakeText(*content));
  }
  builder.Add(stamp, kind, TakeString(message, "refusal"));
  if (assistant) AddOpenAiCalls(builder, message, stamp);
  return true;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "llama/worker_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace upskill {
namespace {

constexpr std::size_t kLengthBytes = 4;

Error ProtocolError(const std::string& what) { return Error{ErrorKind::kPermanent, what}; }

}  // namespace

std::string EncodeMessage(const Json& message) {
  const std::string text = DumpJson(message);
  std::string bytes;
  bytes.reserve(kLengthBytes + text.size());
  for (std::size_t i = 0; i < kLengthBytes; ++i) bytes += static_cast<char>((text.size() >> (8 * i)) & 0xFFU);
  return bytes + text;
}

Result<std::optional<Json>> MessageReader::Next() {
  if (bytes_.size() < kLengthBytes) return std::optional<Json>();
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
  }
  if (length > max_bytes_) return ProtocolError(fmt::format("a message of {} bytes", length));
  if (bytes_.size() < kLengthBytes + length) return std::optional<Json>();
  Result<Json> message = ParseJson(std::string_view(bytes_).substr(kLengthBytes, length), "message");
  bytes_.erase(0, kLengthBytes + length);
  if (!message || !message->is_object()) return ProtocolError("an unreadable message");
  return std::optional(std::move(message).value());
}

Json LoadMessage(const LoadOrder& order) {
  return {{"type", "load"},
          {"name", order.options.name},
          {"sha256", order.options.sha256},
          {"parallel", order.options.parallel},
          {"threads", order.options.threads},
          {"context_tokens", order.options.context_tokens},
          {"patience_ms", order.options.promise_patience.count()},
          {"beat_ms", order.beat.count()},
          {"logs", order.logs}};
}

LoadOrder LoadOrderFrom(const Json& message) {
  LoadOrder order;
  order.options.name = StringAt(message, "name");
  order.options.sha256 = StringAt(message, "sha256");
  order.options.parallel = JsonGet<int>(message, "parallel", 0);
  order.options.threads = JsonGet<int>(message, "threads", 0);
  order.options.context_tokens = JsonGet<int>(message, "context_tokens", 0);
  order.options.promise_patience = std::chrono::milliseconds(
      JsonGet<std::int64_t>(message, "patience_ms", std::chrono::milliseconds(Scheduler::kPatience).count()));
  order.beat = std::chrono::milliseconds(JsonGet<std::int64_t>(message, "beat_ms", order.beat.count()));
  order.logs = JsonGet<bool>(message, "logs", false);
  return order;
}

namespace {

constexpr std::size_t kMostCalls = 10'000;  // of a message

Json CallsToJson(const std::vector<ToolCall>& calls) {
  Json json = Json::array();
  for (const ToolCall& call : calls)
    json.push_back({{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}, {"raw", call.raw_arguments}});
  return json;
}

std::vector<ToolCall> CallsFromJson(const Json& json) {
  std::vector<ToolCall> calls;
  if (!json.is_array()) return calls;
  for (const Json& call : json) {
    if (calls.size() == kMostCalls) break;
    const Json& arguments = Member(call, "arguments");
    calls.push_back({StringAt(call, "id"), StringAt(call, "name"), arguments.is_object() ? arguments : Json(),
                     StringAt(call, "raw")});
  }
  return calls;
}

}  // namespace

Json RequestToJson(const ChatRequest& request) {
  Json messages = Json::array();
  for (const Message& message : request.messages) {
    Json json = {{"user", message.role == Role::kUser}, {"text", message.text}};
    if (!message.tool_calls.empty()) json["calls"] = CallsToJson(message.tool_calls);
    for (const ToolResult& result : message.tool_results)
      json["results"].push_back({{"call", result.call_id}, {"text", result.text}});
    messages.push_back(std::move(json));
  }
  Json tools = Json::array();
  for (const Tool& tool : request.tools)
    tools.push_back({{"name", tool.name}, {"description", tool.description}, {"schema", tool.schema}});
  return {{"system", request.system},
          {"messages", std::move(messages)},
          {"tools", std::move(tools)},
          {"temperature", JsonOrNull(request.sampling.temperature)},
          {"max_tokens", request.sampling.max_tokens},
          {"seed", request.sampling.seed},
          {"answer_schema", JsonOrNull(request.answer_schema)},
          {"more_follows", request.more_follows}};
}

ChatRequest RequestFromJson(const Json& json) {
  ChatRequest request;
  request.system = StringAt(json, "system");
  for (const Json& stated : Member(json, "messages")) {
    Message message{JsonGet<bool>(stated, "user", true) ? Role::kUser : Role::kAssistant, StringAt(stated, "text")};
    message.tool_calls = CallsFromJson(Member(stated, "calls"));
    for (const Json& result : Member(stated, "results"))
      message.tool_results.push_back({StringAt(result, "call"), StringAt(result, "text"), false});
    request.messages.push_back(std::move(message));
  }
  for (const Json& tool : Member(json, "tools"))
    request.tools.push_back({StringAt(tool, "name"), StringAt(tool, "description"), Member(tool, "schema")});
  if (const Json* temperature = FindMember(json, "temperature"); temperature != nullptr && temperature->is_number())
    request.sampling.temperature = temperature->get<double>();
  request.sampling.max_tokens = JsonGet<int>(json, "max_tokens", request.sampling.max_tokens);
  request.sampling.seed = JsonGet<std::uint64_t>(json, "seed", 0);
  if (const Json* schema = FindMember(json, "answer_schema")) request.answer_schema = *schema;
  request.more_follows = JsonGet<bool>(json, "more_follows", false);
  return request;
}

Json ResponseToJson(const ChatResponse& response) {
  return {{"text", response.text},
          {"reasoning", response.reasoning},
          {"calls", CallsToJson(response.tool_calls)},
          {"stop", StopReasonName(response.stop)},
          {"usage", UsageToJson(response.usage)},
          {"seconds", response.seconds}};
}

ChatResponse ResponseFromJson(const Json& json) {
  ChatResponse response;
  response.text = StringAt(json, "text");
  response.reasoning = StringAt(json, "reasoning");
  response.tool_calls = CallsFromJson(Member(json, "calls"));
  const Result<StopReason> stop = StopReasonFromName(StringAt(json, "stop"));
  response.stop = stop ? *stop : StopReason::kEnd;
  response.usage = UsageFromJson(Member(json, "usage"));
  response.seconds = std::max(0.0, JsonGet<double>(json, "seconds", 0.0));
  return response;
}

Json InfoToJson(const ModelInfo& info) {
  return {{"name", info.name},
          {"identity", info.identity},
          {"detail", info.detail},
          {"context_tokens", info.context_tokens},
          {"threads", info.threads},
          {"takes_tools", info.takes_tools},
          {"tokens_per_second", info.tokens_per_second}};
}

ModelInfo InfoFromJson(const Json& json) {
  ModelInfo info;
  info.name = StringAt(json, "name");
  info.identity = StringAt(json, "identity");
  info.detail = StringAt(json, "detail");
  info.context_tokens = std::clamp<std::int64_t>(JsonGet<std::int64_t>(json, "context_tokens", 0), 0, kMaxStoredTokens);
  info.threads = std::max(0, JsonGet<int>(json, "threads", 0));
  info.takes_tools = JsonGet<bool>(json, "takes_tools", false);
  info.tokens_per_second = std::clamp(JsonGet<double>(json, "tokens_per_second", 0.0), 0.0, 1e9);
  info.in_process = true;
  info.local = true;
  return info;
}

Json ErrorToJson(const Error& error) {
  return {{"kind", ErrorKindName(error.kind)}, {"message", error.message}, {"cause", ErrorCauseName(error.cause)}};
}

Error ErrorFromJson(const Json& json) {
  Error error{ErrorKind::kPermanent, StringAt(json, "message")};
  for (const ErrorKind kind : {ErrorKind::kInput, ErrorKind::kNotFound, ErrorKind::kIo, ErrorKind::kUnavailable,
                               ErrorKind::kPermanent, ErrorKind::kCancelled}) {
    if (StringAt(json, "kind") == ErrorKindName(kind)) error.kind = kind;
  }
  error.cause = ErrorCauseFromName(StringAt(json, "cause"));
  return error;
}

}  // namespace upskill

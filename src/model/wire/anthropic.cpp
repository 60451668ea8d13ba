// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "model/wire/formats.h"
#include "util/text.h"

namespace upskill {
namespace {

// Shorter prefixes are below the minimum that any model caches (1,024 tokens).
constexpr std::size_t kCachedFromBytes = 3'000;
// No model with a thinking budget has a higher limit on answer tokens.
constexpr int kMaxWithBudget = 64'000;

Json TextBlock(const std::string& text) { return {{"type", "text"}, {"text", text}}; }
Json CacheMark() { return {{"type", "ephemeral"}}; }

Json UserContent(const Message& message) {
  Json content = Json::array();
  for (const ToolResult& result : message.tool_results) {
    Json block = {{"type", "tool_result"}, {"tool_use_id", result.call_id}, {"content", result.text}};
    if (result.is_error) block["is_error"] = true;
    content.push_back(std::move(block));
  }
  if (!message.text.empty() || content.empty())
    content.push_back(TextBlock(message.text.empty() ? "(empty)" : message.text));
  return content;
}

Json AssistantContent(const Message& message) {
  if (message.provider_blocks.is_array() && !message.provider_blocks.empty()) return message.provider_blocks;
  Json content = Json::array();
  if (!Trim(message.text).empty()) content.push_back(TextBlock(message.text));
  for (const ToolCall& call : message.tool_calls) {
    content.push_back({{"type", "tool_use"},
                       {"id", call.id},
                       {"name", call.name},
                       {"input", call.arguments.is_object() ? call.arguments : Json::object()}});
  }
  if (content.empty()) content.push_back(TextBlock("(empty)"));
  return content;
}

// Roles alternate: adjacent messages of one role are merged.
Json AnthropicMessages(const ChatRequest& request) {
  Json messages = Json::array();
  for (const Message& message : request.messages) {
    const char* role = message.role == Role::kUser ? "user" : "assistant";
    Json content = message.role == Role::kUser ? UserContent(message) : AssistantContent(message);
    if (!messages.empty() && messages.back()["role"] == role) {
      for (Json& block : content) messages.back()["content"].push_back(std::move(block));
    } else {
      messages.push_back({{"role", role}, {"content", std::move(content)}});
    }
  }
  return messages;
}

// The form of a schema that the provider accepts: without bounds and additional properties. It admits more than the
// original; the answer is checked against the original afterwards.
Json ProviderSchema(const Json& schema) {
  static constexpr std::array<std::string_view, 8> kDropped = {"minLength", "maxLength", "minimum", "maximum",
                                                               "minItems",  "maxItems",  "pattern", "$schema"};
  if (schema.is_array()) {
    Json out = Json::array();
    for (const Json& element : schema) out.push_back(ProviderSchema(element));
    return out;
  }
  if (!schema.is_object()) return schema;
  Json out = Json::object();
  for (const auto& item : schema.items()) {
    if (std::find(kDropped.begin(), kDropped.end(), item.key()) != kDropped.end()) continue;
    if (item.key() == "properties" && item.value().is_object()) {
      Json& properties = out["properties"] = Json::object();
      for (const auto& property : item.value().items()) properties[property.key()] = ProviderSchema(property.value());
    } else if (item.key() == "items" || item.key() == "anyOf") {
      out[item.key()] = ProviderSchema(item.value());
    } else {
      out[item.key()] = item.value();
    }
  }
  if (out.contains("properties") && !Member(out, "additionalProperties").is_object())
    out["additionalProperties"] = false;
  return out;
}

int ThinkingBudget(const std::string& effort) {
  static const std::map<std::string, int> budgets = {{"minimal", 1'024}, {"low", 2'048},    {"medium", 8'192},
                                                     {"high", 16'384},   {"xhigh", 32'768}, {"max", 32'768}};
  const auto found = budgets.find(effort);
  return found == budgets.end() ? 0 : found->second;
}

void AddThinking(const WireOptions& options, Json& body) {
  if (options.effort.empty() || !options.dialect.effort || options.provider.effort == EffortStyle::kNone) return;
  const auto& budget_models = options.provider.budget_models;
  const bool has_budget = std::any_of(budget_models.begin(), budget_models.end(), [&](const std::string& pattern) {
    return MatchesPattern(pattern, options.model);
  });
  if (has_budget) {
    const int budget = ThinkingBudget(options.effort);
    if (budget == 0) return;
    const int answer = body["max_tokens"].get<int>();
    body["max_tokens"] = answer >= kMaxWithBudget ? answer : std::min(kMaxWithBudget, answer + budget);
    body["thinking"] = {{"type", "enabled"}, {"budget_tokens", budget}};
    return;
  }
  if (options.effort == "none") {
    body["thinking"] = {{"type", "disabled"}};
    return;
  }
  body["thinking"] = {{"type", "adaptive"}};
  body["output_config"]["effort"] = options.effort == "minimal" ? "low" : options.effort;
}

StopReason StopOf(const std::string& reason) {
  if (reason == "max_tokens") return StopReason::kLength;
  if (reason == "tool_use") return StopReason::kToolUse;
  if (reason == "refusal") return StopReason::kRefusal;
  if (reason == "model_context_window_exceeded") return StopReason::kContext;
  return StopReason::kEnd;
}

Usage AnthropicUsage(const Json& usage) {
  Usage out;
  out.input = TokensOf(usage, "input_tokens");
  out.cache_read = TokensOf(usage, "cache_read_input_tokens");
  out.cache_write = TokensOf(usage, "cache_creation_input_tokens");
  out.output = TokensOf(usage, "output_tokens");
  return out;
}

class AnthropicAssembler : public StreamAssembler {
 protected:
  Status TakeJson(const Json& event) override {
    const std::string type = JsonGet<std::string>(event, "type", "");
    if (type == "message_start") {
      const Json& message = Member(event, "message");
      if (message.is_object()) message_ = message;
    } else if (type == "content_block_start") {
      Block& block = blocks_[IndexOf(event)];
      block.json = Member(event, "content_block");
      if (!block.json.is_object()) block.json = Json::object();
    } else if (type == "content_block_delta") {
      TakeDelta(blocks_[IndexOf(event)], Member(event, "delta"));
    } else if (type == "message_delta") {
      const Json& reason = Member(Member(event, "delta"), "stop_reason");
      if (reason.is_string()) message_["stop_reason"] = reason;
      TakeUsage(Member(event, "usage"));
    } else if (type == "message_stop") {
      stopped_ = true;
    }
    return {};
  }

  bool complete() const override { return stopped_; }

  Json MakeBody() override {
    Json content = Json::array();
    for (auto& [index, block] : blocks_) {
      if (!block.json.is_object()) block.json = Json::object();
      if (JsonGet<std::string>(block.json, "type", "") == "tool_use") {
        // A string represents arguments that aren't JSON.
        const ToolCall call = MakeToolCall("", "", block.partial_json);
        block.json["input"] = call.arguments.is_object() ? call.arguments : Json(block.partial_json);
      }
      content.push_back(std::move(block.json));
    }
    message_["content"] = std::move(content);
    return std::move(message_);
  }

  std::size_t parts() const override { return blocks_.size(); }

 private:
  struct Block {
    Json json;
    std::string partial_json;
  };

  static std::int64_t IndexOf(const Json& event) { return TokensOf(event, "index"); }

  static void Append(Json& block, const char* key, const Json& piece) {
    if (!piece.is_string()) return;
    if (!block.is_object()) block = Json::object();
    Json& target = block[key];
    if (!target.is_string()) target = "";
    target.get_ref<std::string&>() += piece.get_ref<const std::string&>();
  }

  static void TakeDelta(Block& block, const Json& delta) {
    const std::string type = JsonGet<std::string>(delta, "type", "");
    if (type == "text_delta") Append(block.json, "text", Member(delta, "text"));
    if (type == "thinking_delta") Append(block.json, "thinking", Member(delta, "thinking"));
    if (type == "signature_delta") Append(block.json, "signature", Member(delta, "signature"));
    if (type == "input_json_delta") block.partial_json += JsonGet<std::string>(delta, "partial_json", "");
  }

  // The last value counts: output tokens are cumulative, and newer servers repeat the input side.
  void TakeUsage(const Json& usage) {
    if (!usage.is_object()) return;
    if (!Member(message_, "usage").is_object()) message_["usage"] = Json::object();
    Json& known = message_["usage"];
    for (const auto& item : usage.items()) {
      if (known.size() >= kMaxMergedKeys) return;
      if (item.value().is_number()) known[item.key()] = item.value();
    }
  }

  Json message_ = Json::object();
  std::map<std::int64_t, Block> blocks_;
  bool stopped_ = false;
};

}  // namespace

Json BuildAnthropic(const ChatRequest& request, const WireOptions& options) {
  Json body = {{"model", options.model}, {"max_tokens", MaxTokensOf(request, options)}};
  const bool cached = options.provider.cache == CacheStyle::kCacheControl;
  if (!request.tools.empty()) {
    Json& tools = body["tools"] = Json::array();
    for (const Tool& tool : request.tools)
      tools.push_back({{"name", tool.name}, {"description", tool.description}, {"input_schema", tool.schema}});
    if (!options.forced_tool.empty()) body["tool_choice"] = {{"type", "tool"}, {"name", options.forced_tool}};
  }
  if (!request.system.empty()) {
    Json block = TextBlock(request.system);
    if (cached && request.system.size() >= kCachedFromBytes) block["cache_control"] = CacheMark();
    body["system"] = Json::array({std::move(block)});
  }
  body["messages"] = AnthropicMessages(request);
  // A tool loop sends its history again each time: the cache mark moves with its end.
  if (cached && body["messages"].size() > 2) body["messages"].back()["content"].back()["cache_control"] = CacheMark();
  if (const auto temperature = TemperatureOf(request, options)) body["temperature"] = *temperature;
  if (options.settings.top_p) body["top_p"] = *options.settings.top_p;
  if (options.settings.top_k) body["top_k"] = *options.settings.top_k;
  AddThinking(options, body);
  if (UsesNativeSchema(request, options)) {
    body["output_config"]["format"] = {{"type", "json_schema"}, {"schema", ProviderSchema(*request.answer_schema)}};
  }
  if (options.stream) body["stream"] = true;
  return body;
}

Result<ChatResponse> ParseAnthropic(const Json& body) {
  if (std::optional<Error> error = ErrorInBody(body)) return *std::move(error);
  const Json& content = Member(body, "content");
  if (!content.is_array())
    return Error{ErrorKind::kUnavailable, "the response has no content; does the server have the Messages API?"}
        .Because(ErrorCause::kUnusable);
  ChatResponse response;
  Json blocks = Json::array();
  bool has_thinking = false;
  for (const Json& block : content) {
    const std::string type = JsonGet<std::string>(block, "type", "");
    Json given_back = block;
    if (type == "text") {
      response.text += JsonGet<std::string>(block, "text", "");
    } else if (type == "thinking" || type == "redacted_thinking") {
      response.reasoning += JsonGet<std::string>(block, "thinking", "");
      has_thinking = true;
    } else if (type == "tool_use") {
      const Json& input = Member(block, "input");
      std::string raw = input.is_string() ? input.get<std::string>() : input.is_null() ? "" : DumpJson(input);
      response.tool_calls.push_back(
          MakeToolCall(JsonGet<std::string>(block, "id", ""), JsonGet<std::string>(block, "name", ""), std::move(raw)));
      if (!input.is_object()) given_back["input"] = Json::object();
    }
    blocks.push_back(std::move(given_back));
  }
  if (has_thinking && !response.tool_calls.empty()) response.provider_blocks = std::move(blocks);
  response.stop = StopOf(JsonGet<std::string>(body, "stop_reason", ""));
  response.usage = AnthropicUsage(Member(body, "usage"));
  response.served_model = JsonGet<std::string>(body, "model", "");
  return response;
}

std::unique_ptr<StreamAssembler> MakeAnthropicAssembler() { return std::make_unique<AnthropicAssembler>(); }

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "model/wire/formats.h"
#include "util/text.h"

namespace upskill {
namespace {

Json TextMessage(const char* role, const char* part_type, const std::string& text) {
  return {{"type", "message"}, {"role", role}, {"content", Json::array({{{"type", part_type}, {"text", text}}})}};
}

void AddAssistant(const Message& message, Json& input) {
  if (message.provider_blocks.is_array() && !message.provider_blocks.empty()) {
    for (const Json& item : message.provider_blocks) input.push_back(item);
    return;
  }
  if (!message.text.empty() || message.tool_calls.empty())
    input.push_back(TextMessage("assistant", "output_text", message.text));
  for (const ToolCall& call : message.tool_calls) {
    input.push_back(
        {{"type", "function_call"}, {"call_id", call.id}, {"name", call.name}, {"arguments", ArgumentsText(call)}});
  }
}

Json Input(const ChatRequest& request) {
  Json input = Json::array();
  for (const Message& message : request.messages) {
    if (message.role == Role::kAssistant) {
      AddAssistant(message, input);
      continue;
    }
    for (const ToolResult& result : message.tool_results) {
      input.push_back({{"type", "function_call_output"}, {"call_id", result.call_id}, {"output", result.text}});
    }
    if (!message.text.empty() || message.tool_results.empty())
      input.push_back(TextMessage("user", "input_text", message.text));
  }
  return input;
}

void AddResponsesTools(const ChatRequest& request, const WireOptions& options, Json& body) {
  if (request.tools.empty()) return;
  Json& tools = body["tools"] = Json::array();
  for (const Tool& tool : request.tools) {
    // Without `strict`, the API would make optional arguments required.
    tools.push_back({{"type", "function"},
                     {"name", tool.name},
                     {"description", tool.description},
                     {"parameters", tool.schema},
                     {"strict", false}});
  }
  if (!options.forced_tool.empty()) body["tool_choice"] = {{"type", "function"}, {"name", options.forced_tool}};
  // Nothing is stored, so the reasoning must be returned to us for the next turn of a tool loop.
  if (options.dialect.encrypted_reasoning) body["include"] = Json::array({"reasoning.encrypted_content"});
}

void TakePart(const Json& part, ChatResponse& response, std::string& refusal) {
  const std::string type = JsonGet<std::string>(part, "type", "");
  if (type == "refusal") {
    refusal += JsonGet<std::string>(part, "refusal", "");
  } else {
    response.text += JsonGet<std::string>(part, "text", "");
  }
}

void TakeReasoning(const Json& item, std::string& reasoning) {
  for (const char* key : {"summary", "content"}) {
    const Json& parts = Member(item, key);
    if (!parts.is_array()) continue;
    for (const Json& part : parts) {
      const std::string text = JsonGet<std::string>(part, "text", "");
      if (!reasoning.empty() && !text.empty()) reasoning += "\n\n";
      reasoning += text;
    }
  }
}

Usage ResponsesUsage(const Json& usage) {
  Usage out;
  const std::int64_t input = TokensOf(usage, "input_tokens");
  out.cache_read = std::min(TokensOf(Member(usage, "input_tokens_details"), "cached_tokens"), input);
  out.input = input - out.cache_read;
  out.output = TokensOf(usage, "output_tokens");
  out.reasoning = TokensOf(Member(usage, "output_tokens_details"), "reasoning_tokens");
  return out;
}

// The error for the status of the whole answer, if it isn't a success.
std::optional<Error> ErrorOfStatus(const Json& body) {
  const std::string status = JsonGet<std::string>(body, "status", "completed");
  if (status == "completed" || status == "incomplete") return std::nullopt;
  return Error{ErrorKind::kUnavailable, fmt::format("the provider ended the answer as '{}'", ExcerptLine(status, 40))}
      .Because(ErrorCause::kServerError);
}

class ResponsesAssembler : public StreamAssembler {
 protected:
  Status TakeJson(const Json& event) override {
    const std::string type = JsonGet<std::string>(event, "type", "");
    const Json& delta = Member(event, "delta");
    if (type == "response.output_item.added") {
      SlotOf(event, Member(event, "item"), true);
    } else if (type == "response.output_item.done") {
      const Json& item = Member(event, "item");
      Slot& slot = SlotOf(event, item, true);
      slot.item = item;
      slot.done = true;
    } else if (type == "response.output_text.delta" && delta.is_string()) {
      SlotOf(event, {{"type", "message"}}, false).text += delta.get<std::string>();
    } else if (type == "response.function_call_arguments.delta" && delta.is_string()) {
      SlotOf(event, {{"type", "function_call"}}, false).arguments += delta.get<std::string>();
    } else if (type == "response.completed" || type == "response.incomplete" || type == "response.failed") {
      if (Member(event, "response").is_object()) final_ = Member(event, "response");
    }
    return {};
  }

  bool complete() const override { return final_.is_object(); }

  // Only finished items count. If the server sent fewer of them than its last event lists, those listed there are used.
  Json MakeBody() override {
    const Json& listed = Member(final_, "output");
    const auto done = static_cast<std::size_t>(
        std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.done; }));
    if (listed.is_array() && !listed.empty() && listed.size() > done) return std::move(final_);
    Json output = Json::array();
    const bool numbered = std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.index >= 0; });
    if (numbered)
      std::stable_sort(slots_.begin(), slots_.end(), [](const Slot& a, const Slot& b) { return a.index < b.index; });
    for (Slot& slot : slots_) output.push_back(slot.done ? std::move(slot.item) : ItemOfPieces(slot));
    final_["output"] = std::move(output);
    return std::move(final_);
  }

  std::size_t parts() const override { return slots_.size(); }

 private:
  struct Slot {
    std::int64_t index = -1;  // output_index; -1: not sent
    std::string type;
    std::string id;
    std::string call_id;
    Json item;  // from its last event
    std::string text;
    std::string arguments;
    bool done = false;
  };

  // The slot that an event belongs to: by output_index; without one by an ID, else the newest of the type. IDs alone
  // don't suffice: on some servers they differ between the events of an item.
  Slot& SlotOf(const Json& event, const Json& item, bool whole_item) {
    const Json& index = Member(event, "output_index");
    const std::int64_t number = index.is_number_integer() ? TokensOf(event, "output_index") : -1;
    const std::string type = JsonGet<std::string>(item, "type", "");
    const std::string id =
        whole_item ? JsonGet<std::string>(item, "id", "") : JsonGet<std::string>(event, "item_id", "");
    const std::string call_id = JsonGet<std::string>(item, "call_id", "");
    Slot* found = nullptr;
    for (Slot& slot : slots_) {
      if (number >= 0) {
        if (slot.index == number) return slot;
      } else if (!slot.done && slot.type == type) {
        const bool named =
            (!id.empty() && (slot.id == id || slot.call_id == id)) || (!call_id.empty() && slot.call_id == call_id);
        if (named) return slot;
        const bool nameless = id.empty() && call_id.empty();
        if (nameless || (slot.id.empty() && slot.call_id.empty())) found = &slot;
      }
    }
    if (found != nullptr) return *found;
    slots_.push_back({number, type, id, call_id, item, "", "", false});
    return slots_.back();
  }

  static Json ItemOfPieces(Slot& slot) {
    if (!slot.item.is_object()) slot.item = Json::object();
    if (slot.type == "function_call" && !slot.arguments.empty()) slot.item["arguments"] = slot.arguments;
    if (slot.type == "message" && !slot.text.empty())
      slot.item["content"] = Json::array({{{"type", "output_text"}, {"text", slot.text}}});
    return std::move(slot.item);
  }

  std::vector<Slot> slots_;
  Json final_;
};

}  // namespace

Json BuildResponses(const ChatRequest& request, const WireOptions& options) {
  const ModelSettings& settings = options.settings;
  Json body = {{"model", options.model}};
  if (!request.system.empty()) body["instructions"] = request.system;
  body["input"] = Input(request);
  body["store"] = false;
  body[options.dialect.token_limit] = MaxTokensOf(request, options);
  AddResponsesTools(request, options, body);
  if (const auto temperature = TemperatureOf(request, options)) body["temperature"] = *temperature;
  if (settings.top_p) body["top_p"] = *settings.top_p;
  if (settings.top_k) body["top_k"] = *settings.top_k;
  if (settings.min_p) body["min_p"] = *settings.min_p;
  if (!settings.verbosity.empty()) body["text"]["verbosity"] = settings.verbosity;
  if (!options.effort.empty() && options.dialect.effort) body["reasoning"] = {{"effort", options.effort}};
  if (UsesNativeSchema(request, options)) {
    body["text"]["format"] = {{"type", "json_schema"},
                              {"name", "answer"},
                              {"schema", *request.answer_schema},
                              {"strict", IsStrictSchema(*request.answer_schema)}};
  }
  if (options.provider.cache == CacheStyle::kPromptCacheKey && options.dialect.cache_key && !request.system.empty()) {
    body["prompt_cache_key"] = CacheKeyOf(request);
  }
  if (options.stream) body["stream"] = true;
  return body;
}

Result<ChatResponse> ParseResponses(const Json& body) {
  if (std::optional<Error> error = ErrorInBody(body)) return *std::move(error);
  if (std::optional<Error> error = ErrorOfStatus(body)) return *std::move(error);
  const Json& output = Member(body, "output");
  if (!output.is_array())
    return Error{ErrorKind::kUnavailable, "the response has no output; does the server have the Responses API?"}
        .Because(ErrorCause::kUnusable);
  ChatResponse response;
  std::string refusal;
  bool has_reasoning = false;
  for (const Json& item : output) {
    const std::string type = JsonGet<std::string>(item, "type", "");
    if (type == "message") {
      const Json& content = Member(item, "content");
      if (content.is_string()) response.text += content.get<std::string>();
      if (!content.is_array()) continue;
      for (const Json& part : content) TakePart(part, response, refusal);
    } else if (type == "reasoning") {
      has_reasoning = true;
      TakeReasoning(item, response.reasoning);
    } else if (type == "function_call") {
      const std::string call_id = JsonGet<std::string>(item, "call_id", "");
      response.tool_calls.push_back(MakeToolCall(call_id.empty() ? JsonGet<std::string>(item, "id", "") : call_id,
                                                 JsonGet<std::string>(item, "name", ""),
                                                 JsonGet<std::string>(item, "arguments", "")));
    }
  }
  if (has_reasoning && !response.tool_calls.empty()) response.provider_blocks = output;
  if (!response.tool_calls.empty()) response.stop = StopReason::kToolUse;
  if (JsonGet<std::string>(body, "status", "") == "incomplete") {
    const std::string reason = JsonGet<std::string>(Member(body, "incomplete_details"), "reason", "");
    response.stop = reason == "content_filter" ? StopReason::kRefusal : StopReason::kLength;
  }
  if (!refusal.empty()) {
    response.stop = StopReason::kRefusal;
    if (response.text.empty()) response.text = refusal;
  }
  response.usage = ResponsesUsage(Member(body, "usage"));
  response.served_model = JsonGet<std::string>(body, "model", "");
  return response;
}

std::unique_ptr<StreamAssembler> MakeResponsesAssembler() { return std::make_unique<ResponsesAssembler>(); }

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "model/wire/formats.h"
#include "util/text.h"

namespace upskill {
namespace {

Json AssistantMessage(const Message& message) {
  if (message.provider_blocks.is_object()) return message.provider_blocks;
  Json out = {{"role", "assistant"}, {"content", message.text}};
  if (message.tool_calls.empty()) return out;
  if (message.text.empty()) out["content"] = nullptr;
  Json& calls = out["tool_calls"] = Json::array();
  for (const ToolCall& call : message.tool_calls) {
    calls.push_back({{"id", call.id},
                     {"type", "function"},
                     {"function", {{"name", call.name}, {"arguments", ArgumentsText(call)}}}});
  }
  return out;
}

Json ChatMessages(const ChatRequest& request, bool system_role) {
  Json messages = Json::array();
  if (!request.system.empty())
    messages.push_back({{"role", system_role ? "system" : "user"}, {"content", request.system}});
  for (const Message& message : request.messages) {
    if (message.role == Role::kAssistant) {
      messages.push_back(AssistantMessage(message));
      continue;
    }
    for (const ToolResult& result : message.tool_results) {
      messages.push_back({{"role", "tool"}, {"tool_call_id", result.call_id}, {"content", result.text}});
    }
    if (message.text.empty() && !message.tool_results.empty()) continue;
    if (!system_role && messages.size() == 1 && messages[0]["role"] == "user") {
      messages[0]["content"] = request.system + "\n\n" + message.text;  // roles must alternate, too
    } else {
      messages.push_back({{"role", "user"}, {"content", message.text}});
    }
  }
  return messages;
}

void AddChatTools(const ChatRequest& request, const WireOptions& options, Json& body) {
  if (request.tools.empty()) return;
  Json& tools = body["tools"] = Json::array();
  for (const Tool& tool : request.tools) {
    tools.push_back(
        {{"type", "function"},
         {"function", {{"name", tool.name}, {"description", tool.description}, {"parameters", tool.schema}}}});
  }
  if (!options.forced_tool.empty())
    body["tool_choice"] = {{"type", "function"}, {"function", {{"name", options.forced_tool}}}};
}

void AddSettings(const ChatRequest& request, const WireOptions& options, Json& body) {
  const ModelSettings& settings = options.settings;
  body[options.dialect.token_limit] = MaxTokensOf(request, options);
  if (const auto temperature = TemperatureOf(request, options)) body["temperature"] = *temperature;
  if (settings.top_p) body["top_p"] = *settings.top_p;
  if (settings.top_k) body["top_k"] = *settings.top_k;
  if (settings.min_p) body["min_p"] = *settings.min_p;
  if (!settings.verbosity.empty()) body["verbosity"] = settings.verbosity;
  // Servers store seeds in 31 bits or more.
  if (options.dialect.seed) body["seed"] = request.sampling.seed & 0x7FFFFFFFU;
  if (!options.effort.empty() && options.dialect.effort) {
    if (options.provider.effort == EffortStyle::kReasoningEffort) body["reasoning_effort"] = options.effort;
    if (options.provider.effort == EffortStyle::kReasoning) body["reasoning"] = {{"effort", options.effort}};
  }
  if (UsesNativeSchema(request, options)) {
    body["response_format"] = {
        {"type", "json_schema"},
        {"json_schema",
         {{"name", "answer"}, {"strict", IsStrictSchema(*request.answer_schema)}, {"schema", *request.answer_schema}}}};
  }
  if (options.provider.cache == CacheStyle::kPromptCacheKey && options.dialect.cache_key && !request.system.empty()) {
    body["prompt_cache_key"] = CacheKeyOf(request);
  }
  if (options.stream) {
    body["stream"] = true;
    if (options.dialect.stream_usage) body["stream_options"] = {{"include_usage", true}};
  }
}

// A string, or a list of parts with text.
std::string ContentText(const Json& content) {
  if (content.is_string()) return content.get<std::string>();
  std::string text;
  if (!content.is_array()) return text;
  for (const Json& part : content) text += JsonGet<std::string>(part, "text", "");
  return text;
}

std::string ReasoningText(const Json& message) {
  const std::string text = JsonGet<std::string>(message, "reasoning_content", "");
  return text.empty() ? JsonGet<std::string>(message, "reasoning", "") : text;
}

Usage ChatUsage(const Json& body) {
  const Json& usage = Member(body, "usage");
  const Json& prompt_details = Member(usage, "prompt_tokens_details");
  Usage out;
  const std::int64_t prompt = TokensOf(usage, "prompt_tokens");
  // The fields of OpenAI, DeepSeek and llama-server.
  out.cache_read = std::max({TokensOf(prompt_details, "cached_tokens"), TokensOf(usage, "prompt_cache_hit_tokens"),
                             TokensOf(Member(body, "timings"), "cache_n")});
  out.cache_read = std::min(out.cache_read, prompt);
  out.cache_write = std::min(TokensOf(prompt_details, "cache_write_tokens"), prompt - out.cache_read);
  out.input = prompt - out.cache_read - out.cache_write;
  out.reasoning = TokensOf(Member(usage, "completion_tokens_details"), "reasoning_tokens");
  // Gemini and Grok exclude the reasoning from completion_tokens, but not from the total.
  out.output = std::max(TokensOf(usage, "completion_tokens"), TokensOf(usage, "total_tokens") - prompt);
  return out;
}

StopReason StopOf(const std::string& reason, const ChatResponse& response) {
  if (reason == "length") return StopReason::kLength;
  if (reason == "content_filter") return StopReason::kRefusal;
  return response.tool_calls.empty() ? StopReason::kEnd : StopReason::kToolUse;
}

// What must be returned with the tool results: signatures and reasoning that the next turn continues from. Null:
// nothing.
Json BlocksOf(const Json& message, const ChatResponse& response) {
  const Json& calls = Member(message, "tool_calls");
  if (response.tool_calls.empty() || !calls.is_array()) return nullptr;
  Json out = {{"role", "assistant"}, {"content", Member(message, "content")}};
  bool needed = false;
  for (const char* key : {"reasoning_content", "reasoning_details"}) {
    const Json& value = Member(message, key);
    if (value.is_null()) continue;
    out[key] = value;
    needed = true;
  }
  Json& given_back = out["tool_calls"] = Json::array();
  for (std::size_t i = 0; i < response.tool_calls.size(); ++i) {
    const ToolCall& call = response.tool_calls[i];
    Json entry = {
        {"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", ArgumentsText(call)}}}};
    if (const Json& extra = Member(calls[i], "extra_content"); !extra.is_null()) {
      entry["extra_content"] = extra;
      needed = true;
    }
    given_back.push_back(std::move(entry));
  }
  return needed ? out : Json(nullptr);
}

class ChatAssembler : public StreamAssembler {
 protected:
  Status TakeJson(const Json& event) override {
    for (const char* key : {"id", "model", "usage", "timings", "provider"}) {
      if (const Json& value = Member(event, key); !value.is_null()) body_[key] = value;
    }
    const Json& choices = Member(event, "choices");
    if (!choices.is_array()) return {};
    for (const Json& choice : choices) {
      if (TokensOf(choice, "index") != 0) continue;
      if (std::optional<Error> error = ErrorInBody(choice)) return WhileAnswering(*error);
      if (const Json& reason = Member(choice, "finish_reason"); reason.is_string()) finish_reason_ = reason;
      const Json& delta = Member(choice, "delta");
      TakeDelta(delta.is_object() ? delta : Member(choice, "message"));
    }
    return {};
  }

  void TakeDone() override { done_ = true; }
  bool complete() const override { return done_ || finish_reason_.is_string(); }

  Json MakeBody() override {
    Json message = {{"role", "assistant"}, {"content", content_}};
    if (!reasoning_.empty()) message[reasoning_key_] = reasoning_;
    if (!refusal_.empty()) message["refusal"] = refusal_;
    if (!details_.empty()) message["reasoning_details"] = details_;
    if (!calls_.empty()) {
      Json& calls = message["tool_calls"] = Json::array();
      for (const Call& call : calls_) {
        Json entry = {
            {"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}};
        if (!call.extra.is_null()) entry["extra_content"] = call.extra;
        calls.push_back(std::move(entry));
      }
    }
    body_["choices"] =
        Json::array({{{"index", 0}, {"finish_reason", finish_reason_}, {"message", std::move(message)}}});
    return std::move(body_);
  }

  std::size_t parts() const override { return calls_.size(); }

 private:
  struct Call {
    std::int64_t index = -1;  // the server's number; -1: none
    std::string id;
    std::string name;
    std::string arguments;
    Json extra;
  };

  void TakeDelta(const Json& delta) {
    content_ += ContentText(Member(delta, "content"));
    refusal_ += JsonGet<std::string>(delta, "refusal", "");
    for (const char* key : {"reasoning_content", "reasoning"}) {
      const Json& piece = Member(delta, key);
      if (!piece.is_string() || piece.get_ref<const std::string&>().empty()) continue;
      reasoning_ += piece.get<std::string>();
      reasoning_key_ = key;
      break;  // some servers send the same piece under both names
    }
    TakeDetails(Member(delta, "reasoning_details"));
    const Json& calls = Member(delta, "tool_calls");
    if (!calls.is_array()) return;
    for (const Json& piece : calls) {
      if (calls_.size() > kMaxParts) return;  // an error (StreamAssembler::Take)
      TakeCall(piece);
    }
  }

  // Pieces of one entry (same index and type) are joined.
  void TakeDetails(const Json& pieces) {
    if (!pieces.is_array()) return;
    for (const Json& piece : pieces) {
      const bool continues_last = !details_.empty() && Member(details_.back(), "index") == Member(piece, "index") &&
                                  !Member(piece, "index").is_null() &&
                                  Member(details_.back(), "type") == Member(piece, "type") &&
                                  details_.back().size() + piece.size() <= kMaxMergedKeys;
      if (!continues_last) {
        details_.push_back(piece);
        continue;
      }
      Json& entry = details_.back();
      for (const auto& item : piece.items()) {
        const bool is_text = item.key() == "text" || item.key() == "summary" || item.key() == "data";
        if (is_text && item.value().is_string() && Member(entry, item.key().c_str()).is_string()) {
          entry[item.key()].get_ref<std::string&>() += item.value().get<std::string>();
        } else if (!item.value().is_null()) {
          entry[item.key()] = item.value();
        }
      }
    }
  }

  // Servers number calls, or give them IDs, or do neither and send each call whole.
  Call& CallOf(const Json& piece, const std::string& id) {
    const Json& index = Member(piece, "index");
    const std::int64_t number = index.is_number_integer() ? TokensOf(piece, "index") : -1;
    for (Call& call : calls_) {
      const bool same = number >= 0 ? call.index == number : (id.empty() && &call == &calls_.back());
      if (same && (id.empty() || call.id.empty() || call.id == id)) return call;
    }
    calls_.push_back({number, "", "", "", nullptr});
    return calls_.back();
  }

  void TakeCall(const Json& piece) {
    if (!piece.is_object()) return;
    const std::string id = JsonGet<std::string>(piece, "id", "");
    Call& call = CallOf(piece, id);
    if (!id.empty()) call.id = id;
    const Json& function = Member(piece, "function");
    const std::string name = JsonGet<std::string>(function, "name", "");
    if (!name.empty()) call.name = name;
    const Json& arguments = Member(function, "arguments");
    if (arguments.is_string()) call.arguments += arguments.get<std::string>();
    if (arguments.is_object()) call.arguments = DumpJson(arguments);
    if (const Json& extra = Member(piece, "extra_content"); !extra.is_null()) call.extra = extra;
  }

  Json body_ = Json::object();
  Json finish_reason_;
  std::string content_;
  std::string reasoning_;
  std::string reasoning_key_ = "reasoning_content";
  std::string refusal_;
  Json details_ = Json::array();
  std::vector<Call> calls_;
  bool done_ = false;
};

}  // namespace

Json BuildChat(const ChatRequest& request, const WireOptions& options) {
  Json body = {{"model", options.model}, {"messages", ChatMessages(request, options.dialect.system_role)}};
  AddChatTools(request, options, body);
  AddSettings(request, options, body);
  return body;
}

Result<ChatResponse> ParseChat(const Json& body) {
  if (std::optional<Error> error = ErrorInBody(body)) return *std::move(error);
  const Json& choices = Member(body, "choices");
  if (!choices.is_array() || choices.empty() || !choices.front().is_object()) {
    return Error{ErrorKind::kUnavailable, "the response has no choices"}.Because(ErrorCause::kUnusable);
  }
  const Json& choice = choices.front();
  if (std::optional<Error> error = ErrorInBody(choice)) return WhileAnswering(*error);
  const std::string reason = JsonGet<std::string>(choice, "finish_reason", "");
  if (reason == "error") {
    return Error{ErrorKind::kUnavailable, "the provider ended the answer with an error"}.Because(
        ErrorCause::kServerError);
  }
  const Json& message = Member(choice, "message");
  ChatResponse response;
  response.text = ContentText(Member(message, "content"));
  response.reasoning = ReasoningText(message);
  const Json& calls = Member(message, "tool_calls");
  if (calls.is_array()) {
    for (const Json& call : calls) {
      const Json& function = Member(call, "function");
      const Json& arguments = Member(function, "arguments");
      std::string raw = arguments.is_string() ? arguments.get<std::string>()
                        : arguments.is_null() ? ""
                                              : DumpJson(arguments);
      response.tool_calls.push_back(MakeToolCall(JsonGet<std::string>(call, "id", ""),
                                                 JsonGet<std::string>(function, "name", ""), std::move(raw)));
    }
  }
  response.stop = StopOf(reason, response);
  const std::string refusal = JsonGet<std::string>(message, "refusal", "");
  if (!refusal.empty()) {
    response.stop = StopReason::kRefusal;
    if (response.text.empty()) response.text = refusal;
  }
  response.provider_blocks = BlocksOf(message, response);
  response.usage = ChatUsage(body);
  response.served_model = JsonGet<std::string>(body, "model", "");
  if (const Json& cost = Member(Member(body, "usage"), "cost"); cost.is_number()) {
    const double dollars = cost.get<double>();
    if (std::isfinite(dollars) && dollars >= 0.0) response.cost_usd = dollars;
  }
  return response;
}

std::unique_ptr<StreamAssembler> MakeChatAssembler() { return std::make_unique<ChatAssembler>(); }

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "model/command_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "model/wire/wire.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kReportedColumns = 300;

using Records = std::vector<Json>;

std::string TextAt(const Json& json, const char* key) { return JsonGet<std::string>(json, key, ""); }

Json ObjectAt(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && found != json.end() && found->is_object() ? *found : Json::object();
}

// What was evaluated: these programs count what came from the cache as input, too.
std::int64_t Uncached(const Json& tokens, const char* all, const char* cached) {
  return std::max<std::int64_t>(0, TokensOf(tokens, all) - TokensOf(tokens, cached));
}

// A cost below zero would raise what may still be spent; programs report 0 for a model whose price they don't know.
std::optional<double> CostAt(const Json& json, const char* key) {
  const Json& cost = Member(json, key);
  if (!cost.is_number()) return std::nullopt;
  const auto usd = cost.get<double>();
  return std::isfinite(usd) && usd > 0.0 ? std::optional(usd) : std::nullopt;
}

void AddCost(ChatResponse& response, std::optional<double> usd) {
  if (usd) response.cost_usd = response.cost_usd.value_or(0.0) + *usd;
}

// `used`: an answer with what the program reports to have used.
Error Failed(const std::string& message, const ChatResponse& used) {
  Error error{ErrorKind::kUnavailable,
              "it reports an error: " + (message.empty() ? "no message" : ExcerptLine(message, kReportedColumns))};
  error.used_usd = used.cost_usd.value_or(0.0);
  error.used_tokens = used.usage.prompt() + used.usage.output;
  return error;
}

// The objects of the output: one, a list of them, or one per line. Lines that aren't JSON (notices, warnings) are left
// out. Empty: it isn't JSON.
Records RecordsOf(std::string_view output) {
  Records records;
  const auto add = [&](const Json& json) {
    if (json.is_object()) records.push_back(json);
  };
  if (const Result<Json> whole = ParseJson(output, "output")) {
    if (!whole->is_array()) add(*whole);
    if (whole->is_array()) {
      for (const Json& entry : *whole) add(entry);
    }
    return records;
  }
  for (const std::string_view line : SplitLines(output)) {
    if (!Trim(line).starts_with('{')) continue;
    if (const Result<Json> json = ParseJson(line, "output")) add(*json);
  }
  return records;
}

// The text parts of a message's content.
std::string TextOfContent(const Json& message) {
  if (!message.contains("content")) return "";
  const Json& content = message.at("content");
  if (content.is_string()) return content;
  std::string text;
  if (!content.is_array()) return text;
  for (const Json& part : content) {
    if (TextAt(part, "type") == "text") text += TextAt(part, "text");
  }
  return text;
}

// Each of the following returns nothing if no record is of its program.
using CommandReading = std::optional<Result<ChatResponse>>;

// {"type": "result", "subtype": "success", "result": "…", "usage": {…}, "total_cost_usd": 0.01}, alone or at the end.
CommandReading ReadClaudeCode(const Records& records) {
  const Json& last = records.back();
  if (TextAt(last, "type") != "result" || TextAt(last, "subtype").empty()) return std::nullopt;
  ChatResponse response;
  response.text = TextAt(last, "result");
  const Json usage = ObjectAt(last, "usage");
  response.usage.input = TokensOf(usage, "input_tokens");
  response.usage.cache_read = TokensOf(usage, "cache_read_input_tokens");
  response.usage.cache_write = TokensOf(usage, "cache_creation_input_tokens");
  response.usage.output = TokensOf(usage, "output_tokens");
  AddCost(response, CostAt(last, "total_cost_usd"));
  if (JsonGet(last, "is_error", false) || !last.contains("result"))
    return Failed(last.contains("result") ? TextAt(last, "result") : TextAt(last, "subtype"), response);
  const Json models = ObjectAt(last, "modelUsage");
  if (models.size() == 1) response.served_model = models.begin().key();
  if (TextAt(last, "stop_reason") == "max_tokens") response.stop = StopReason::kLength;
  if (TextAt(last, "stop_reason") == "refusal") response.stop = StopReason::kRefusal;
  return response;
}

// {"type": "item.completed", "item": {"type": "agent_message", "text": "…"}}, {"type": "turn.completed", "usage": {…}}.
CommandReading ReadCodex(const Records& records) {
  ChatResponse response;
  bool found = false;
  std::optional<std::string> failure;
  for (const Json& record : records) {
    const std::string type = TextAt(record, "type");
    const Json item = ObjectAt(record, "item");
    if (type == "thread.started" || type == "turn.started") found = true;
    if (type == "item.completed" && TextAt(item, "type") == "agent_message") {
      found = true;
      response.text = TextAt(item, "text");
    }
    if (type == "turn.failed") failure = TextAt(ObjectAt(record, "error"), "message");
    if (type != "turn.completed") continue;
    found = true;
    const Json usage = ObjectAt(record, "usage");
    response.usage.input += Uncached(usage, "input_tokens", "cached_input_tokens");
    response.usage.cache_read += TokensOf(usage, "cached_input_tokens");
    response.usage.output += TokensOf(usage, "output_tokens");
    response.usage.reasoning += TokensOf(usage, "reasoning_output_tokens");
  }
  if (failure) return Failed(*failure, response);
  if (!found) return std::nullopt;
  return response;
}

// {"response": "…", "stats": {"models": {NAME: {"tokens": {…}}}}} or {"error": {"message": "…"}}.
CommandReading ReadGemini(const Records& records) {
  if (records.size() != 1) return std::nullopt;
  const Json& answer = records.front();
  const Json error = ObjectAt(answer, "error");
  const bool has_stats = answer.contains("stats") && answer.at("stats").is_object();
  const bool failed =
      error.contains("message") && error.contains("type") && (has_stats || !answer.contains("response"));
  if (!failed && (!has_stats || !answer.contains("response") || !answer.at("response").is_string()))
    return std::nullopt;
  ChatResponse response;
  response.text = TextAt(answer, "response");
  const Json models = ObjectAt(ObjectAt(answer, "stats"), "models");
  for (const auto& [name, model] : models.items()) {
    const Json tokens = ObjectAt(model, "tokens");
    response.usage.input += Uncached(tokens, "prompt", "cached");
    response.usage.cache_read += TokensOf(tokens, "cached");
    response.usage.output += TokensOf(tokens, "candidates") + TokensOf(tokens, "thoughts");
    response.usage.reasoning += TokensOf(tokens, "thoughts");
  }
  if (failed) return Failed(TextAt(error, "message"), response);
  if (models.size() == 1) response.served_model = models.begin().key();
  return response;
}

// {"type": "text", "sessionID": …, "part": {"messageID": …, "text": "…"}}, {"type": "step_finish", "part": {"tokens":
// {…}, "cost": 0.01}}. The answer is the text of the last message.
CommandReading ReadOpenCode(const Records& records) {
  ChatResponse response;
  std::string message;
  bool found = false;
  for (const Json& record : records) {
    if (!record.contains("sessionID")) continue;
    const std::string type = TextAt(record, "type");
    const Json part = ObjectAt(record, "part");
    if (type == "error") {
      const Json error = ObjectAt(record, "error");
      const std::string told = TextAt(ObjectAt(error, "data"), "message");
      return Failed(told.empty() ? TextAt(error, "name") : told, response);
    }
    found = found || type == "step_start" || type == "text" || type == "step_finish";
    if (type == "text") {
      if (TextAt(part, "messageID") != message) response.text.clear();
      message = TextAt(part, "messageID");
      response.text += TextAt(part, "text");
    }
    if (type != "step_finish") continue;
    const Json tokens = ObjectAt(part, "tokens");
    response.usage.input += TokensOf(tokens, "input");
    response.usage.output += TokensOf(tokens, "output");
    response.usage.reasoning += TokensOf(tokens, "reasoning");
    response.usage.cache_read += TokensOf(ObjectAt(tokens, "cache"), "read");
    response.usage.cache_write += TokensOf(ObjectAt(tokens, "cache"), "write");
    AddCost(response, CostAt(part, "cost"));
    if (TextAt(part, "reason") == "length") response.stop = StopReason::kLength;
  }
  if (!found) return std::nullopt;
  return response;
}

// {"type": "message_end", "message": {"role": "assistant", "content": […], "usage": {…}, "stopReason": "stop"}}.
CommandReading ReadPi(const Records& records) {
  ChatResponse response;
  Json last;
  for (const Json& record : records) {
    const Json message = ObjectAt(record, "message");
    if (TextAt(record, "type") != "message_end" || TextAt(message, "role") != "assistant") continue;
    last = message;
    const Json usage = ObjectAt(message, "usage");
    response.usage.input += TokensOf(usage, "input");
    response.usage.output += TokensOf(usage, "output");
    response.usage.cache_read += TokensOf(usage, "cacheRead");
    response.usage.cache_write += TokensOf(usage, "cacheWrite");
    AddCost(response, CostAt(ObjectAt(usage, "cost"), "total"));
  }
  if (last.is_null()) return std::nullopt;
  const std::string reason = TextAt(last, "stopReason");
  if (reason == "error" || reason == "aborted") return Failed(TextAt(last, "errorMessage"), response);
  if (reason == "length") response.stop = StopReason::kLength;
  response.text = TextOfContent(last);
  response.served_model = TextAt(last, "model");
  return response;
}

}  // namespace

Result<ChatResponse> ReadCommandOutput(std::string_view output) {
  const std::string text = ReplaceInvalidUtf8(output);
  ChatResponse plain;
  plain.text = std::string(Trim(text));
  const Records records = RecordsOf(plain.text);
  std::optional<Result<ChatResponse>> read;
  if (!records.empty()) {
    for (const auto reader : {ReadClaudeCode, ReadCodex, ReadGemini, ReadOpenCode, ReadPi}) {
      read = reader(records);
      if (read) break;
    }
  }
  Result<ChatResponse> response = read ? *std::move(read) : Result<ChatResponse>(std::move(plain));
  if (response && Trim(response->text).empty()) {
    Error error = Failed("", *response);
    error.message = "it printed no answer";
    return error;
  }
  return response;
}

}  // namespace upskill

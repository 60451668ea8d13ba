// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/workspace.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

enum class Role { kUser, kAssistant };

// A tool that a model may call.
struct Tool {
  std::string name;
  std::string description;
  Json schema;  // JSON schema of its arguments (an object)
};

struct ToolCall {
  std::string id;
  std::string name;
  Json arguments;             // an object; null if the model's text isn't one
  std::string raw_arguments;  // as the model wrote them
};

struct ToolResult {
  std::string call_id;
  std::string text;
  bool is_error = false;
};

struct Message {
  Role role = Role::kUser;
  std::string text;
  // NOLINTBEGIN(readability-redundant-member-init): without them GCC warns of Message{role, text}
  std::vector<ToolCall> tool_calls = {};      // in an assistant message
  std::vector<ToolResult> tool_results = {};  // in a user message: results of the previous message's calls
  // NOLINTEND(readability-redundant-member-init)
  Json provider_blocks = nullptr;  // ChatResponse::provider_blocks of that answer, returned unchanged
};

struct Sampling {
  std::optional<double> temperature;  // 0 picks the likeliest token; absent: the model's default
  int max_tokens = 512;               // maximum tokens per answer
  std::uint64_t seed = 0;             // for models that support seeds
};

// The name of a skill that holds the reference answers of its cases: what a student passes with it, no better skill
// changes.
inline constexpr std::string_view kReferenceSkill = "reference-answers";

// One question to a model.
struct ChatRequest {
  std::string id;      // 40 hex digits of a hash of the question, by which a batch finds it again; may be empty
  std::string system;  // the stable prefix: equal for many requests, so that providers and the engine can share it
  std::vector<Message> messages;
  Sampling sampling;
  std::vector<Tool> tools;
  // The JSON schema that the answer must match. The model enforces it if it can, and is told about it otherwise;
  // GenerateStructured checks the answer.
  std::optional<Json> answer_schema;
  Json simulation;  // for the simulated student only, never sent: {"arm", "attempt", "passing_answer"}
  // What is to be done in a workspace, for a model that acts (ModelInfo::acts) and only for such a one; null: the
  // request is a question.
  std::shared_ptr<const WorkspaceTask> task;
  // Approves the turns of a request with a task, for ModelInfo::meters_turns; null: nothing is limited.
  std::shared_ptr<TurnMeter> meter;
  // The caller promises another request as soon as Model::Window has room for it, or a Model::Cancel. A local model
  // then fills its batch before it continues, which makes the composition of batches, and therefore its answers,
  // repeatable.
  bool more_follows = false;
};

// Why an answer ended. Journaled by name (StopReasonName): never rename.
enum class StopReason {
  kEnd,
  kLength,   // reached max_tokens
  kRefusal,  // the model or its provider's filter declined
  kToolUse,  // waits for the results of ChatResponse::tool_calls
  kContext,  // reached the end of the context window while answering
};

const char* StopReasonName(StopReason reason);
Result<StopReason> StopReasonFromName(std::string_view name);

// Tokens of one answer, with the same meaning for every provider.
struct Usage {
  std::int64_t input = 0;       // prompt tokens that were evaluated for this answer
  std::int64_t cache_read = 0;  // prompt tokens taken from a cache
  std::int64_t cache_write = 0;
  std::int64_t output = 0;  // answer tokens, reasoning included
  std::int64_t reasoning = 0;

  std::int64_t prompt() const { return input + cache_read + cache_write; }
  void Add(const Usage& more) {
    input += more.input;
    cache_read += more.cache_read;
    cache_write += more.cache_write;
    output += more.output;
    reasoning += more.reasoning;
  }
};

// The most that one answer may claim where it is stored, or comes from elsewhere: runs are added up.
inline constexpr std::int64_t kMaxStoredTokens = 1'000'000'000'000;
inline constexpr double kMaxStoredSeconds = 1e9;
inline constexpr double kMaxStoredUsd = 1e9;

Json UsageToJson(const Usage& usage);
Usage UsageFromJson(const Json& json);  // what isn't a count is 0

struct ChatResponse {
  std::string text;       // valid UTF-8
  std::string reasoning;  // the model's reasoning before the answer, if separate
  std::vector<ToolCall> tool_calls;
  Json parsed;  // from GenerateStructured: the text as JSON, valid under ChatRequest::answer_schema; else null
  std::string schema_problem;  // from GenerateStructured: why no complete answer matches the schema; else empty
  Json provider_blocks;  // what the provider wants back unchanged in a tool loop (signed reasoning); null: nothing
  StopReason stop = StopReason::kEnd;
  Usage usage;
  std::optional<double> cost_usd;  // of this answer; absent: the price is unknown, or the model is local
  std::string served_model;        // the model's name in the provider's response; may be empty
  std::string request_id;          // the provider's, for its support team; may be empty
  double seconds = 0.0;            // from the start of work on the request to the last token
  // What was done, for a request with a task. Usage, cost and time are those of all turns, `text` is of the last.
  std::optional<WorkRecord> work;
};

}  // namespace upskill

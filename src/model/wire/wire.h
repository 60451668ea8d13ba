// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "model/catalog.h"
#include "model/chat.h"
#include "model/model_spec.h"
#include "net/sse.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Which optional parameters a server accepts. Starts with those in the catalogue and loses those that the server
// rejects.
struct Dialect {
  std::string token_limit;
  bool token_limit_switched = false;
  bool temperature = true;
  bool effort = true;
  bool schema = true;  // the provider's structured output
  bool seed = false;
  bool cache_key = true;
  bool stream_usage = true;
  bool encrypted_reasoning = true;
  bool system_role = true;  // else the system text begins the first message of the user
};

// What a request body depends on besides the request itself.
struct WireOptions {
  Provider provider;
  std::string model;
  std::string effort;
  ModelSettings settings;
  Dialect dialect;
  bool stream = false;
  std::string forced_tool;  // the tool that the model must call; empty: any or none
};

Dialect DialectOf(const Provider& provider);

// The dialect without the parameter named in the error message of a rejected request (400); nothing if the message
// names no parameter that can be left out.
std::optional<Dialect> WithoutRejectedParameter(const Dialect& dialect, Wire wire, std::string_view message);

// Assembles the events of one streamed answer into the body that the server would have sent without streaming. Not
// thread-safe.
class StreamAssembler {
 public:
  StreamAssembler() = default;
  virtual ~StreamAssembler() = default;
  StreamAssembler(const StreamAssembler&) = delete;
  StreamAssembler& operator=(const StreamAssembler&) = delete;

  // Error: the event reports one, or isn't JSON. Unknown events are skipped.
  Status Take(const SseEvent& event);

  // Error (kUnavailable): the stream ended before its last event.
  Result<Json> Body();

 protected:
  virtual Status TakeJson(const Json& event) = 0;
  virtual void TakeDone() {}          // the `[DONE]` event
  virtual bool complete() const = 0;  // the last event has arrived
  virtual Json MakeBody() = 0;
  virtual std::size_t parts() const = 0;  // of the answer so far

 private:
  std::size_t events_ = 0;
};

// A provider's API format, as pure functions.
struct WireFormat {
  std::string_view path;  // appended to the base URL
  Json (*build)(const ChatRequest& request, const WireOptions& options);
  // Parses the body of a successful response. Errors reported in it are returned as errors. Cost is set only if the
  // server reports it; request_id and seconds are not set.
  Result<ChatResponse> (*parse)(const Json& body);
  std::unique_ptr<StreamAssembler> (*assembler)();
};

const WireFormat& WireFormatOf(Wire wire);

inline constexpr std::size_t kMaxParts = 1'000;       // of an answer: blocks, items or calls
inline constexpr std::size_t kMaxMergedKeys = 1'000;  // of an object whose members arrive in several events
// The largest answer, unless it is streamed.
inline constexpr std::size_t kMaxAnswerBodyBytes = std::size_t{32} << 20U;

// Parses a body or an event, with invalid UTF-8 replaced. Errors: kUnavailable with its first 100 characters if it
// isn't JSON, kInput if it is too large.
Result<Json> ParseBody(std::string_view body);

// The error that a body or event reports, if any.
std::optional<Error> ErrorInBody(const Json& body);

// The error of a model that may have been answering: one that usually comes before an answer broke it off.
Error WhileAnswering(const Error& error);

// --- for the wire formats ---

// Tokens under `key`, a whole number of at least 0; 0 for anything else.
std::int64_t TokensOf(const Json& object, const char* key);
ToolCall MakeToolCall(std::string id, std::string name, std::string raw_arguments);
// Arguments of a call in the history as JSON text; `{}` if they aren't JSON.
std::string ArgumentsText(const ToolCall& call);
int MaxTokensOf(const ChatRequest& request, const WireOptions& options);
std::optional<double> TemperatureOf(const ChatRequest& request, const WireOptions& options);
// Whether the provider enforces the answer's schema.
bool UsesNativeSchema(const ChatRequest& request, const WireOptions& options);
// Identifies the stable prefix for the provider's cache.
std::string CacheKeyOf(const ChatRequest& request);
// Whether a schema meets the requirements of OpenAI's strict mode: every property required, no others.
bool IsStrictSchema(const Json& schema);

}  // namespace upskill

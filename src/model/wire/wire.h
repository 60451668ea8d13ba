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

// Which optional parameters a server takes. Begins with what the catalogue says and loses what the server refuses.
struct Dialect {
  std::string token_limit;
  bool token_limit_switched = false;
  bool temperature = true;
  bool effort = true;
  bool schema = true;  // structured output of the provider's own
  bool seed = false;
  bool cache_key = true;
  bool stream_usage = true;
  bool encrypted_reasoning = true;
};

// What a request body has besides the request itself.
struct WireOptions {
  Provider provider;
  std::string model;
  std::string effort;
  ModelSettings settings;
  Dialect dialect;
  bool stream = false;
  std::string forced_tool;  // the tool that the model must call; empty: as it likes
};

Dialect DialectOf(const Provider& provider);

// The dialect without the parameter that the message of a refused request (400) names; nothing when it names none that
// could be left out.
std::optional<Dialect> WithoutRejectedParameter(const Dialect& dialect, Wire wire, std::string_view message);

// Puts the events of one streamed answer together to the body that the server would have sent without streaming.
// Not thread-safe.
class StreamAssembler {
 public:
  StreamAssembler() = default;
  virtual ~StreamAssembler() = default;
  StreamAssembler(const StreamAssembler&) = delete;
  StreamAssembler& operator=(const StreamAssembler&) = delete;

  // Error: the event tells of one, or isn't JSON. Unknown events are skipped.
  Status Take(const SseEvent& event);

  // Error (kUnavailable): the stream ended before its last event.
  Result<Json> Body();

 protected:
  virtual Status TakeJson(const Json& event) = 0;
  virtual void TakeDone() {}          // the `[DONE]` event
  virtual bool complete() const = 0;  // the last event was there
  virtual Json MakeBody() = 0;
  virtual std::size_t parts() const = 0;  // of the answer so far
};

// One way to speak with a server, as pure functions.
struct WireFormat {
  std::string_view path;  // behind the base URL
  Json (*build)(const ChatRequest& request, const WireOptions& options);
  // The answer in the body of a success. Errors that stand in such a body come out as errors. Cost is set only where
  // the server tells it; request_id and seconds are not set.
  Result<ChatResponse> (*parse)(const Json& body);
  std::unique_ptr<StreamAssembler> (*assembler)();
};

const WireFormat& WireFormatOf(Wire wire);

// JSON of a body or an event, invalid UTF-8 replaced. Error (kUnavailable) with its first 100 characters.
Result<Json> ParseBody(std::string_view body);

// The error that a body or event tells of, if it does.
std::optional<Error> ErrorInBody(const Json& body);

// --- for the wire formats ---

// Tokens under `key`: whole and from 0; 0 for anything else.
std::int64_t TokensOf(const Json& object, const char* key);
ToolCall MakeToolCall(std::string id, std::string name, std::string raw_arguments);
// Arguments of a call in its history as JSON text; `{}` for those that are none.
std::string ArgumentsText(const ToolCall& call);
int MaxTokensOf(const ChatRequest& request, const WireOptions& options);
std::optional<double> TemperatureOf(const ChatRequest& request, const WireOptions& options);
// Whether the answer is bound to its schema by the provider.
bool UsesNativeSchema(const ChatRequest& request, const WireOptions& options);
// Names the stable prefix for the provider's cache.
std::string CacheKeyOf(const ChatRequest& request);
// Whether a schema fulfils what OpenAI's strict mode asks: every property required, no others.
bool IsStrictSchema(const Json& schema);

}  // namespace upskill

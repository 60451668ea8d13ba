// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "llama/llama_model.h"
#include "model/chat.h"
#include "model/model.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// What the program and its worker process say to each other: JSON objects, each after its length in four bytes. Both
// ends are the same binary, so there are no versions. Every message has a `type`:
//
//   to the worker                                     from the worker
//   load    the first one: LoadMessage                alive   the engine gets on, or waits for requests:
//                                                             tokens, most (WrittenTokens)
//   start   id, request                               ready   the model is loaded: info, window
//   cancel  scope: waiting, running                   failed  it can't be loaded: error; the worker exits
//   count   id, text                                  answer  id, and response or error
//   share   models                                    count   id, tokens (null: unknown)
//                                                     log     source, text
//
// What the worker writes is not trusted: a damaged model file may have taken it over.
std::string EncodeMessage(const Json& message);

// Collects bytes until messages are complete.
class MessageReader {
 public:
  explicit MessageReader(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  void Add(std::string_view bytes) { bytes_ += bytes; }
  // The next complete message, nothing if there is none yet. Error: it is too long, or not a JSON object.
  Result<std::optional<Json>> Next();

 private:
  std::size_t max_bytes_;
  std::string bytes_;
};

// How the worker is to load its model; the file itself is an argument of the worker.
struct LoadOrder {
  LlamaOptions options;                  // all but `path`, `hashing` and `life`
  std::chrono::milliseconds beat{1000};  // how often to say that the engine is alive
  bool logs = false;                     // whether to send log messages
};
Json LoadMessage(const LoadOrder& order);
LoadOrder LoadOrderFrom(const Json& message);

// Only what the engine uses: no simulation.
Json RequestToJson(const ChatRequest& request);
ChatRequest RequestFromJson(const Json& json);

Json ResponseToJson(const ChatResponse& response);
ChatResponse ResponseFromJson(const Json& json);

Json InfoToJson(const ModelInfo& info);
ModelInfo InfoFromJson(const Json& json);

Json ErrorToJson(const Error& error);
Error ErrorFromJson(const Json& json);

}  // namespace upskill

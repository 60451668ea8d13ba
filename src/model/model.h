// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "model/chat.h"
#include "util/rate_limits.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// US dollars per million tokens.
struct Price {
  double input = 0.0;
  double output = 0.0;
  double cache_read = 0.0;
  double cache_write = 0.0;
  std::string date;      // when it was looked up, 2026-11-21
  double request = 0.0;  // US dollars per request, in addition
};

// What one request costs.
double CostUsd(const Price& price, const Usage& usage);

struct ModelInfo {
  std::string name;         // short, for tables: smollm2-135m
  std::string identity;     // determines the answers: provider, model name and base URLs, or the hash of a GGUF
  std::string detail;       // for the head line: "in process, 24 sequences"
  bool in_process = false;  // runs on this machine, and has no cost
  // How many threads a model in process computes with, so that it can share the processors with others of its kind
  // (ShareProcessors). 0: it can't, and only one such model runs at a time. A model on a GPU needs all of it.
  int threads = 0;
  double tokens_per_second = 0.0;  // of a model in process at best, with all answers together; 0: unknown
  bool local = false;              // sent nowhere else: in process, simulated, or to a server on a loopback address
  // The first answer should arrive before other requests are sent: it fills the provider's prompt cache and shows
  // whether the key and the model's name are right.
  bool warm_up = false;
  std::optional<Price> price = std::nullopt;  // see KnownPrice
  std::int64_t context_tokens = 0;            // of a request and its answer together; 0: unknown
  bool bounded = true;                        // keeps to the maximum of tokens for an answer; a command may not
  bool takes_tools = false;                   // takes ChatRequest::tools and histories with calls and their results
  bool acts = false;                          // takes requests with ChatRequest::task
  bool starts_servers = false;                // … with WorkspaceTask::servers that have a command
  // Of one that acts: has ChatRequest::meter approve each turn, so that nothing is reserved for the task as a whole.
  bool meters_turns = false;
};

// What a model costs; absent: unknown. Only models in process are free without a declared price: a server on this
// machine may be a gateway to one that isn't.
std::optional<Price> KnownPrice(const ModelInfo& info);

// A student or teacher. Implementations own the thread that works on their requests.
class Model {
 public:
  using Done = std::function<void(Result<ChatResponse>)>;

  Model() = default;
  virtual ~Model() = default;  // cancels everything, like Cancel(kRunning)
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  virtual const ModelInfo& info() const = 0;

  // Doesn't block. `done` is called exactly once, on the model's own thread (or on the caller's if the request is
  // rejected at once, or on the thread that calls Cancel); it must return quickly and may not call back into the model.
  // Thread-safe.
  virtual void Start(ChatRequest request, Done done) = 0;

  enum class CancelScope { kWaiting, kRunning };  // only requests not yet worked on, or all of them
  // The `done` of each affected request gets an error of kind kCancelled. Thread-safe.
  virtual void Cancel(CancelScope scope) = 0;

  // Tokens of a text according to the model's own tokenizer, without chat markup; absent: unknown. Thread-safe.
  virtual std::optional<std::size_t> CountTokens(const std::string& /*text*/) const { return std::nullopt; }

  // Maximum tokens of the answer to a request, reasoning included. Thread-safe.
  virtual int MaxOutputTokens(const ChatRequest& request) const { return request.sampling.max_tokens; }

  // What its servers have refused for now, and the model waits for. Thread-safe.
  virtual RateLimits rate_limits() const { return {}; }

  // From now on, this many models in process work at the same time, including this one, which uses its threads divided
  // by that number.
  // Thread-safe.
  virtual void ShareProcessors(int /*models*/) {}

  // How many unanswered requests the caller should keep started to keep this model busy. With fewer, a model may wait
  // for a request that `more_follows` promised.
  virtual int Window() const = 0;
  // How many of them it works on at the same time; the others wait for a place.
  virtual int Parallel() const { return Window(); }
};

// Starts one request and waits for its answer. `stop`, which may be null: when it is 2 or more, all requests of the
// model are cancelled (kCancelled). `on_tick`, which may be null, is called ten times a second.
Result<ChatResponse> Generate(Model& model, ChatRequest request, const StopFlag* stop = nullptr,
                              std::function<void()> on_tick = nullptr);

}  // namespace upskill

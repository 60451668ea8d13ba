// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "model/chat.h"
#include "util/result.h"

namespace upskill {

// US dollars per million tokens.
struct Price {
  double input = 0.0;
  double output = 0.0;
  double cache_read = 0.0;
  double cache_write = 0.0;
  std::string date;  // when it was looked up, 2026-11-21
};

// How often a model is asked again for an answer that doesn't fit its schema.
inline constexpr int kMaxRepairs = 2;

double CostUsd(const Price& price, const Usage& usage);

struct ModelInfo {
  std::string name;         // short, for tables: smollm2-135m
  std::string identity;     // determines the answers: provider and model name, or the fingerprint of a GGUF
  std::string detail;       // for the head line: "in process, 24 sequences"
  bool in_process = false;  // it computes on this machine: one such model runs at a time, and cost does not apply
  bool local = false;       // nothing leaves this machine: in process, simulated, or a server on a loopback address
  // The first answer should be there before others are asked for: it fills the provider's prompt cache and tells
  // whether the key and the model's name are right.
  bool warm_up = false;
  std::optional<Price> price = std::nullopt;  // absent: unknown, or local
};

// A student or teacher. Implementations own the thread that works on their requests.
class Model {
 public:
  using Done = std::function<void(Result<ChatResponse>)>;

  Model() = default;
  virtual ~Model() = default;  // gives up what is still running, as Cancel(kRunning) does
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  virtual const ModelInfo& info() const = 0;

  // Doesn't block. `done` is called exactly once, on the model's own thread (or on the caller's when the request is
  // refused at once, or on that of the caller of Cancel); it must return quickly and may not call back into the model.
  // Thread-safe.
  virtual void Start(ChatRequest request, Done done) = 0;

  enum class CancelScope { kWaiting, kRunning };  // only requests not yet worked on, or all of them
  // The `done` of each request concerned gets an error of kind kCancelled. Thread-safe.
  virtual void Cancel(CancelScope scope) = 0;

  // Tokens of a text by the model's own tokenizer, marks of the chat not counted; absent: unknown. Thread-safe.
  virtual std::optional<std::size_t> CountTokens(const std::string& /*text*/) const { return std::nullopt; }

  // The most tokens that the answer to a request may have, reasoning included. Thread-safe.
  virtual int MaxOutputTokens(const ChatRequest& request) const { return request.sampling.max_tokens; }

  // How many requests the sender should keep started and unanswered to keep this model busy. With fewer than that
  // unanswered, a model may wait for a request that `more_follows` promised.
  virtual int Window() const = 0;
};

// Starts one request and waits for its answer. An answer that doesn't fit the request's schema, of a model that doesn't
// see to that itself, is asked for again twice; the last one comes as it is, like a cut off or declined one: not parsed.
// `stop`: once it is 2 or more all requests of the model are given up (kCancelled); may be null.
Result<ChatResponse> Generate(Model& model, ChatRequest request, const std::atomic<int>* stop = nullptr);

}  // namespace upskill

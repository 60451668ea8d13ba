// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "model/chat.h"
#include "util/result.h"

namespace upskill {

struct ModelInfo {
  std::string name;      // short, for tables: smollm2-135m
  std::string identity;  // determines the answers: provider and model name, or the fingerprint of a GGUF
  std::string detail;    // for the head line: "in process, 24 sequences"
  bool in_process = false;  // it computes on this machine: one such model runs at a time, and cost does not apply
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

  // How many requests the sender should keep started and unanswered to keep this model busy.
  virtual int Window() const = 0;
};

// Starts one request and waits for its answer.
Result<ChatResponse> Generate(Model& model, ChatRequest request);

}  // namespace upskill

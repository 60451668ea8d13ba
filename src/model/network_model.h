// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "model/connection.h"
#include "model/model.h"
#include "model/model_spec.h"
#include "model/wire/wire.h"
#include "net/endpoint.h"
#include "util/result.h"
#include "util/work_pool.h"

namespace upskill {

// A model behind HTTP: a model string, its wire format, its key and the endpoint that queues its requests.
//
// The provider enforces the request's answer_schema where possible; otherwise the model is told about it. A parameter
// that the server rejects by name is left out from then on. Long answers are streamed, so that a silent connection is
// noticed. Errors: see http_error.h; also kUnavailable for answers that are cut off or can't be read.
//
// Thread-safe. `done` is called on the thread of the HttpClient or, for an answer that takes long to parse, on a thread
// of the model; the destructor waits for the last one, so it may not run on these threads.
class NetworkModel : public Model {
 public:
  NetworkModel(ModelSpec spec, Connection connection, ModelInfo info, const NetworkOptions& options);
  ~NetworkModel() override;
  NetworkModel(const NetworkModel&) = delete;
  NetworkModel& operator=(const NetworkModel&) = delete;

  const ModelInfo& info() const override { return info_; }
  void Start(ChatRequest request, Done done) override;
  void Cancel(CancelScope scope) override;
  RateLimits rate_limits() const override { return endpoint_.rate_limits(); }
  int Window() const override;
  int MaxOutputTokens(const ChatRequest& request) const override;

 private:
  struct Job;
  class Reading;

  void Guarded(const std::shared_ptr<Job>& job, const std::function<void()>& work);
  void Send(const std::shared_ptr<Job>& job);
  void OnAnswer(const std::shared_ptr<Job>& job, const std::shared_ptr<Reading>& reading, Result<HttpResponse> result);
  Result<ChatResponse> ParseAnswer(Reading* reading, const HttpResponse& result) const;
  void ReadAnswer(const std::shared_ptr<Job>& job, const std::shared_ptr<Reading>& reading, const HttpResponse& result);
  void OnError(const std::shared_ptr<Job>& job, const Error& error);
  void OnResponse(const std::shared_ptr<Job>& job, ChatResponse response);
  void Finish(const std::shared_ptr<Job>& job, Result<ChatResponse> result);
  WireOptions OptionsFor(const ChatRequest& request, const Dialect& dialect) const;
  bool AdaptTo(const Job& job, const Error& error);

  const ModelSpec spec_;
  const Connection connection_;
  const ModelInfo info_;
  const WireFormat& format_;

  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable idle_;
  Dialect dialect_;
  std::uint64_t dialect_version_ = 0;
  std::uint64_t cancel_count_ = 0;  // of Cancel(kRunning): jobs started before it are not continued
  int pending_ = 0;

  WorkPool parser_;    // of long answers
  Endpoint endpoint_;  // last: its callbacks use the members above
};

// Opens the network model that a model string names. Errors: kPermanent without a key, kInput for a bad base URL.
Result<std::unique_ptr<Model>> OpenNetworkModel(const ModelSpec& spec, const NetworkOptions& options);

}  // namespace upskill

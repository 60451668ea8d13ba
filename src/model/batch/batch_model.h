// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "model/batch/batch.h"
#include "model/batch/batch_notes.h"
#include "model/connection.h"
#include "model/model.h"
#include "model/model_spec.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

struct BatchTimes {
  std::chrono::milliseconds quiet{500};         // submits when no further request has arrived for this long
  std::chrono::milliseconds first_poll{1'000};  // after submitting; each later pause is half as long again
  std::chrono::milliseconds max_pause{60'000};
  std::chrono::milliseconds patience{3'600'000};  // how long the provider may be unavailable
};

// A model behind a provider's Batch API. Requests are collected, recorded (BatchNotes), submitted together and waited
// for on a thread of its own. A request that an earlier batch contains, by ChatRequest::id, is waited for there and
// isn't submitted again. Whether a batch was submitted whose ID didn't arrive is looked up at the provider first.
// Requests with the same ID are submitted once, and each gets the answer. Both scopes of Cancel release all requests at
// once and leave the batches running at the provider, so a later process can use their results. Requests without an
// answer in their batch end in kUnavailable; the caller retries. Thread-safe.
class BatchModel : public Model {
 public:
  // `clock` must outlive the model.
  BatchModel(std::unique_ptr<BatchApi> api, ModelInfo info, BatchNotes notes, const Clock& clock,
             BatchTimes times = {});
  ~BatchModel() override;
  BatchModel(const BatchModel&) = delete;
  BatchModel& operator=(const BatchModel&) = delete;

  const ModelInfo& info() const override { return info_; }
  void Start(ChatRequest request, Done done) override;
  void Cancel(CancelScope scope) override;
  int Window() const override;

 private:
  using Time = Clock::Steady;
  struct Waiting {
    ChatRequest request;
    std::vector<Done> takers;  // all that asked it, at least one
    void Answer(const Result<ChatResponse>& answer) const;
  };
  using WaitingById = std::map<std::string, Waiting>;
  struct Batch {
    std::string id;  // empty while it is being submitted
    WaitingById waiting;
    bool found = false;  // recorded by an earlier process
    std::chrono::milliseconds pause{0};
    Time next_poll;
    std::optional<Time> failing_since;
  };

  void Run();
  void Work(std::unique_lock<std::mutex>& lock);
  bool WaitForWork(std::unique_lock<std::mutex>& lock);
  static void Put(WaitingById& requests, const std::string& id, Waiting waiting);
  void Pause(std::chrono::milliseconds pause, std::unique_lock<std::mutex>& lock);
  void Assign(std::unique_lock<std::mutex>& lock);
  WaitingById* WaitingFor(const std::string& id);
  void LookForLost(std::unique_lock<std::mutex>& lock);
  Result<std::optional<std::string>> Find(const BatchIntent& intent, std::unique_lock<std::mutex>& lock);
  Result<std::string> SubmitOnce(const std::vector<BatchItem>& items, const BatchIntent& intent,
                                 const WaitingById& waiting, std::unique_lock<std::mutex>& lock);
  void Submit(std::list<Batch>::iterator batch, std::unique_lock<std::mutex>& lock);
  void Poll(std::list<Batch>::iterator batch, std::unique_lock<std::mutex>& lock);
  void TakeResults(std::list<Batch>::iterator batch, std::unique_lock<std::mutex>& lock);
  void HandleFailure(std::list<Batch>::iterator batch, const Error& error, std::unique_lock<std::mutex>& lock);
  static void End(WaitingById& waiting, const Error& error, std::unique_lock<std::mutex>& lock);
  void EndEverything(const Error& error, std::unique_lock<std::mutex>& lock);
  void PauseFor(Batch& batch) const;

  const std::unique_ptr<BatchApi> api_;
  const ModelInfo info_;
  const BatchNotes notes_;
  const Clock& clock_;
  const BatchTimes times_;

  std::mutex mutex_;  // guards the rest
  std::condition_variable changed_;
  WaitingById inbox_;
  Time last_arrival_;
  bool stopping_ = false;
  std::uint64_t unnamed_ = 0;
  std::list<Batch> batches_;   // only the thread removes elements
  BatchNotes::Content noted_;  // read when the first requests arrive
  bool notes_read_ = false;

  std::jthread thread_;  // last: uses everything above
};

// Errors: those of OpenNetworkModel, kInput for a provider without a Batch API.
Result<std::unique_ptr<Model>> OpenBatchModel(const ModelSpec& spec, const NetworkOptions& options,
                                              const std::filesystem::path& notes, BatchNotes::Use use, bool shared);

}  // namespace upskill

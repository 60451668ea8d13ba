// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "llama/llama_model.h"
#include "llama/worker_requests.h"
#include "llama/worker_session.h"
#include "model/model.h"
#include "util/json.h"
#include "util/result.h"
#include "util/written_tokens.h"

namespace upskill {

struct WorkerOptions {
  std::filesystem::path program = "/proc/self/exe";  // its main() must call RunEngineWorker
  // A worker that shows no sign of life for so long is killed. Loading and evaluating show one for every tensor, so
  // only a very slow disk takes longer.
  std::chrono::milliseconds patience{120'000};
  std::function<void()> on_slow = nullptr;           // called once if loading takes more than a second; may be null
  std::shared_ptr<WrittenTokens> written = nullptr;  // set about once a second; may be null
};

// Loads a GGUF into a worker process, where a damaged or hostile file can do no harm: its chat template may loop
// forever, and llama.cpp ends its process in many places. The answers are those of LoadLlamaModel.
//
// A worker that crashes or hangs is started once more, and the requests that it had get an error of kind kUnavailable.
// After a second crash they get one of kind kPermanent, like all later requests. Errors: those of LoadLlamaModel; the
// worker can't be started; it crashed or hung while it loaded the file.
Result<std::unique_ptr<Model>> OpenWorkerModel(const LlamaOptions& options, const WorkerOptions& worker);

// The program's side of a worker. Its thread starts the worker, talks to it and watches it.
class WorkerModel : public Model {
 public:
  WorkerModel(LlamaOptions options, WorkerOptions worker);
  ~WorkerModel() override;
  WorkerModel(const WorkerModel&) = delete;
  WorkerModel& operator=(const WorkerModel&) = delete;

  // Waits until the model is loaded or can't be. Comes before everything else, which needs its success.
  Status WaitUntilLoaded();

  const ModelInfo& info() const override { return info_; }
  void Start(ChatRequest request, Done done) override { requests_->Start(request, std::move(done)); }
  void Cancel(CancelScope scope) override { requests_->Cancel(scope); }
  std::optional<std::size_t> CountTokens(const std::string& text) const override {
    return requests_->CountTokens(text);
  }
  void ShareProcessors(int models) override { requests_->ShareProcessors(models); }
  int Window() const override { return window_; }
  int Parallel() const override { return parallel_; }

 private:
  void Run();
  WorkerSession::Ending RunWorker();
  Status AcceptReady(const Json& message);
  bool IsLoaded();
  void FinishLoading(Status result);

  const LlamaOptions options_;
  const WorkerOptions worker_;
  const std::unique_ptr<WorkerRequests> requests_;
  std::atomic<bool> stopping_ = false;
  std::string sha256_;  // of the file when the worker was started; only the thread uses it

  std::mutex mutex_;
  std::condition_variable loaded_;
  std::optional<Status> load_result_;  // guarded by mutex_
  // Written once by the thread, before load_result_.
  ModelInfo info_;
  int window_ = 1;
  int parallel_ = 1;

  std::thread thread_;  // last: uses everything above
};

}  // namespace upskill

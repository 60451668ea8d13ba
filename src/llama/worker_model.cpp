// SPDX-License-Identifier: Apache-2.0
#include "llama/worker_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "llama/worker_process.h"
#include "llama/worker_protocol.h"
#include "llama/worker_session.h"
#include "util/log.h"

namespace upskill {

Result<std::unique_ptr<Model>> OpenWorkerModel(const LlamaOptions& options, const WorkerOptions& worker) {
  auto model = std::make_unique<WorkerModel>(options, worker);
  RETURN_IF_ERROR(model->WaitUntilLoaded());
  return std::unique_ptr<Model>(std::move(model));
}

WorkerModel::WorkerModel(LlamaOptions options, WorkerOptions worker)
    : options_(std::move(options)),
      worker_(std::move(worker)),
      requests_(std::make_unique<WorkerRequests>()),
      thread_([this] { Run(); }) {}

WorkerModel::~WorkerModel() {
  requests_->Cancel(CancelScope::kRunning);
  stopping_ = true;
  requests_->Wake();
  thread_.join();
}

Status WorkerModel::WaitUntilLoaded() {
  constexpr std::chrono::seconds kSlow{1};
  const auto is_loaded = [this] { return load_result_.has_value(); };
  std::unique_lock lock(mutex_);
  if (!loaded_.wait_for(lock, kSlow, is_loaded)) {
    if (worker_.on_slow) worker_.on_slow();
    loaded_.wait(lock, is_loaded);
  }
  return *load_result_;
}

void WorkerModel::Run() {
  for (bool again = false;; again = true) {
    const WorkerSession::Ending ending = RunWorker();
    if (ending.kind == WorkerSession::Ending::Kind::kStopped) return;
    const std::string& cause = ending.error.message;
    const bool rejected = ending.kind == WorkerSession::Ending::Kind::kRejected;
    if (!rejected) Log("llama", fmt::format("the worker process of {} failed with {}", options_.path.string(), cause));
    if (!IsLoaded()) {
      Error error = rejected ? ending.error
                             : Error{ErrorKind::kPermanent, fmt::format("model {}: the engine failed with {} while "
                                                                        "loading it",
                                                                        options_.path.string(), cause)};
      requests_->End(error);
      return FinishLoading(std::move(error));
    }
    const std::string engine = fmt::format("the engine of model {}", info_.name);
    if (rejected) return requests_->End(ending.error.With(engine + " can't be restarted"));
    if (again) {
      return requests_->End(
          Error{ErrorKind::kPermanent, fmt::format("{} failed again, with {}", engine, cause)}.Because(
              ErrorCause::kCrash));
    }
    requests_->FailAll(
        Error{ErrorKind::kUnavailable, fmt::format("{} failed with {}; it is restarted", engine, cause)}.Because(
            ErrorCause::kCrash));
  }
}

WorkerSession::Ending WorkerModel::RunWorker() {
  // The worker isn't trusted with it: a hostile file could pass itself off as another one.
  FileHashOptions hashing = options_.hashing;
  if (IsLoaded()) hashing.on_slow = nullptr;  // the main thread has gone on
  Result<std::string> sha256 = IdentifyGguf(options_.path, hashing);
  if (!sha256) return {WorkerSession::Ending::Kind::kRejected, sha256.error()};
  sha256_ = *std::move(sha256);
  Result<WorkerProcess> process = WorkerProcess::Start(worker_.program, options_.path);
  if (!process) return {WorkerSession::Ending::Kind::kRejected, process.error()};
  WorkerSession session(
      std::move(process).value(), *requests_, worker_.patience,
      {[this] { return stopping_.load(); }, [this](const Json& message) { return AcceptReady(message); },
       [this](const Json& message) {
         if (worker_.written == nullptr) return;
         worker_.written->most = std::max(0, JsonGet<int>(message, "most", 0));
         worker_.written->tokens = std::max(0, JsonGet<int>(message, "tokens", 0));
       }});
  LoadOrder order;
  order.options = options_;
  order.options.sha256 = sha256_;
  order.logs = IsLogging();
  return session.Run(std::move(order));
}

Status WorkerModel::AcceptReady(const Json& message) {
  ModelInfo info = InfoFromJson(Member(message, "info"));
  info.identity = IdentityOfGguf(sha256_);
  if (IsLoaded()) {
    if (info.identity == info_.identity) return {};
    return Error{ErrorKind::kPermanent, fmt::format("{} has changed meanwhile", options_.path.string())};
  }
  info_ = std::move(info);
  window_ = std::max(1, JsonGet<int>(message, "window", 1));
  parallel_ = std::max(1, JsonGet<int>(message, "parallel", 1));
  FinishLoading({});
  return {};
}

bool WorkerModel::IsLoaded() {
  const std::lock_guard lock(mutex_);
  return load_result_.has_value();
}

void WorkerModel::FinishLoading(Status result) {
  const std::lock_guard lock(mutex_);
  load_result_ = std::move(result);
  loaded_.notify_all();
}

}  // namespace upskill

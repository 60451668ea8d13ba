// SPDX-License-Identifier: Apache-2.0
#include "model/batch/batch_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "model/network_model.h"
#include "util/log.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kWindow = 100'000;
constexpr int kMaxSubmissions = 5;  // of the same requests while the provider is unavailable
constexpr std::chrono::milliseconds kMaxWait{120'000};

Error Cancelled() { return {ErrorKind::kCancelled, "the request was cancelled"}; }

Price HalfPrice(Price price) {
  price.input /= 2;
  price.output /= 2;
  price.cache_read /= 2;
  price.cache_write /= 2;
  return price;
}

}  // namespace

BatchModel::BatchModel(std::unique_ptr<BatchApi> api, ModelInfo info, BatchNotes notes, const Clock& clock,
                       BatchTimes times)
    : api_(std::move(api)),
      info_(std::move(info)),
      notes_(std::move(notes)),
      clock_(clock),
      times_(times),
      thread_([this] { Run(); }) {}

BatchModel::~BatchModel() {
  BatchModel::Cancel(CancelScope::kRunning);
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  api_->Abort();
  thread_.join();
}

int BatchModel::Window() const { return kWindow; }

void BatchModel::Start(ChatRequest request, Done done) {
  const std::lock_guard lock(mutex_);
  std::string id = request.id.empty() ? fmt::format("unnamed-{}", unnamed_++) : request.id;
  last_arrival_ = clock_.Now();
  inbox_.insert_or_assign(std::move(id), Waiting{std::move(request), std::move(done)});
  changed_.notify_all();
}

void BatchModel::Cancel(CancelScope) {
  std::vector<Waiting> ended;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [id, waiting] : inbox_) ended.push_back(std::move(waiting));
    inbox_.clear();
    for (Batch& batch : batches_) {
      for (auto& [id, waiting] : batch.waiting) ended.push_back(std::move(waiting));
      batch.waiting.clear();
    }
    changed_.notify_all();
  }
  for (const Waiting& waiting : ended) waiting.done(Cancelled());
}

void BatchModel::Run() {
  std::unique_lock lock(mutex_);
  while (WaitForWork(lock)) {
    if (!inbox_.empty() && clock_.Now() >= last_arrival_ + times_.quiet) Assign(lock);
    for (auto batch = batches_.begin(); batch != batches_.end() && !stopping_;) {
      const auto next = std::next(batch);
      if (!batch->waiting.empty() && clock_.Now() >= batch->next_poll) Poll(batch, lock);
      if (batch->waiting.empty()) batches_.erase(batch);
      batch = next;
    }
  }
}

// Waits until there is something to do; false when stopping.
bool BatchModel::WaitForWork(std::unique_lock<std::mutex>& lock) {
  while (!stopping_) {
    std::optional<Time> next;
    if (!inbox_.empty()) next = last_arrival_ + times_.quiet;
    for (const Batch& batch : batches_) next = next ? std::min(*next, batch.next_poll) : batch.next_poll;
    if (next && *next <= clock_.Now()) return true;
    if (next) {
      clock_.WaitUntil(changed_, lock, *next);
    } else {
      changed_.wait(lock);
    }
  }
  return false;
}

// Assigns the collected requests to earlier batches that contain them; submits the others.
void BatchModel::Assign(std::unique_lock<std::mutex>& lock) {
  if (!notes_read_) {
    noted_ = notes_.Read();
    notes_read_ = true;
  }
  WaitingById requests = std::exchange(inbox_, {});
  std::map<std::string, Batch*> found;
  std::vector<std::list<Batch>::iterator> fresh;
  std::size_t bytes = 0;
  for (auto& [id, waiting] : requests) {
    if (const auto noted = noted_.find(id); noted != noted_.end()) {
      Batch*& batch = found[noted->second];
      if (batch == nullptr) {
        batch = &batches_.emplace_back();
        batch->id = noted->second;
        batch->found = true;
        batch->next_poll = clock_.Now();
        batch->pause = times_.first_poll;
      }
      batch->waiting.emplace(id, std::move(waiting));
      continue;
    }
    const std::size_t size = api_->BytesOf({id, waiting.request});
    if (fresh.empty() || fresh.back()->waiting.size() >= api_->MaxPerBatch() || bytes + size > api_->MaxBytes()) {
      fresh.push_back(batches_.emplace(batches_.end()));
      bytes = 0;
    }
    bytes += size;
    fresh.back()->waiting.emplace(id, std::move(waiting));
  }
  for (const auto& [id, batch] : found)
    Log("batch", fmt::format("{}: waiting for {} of batch {}, submitted earlier", info_.name,
                             Counted(batch->waiting.size(), "request"), id));
  for (const auto batch : fresh) {
    if (!stopping_) Submit(batch, lock);
  }
}

void BatchModel::Submit(std::list<Batch>::iterator batch, std::unique_lock<std::mutex>& lock) {
  std::vector<BatchItem> items;
  std::vector<std::string> ids;
  for (const auto& [id, waiting] : batch->waiting) {
    items.push_back({id, waiting.request});
    ids.push_back(id);
  }
  if (items.empty()) return;
  lock.unlock();
  Result<std::string> submitted = api_->Submit(items);
  for (int i = 1; !submitted && submitted.error().kind == ErrorKind::kUnavailable && i < kMaxSubmissions; ++i) {
    const auto pause = submitted.error().retry_after.value_or(times_.first_poll * (1 << i));
    lock.lock();
    const Time end = clock_.Now() + std::min(pause, kMaxWait);
    while (!stopping_ && clock_.Now() < end) clock_.WaitUntil(changed_, lock, end);
    const bool stop = stopping_ || batch->waiting.empty();
    lock.unlock();
    if (stop) break;
    submitted = api_->Submit(items);
  }
  Status noted;
  if (submitted) noted = notes_.Add(*submitted, ids);
  if (!noted) {
    // Nobody could find the batch again, so it must not cost anything.
    [[maybe_unused]] const Status cancelled = api_->Cancel(*submitted);
  }
  lock.lock();
  if (!submitted) return EndAll(batch, submitted.error().With("submitting a batch"), lock);
  if (!noted) return EndAll(batch, noted.error().With("recording a batch"), lock);
  batch->id = *submitted;
  batch->pause = times_.first_poll;
  batch->next_poll = clock_.Now() + batch->pause;
  Log("batch", fmt::format("{}: submitted batch {} with {}", info_.name, batch->id, Counted(ids.size(), "request")));
}

void BatchModel::PauseFor(Batch& batch) const {
  batch.pause = std::min(batch.pause + batch.pause / 2, times_.max_pause);
  batch.next_poll = clock_.Now() + batch.pause;
}

void BatchModel::Poll(std::list<Batch>::iterator batch, std::unique_lock<std::mutex>& lock) {
  const std::string id = batch->id;
  lock.unlock();
  const Result<BatchState> state = api_->Poll(id);
  lock.lock();
  if (!state) return HandleFailure(batch, state.error().With(fmt::format("batch {}", id)), lock);
  batch->failing_since.reset();
  if (state->ended) return TakeResults(batch, lock);
  PauseFor(*batch);
}

void BatchModel::TakeResults(std::list<Batch>::iterator batch, std::unique_lock<std::mutex>& lock) {
  const std::string id = batch->id;
  lock.unlock();
  Result<BatchApi::Answers> answers = api_->Results(id);
  lock.lock();
  if (!answers) return HandleFailure(batch, answers.error().With(fmt::format("batch {}", id)), lock);
  const WaitingById waiting = std::exchange(batch->waiting, {});
  lock.unlock();
  for (const auto& [request, one] : waiting) {
    const auto answer = answers->find(request);
    one.done(answer != answers->end()
                 ? std::move(answer->second)
                 : Result<ChatResponse>(
                       Error{ErrorKind::kUnavailable, fmt::format("batch {} has no answer to this request", id)}));
  }
  lock.lock();
}

// Handles a batch that can't be polled: waits, or resubmits its requests if it is an earlier batch that is gone, or
// ends them with the error.
void BatchModel::HandleFailure(std::list<Batch>::iterator batch, const Error& error,
                               std::unique_lock<std::mutex>& lock) {
  if (error.kind == ErrorKind::kUnavailable) {
    const Time now = clock_.Now();
    if (!batch->failing_since) batch->failing_since = now;
    if (now - *batch->failing_since < times_.patience) return PauseFor(*batch);
  } else if (batch->found) {
    Log("batch", fmt::format("{}: {}; resubmitting its requests", info_.name, error.message));
    std::erase_if(noted_, [&](const auto& entry) { return entry.second == batch->id; });
    for (auto& [id, waiting] : std::exchange(batch->waiting, {})) inbox_.emplace(id, std::move(waiting));
    return;
  }
  EndAll(batch, error, lock);
}

void BatchModel::EndAll(std::list<Batch>::iterator batch, const Error& error, std::unique_lock<std::mutex>& lock) {
  const WaitingById waiting = std::exchange(batch->waiting, {});
  lock.unlock();
  for (const auto& [id, one] : waiting) one.done(error);
  lock.lock();
}

Result<std::unique_ptr<Model>> OpenBatchModel(const ModelSpec& spec, const NetworkOptions& options,
                                              const std::filesystem::path& notes, BatchNotes::Use use, bool shared) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Model> one_by_one, OpenNetworkModel(spec, options));  // for the model's name
  ASSIGN_OR_RETURN(std::unique_ptr<BatchApi> api, OpenBatchApi(spec, options));
  ModelInfo info = one_by_one->info();
  info.detail += ", in batches";
  info.warm_up = false;
  if (info.price) info.price = HalfPrice(*info.price);
  BatchNotes book(notes, info.identity, use, shared);
  return std::unique_ptr<Model>(
      std::make_unique<BatchModel>(std::move(api), std::move(info), std::move(book), *options.clock));
}

}  // namespace upskill

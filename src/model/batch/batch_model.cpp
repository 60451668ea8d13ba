// SPDX-License-Identifier: Apache-2.0
#include "model/batch/batch_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <utility>

#include "model/network_model.h"
#include "util/hash.h"
#include "util/log.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kWindow = 100'000;
constexpr int kMaxSubmissions = 5;  // of the same requests while the provider is unavailable
constexpr std::chrono::milliseconds kMaxWait{120'000};
constexpr std::size_t kTokenDigits = 40;

Price HalfPrice(Price price) {
  price.input /= 2;
  price.output /= 2;
  price.cache_read /= 2;
  price.cache_write /= 2;
  price.request /= 2;
  return price;
}

}  // namespace

void BatchModel::Waiting::Answer(const Result<ChatResponse>& answer) const {
  for (const Done& done : takers) {
    try {
      done(answer);
    } catch (const std::exception& e) {
      Log("batch", fmt::format("the taker of an answer failed: {}", e.what()));
    }
  }
}

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
  const std::string id = request.id.empty() ? fmt::format("unnamed-{}", unnamed_++) : request.id;
  last_arrival_ = clock_.Now();
  Put(inbox_, id, Waiting{std::move(request), {std::move(done)}});
  changed_.notify_all();
}

void BatchModel::Put(WaitingById& requests, const std::string& id, Waiting waiting) {
  const auto [at, is_new] = requests.try_emplace(id, std::move(waiting));
  if (is_new) return;
  for (Done& done : waiting.takers) at->second.takers.push_back(std::move(done));
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
  for (const Waiting& waiting : ended) waiting.Answer(RequestCancelled());
}

// An exception that left the thread would end the program; it ends the requests.
void BatchModel::Run() {
  std::unique_lock lock(mutex_);
  while (WaitForWork(lock)) {
    try {
      Work(lock);
    } catch (const std::exception& e) {
      if (!lock.owns_lock()) lock.lock();
      EndEverything(Error{ErrorKind::kPermanent, fmt::format("internal error: {}", e.what())}, lock);
    }
  }
}

void BatchModel::Work(std::unique_lock<std::mutex>& lock) {
  if (!inbox_.empty() && clock_.Now() >= last_arrival_ + times_.quiet) Assign(lock);
  for (auto batch = batches_.begin(); batch != batches_.end() && !stopping_;) {
    const auto next = std::next(batch);
    if (!batch->waiting.empty() && clock_.Now() >= batch->next_poll) Poll(batch, lock);
    if (batch->waiting.empty()) batches_.erase(batch);
    batch = next;
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

void BatchModel::Pause(std::chrono::milliseconds pause, std::unique_lock<std::mutex>& lock) {
  const Time end = clock_.Now() + pause;
  while (!stopping_ && clock_.Now() < end) clock_.WaitUntil(changed_, lock, end);
}

// The requests of the batch that is waited for because of a request with this ID; null if there is none.
BatchModel::WaitingById* BatchModel::WaitingFor(const std::string& id) {
  const auto found =
      std::find_if(batches_.begin(), batches_.end(), [&](const Batch& batch) { return batch.waiting.contains(id); });
  return found == batches_.end() ? nullptr : &found->waiting;
}

// Assigns the collected requests to earlier batches that contain them; submits the others.
void BatchModel::Assign(std::unique_lock<std::mutex>& lock) {
  if (!notes_read_) {
    noted_ = notes_.Read();
    notes_read_ = true;
  }
  LookForLost(lock);
  std::map<std::string, Batch*> found;
  std::vector<std::list<Batch>::iterator> fresh;
  std::size_t bytes = 0;
  for (; !inbox_.empty(); inbox_.erase(inbox_.begin())) {
    auto& [id, waiting] = *inbox_.begin();
    if (WaitingById* same = WaitingFor(id)) {
      Put(*same, id, std::move(waiting));
      continue;
    }
    if (const auto noted = noted_.batches.find(id); noted != noted_.batches.end()) {
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

// Looks up the batches that an earlier process was about to submit and that contain requests of the inbox. Until it is
// known whether they exist, nothing may be submitted again. If that can't be found out, the requests end.
void BatchModel::LookForLost(std::unique_lock<std::mutex>& lock) {
  std::set<std::string> tokens;
  for (const auto& [id, waiting] : inbox_) {
    if (const auto at = noted_.unknown.find(id); at != noted_.unknown.end()) tokens.insert(at->second);
  }
  for (const std::string& token : tokens) {
    const Result<std::optional<std::string>> batch = Find(noted_.intents[token], lock);
    if (stopping_) return;
    WaitingById ended;
    std::vector<std::string> requests;
    for (const auto& [id, of] : noted_.unknown) {
      if (of == token) requests.push_back(id);
    }
    for (const std::string& id : requests) {
      if (!batch) {
        if (auto node = inbox_.extract(id)) ended.insert(std::move(node));
        continue;
      }
      if (*batch) noted_.batches[id] = **batch;
      noted_.unknown.erase(id);
    }
    if (!batch) {
      End(ended, batch.error().With("looking for a batch that was submitted earlier"), lock);
    } else if (*batch) {
      Log("batch", fmt::format("{}: found batch {}, whose ID had been lost", info_.name, **batch));
      if (const Status noted = notes_.Add(**batch, requests); !noted) Log("batch", noted.error().message);
    }
  }
}

// Asks until the provider tells, as long as it takes with patience. A provider that can't tell has no such batch.
Result<std::optional<std::string>> BatchModel::Find(const BatchIntent& intent, std::unique_lock<std::mutex>& lock) {
  const Time start = clock_.Now();
  std::chrono::milliseconds pause = times_.first_poll;
  while (true) {
    lock.unlock();
    Result<std::optional<std::string>> found = api_->Find(intent);
    lock.lock();
    if (found || stopping_) return found;
    if (found.error().kind != ErrorKind::kUnavailable) {
      Log("batch", fmt::format("{}: earlier batches can't be looked up: {}", info_.name, found.error().message));
      return std::optional<std::string>();
    }
    if (clock_.Now() - start >= times_.patience) return found;
    Pause(pause, lock);
    pause = std::min(pause + pause / 2, times_.max_pause);
  }
}

// Submits a batch, again if the provider was unavailable. The provider may have accepted it before the connection
// broke, so it is looked for first. Called without the lock.
Result<std::string> BatchModel::SubmitOnce(const std::vector<BatchItem>& items, const BatchIntent& intent,
                                           const WaitingById& waiting, std::unique_lock<std::mutex>& lock) {
  Result<std::string> submitted = api_->Submit(items, intent.token);
  for (int i = 1; !submitted && submitted.error().kind == ErrorKind::kUnavailable && i < kMaxSubmissions; ++i) {
    lock.lock();
    Pause(std::min(submitted.error().retry_after.value_or(times_.first_poll * (1 << i)), kMaxWait), lock);
    const bool stop = stopping_ || waiting.empty();
    lock.unlock();
    if (stop) break;
    const Result<std::optional<std::string>> found = api_->Find(intent);
    if (!found && found.error().kind == ErrorKind::kUnavailable) {
      submitted = found.error();
    } else if (found && *found) {
      submitted = **found;
    } else {
      submitted = api_->Submit(items, intent.token);
    }
  }
  return submitted;
}

void BatchModel::Submit(std::list<Batch>::iterator batch, std::unique_lock<std::mutex>& lock) {
  std::vector<BatchItem> items;
  std::vector<std::string> ids;
  std::string all = info_.identity;
  for (const auto& [id, waiting] : batch->waiting) {
    items.push_back({id, waiting.request});
    ids.push_back(id);
    all += "\n" + id;
  }
  if (items.empty()) return;
  BatchIntent intent;
  intent.time = clock_.WallNow();
  intent.token = Sha256Hex(fmt::format("{}\n{}", intent.time.time_since_epoch().count(), all)).substr(0, kTokenDigits);
  intent.requests = items.size();
  lock.unlock();
  Status noted = notes_.AddIntent(intent, ids);
  Result<std::string> submitted = noted ? SubmitOnce(items, intent, batch->waiting, lock) : noted.error();
  if (noted && submitted) {
    noted = notes_.Add(*submitted, ids);
    // Its answers can't be stored either, so it should not cost anything.
    if (!noted) static_cast<void>(api_->Cancel(*submitted));
  }
  lock.lock();
  if (!noted) return End(batch->waiting, noted.error().With("recording a batch"), lock);
  if (!submitted) return End(batch->waiting, submitted.error().With("submitting a batch"), lock);
  for (const std::string& id : ids) noted_.batches[id] = *submitted;
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
    one.Answer(answer != answers->end()
                   ? answer->second
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
    std::erase_if(noted_.batches, [&](const auto& entry) { return entry.second == batch->id; });
    for (auto& [id, waiting] : std::exchange(batch->waiting, {})) Put(inbox_, id, std::move(waiting));
    return;
  }
  End(batch->waiting, error, lock);
}

void BatchModel::End(WaitingById& waiting, const Error& error, std::unique_lock<std::mutex>& lock) {
  const WaitingById ended = std::exchange(waiting, {});
  lock.unlock();
  for (const auto& [id, one] : ended) one.Answer(error);
  lock.lock();
}

void BatchModel::EndEverything(const Error& error, std::unique_lock<std::mutex>& lock) {
  End(inbox_, error, lock);
  for (Batch& batch : batches_) End(batch.waiting, error, lock);
  batches_.clear();
}

Result<std::unique_ptr<Model>> OpenBatchModel(const ModelSpec& spec, const NetworkOptions& options,
                                              const std::filesystem::path& notes, BatchNotes::Use use, bool shared) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Model> one_by_one, OpenNetworkModel(spec, options));  // for the model's name
  ASSIGN_OR_RETURN(std::unique_ptr<BatchApi> api, OpenBatchApi(spec, options));
  ModelInfo info = one_by_one->info();
  info.detail += ", in batches";
  info.warm_up = false;
  info.takes_tools = false;  // each turn would take as long as a batch
  if (info.price) info.price = HalfPrice(*info.price);
  BatchNotes book(notes, info.identity, use, shared);
  return std::unique_ptr<Model>(
      std::make_unique<BatchModel>(std::move(api), std::move(info), std::move(book), *options.clock));
}

}  // namespace upskill

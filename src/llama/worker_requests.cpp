// SPDX-License-Identifier: Apache-2.0
#include "llama/worker_requests.h"

#include <fmt/format.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "llama/scheduler.h"
#include "llama/worker_protocol.h"
#include "util/hash.h"
#include "util/invariant.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kKnownCounts = 10'000;
constexpr std::size_t kMaxMessageToWorker = std::size_t{32} << 20U;  // far beyond any model's context

}  // namespace

WorkerRequests::WorkerRequests() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { CHECK(wake_.valid()); }

WorkerRequests::~WorkerRequests() { End(CancelledError()); }

void WorkerRequests::Wake() const {
  const std::uint64_t one = 1;
  // It can fail only if the counter is full, and then the thread is about to wake.
  if (::write(wake_.get(), &one, sizeof(one)) < 0) return;
}

// Requires the mutex. False: the message is too long.
bool WorkerRequests::Send(const Json& message) {
  const std::string bytes = EncodeMessage(message);
  if (bytes.size() > kMaxMessageToWorker) return false;
  outgoing_ += bytes;
  Wake();
  return true;
}

void WorkerRequests::Start(const ChatRequest& request, Model::Done done) {
  std::unique_lock lock(mutex_);
  if (ended_) {
    const Error error = *ended_;
    lock.unlock();
    return done(error);
  }
  const std::uint64_t id = next_id_++;
  if (Send({{"type", "start"}, {"id", id}, {"request", RequestToJson(request)}})) {
    pending_.emplace(id, std::move(done));
    return;
  }
  lock.unlock();
  done(Error{ErrorKind::kPermanent, fmt::format("the request has more than the {} that a model in process accepts",
                                                BytesText(kMaxMessageToWorker))});
}

void WorkerRequests::Cancel(Model::CancelScope scope) {
  const bool all = scope == Model::CancelScope::kRunning;
  std::map<std::uint64_t, Model::Done> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    if (all) dropped.swap(pending_);  // at once, whatever the worker does; its answers to them are ignored
    Send({{"type", "cancel"}, {"scope", all ? "running" : "waiting"}});
  }
  for (const auto& [id, done] : dropped) done(CancelledError());
}

void WorkerRequests::ShareProcessors(int models) {
  const std::lock_guard lock(mutex_);
  if (ended_ || models == sharing_) return;
  sharing_ = models;
  Send({{"type", "share"}, {"models", models}});
}

std::optional<std::size_t> WorkerRequests::CountTokens(const std::string& text) {
  const std::string key = Sha256Hex(text);
  std::future<Tokens> counted;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = known_counts_.find(key); known != known_counts_.end()) return known->second;
    if (ended_) return std::nullopt;
    const std::uint64_t id = next_id_++;
    if (!Send({{"type", "count"}, {"id", id}, {"text", text}})) return std::nullopt;
    counted = counts_[id].get_future();
  }
  const Tokens tokens = counted.get();
  if (!tokens) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (known_counts_.size() >= kKnownCounts) known_counts_.clear();
  known_counts_[key] = *tokens;
  return tokens;
}

std::string WorkerRequests::TakeOutgoing() {
  std::uint64_t count = 0;
  if (::read(wake_.get(), &count, sizeof(count)) < 0) count = 0;  // nothing new
  const std::lock_guard lock(mutex_);
  return std::exchange(outgoing_, {});
}

void WorkerRequests::TakeAnswer(const Json& message) {
  Model::Done done;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(JsonGet<std::uint64_t>(message, "id", 0));
    if (found == pending_.end()) return;  // cancelled meanwhile
    done = std::move(found->second);
    pending_.erase(found);
  }
  if (const Json* error = FindMember(message, "error")) return done(ErrorFromJson(*error));
  ChatResponse response = ResponseFromJson(Member(message, "response"));
  response.cost_usd = 0.0;  // a model in process is free
  done(std::move(response));
}

void WorkerRequests::TakeCount(const Json& message) {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(JsonGet<std::uint64_t>(message, "id", 0));
  if (found == counts_.end()) return;
  const Json* tokens = FindMember(message, "tokens");
  const bool known = tokens != nullptr && tokens->is_number_unsigned();
  found->second.set_value(known ? Tokens(tokens->get<std::size_t>()) : std::nullopt);
  counts_.erase(found);
}

bool WorkerRequests::IsCounting() const {
  const std::lock_guard lock(mutex_);
  return !counts_.empty();
}

// Requires the mutex.
std::vector<Model::Done> WorkerRequests::TakeAll() {
  std::vector<Model::Done> all;
  all.reserve(pending_.size());
  for (auto& [id, done] : pending_) all.push_back(std::move(done));
  pending_.clear();
  for (auto& [id, promise] : counts_) promise.set_value(std::nullopt);
  counts_.clear();
  outgoing_.clear();
  return all;
}

void WorkerRequests::FailAll(const Error& error) {
  std::vector<Model::Done> failed;
  {
    const std::lock_guard lock(mutex_);
    failed = TakeAll();
    if (sharing_ != 1) Send({{"type", "share"}, {"models", sharing_}});
  }
  for (const Model::Done& done : failed) done(error);
}

void WorkerRequests::End(const Error& error) {
  std::vector<Model::Done> failed;
  {
    const std::lock_guard lock(mutex_);
    if (!ended_) ended_ = error;
    failed = TakeAll();
  }
  for (const Model::Done& done : failed) done(error);
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "model/chat.h"
#include "model/model.h"
#include "util/files.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// What the program has asked a worker, and the messages for it that are still to be sent. Calls the `done` of every
// request exactly once. Thread-safe.
class WorkerRequests {
 public:
  WorkerRequests();
  ~WorkerRequests();
  WorkerRequests(const WorkerRequests&) = delete;
  WorkerRequests& operator=(const WorkerRequests&) = delete;

  // By the model's callers.
  void Start(const ChatRequest& request, Model::Done done);
  void Cancel(Model::CancelScope scope);
  std::optional<std::size_t> CountTokens(const std::string& text);
  void ShareProcessors(int models);

  // By the thread that talks to the worker.
  int wake() const { return wake_.get(); }  // an eventfd: readable when there may be something to send or to do
  void Wake() const;
  std::string TakeOutgoing();
  void TakeAnswer(const Json& message);
  void TakeCount(const Json& message);
  bool IsCounting() const;
  // Fails what has been asked so far: its worker is gone. The next one is told what still holds.
  void FailAll(const Error& error);
  // Fails what has been asked, and whatever will be.
  void End(const Error& error);

 private:
  using Tokens = std::optional<std::size_t>;

  bool Send(const Json& message);
  std::vector<Model::Done> TakeAll();

  const Fd wake_;
  mutable std::mutex mutex_;
  std::optional<Error> ended_;
  std::string outgoing_;
  int sharing_ = 1;  // see Model::ShareProcessors
  std::uint64_t next_id_ = 0;
  std::map<std::uint64_t, Model::Done> pending_;
  std::map<std::uint64_t, std::promise<Tokens>> counts_;
  std::map<std::string, std::size_t> known_counts_;  // by the hash of the text
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "llama/worker_process.h"
#include "llama/worker_protocol.h"
#include "llama/worker_requests.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The conversation with one worker, from its start to its end. Used by one thread.
class WorkerSession {
 public:
  struct Hooks {
    std::function<bool()> stopping;            // asked whenever the requests' eventfd was written to
    std::function<Status(const Json&)> ready;  // gets the message; an error ends the session
    std::function<void(const Json&)> alive;    // gets the message
  };

  WorkerSession(WorkerProcess process, WorkerRequests& requests, std::chrono::milliseconds patience, Hooks hooks);

  struct Ending {
    enum class Kind {
      kStopped,   // on request
      kRejected,  // the model can't be loaded: `error`
      kCrashed,   // `error` has the cause: "signal 11 (Segmentation fault)"
    };
    Kind kind = Kind::kStopped;
    Error error;
  };
  // Sends the order and then the requests' messages, and passes on the answers, until the worker or the session ends.
  Ending Run(LoadOrder order);

 private:
  std::optional<Ending> Exchange();
  void Write();
  std::optional<Ending> Read();
  std::optional<Ending> Accept(const Json& message);
  std::optional<Ending> Watch(std::chrono::milliseconds elapsed);
  Ending Crashed(const std::string& cause) const;

  WorkerProcess process_;
  WorkerRequests& requests_;
  const std::chrono::milliseconds patience_;
  const std::chrono::milliseconds tick_;
  const Hooks hooks_;

  MessageReader reader_;
  std::string unsent_;
  bool errors_open_ = true;
  bool ready_ = false;
  // Sums of time spent waiting, not differences of clocks: while the machine sleeps or Ctrl-Z has stopped both
  // processes, nobody waits.
  std::chrono::milliseconds silent_{0};
  std::chrono::milliseconds counting_{0};
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "eval/plan/cell.h"
#include "eval/plan/plan.h"
#include "eval/run/answer_queue.h"
#include "eval/run/budget.h"
#include "eval/run/lane.h"
#include "model/model.h"
#include "util/clock.h"
#include "util/rate_limits.h"

namespace upskill {

// Decides which attempts at a run's cells are sent, and when. An attempt is admitted once its round is open and its
// share of the budget is reserved. It is sent as soon as its model's window has room, and only Drop, which tells the
// model, revokes that. So `more_follows`, which is set when the next attempt is already admitted, is a promise that is
// kept. Not thread-safe.
class Admission {
 public:
  static constexpr std::chrono::milliseconds kGrace{5'000};

  struct Hooks {
    std::function<void(std::size_t student, Admitted)> send;
    // Whether the rounds up to this one settle what the run is to find out about the student; asked only with
    // Plan::stop_when_decided.
    std::function<bool(std::size_t student, int round)> is_settled;
  };

  // The arguments outlive it. `models`: by student.
  Admission(const Plan& plan, const std::vector<Cell>& cells, const std::vector<Model*>& models, Budget& budget,
            Hooks hooks);

  // Starts the run's time limit.
  void Begin(const RunLimits& limits, Clock::Steady now);

  // With Plan::stop_when_decided, the student starts no round before these others have completed the one before it or
  // have nothing left to do.
  void KeepPace(std::size_t student, std::vector<std::size_t> others) { lanes_[student].paced_by = std::move(others); }

  void Add(const Attempt& attempt) { lanes_[cells_[attempt.cell].student].Add(attempt); }

  // Sends what models have room for. Models in process share the processors, as many at the same time as the one with
  // the fewest threads has, or take turns where one can't share; all others work concurrently. Ends the run when a
  // limit admits nothing more (`exhausted`). Requests in flight when the time is up are abandoned after kGrace.
  void SendWhatFits(Clock::Steady now);

  // An answer or error arrived: its request is no longer in flight.
  void Settle(const Answer& answer);

  // An answer that has arrived takes up its model's window until its checks have run: a model isn't asked for answers
  // faster than they are checked.
  void BeginCheck(std::size_t student) { ++lanes_[student].in_flight; }
  void EndCheck(std::size_t student) { --lanes_[student].in_flight; }

  // Ends the run because of a limit: answers to requests that models are working on are kept.
  void EndBy(std::string reason);

  // Sends nothing more. Models abandon what they haven't started, or everything, by `scope`.
  void DropAll(Model::CancelScope scope);
  void Drop(Lane& lane, Model::CancelScope scope);

  Lane& lane(std::size_t student) { return lanes_[student]; }
  bool finished() const;
  std::size_t in_flight() const;
  std::size_t worked_on() const;                // of those in flight, by their models
  std::size_t after_open_rounds() const;        // cells that may be skipped because nothing is left to decide
  std::size_t saved() const { return saved_; }  // cells skipped because nothing was left to decide
  const std::string& exhausted() const { return exhausted_; }
  bool cut() const { return cut_; }  // the time is up, and so is the time to end in

 private:
  void FollowTimeLimit(Clock::Steady now);
  void ShareProcessors();
  void SendFrom(std::size_t student);
  std::optional<Admitted> AdmitNext(std::size_t student);
  bool RoundIsOpen(std::size_t student);
  bool WaitsForOthers(const Lane& lane) const;
  bool HasCompleted(const Lane& lane, int round) const;
  std::size_t WindowNow(const Lane& lane) const;

  const Plan& plan_;
  const std::vector<Cell>& cells_;
  Budget& budget_;
  Hooks hooks_;
  std::vector<Lane> lanes_;                                // by student
  int most_in_process_ = std::numeric_limits<int>::max();  // models in process that may work at the same time
  int sharing_ = 0;                                        // … that do, as they were told; 0: not yet in this run
  std::optional<Clock::Steady> deadline_;                  // until it is reached
  std::optional<Clock::Steady> cut_at_;                    // from then on: the end of what is in flight
  bool cut_ = false;
  std::string time_limit_;
  bool denied_ = false;  // in this pass, the budget had no room for an attempt
  std::size_t saved_ = 0;
  std::string exhausted_;
};

// What the servers' rate limits hold up, of all of them; `judge` may be null.
RateLimits RateLimitsOf(const std::vector<Model*>& models, const Model* judge);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "eval/answer_queue.h"
#include "eval/budget.h"
#include "eval/cell.h"
#include "eval/lane.h"
#include "eval/plan.h"
#include "model/model.h"
#include "util/clock.h"

namespace upskill {

// Decides which attempts at a run's cells are sent, and when. An attempt is admitted once its round is open and its
// share of the budget is reserved; it is sent as soon as its model's window has room, and nothing takes that back but
// Drop, which tells the model. So `more_follows`, which is set where the next attempt is admitted already, is a promise
// that holds. Not thread-safe.
class Admission {
 public:
  struct Hooks {
    std::function<void(std::size_t student, Admitted)> send;
    // Whether the rounds up to this one give the student's verdict; asked only with Plan::stop_when_decided.
    std::function<bool(std::size_t student, int round)> verdict_known;
  };

  // All of them outlive it. `models`: by student.
  Admission(const Plan& plan, const std::vector<Cell>& cells, const std::vector<Model*>& models, Budget& budget,
            Hooks hooks);

  // The run's time begins.
  void Begin(const RunLimits& limits, Clock::Steady now);

  void Add(const Attempt& attempt) { lanes_[cells_[attempt.cell].student].Add(attempt); }

  // Sends what models have room for. Models in process take turns, all others work at once. Ends the run when a limit
  // lets nothing more through (`exhausted`).
  void SendWhatFits(Clock::Steady now);

  // An answer or error is there: its request is in flight no more.
  void Settle(const Answer& answer);

  // Nothing that isn't sent will be; models give up what they haven't begun, or everything.
  void DropAll(Model::CancelScope scope);
  void Drop(Lane& lane, Model::CancelScope scope);

  Lane& lane(std::size_t student) { return lanes_[student]; }
  bool finished() const;
  std::size_t in_flight() const;
  std::size_t saved() const { return saved_; }  // cells not needed: the verdict was known
  const std::string& exhausted() const { return exhausted_; }

 private:
  void SendFrom(std::size_t student);
  std::optional<Admitted> AdmitNext(std::size_t student);
  bool RoundIsOpen(std::size_t student);
  std::size_t WindowNow(const Lane& lane) const;
  void EndBy(std::string reason);

  const Plan& plan_;
  const std::vector<Cell>& cells_;
  Budget& budget_;
  Hooks hooks_;
  std::vector<Lane> lanes_;  // by student
  std::optional<Clock::Steady> deadline_;
  std::string time_limit_;
  bool denied_ = false;  // the budget had no room for an attempt in this pass
  std::size_t saved_ = 0;
  std::string exhausted_;
};

}  // namespace upskill

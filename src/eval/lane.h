// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "eval/budget.h"
#include "model/chat.h"
#include "model/model.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

// One attempt at a cell.
struct Attempt {
  std::size_t cell = 0;
  int number = 0;  // 0: the first
  int last = 0;    // after which the cell is given up
  Clock::Steady not_before;
};

// An attempt that may be sent: its share of the budget is reserved.
struct Admitted {
  Attempt attempt;
  ChatRequest request;
  Budget::Reservation reservation;
};

// The work left for one student, and how its model fares. Not thread-safe.
class Lane {
 public:
  explicit Lane(Model& model) : model_(&model) {}

  Model& model() const { return *model_; }
  void Add(const Attempt& attempt) { pending_.push_back(attempt); }

  // Retries whose time has come go before everything else.
  void TakeDueRetries(Clock::Steady now);
  // Tries again later if the error may go away and attempts are left. False: the cell is given up.
  bool Retry(const Attempt& attempt, const Error& error, Clock::Steady now);

  // An answer came. / A cell was given up: true when the model is to be given up as a whole, said once.
  void CountAnswer();
  bool CountFailure(const Error& error);

  // The attempt after the one in `next`; null when there is none.
  const Attempt* front() const { return pending_.empty() ? nullptr : &pending_.front(); }
  std::size_t pending() const { return pending_.size(); }
  bool waits_for_retries() const { return !retries_.empty(); }
  Attempt TakeFront();
  // Everything that is not sent yet, but `next`.
  void Clear();

  bool answered() const { return answered_; }
  bool stopped() const { return stopped_; }
  bool finished() const { return pending_.empty() && retries_.empty() && !next && in_flight == 0; }

  std::optional<Admitted> next;  // admitted: sent as soon as the model has room
  std::size_t in_flight = 0;
  int open_round = 0;  // later rounds wait until this one is whole and judged (Plan::stop_when_decided)

 private:
  Model* model_;
  std::deque<Attempt> pending_;
  std::vector<Attempt> retries_;
  std::size_t permanent_errors_ = 0;  // in a row
  std::size_t rejected_ = 0;
  bool answered_ = false;  // at least once
  bool stopped_ = false;
};

}  // namespace upskill

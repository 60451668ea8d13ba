// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "eval/plan/cell.h"
#include "eval/run/budget.h"
#include "model/chat.h"
#include "model/model.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

// One attempt at a cell.
struct Attempt {
  std::size_t cell = 0;
  int number = 0;  // 0: the first
  int last = 0;    // the last attempt before the cell is abandoned
  Clock::Steady not_before;
};

// An attempt that may be sent: its share of the budget is reserved.
struct Admitted {
  Attempt attempt;
  ChatRequest request;
  Budget::Reservation reservation;
};

// The remaining work of one student, and the record of its model's answers and errors. Not thread-safe.
class Lane {
 public:
  explicit Lane(Model& model) : model_(&model) {}

  Model& model() const { return *model_; }
  void Add(const Attempt& attempt) { pending_.push_back(attempt); }

  // Moves retries that are due to the front.
  void TakeDueRetries(Clock::Steady now);
  // Schedules a retry if the error may be temporary and attempts are left. False: the cell is abandoned.
  bool Retry(const Attempt& attempt, const Error& error, Clock::Steady now);

  // CountFailure counts an abandoned cell; it returns true, once, when the model should be stopped altogether.
  void CountAnswer();
  bool CountFailure(const Error& error);

  // The attempt after the one in `next`; null when there is none.
  const Attempt* front() const { return pending_.empty() ? nullptr : &pending_.front(); }
  std::size_t pending() const { return pending_.size(); }
  std::size_t pending_after_open_round(const std::vector<Cell>& cells) const;
  bool waits_for_retries() const { return !retries_.empty(); }
  Attempt TakeFront();
  // Drops all unsent attempts except `next`.
  void Clear();

  bool answered() const { return answered_; }
  bool stopped() const { return stopped_; }
  bool finished() const { return pending_.empty() && retries_.empty() && !next && in_flight == 0; }

  std::optional<Admitted> next;  // admitted: sent as soon as the model has room
  std::size_t in_flight = 0;
  std::vector<std::size_t> paced_by;  // students that must have completed a round before this one starts the next
  int open_round = 0;  // later rounds wait until this one is complete and judged (Plan::stop_when_decided)

 private:
  Model* model_;
  std::deque<Attempt> pending_;
  std::vector<Attempt> retries_;
  std::size_t permanent_errors_ = 0;  // in a row
  std::size_t rejected_ = 0;
  std::size_t same_errors_ = 0;  // abandoned cells in a row with last_error_
  std::string last_error_;
  bool answered_ = false;  // at least once
  bool stopped_ = false;
};

}  // namespace upskill

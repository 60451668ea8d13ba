// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/run/answer_queue.h"
#include "eval/run/budget.h"
#include "model/model.h"

namespace upskill {

// Admits the turns of cells whose model acts (ModelInfo::meters_turns): each is asked only once its share of the budget
// is reserved, and waits as long as other requests in flight may leave room for it. What the models' threads ask for
// comes through the runner's queue. Not thread-safe.
class TurnAdmission {
 public:
  // `counts`: there is a limit on cost or tokens, so what a turn may use must be known.
  TurnAdmission(Budget& budget, std::shared_ptr<AnswerQueue> queue, bool counts)
      : budget_(&budget), queue_(std::move(queue)), counts_(counts) {}

  // A cell is about to be sent, with what is reserved for its first turn. Its meter, and the number of the cell.
  std::shared_ptr<TurnMeter> Begin(Budget::Reservation first);
  std::uint64_t last_cell() const { return last_cell_; }
  std::size_t cells() const { return cells_.size(); }  // begun and not ended
  // The cell has been answered, or has failed. Other numbers are ignored.
  void End(std::uint64_t cell);

  void Take(TurnEvent event);
  // Lets turns go on that have room by now. `others`: requests of other kinds are in flight. Why the budget has no room
  // for a turn, if it has none and nothing is in flight that may leave any.
  std::optional<std::string> Approve(bool others);
  // Every turn from now on is refused: the run is ending.
  void Stop();

 private:
  struct Cell {
    std::optional<Budget::Reservation> first;  // until it is used or given back
  };

  std::uint64_t Hold(Budget::Reservation reservation);
  void Refuse(const TurnEvent& turn, ErrorCause cause, const std::string& why) const;

  Budget* budget_;
  std::shared_ptr<AnswerQueue> queue_;
  bool counts_;
  bool stopped_ = false;
  std::uint64_t last_cell_ = 0;
  std::uint64_t last_ticket_ = 0;
  std::map<std::uint64_t, Cell> cells_;
  std::map<std::uint64_t, Budget::Reservation> held_;  // by ticket
  std::deque<TurnEvent> waiting_;
};

}  // namespace upskill

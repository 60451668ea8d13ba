// SPDX-License-Identifier: Apache-2.0
#include "eval/run/turn_admission.h"

#include <algorithm>
#include <utility>

namespace upskill {
namespace {

// Passes what a model asks for to the runner. Thread-safe.
class QueuedMeter : public TurnMeter {
 public:
  QueuedMeter(std::shared_ptr<AnswerQueue> queue, std::uint64_t cell, bool counts)
      : queue_(std::move(queue)), cell_(cell), counts_(counts) {}

  void Reserve(const Model& model, const ChatRequest& request, Approved approved) override {
    TurnEvent event;
    event.cell = cell_;
    event.model = &model;
    event.is_first = request.messages.size() == 1;
    if (counts_) event.worst = WorstCase(model, request);
    event.approved = std::move(approved);
    queue_->Put(std::move(event));
  }

  void Settle(std::uint64_t ticket, const Result<ChatResponse>& answer) override {
    TurnEvent event;
    event.cell = cell_;
    event.ticket = ticket;
    // Only what counts: the answer itself may be large.
    if (answer.ok()) {
      ChatResponse counted;
      counted.usage = answer->usage;
      counted.cost_usd = answer->cost_usd;
      counted.text = answer->text.empty() ? "" : "…";
      if (!answer->tool_calls.empty()) counted.tool_calls.emplace_back();
      event.settled = Result<ChatResponse>(std::move(counted));
    } else {
      event.settled = answer;
    }
    queue_->Put(std::move(event));
  }

 private:
  std::shared_ptr<AnswerQueue> queue_;
  std::uint64_t cell_;
  bool counts_;
};

}  // namespace

std::shared_ptr<TurnMeter> TurnAdmission::Begin(Budget::Reservation first) {
  ++last_cell_;
  cells_[last_cell_].first = std::move(first);
  return std::make_shared<QueuedMeter>(queue_, last_cell_, counts_);
}

void TurnAdmission::End(std::uint64_t cell) {
  const auto found = cells_.find(cell);
  if (found == cells_.end()) return;
  if (found->second.first) budget_->Release(*found->second.first);
  cells_.erase(found);
}

std::uint64_t TurnAdmission::Hold(Budget::Reservation reservation) {
  held_[++last_ticket_] = std::move(reservation);
  return last_ticket_;
}

void TurnAdmission::Refuse(const TurnEvent& turn, ErrorCause cause, const std::string& why) const {
  turn.approved(Error{ErrorKind::kCancelled, why}.Because(cause));
}

void TurnAdmission::Take(TurnEvent event) {
  if (event.settled) {
    const auto held = held_.find(event.ticket);
    if (held == held_.end()) return;
    budget_->Settle(held->second, *event.settled);
    held_.erase(held);
    return;
  }
  if (stopped_) return Refuse(event, ErrorCause::kUnknown, "the run is ending");
  const auto cell = cells_.find(event.cell);
  if (cell != cells_.end() && cell->second.first) {
    Budget::Reservation first = *std::exchange(cell->second.first, std::nullopt);
    if (event.is_first) return event.approved(Hold(std::move(first)));
    budget_->Release(first);  // the first turn was answered in an earlier attempt
  }
  waiting_.push_back(std::move(event));
}

std::optional<std::string> TurnAdmission::Approve(bool others) {
  std::deque<TurnEvent> waiting = std::exchange(waiting_, {});
  const bool starting =
      std::any_of(cells_.begin(), cells_.end(), [](const auto& entry) { return entry.second.first.has_value(); });
  bool refused = false;
  while (!waiting.empty()) {
    TurnEvent turn = std::move(waiting.front());
    waiting.pop_front();
    std::optional<Budget::Reservation> reservation = budget_->Reserve(*turn.model, turn.worst);
    if (reservation) {
      turn.approved(Hold(*std::move(reservation)));
    } else if (held_.empty() && !others && !starting) {
      Refuse(turn, ErrorCause::kLimit, budget_->shortage());
      refused = true;
    } else {
      waiting_.push_back(std::move(turn));
    }
  }
  if (!refused) return std::nullopt;
  return budget_->shortage();
}

void TurnAdmission::Stop() {
  stopped_ = true;
  for (const TurnEvent& turn : std::exchange(waiting_, {})) Refuse(turn, ErrorCause::kUnknown, "the run is ending");
}

}  // namespace upskill

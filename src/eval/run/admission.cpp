// SPDX-License-Identifier: Apache-2.0
#include "eval/run/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace upskill {

namespace {

bool WorksInProcess(const Lane& lane) { return lane.in_flight > 0 && lane.model().info().in_process; }

}  // namespace

Admission::Admission(const Plan& plan, const std::vector<Cell>& cells, const std::vector<Model*>& models,
                     Budget& budget, Hooks hooks)
    : plan_(plan), cells_(cells), budget_(budget), hooks_(std::move(hooks)) {
  for (Model* model : models) {
    lanes_.emplace_back(*model);
    if (model->info().in_process) most_in_process_ = std::min(most_in_process_, std::max(1, model->info().threads));
  }
}

void Admission::Begin(const RunLimits& limits, Clock::Steady now) {
  if (!limits.timeout) return;
  deadline_ = now + *limits.timeout;
  time_limit_ = DurationText(std::chrono::duration<double>(*limits.timeout).count());
}

bool Admission::finished() const {
  return std::all_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.finished(); });
}

std::size_t Admission::in_flight() const {
  std::size_t sum = 0;
  for (const Lane& lane : lanes_) sum += lane.in_flight;
  return sum;
}

std::size_t Admission::worked_on() const {
  std::size_t sum = 0;
  for (const Lane& lane : lanes_)
    sum += std::min(lane.in_flight, static_cast<std::size_t>(std::max(1, lane.model().Parallel())));
  return sum;
}

std::size_t Admission::after_open_rounds() const {
  std::size_t sum = 0;
  for (const Lane& lane : lanes_) sum += plan_.stop_when_decided ? lane.pending_after_open_round(cells_) : 0;
  return sum;
}

void Admission::SendWhatFits(Clock::Steady now) {
  FollowTimeLimit(now);
  if (!exhausted_.empty()) return ShareProcessors();
  denied_ = false;
  auto places = most_in_process_ - std::count_if(lanes_.begin(), lanes_.end(), WorksInProcess);
  for (std::size_t student = 0; student < lanes_.size(); ++student) {
    Lane& lane = lanes_[student];
    if (lane.finished()) continue;
    const bool in_process = lane.model().info().in_process;
    const bool needs_place = in_process && !WorksInProcess(lane);
    if (needs_place && places <= 0) continue;
    lane.TakeDueRetries(now);
    SendFrom(student);
    if (needs_place && !lane.finished() && (lane.in_flight > 0 || !WaitsForOthers(lane))) --places;
  }
  ShareProcessors();
  // A request in flight may turn out cheaper than its reservation.
  const bool waits = in_flight() > 0 || std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) {
                       return lane.next.has_value() || lane.waits_for_retries();
                     });
  if (denied_ && !waits) EndBy(budget_.shortage());
}

void Admission::ShareProcessors() {
  const auto working = std::count_if(lanes_.begin(), lanes_.end(), WorksInProcess);
  const int models = std::max(1, static_cast<int>(working));
  if (models == sharing_) return;
  sharing_ = models;
  for (const Lane& lane : lanes_) {
    if (lane.model().info().in_process) lane.model().ShareProcessors(models);
  }
}

// A model may never answer, whatever else has ended the run before.
void Admission::FollowTimeLimit(Clock::Steady now) {
  if (cut_at_ && now >= *cut_at_) {
    cut_at_.reset();
    cut_ = true;
    DropAll(Model::CancelScope::kRunning);
  }
  if (!deadline_ || now < *deadline_) return;
  deadline_.reset();
  cut_at_ = now + kGrace;
  if (exhausted_.empty()) EndBy(fmt::format("the time limit of {} was reached", time_limit_));
}

void Admission::SendFrom(std::size_t student) {
  Lane& lane = lanes_[student];
  if (!lane.next) lane.next = AdmitNext(student);
  while (lane.next && lane.in_flight < WindowNow(lane)) {
    Admitted admitted = *std::exchange(lane.next, std::nullopt);
    ++lane.in_flight;
    lane.next = AdmitNext(student);
    // A window smaller than the model's own opens only after an answer, for which the model must not wait.
    const bool whole_window = WindowNow(lane) == static_cast<std::size_t>(lane.model().Window());
    admitted.request.more_follows = lane.next && (lane.in_flight < WindowNow(lane) || whole_window);
    hooks_.send(student, std::move(admitted));
  }
}

std::optional<Admitted> Admission::AdmitNext(std::size_t student) {
  Lane& lane = lanes_[student];
  if (lane.front() == nullptr) return std::nullopt;
  if (plan_.stop_when_decided && !RoundIsOpen(student)) return std::nullopt;
  ChatRequest request = RequestFor(plan_, cells_[lane.front()->cell], lane.front()->number);
  std::optional<Budget::Reservation> reservation = budget_.Reserve(lane.model(), request);
  if (!reservation) {
    denied_ = true;
    return std::nullopt;
  }
  return Admitted{lane.TakeFront(), std::move(request), *std::move(reservation)};
}

// Whether the next attempt belongs to an open round: all earlier rounds are complete and leave something to decide.
// Otherwise the rest of the lane is dropped.
bool Admission::RoundIsOpen(std::size_t student) {
  Lane& lane = lanes_[student];
  while (cells_[lane.front()->cell].round > lane.open_round) {
    if (lane.in_flight > 0 || lane.waits_for_retries() || WaitsForOthers(lane)) return false;
    if (hooks_.is_settled(student, lane.open_round)) {
      saved_ += lane.pending();
      lane.Clear();
      return false;
    }
    ++lane.open_round;
  }
  return true;
}

bool Admission::WaitsForOthers(const Lane& lane) const {
  if (!plan_.stop_when_decided || lane.front() == nullptr || cells_[lane.front()->cell].round <= lane.open_round)
    return false;
  return std::any_of(lane.paced_by.begin(), lane.paced_by.end(),
                     [&](std::size_t other) { return !HasCompleted(lanes_[other], lane.open_round); });
}

bool Admission::HasCompleted(const Lane& lane, int round) const {
  if (lane.finished()) return true;
  const bool busy = lane.in_flight > 0 || lane.waits_for_retries() || lane.next;
  return (busy ? lane.open_round : cells_[lane.front()->cell].round) > round;
}

// A model with warm_up gets one cell of each arm first: they fill the provider's prompt cache, and a wrong key or name
// shows up before the rest is sent.
std::size_t Admission::WindowNow(const Lane& lane) const {
  if (lane.model().info().warm_up && !lane.answered()) return plan_.arms.size();
  return static_cast<std::size_t>(lane.model().Window());
}

void Admission::Settle(const Answer& answer) {
  --lanes_[answer.student].in_flight;
  if (answer.by_turns == 0) budget_.Settle(answer.reservation, answer.response);
}

void Admission::EndBy(std::string reason) {
  exhausted_ = std::move(reason);
  DropAll(Model::CancelScope::kWaiting);
}

void Admission::DropAll(Model::CancelScope scope) {
  for (Lane& lane : lanes_) {
    if (!lane.finished()) Drop(lane, scope);
  }
}

void Admission::Drop(Lane& lane, Model::CancelScope scope) {
  lane.Clear();
  if (lane.next) budget_.Release(lane.next->reservation);
  lane.next.reset();
  lane.model().Cancel(scope);
}

RateLimits RateLimitsOf(const std::vector<Model*>& models, const Model* judge) {
  RateLimits all = judge == nullptr ? RateLimits() : judge->rate_limits();
  for (const Model* model : models) all = Together(all, model->rate_limits());
  return all;
}

}  // namespace upskill

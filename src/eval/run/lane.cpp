// SPDX-License-Identifier: Apache-2.0
#include "eval/run/lane.h"

#include <algorithm>

#include "eval/run/backoff.h"
#include "util/invariant.h"

namespace upskill {
namespace {

constexpr std::size_t kPermanentErrorsBeforeStop = 3;  // in a row
// Of a model that has never answered:
constexpr std::size_t kRejectedBeforeStop = 20;
constexpr std::size_t kSameErrorBeforeStop = 8;  // in a row: what is asked makes no difference
constexpr std::size_t kUnreachableBeforeStop = 3;
constexpr int kUnreachableAttempts = 2;
// Where a failed attempt has cost something, such as an agent program that wasn't done at its time limit:
constexpr int kPaidAttempts = 2;

}  // namespace

void Lane::TakeDueRetries(Clock::Steady now) {
  const auto due = std::stable_partition(retries_.begin(), retries_.end(),
                                         [now](const Attempt& attempt) { return attempt.not_before > now; });
  pending_.insert(pending_.begin(), due, retries_.end());
  retries_.erase(due, retries_.end());
}

bool Lane::Retry(const Attempt& attempt, const Error& error, Clock::Steady now) {
  if (stopped_ || error.kind != ErrorKind::kUnavailable || attempt.number >= attempt.last) return false;
  const bool never_there = !answered_ && error.cause == ErrorCause::kUnreachable;
  if (never_there && attempt.number + 1 >= kUnreachableAttempts) return false;
  const bool has_cost = error.used_tokens > 0 || error.used_usd > 0.0;
  if (has_cost && attempt.number + 1 >= kPaidAttempts) return false;
  retries_.push_back({attempt.cell, attempt.number + 1, attempt.last, now + Backoff(attempt.number, error)});
  return true;
}

void Lane::CountAnswer() {
  permanent_errors_ = 0;
  answered_ = true;
}

bool Lane::CountFailure(const Error& error) {
  permanent_errors_ = error.kind == ErrorKind::kPermanent ? permanent_errors_ + 1 : 0;
  if (error.kind == ErrorKind::kInput && !answered_) ++rejected_;
  same_errors_ = error.message == last_error_ ? same_errors_ + 1 : 1;
  last_error_ = error.message;
  if (stopped_) return false;
  const std::size_t most = error.cause == ErrorCause::kUnreachable ? kUnreachableBeforeStop : kSameErrorBeforeStop;
  stopped_ = permanent_errors_ >= kPermanentErrorsBeforeStop || rejected_ >= kRejectedBeforeStop ||
             (!answered_ && same_errors_ >= most);
  return stopped_;
}

// They are in the order of the rounds.
std::size_t Lane::pending_after_open_round(const std::vector<Cell>& cells) const {
  const auto is_open = [&](const Attempt& attempt) { return cells[attempt.cell].round <= open_round; };
  return static_cast<std::size_t>(pending_.end() - std::partition_point(pending_.begin(), pending_.end(), is_open));
}

Attempt Lane::TakeFront() {
  CHECK(!pending_.empty());
  const Attempt attempt = pending_.front();
  pending_.pop_front();
  return attempt;
}

void Lane::Clear() {
  pending_.clear();
  retries_.clear();
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/claude_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostLookedAt = 32;
constexpr std::ptrdiff_t kMostSearched = 1000;  // messages that wait, for the one that is removed

}  // namespace

void ClaudeQueue::Note(std::string_view operation, std::string text, const EventContext& stamp) {
  if (operation == "enqueue") {
    // One that couldn't be delivered is put back.
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), kMostLookedAt));
    const bool put_back = std::any_of(queue_.begin(), end, [&](const Message& queued) {
      return !queued.removed && queued.dequeued < dequeued_ && queued.text == text;
    });
    if (!put_back && !Trim(text).empty()) queue_.push_back({stamp, std::move(text), false, dequeued_});
  } else if (operation == "dequeue") {
    ++dequeued_;
  } else if (operation == "remove") {
    while (settled_ < queue_.size() && queue_[settled_].removed) ++settled_;
    const auto first = queue_.begin() + static_cast<std::ptrdiff_t>(settled_);
    const auto end = first + std::min(queue_.end() - first, kMostSearched);
    const auto message = std::find_if(
        first, end, [&](const Message& queued) { return !queued.removed && (text.empty() || queued.text == text); });
    if (message != end) message->removed = true;
  } else if (operation == "popAll") {  // moved back into the input box
    std::erase_if(queue_, [](const Message& queued) { return !queued.removed; });
    settled_ = queue_.size();
  }
}

void ClaudeQueue::NoteMessage(std::string_view text) {
  text = Trim(text);
  while (!text.empty() && !queue_.empty()) {
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), kMostLookedAt));
    const auto message = std::find_if(queue_.begin(), end, [&](const Message& queued) {
      const std::string_view own = Trim(queued.text);
      return text.starts_with(own) && (text.size() == own.size() || text[own.size()] == '\n');
    });
    if (message == end) return;
    text = Trim(text.substr(Trim(message->text).size()));
    if (message - queue_.begin() < static_cast<std::ptrdiff_t>(settled_)) --settled_;
    queue_.erase(message);
  }
}

bool ClaudeQueue::WasTaken(std::string_view text) {
  const auto taken = std::find(taken_.begin(), taken_.end(), Trim(text));
  if (taken == taken_.end()) return false;
  taken_.erase(taken);
  return true;
}

std::vector<ClaudeQueue::Message> ClaudeQueue::TakeRemoved() {
  const auto first =
      std::stable_partition(queue_.begin(), queue_.end(), [](const Message& queued) { return !queued.removed; });
  std::vector<Message> removed(std::make_move_iterator(first), std::make_move_iterator(queue_.end()));
  queue_.erase(first, queue_.end());
  settled_ = 0;
  for (const Message& message : removed) taken_.emplace_back(Trim(message.text));
  if (taken_.size() > kMostLookedAt)
    taken_.erase(taken_.begin(), taken_.end() - static_cast<std::ptrdiff_t>(kMostLookedAt));
  return removed;
}

std::vector<ClaudeQueue::Message> ClaudeQueue::TakeAll() {
  settled_ = 0;
  return std::exchange(queue_, {});
}

}  // namespace upskill

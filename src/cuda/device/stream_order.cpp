// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/stream_order.h"

#include <cuda_runtime/wire.h>

#include <algorithm>
#include <utility>

namespace upskill {

std::uint64_t StreamOrder::Make(bool non_blocking) {
  const std::uint64_t number = kUpskillFirstStream + next_++;
  streams_[number].non_blocking = non_blocking;
  return number;
}

void StreamOrder::Work(std::uint64_t stream) {
  if (stream == kUpskillDefaultStream) {
    for (auto& [number, other] : streams_) {
      if (!other.non_blocking) Reach({number, other.work});
    }
    return;
  }
  ++streams_[stream].work;
}

void StreamOrder::SynchronizeDevice() {
  for (auto& [number, stream] : streams_) Reach({number, stream.work});
}

void StreamOrder::SynchronizeStream(std::uint64_t stream) {
  if (stream == kUpskillDefaultStream) return Work(stream);
  if (const auto found = streams_.find(stream); found != streams_.end()) Reach({stream, found->second.work});
}

void StreamOrder::Record(std::uint64_t event, std::uint64_t stream) {
  Work(stream);  // an event is work, too
  events_[event] = {stream, stream == kUpskillDefaultStream ? 0 : streams_[stream].work};
}

void StreamOrder::SynchronizeEvent(std::uint64_t event) {
  if (const auto found = events_.find(event); found != events_.end()) Reach(found->second);
}

void StreamOrder::WaitForEvent(std::uint64_t stream, std::uint64_t event) {
  const auto found = events_.find(event);
  if (found == events_.end()) return;
  if (stream == kUpskillDefaultStream) return Reach(found->second);
  streams_[stream].waits_for.push_back(found->second);
}

bool StreamOrder::AskStream(std::uint64_t stream) {
  const auto found = streams_.find(stream);
  return found == streams_.end() || Ask({stream, found->second.work});
}

bool StreamOrder::AskEvent(std::uint64_t event) {
  const auto found = events_.find(event);
  return found == events_.end() || Ask(found->second);
}

bool StreamOrder::Ask(const Point& point) {
  const auto found = streams_.find(point.stream);
  if (found == streams_.end() || found->second.done >= point.work) return true;
  if (found->second.asked < point.work) {
    found->second.asked = point.work;
    return false;
  }
  Reach(point);
  return true;
}

std::size_t StreamOrder::Pending() const {
  return static_cast<std::size_t>(std::count_if(streams_.begin(), streams_.end(),
                                                [](const auto& each) { return each.second.done < each.second.work; }));
}

// All that the stream has waited for itself is reached as well.
void StreamOrder::Reach(const Point& point) {
  std::vector<Point> left = {point};
  while (!left.empty()) {
    const Point next = left.back();
    left.pop_back();
    const auto found = streams_.find(next.stream);
    if (found == streams_.end()) continue;
    Stream& stream = found->second;
    stream.done = std::max(stream.done, next.work);
    const std::vector<Point> waited = std::exchange(stream.waits_for, {});
    left.insert(left.end(), waited.begin(), waited.end());
  }
}

}  // namespace upskill

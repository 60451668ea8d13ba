// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "util/result.h"

namespace upskill {

struct SseEvent {
  std::string name;  // of the `event:` line; empty without one
  std::string data;  // the `data:` lines, joined by newlines
};

// Parses a stream of server-sent events (WHATWG HTML, "event stream interpretation"). Pieces may be cut anywhere; lines
// may end in LF, CRLF or CR; comments, `id` and `retry` are skipped. Not thread-safe.
class SseParser {
 public:
  using OnEvent = std::function<void(const SseEvent&)>;
  explicit SseParser(OnEvent on_event, std::size_t max_event_bytes = 32U << 20U);

  // Error: an event is larger than the limit.
  Status Feed(std::string_view piece);

 private:
  void TakeLine(std::string_view line);

  OnEvent on_event_;
  std::size_t max_event_bytes_;
  std::string line_;
  SseEvent event_;
  bool has_data_ = false;
  bool last_was_cr_ = false;
  bool at_start_ = true;
};

}  // namespace upskill

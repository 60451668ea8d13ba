// SPDX-License-Identifier: Apache-2.0
#include "net/sse.h"

#include <fmt/format.h>

#include <utility>

#include "util/byte_order_mark.h"

namespace upskill {

SseParser::SseParser(OnEvent on_event, std::size_t max_event_bytes)
    : on_event_(std::move(on_event)), max_event_bytes_(max_event_bytes) {}

Status SseParser::Feed(std::string_view piece) {
  while (!piece.empty()) {
    if (std::exchange(last_was_cr_, false) && piece.front() == '\n') {
      piece.remove_prefix(1);
      continue;
    }
    const std::size_t end = piece.find_first_of("\r\n");
    const std::string_view text = piece.substr(0, end);
    if (line_.size() + text.size() + event_.data.size() + event_.name.size() > max_event_bytes_) {
      return Error{ErrorKind::kPermanent, fmt::format("a streamed event is larger than {} bytes", max_event_bytes_)};
    }
    if (end == std::string_view::npos) {
      line_.append(text);
      break;
    }
    last_was_cr_ = piece[end] == '\r';
    piece.remove_prefix(end + 1);
    if (line_.empty()) {
      TakeLine(text);
    } else {
      line_.append(text);
      TakeLine(line_);
      line_.clear();
    }
  }
  return {};
}

void SseParser::TakeLine(std::string_view line) {
  if (std::exchange(at_start_, false) && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.empty()) {
    const SseEvent event = std::exchange(event_, {});
    if (std::exchange(has_data_, false)) on_event_(event);
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string_view field = line.substr(0, colon);
  std::string_view value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "event") {
    event_.name = value;
  } else if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  }
}

}  // namespace upskill

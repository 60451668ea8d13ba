// SPDX-License-Identifier: Apache-2.0
#include "net/message_framing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "util/text.h"

namespace upskill {
namespace {

constexpr const char* kBoth = "sent contradictory headers: Content-Length and Transfer-Encoding";

std::string Unusable(const char* name, std::string_view value) {
  constexpr std::size_t kShownColumns = 60;
  return fmt::format("sent an unusable header: {} '{}'", name, ExcerptLine(value, kShownColumns));
}

}  // namespace

std::optional<std::string> MessageFraming::Add(std::string_view name, std::string_view value) {
  if (name == "content-length") return AddLength(value);
  if (name == "transfer-encoding") return AddEncoding(value);
  return std::nullopt;
}

// A list of lengths is the same as several headers.
std::optional<std::string> MessageFraming::AddLength(std::string_view value) {
  if (chunked_) return kBoth;
  for (std::string_view rest = value;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::optional<std::int64_t> length =
        ParseWholeNumber(Trim(rest.substr(0, comma)), 0, std::numeric_limits<std::int64_t>::max());
    if (!length) return Unusable("Content-Length", value);
    if (length_ && *length_ != *length)
      return fmt::format("sent contradictory headers: Content-Length {} and {}", *length_, *length);
    length_ = length;
    if (comma == rest.size()) return std::nullopt;
    rest.remove_prefix(comma + 1);
  }
}

// Others than `chunked` may only be used where the request allows them.
std::optional<std::string> MessageFraming::AddEncoding(std::string_view value) {
  if (ToLowerAscii(Trim(value)) != "chunked") return Unusable("Transfer-Encoding", value);
  if (chunked_) return "sent Transfer-Encoding twice";
  if (length_) return kBoth;
  chunked_ = true;
  return std::nullopt;
}

}  // namespace upskill

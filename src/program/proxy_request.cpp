// SPDX-License-Identifier: Apache-2.0
#include "program/proxy_request.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxLine = 1024;  // of a chunk's size or a trailer
constexpr std::string_view kHeadEnd = "\r\n\r\n";

Error NotHttp(const char* what) { return InputError(std::string("not a request in HTTP/1.1: ") + what); }

Error TooLarge() { return InputError("the request is larger than 32 MB"); }

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

Result<std::optional<ProxyRequest>> ProxyRequestReader::Next() {
  while (!complete_) {
    ASSIGN_OR_RETURN(const bool more, Step());
    if (more) continue;
    // Once for all that has been taken, so that many small chunks don't move the bytes after them again and again.
    buffer_.erase(0, std::exchange(taken_, 0));
    return std::optional<ProxyRequest>();
  }
  complete_ = false;
  state_ = State::kHead;
  return std::optional(std::exchange(request_, {}));
}

Result<bool> ProxyRequestReader::Step() {
  switch (state_) {
    case State::kHead:
      return TakeHead();
    case State::kBody:
    case State::kChunk:
      return TakeBody();
    case State::kChunkSize:
      return TakeChunkSize();
    case State::kTrailer:
      break;
  }
  return TakeTrailer();
}

Result<bool> ProxyRequestReader::TakeHead() {
  const std::size_t from = scanned_ < kHeadEnd.size() ? 0 : scanned_ - kHeadEnd.size();
  const std::string_view rest = Rest();
  const std::size_t end = rest.find(kHeadEnd, from);
  if (end == std::string_view::npos ? rest.size() > kMaxHeadBytes : end > kMaxHeadBytes)
    return NotHttp("its head is larger than 64 kB");
  scanned_ = rest.size();
  if (end == std::string_view::npos) return false;
  RETURN_IF_ERROR(TakeHeaders(rest.substr(0, end)));
  taken_ += end + kHeadEnd.size();
  scanned_ = 0;
  state_ = chunked_ ? State::kChunkSize : State::kBody;
  return true;
}

Status ProxyRequestReader::TakeHeaders(std::string_view head) {
  request_ = {};
  chunked_ = false;
  missing_ = 0;
  std::size_t end = std::min(head.find("\r\n"), head.size());
  const std::string_view first = head.substr(0, end);
  const std::size_t space = first.find(' ');
  const std::size_t last = first.rfind(' ');
  if (space == std::string_view::npos || space == last) return NotHttp("its first line isn't METHOD PATH HTTP/1.1");
  request_.method = first.substr(0, space);
  request_.target = first.substr(space + 1, last - space - 1);
  const std::string_view version = first.substr(last + 1);
  if (!IsToken(request_.method) || !IsToken(request_.target) || !version.starts_with("HTTP/1."))
    return NotHttp("its first line isn't METHOD PATH HTTP/1.1");
  while (end < head.size()) {
    head.remove_prefix(end + 2);
    end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !IsToken(line.substr(0, colon)))
      return NotHttp("a line of its head isn't NAME: VALUE");
    request_.headers[ToLowerAscii(line.substr(0, colon))] = Trim(line.substr(colon + 1));
  }
  const auto value = [&](const char* name) {
    const auto found = request_.headers.find(name);
    return found == request_.headers.end() ? std::string() : ToLowerAscii(found->second);
  };
  request_.keep_alive = version == "HTTP/1.1" ? value("connection") != "close" : value("connection") == "keep-alive";
  if (const std::string coding = value("transfer-encoding"); !coding.empty()) {
    if (coding != "chunked") return NotHttp("its transfer encoding isn't known");
    chunked_ = true;
  } else if (const std::string length = value("content-length"); !length.empty()) {
    const auto bytes = ParseWholeNumber(length, 0);
    if (!bytes) return NotHttp("its length isn't a number");
    if (static_cast<std::uint64_t>(*bytes) > kMaxBodyBytes) return TooLarge();
    missing_ = static_cast<std::size_t>(*bytes);
  }
  return {};
}

Result<bool> ProxyRequestReader::TakeBody() {
  const std::size_t taken = std::min(missing_, Rest().size());
  request_.body.append(Rest().substr(0, taken));
  taken_ += taken;
  missing_ -= taken;
  if (missing_ > 0) return false;
  if (state_ == State::kBody) {
    complete_ = true;
    return true;
  }
  if (Rest().size() < 2) return false;
  if (!Rest().starts_with("\r\n")) return NotHttp("a chunk doesn't end where it should");
  taken_ += 2;
  state_ = State::kChunkSize;
  return true;
}

std::optional<std::string> ProxyRequestReader::TakeLine(std::size_t most, bool& too_long) {
  const std::size_t end = Rest().find("\r\n");
  too_long = std::min(end, Rest().size()) > most;
  if (too_long || end == std::string_view::npos) return std::nullopt;
  std::string line(Rest().substr(0, end));
  taken_ += end + 2;
  return line;
}

Result<bool> ProxyRequestReader::TakeChunkSize() {
  bool too_long = false;
  const std::optional<std::string> line = TakeLine(kMaxLine, too_long);
  if (too_long) return NotHttp("the line of a chunk's size is too long");
  if (!line) return false;
  std::size_t size = 0;
  const auto [end, code] = std::from_chars(line->data(), line->data() + line->size(), size, 16);
  const bool ends = end == line->data() + line->size() || *end == ';' || *end == ' ';
  if (code != std::errc() || !ends) return NotHttp("a chunk's size isn't a number");
  if (size > kMaxBodyBytes - request_.body.size()) return TooLarge();
  missing_ = size;
  trailer_ = 0;
  state_ = size == 0 ? State::kTrailer : State::kChunk;
  return true;
}

Result<bool> ProxyRequestReader::TakeTrailer() {
  bool too_long = false;
  const std::optional<std::string> line = TakeLine(kMaxLine, too_long);
  if (line) trailer_ += line->size() + 2;
  if (too_long || trailer_ > kMaxHeadBytes) return NotHttp("its trailer is too long");
  if (!line) return false;
  if (line->empty()) complete_ = true;
  return true;
}

}  // namespace upskill

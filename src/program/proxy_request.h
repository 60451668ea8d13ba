// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "util/result.h"

namespace upskill {

// A request that a program has sent over HTTP/1.1.
struct ProxyRequest {
  std::string method;
  std::string target;                          // path and query
  std::map<std::string, std::string> headers;  // names in lower case; of equal names, the last one
  std::string body;
  bool keep_alive = true;  // the connection may be used for another one
};

// Reads requests from the bytes of a connection, which may be cut anywhere. Time and memory are in proportion to the
// bytes, and limited. Not thread-safe.
class ProxyRequestReader {
 public:
  static constexpr std::size_t kMaxHeadBytes = std::size_t{64} << 10U;
  static constexpr std::size_t kMaxBodyBytes = std::size_t{32} << 20U;

  // More bytes, then the requests that they complete. Error (kInput): not HTTP/1, or beyond a limit; the connection is
  // of no use any more.
  void Add(std::string_view bytes) { buffer_ += bytes; }
  Result<std::optional<ProxyRequest>> Next();

  // Of what has arrived and isn't a complete request yet.
  std::size_t bytes() const { return buffer_.size() + request_.body.size(); }

 private:
  enum class State { kHead, kBody, kChunkSize, kChunk, kTrailer };

  Result<bool> Step();  // false: more bytes are needed
  std::string_view Rest() const { return std::string_view(buffer_).substr(taken_); }
  Result<bool> TakeHead();
  Result<bool> TakeBody();
  Result<bool> TakeChunkSize();
  Result<bool> TakeTrailer();
  Status TakeHeaders(std::string_view head);
  std::optional<std::string> TakeLine(std::size_t most, bool& too_long);

  State state_ = State::kHead;
  std::string buffer_;
  std::size_t taken_ = 0;    // bytes at the beginning of the buffer that are done with
  std::size_t scanned_ = 0;  // of the rest: there is no end of a head in this part
  std::size_t missing_ = 0;  // bytes of the body or the chunk
  std::size_t trailer_ = 0;  // bytes of the trailer
  bool chunked_ = false;
  bool complete_ = false;
  ProxyRequest request_;
};

}  // namespace upskill

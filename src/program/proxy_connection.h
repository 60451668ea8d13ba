// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/http_client.h"
#include "program/endpoint_request.h"
#include "program/proxy_answer.h"
#include "program/proxy_request.h"
#include "util/files.h"
#include "util/result.h"

namespace upskill {

// A request that is being answered by the endpoint.
struct ProxyExchange {
  EndpointRequest::Kind kind = EndpointRequest::Kind::kAnswer;
  bool streamed = false;
  bool has_tools = false;
  bool keep_alive = true;
  bool head_sent = false;  // of the answer
  std::size_t request_bytes = 0;
  HttpClient::Ticket transfer = 0;
  std::optional<std::uint64_t> meter_ticket;
  std::optional<ProxyAnswer> answer;  // what it says, of kAnswer
};

// A program's connection to the proxy: reads requests, writes what it is given as fast as the program takes it. Not
// thread-safe.
class ProxyConnection {
 public:
  explicit ProxyConnection(Fd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  bool open() const { return fd_.valid(); }
  // Of requests and answers, on their way in either direction.
  std::size_t bytes() const { return reader_.bytes() + out_.size() + (exchange ? exchange->request_bytes : 0); }
  bool wants_to_write() const { return !out_.empty(); }
  // While a request is being answered, only the end of the connection is looked for.
  bool wants_to_read() const { return exchange == nullptr && !closing_; }

  // Reads what has arrived, and writes what can be. Closes the connection at its end or an error.
  void Read();
  void Write();
  void Close() { fd_.Close(); }

  // The next request that is complete. Error: the connection should be closed after an answer.
  Result<std::optional<ProxyRequest>> Next() { return reader_.Next(); }

  // A whole answer.
  void Answer(int status, std::string_view content_type, std::string_view body, bool keep_alive);
  void AnswerError(int status, const std::string& message, bool keep_alive);
  // An answer in pieces: its head, pieces, its end.
  void StartStream();
  void SendPiece(std::string_view piece);
  void EndStream(bool keep_alive);

  std::shared_ptr<ProxyExchange> exchange;  // null: none

 private:
  void Ended(bool keep_alive);

  Fd fd_;
  ProxyRequestReader reader_;
  std::string out_;
  bool closing_ = false;  // once everything is written
};

// An error as all protocols have it.
std::string ProxyErrorBody(int status, const std::string& message);

}  // namespace upskill

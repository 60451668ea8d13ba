// SPDX-License-Identifier: Apache-2.0
#include "program/proxy_connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "util/json.h"

namespace upskill {
namespace {

constexpr std::size_t kMostUnwritten = std::size_t{64} << 20U;

const char* ReasonOf(int status) { return status < 300 ? "OK" : status < 500 ? "Refused" : "Failed"; }

}  // namespace

std::string ProxyErrorBody(int status, const std::string& message) {
  const char* const type = status == 401   ? "authentication_error"
                           : status == 429 ? "rate_limit_error"
                           : status >= 500 ? "api_error"
                                           : "invalid_request_error";
  const char* const name = status == 429 ? "RESOURCE_EXHAUSTED" : status >= 500 ? "UNAVAILABLE" : "INVALID_ARGUMENT";
  return DumpJson(
      {{"type", "error"}, {"error", {{"type", type}, {"message", message}, {"code", status}, {"status", name}}}});
}

void ProxyConnection::Read() {
  std::array<char, 65536> buffer{};
  const ssize_t got = Uninterrupted([&] { return ::recv(fd_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT); });
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
  if (got <= 0) return Close();
  reader_.Add(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
}

void ProxyConnection::Write() {
  while (open() && !out_.empty()) {
    const ssize_t sent =
        Uninterrupted([&] { return ::send(fd_.get(), out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL); });
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (sent < 0) return Close();
    out_.erase(0, static_cast<std::size_t>(sent));
  }
  if (out_.size() > kMostUnwritten || (closing_ && out_.empty())) Close();
}

void ProxyConnection::Answer(int status, std::string_view content_type, std::string_view body, bool keep_alive) {
  out_ += fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}\r\n", status, ReasonOf(status),
                      content_type, body.size(), keep_alive ? "" : "Connection: close\r\n");
  out_ += body;
  Ended(keep_alive);
}

void ProxyConnection::AnswerError(int status, const std::string& message, bool keep_alive) {
  Answer(status, "application/json", ProxyErrorBody(status, message), keep_alive);
}

void ProxyConnection::StartStream() {
  out_ +=
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
}

void ProxyConnection::SendPiece(std::string_view piece) {
  if (piece.empty()) return;
  out_ += fmt::format("{:x}\r\n", piece.size());
  out_ += piece;
  out_ += "\r\n";
}

void ProxyConnection::EndStream(bool keep_alive) {
  out_ += "0\r\n\r\n";
  Ended(keep_alive);
}

void ProxyConnection::Ended(bool keep_alive) {
  exchange = nullptr;
  if (!keep_alive) closing_ = true;
}

}  // namespace upskill

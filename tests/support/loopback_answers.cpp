// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "support/loopback_server.h"

namespace upskill::loopback {
namespace {

constexpr std::chrono::milliseconds kForEver{3'600'000};

std::string Head(int status, const Headers& headers) {
  std::string head = fmt::format("HTTP/1.1 {} Scripted\r\n", status);
  for (const auto& [name, value] : headers) head += fmt::format("{}: {}\r\n", name, value);
  return head;
}

std::string Chunk(std::string_view piece) { return fmt::format("{:x}\r\n{}\r\n", piece.size(), piece); }

}  // namespace

Action Send(std::string bytes, std::size_t times) { return {Action::Kind::kSend, std::move(bytes), times}; }
Action Wait(std::chrono::milliseconds time) { return {Action::Kind::kWait, {}, 1, time}; }
Action Close() { return {Action::Kind::kClose}; }
Action Reset() { return {Action::Kind::kReset}; }
Action HalfClose() { return {Action::Kind::kHalfClose}; }

Script Answer(int status, std::string_view body, const Headers& headers) {
  return {Send(Head(status, headers) +
               fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", body.size(), body))};
}

Script ChatCompletion(std::string_view content, int prompt_tokens, int output_tokens) {
  using Json = nlohmann::json;
  const Json message = {{"role", "assistant"}, {"content", content}};
  return Answer(200, Json({{"model", "m"},
                           {"choices", Json::array({{{"index", 0}, {"finish_reason", "stop"}, {"message", message}}})},
                           {"usage", {{"prompt_tokens", prompt_tokens}, {"completion_tokens", output_tokens}}}})
                         .dump());
}

Script Chunked(int status, const std::vector<std::string>& pieces, const Headers& headers) {
  Script script{Send(Head(status, headers) + "Transfer-Encoding: chunked\r\n\r\n")};
  for (const std::string& piece : pieces) script.push_back(Send(Chunk(piece)));
  script.push_back(Send("0\r\n\r\n"));
  return script;
}

Script Gzip(int status, std::string_view body) {
  return Answer(status, GzipBytes(body), {{"Content-Encoding", "gzip"}});
}

Script Sse(const std::vector<std::string>& pieces, std::chrono::milliseconds between) {
  Script script{Send(Head(200, {{"Content-Type", "text/event-stream"}, {"Transfer-Encoding", "chunked"}}) + "\r\n")};
  for (const std::string& piece : pieces) {
    script.push_back(Send(Chunk(piece)));
    if (between.count() > 0) script.push_back(Wait(between));
  }
  script.push_back(Send("0\r\n\r\n"));
  return script;
}

Script Redirect(std::string_view url) { return Answer(307, "", {{"Location", std::string(url)}}); }

Script RateLimit(const Headers& headers) {
  return Answer(429, R"({"error":{"message":"Rate limit reached","type":"requests","code":"rate_limit_exceeded"}})",
                headers);
}

Script Drip(std::string_view body, std::chrono::milliseconds between) {
  Script script{Send(Head(200, {}) + fmt::format("Content-Length: {}\r\n\r\n", body.size()))};
  for (const char c : body) {
    script.push_back(Wait(between));
    script.push_back(Send(std::string(1, c)));
  }
  return script;
}

Script Silence() { return {Wait(kForEver)}; }

Script CutBeforeHeaders() { return {Close()}; }

Script CutInBody(std::string_view body) {
  return {
      Send(Head(200, {}) + fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body.substr(0, body.size() / 2))),
      Wait(std::chrono::milliseconds(20)), Reset()};
}

Script Garbage() { return {Send("\x16\x03\x01\xff\xfe this is no HTTP\r\n\r\n\x80\x81"), Close()}; }

Script WrongLength(std::size_t claimed, std::string_view body) {
  return {Send(Head(200, {}) + fmt::format("Content-Length: {}\r\n\r\n{}", claimed, body)), Close()};
}

Script Endless(std::size_t megabytes) {
  return {Send(Head(200, {}) + "Connection: close\r\n\r\n"), Send(std::string(1U << 16U, 'x'), megabytes * 16),
          Close()};
}

Script GzipBomb(std::size_t megabytes) {
  const std::string member = GzipBytes(std::string(megabytes << 20U, '\0'));
  return {Send(Head(200, {{"Content-Encoding", "gzip"}}) + fmt::format("Content-Length: {}\r\n\r\n", member.size()) +
               member)};
}

Script EndlessHeaders() {
  return {Send("HTTP/1.1 200 OK\r\n"), Send("X-Padding: " + std::string(1000, 'x') + "\r\n", 100'000), Close()};
}

Script Http2GoAway() {
  const auto frame = [](char type, std::string_view payload) {
    std::string bytes{'\0', '\0', static_cast<char>(payload.size()), type, '\0', '\0', '\0', '\0', '\0'};
    return bytes.append(payload);
  };
  constexpr char kSettings = 4;
  constexpr char kGoAway = 7;
  const std::string last_stream_and_code(8, '\0');  // stream 0: none was worked on; NO_ERROR
  return {Send(frame(kSettings, "") + frame(kGoAway, last_stream_and_code)), Close()};
}

std::string GzipBytes(std::string_view bytes) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("deflateInit2");
  std::string packed(deflateBound(&stream, bytes.size()) + 64, '\0');
  std::string copy(bytes);
  stream.next_in = reinterpret_cast<Bytef*>(copy.data());
  stream.avail_in = static_cast<uInt>(copy.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int code = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (code != Z_STREAM_END) throw std::runtime_error("deflate");
  return packed;
}

}  // namespace upskill::loopback

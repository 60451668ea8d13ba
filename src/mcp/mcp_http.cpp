// SPDX-License-Identifier: Apache-2.0
#include "mcp/mcp_http.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "net/url.h"
#include "util/base64.h"
#include "util/text.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kMaxVersionBytes = 32;
constexpr std::size_t kOpenStreams = 2;  // servers may leave a stream open after its answer
constexpr milliseconds kToConnect{10'000};
constexpr milliseconds kToEndSession{2'000};
constexpr milliseconds kStopCheck{100};
constexpr const char* kSessionHeader = "Mcp-Session-Id";
constexpr const char* kVersionHeader = "MCP-Protocol-Version";

// As the value of a header: text that isn't plain is encoded.
std::string HeaderText(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F; });
  const bool kept = Trim(text) == text && !text.starts_with("=?base64?");
  return plain && kept ? text : fmt::format("=?base64?{}?=", EncodeBase64(text));
}

}  // namespace

bool IsFreeMcpHeader(std::string_view name) {
  constexpr std::array<std::string_view, 10> kTaken = {
      "accept", "accept-encoding",   "connection", "content-encoding", "content-length", "content-type", "host",
      "te",     "transfer-encoding", "upgrade"};
  const std::string lower = ToLowerAscii(name);
  return !lower.empty() && IsVisibleAscii(lower) && lower.find(':') == std::string::npos &&
         !lower.starts_with("mcp-") && std::find(kTaken.begin(), kTaken.end(), lower) == kTaken.end();
}

McpHttp::McpHttp(McpAddress address, std::shared_ptr<HttpClient> client)
    : address_(std::move(address)), client_(std::move(client)), inbox_(std::make_shared<McpInbox>()) {}

McpHttp::~McpHttp() {
  for (const Sent& sent : sent_) client_->Cancel(sent.ticket);
  EndSession();
}

void McpHttp::Begin(Time deadline, const StopFlag* stop, int stopped_at) {
  deadline_ = deadline;
  stop_ = stop;
  stopped_at_ = stopped_at;
  const std::lock_guard lock(inbox_->mutex);
  inbox_->bytes = 0;
}

HttpRequest McpHttp::RequestFor(const std::string& method) const {
  HttpRequest request;
  request.method = method;
  request.url = address_.url;
  request.secret_headers = address_.headers;
  request.connect_timeout = kToConnect;
  if (!version_.empty()) request.headers.emplace_back(kVersionHeader, version_);
  const std::lock_guard lock(inbox_->mutex);
  if (!inbox_->session.empty()) request.headers.emplace_back(kSessionHeader, inbox_->session);
  return request;
}

Status McpHttp::Send(std::string_view line) {
  RETURN_IF_ERROR(InTime());
  ASSIGN_OR_RETURN(const Json message, ParseJson(line, "the message"));
  const std::string method = StringAt(message, "method");
  HttpRequest request = RequestFor("POST");
  const bool has_session = request.headers.size() > (version_.empty() ? 0U : 1U);
  const auto exchange = std::make_shared<McpExchange>(inbox_, method.empty() ? Json() : Member(message, "id"),
                                                      method == "initialize", has_session);
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("Accept", "application/json, text/event-stream");
  if (version_ >= kStatelessMcp && !method.empty()) {
    request.headers.emplace_back("Mcp-Method", method);
    if (const std::string name = StringAt(Member(message, "params"), "name"); !name.empty())
      request.headers.emplace_back("Mcp-Name", HeaderText(name));
  }
  request.body = Trim(line);
  request.max_body_bytes = 2 * kMaxMcpBytes;  // OnData has the limit
  // The deadline ends it, and `stop`.
  request.idle_timeout = request.total_timeout = std::chrono::hours(1);
  request.on_headers = [exchange](int status, const auto& headers) { exchange->OnHeaders(status, headers); };
  request.on_data = [exchange](std::string_view piece) { return exchange->OnData(piece); };
  const HttpClient::Ticket ticket = client_->Start(
      std::move(request), [exchange](const Result<HttpResponse>& response) { exchange->OnEnd(response); });
  sent_.push_back({exchange, ticket});
  if (!exchange->expects_answer()) {
    const Status answered = Await(*exchange);
    sent_.pop_back();
    if (!answered) client_->Cancel(ticket);
    return answered;
  }
  if (sent_.size() > kOpenStreams) {
    client_->Cancel(sent_.front().ticket);
    sent_.erase(sent_.begin());
  }
  return {};
}

// Until the exchange is over.
Status McpHttp::Await(McpExchange& exchange) {
  {
    std::unique_lock lock(inbox_->mutex);
    while (!exchange.ended()) {
      RETURN_IF_ERROR(InTime());
      inbox_->changed.wait_for(lock, kStopCheck);
    }
  }
  return exchange.Conclude();
}

Result<std::string> McpHttp::Receive() {
  std::unique_lock lock(inbox_->mutex);
  while (true) {
    RETURN_IF_ERROR(InTime());  // also while there is always more to read
    if (!inbox_->messages.empty()) {
      std::string next = std::move(inbox_->messages.front());
      inbox_->messages.pop_front();
      return next;
    }
    if (sent_.empty()) return InputError("no request was sent to it");
    McpExchange& asked = *sent_.back().exchange;
    if (asked.concluded()) {
      return Error{ErrorKind::kUnavailable, "its response has no answer"}.Because(
          asked.empty() ? ErrorCause::kBroken : ErrorCause::kUnusable);
    }
    if (asked.ended()) {
      lock.unlock();
      RETURN_IF_ERROR(asked.Conclude());
      lock.lock();
    } else {
      inbox_->changed.wait_for(lock, kStopCheck);
    }
  }
}

void McpHttp::Agree(const std::string& version) {
  if (version.size() <= kMaxVersionBytes && IsVisibleAscii(version)) version_ = version;
}

McpConnection McpHttp::connection() {
  return {[this](std::string_view bytes) { return Send(bytes); }, [this] { return Receive(); },
          [this](const std::string& version) { Agree(version); }};
}

Status McpHttp::InTime() const {
  if (stop_ != nullptr && stop_->load() >= stopped_at_) return Error{ErrorKind::kCancelled, "stopped"};
  if (steady_clock::now() < deadline_) return {};
  return Error{ErrorKind::kUnavailable, "no answer within its time limit"}.Because(ErrorCause::kTimeout);
}

// Servers may refuse it, which changes nothing.
void McpHttp::EndSession() {
  {
    const std::lock_guard lock(inbox_->mutex);
    if (inbox_->session.empty()) return;
  }
  HttpRequest request = RequestFor("DELETE");
  request.connect_timeout = request.idle_timeout = request.total_timeout = kToEndSession;
  const auto exchange = std::make_shared<McpExchange>(inbox_, Json(), false, true);
  const HttpClient::Ticket ticket = client_->Start(
      std::move(request), [exchange](const Result<HttpResponse>& response) { exchange->OnEnd(response); });
  std::unique_lock lock(inbox_->mutex);
  const bool over = inbox_->changed.wait_for(lock, kToEndSession, [&] { return exchange->ended(); });
  lock.unlock();
  if (!over) client_->Cancel(ticket);
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "mcp/mcp_http.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "net/http_error.h"
#include "net/sse.h"
#include "net/url.h"
#include "util/base64.h"
#include "util/clock.h"
#include "util/text.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kMaxHttpBytes = std::size_t{16} << 20U;
constexpr std::size_t kMaxSessionBytes = 1'024;
constexpr std::size_t kMaxVersionBytes = 32;
constexpr std::size_t kOpenStreams = 2;  // servers may leave a stream open after its answer
constexpr milliseconds kToConnect{10'000};
constexpr milliseconds kToEndSession{2'000};
constexpr milliseconds kStopCheck{100};
constexpr const char* kSessionHeader = "Mcp-Session-Id";
constexpr const char* kVersionHeader = "MCP-Protocol-Version";

bool IsVisibleAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

// As the value of a header: text that isn't plain is encoded.
std::string HeaderText(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7F; });
  const bool kept = Trim(text) == text && !text.starts_with("=?base64?");
  return plain && kept ? text : fmt::format("=?base64?{}?=", EncodeBase64(text));
}

// Line ends between the parts of JSON are spaces as well.
std::string OnOneLine(std::string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  text += '\n';
  return text;
}

std::string MediaTypeOf(const std::map<std::string, std::string>& headers) {
  const auto type = headers.find("content-type");
  if (type == headers.end()) return "";
  return ToLowerAscii(Trim(std::string_view(type->second).substr(0, type->second.find(';'))));
}

bool IsSuccess(int status) { return status >= 200 && status <= 299; }
bool IsRedirect(int status) { return status >= 300 && status <= 399; }

// The body of a response as an answer to the request, if that is what it is: an error of the protocol, whose number may
// be missing.
std::optional<std::string> ProtocolErrorIn(const HttpResponse& response, const Json& id) {
  const Result<Json> body = ParseJson(response.body, "the response");
  if (!body || !Member(Member(*body, "error"), "code").is_number_integer()) return std::nullopt;
  return DumpJson({{"jsonrpc", "2.0"}, {"id", id}, {"error", body->at("error")}}) + "\n";
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

// What has been received. Guarded by its mutex.
struct McpHttp::Inbox {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> messages;
  std::size_t bytes = 0;  // since Begin
  std::string session;
};

// A POST and its answer. What is long to read is read by Conclude, not by the callbacks on the client's only thread.
struct McpHttp::Exchange {
  explicit Exchange(std::shared_ptr<Inbox> to)
      : inbox(std::move(to)), events([this](const SseEvent& event) { Take(event.data); }, kMaxHttpBytes) {}

  void Take(std::string message) const {
    if (Trim(message).empty()) return;
    const std::lock_guard lock(inbox->mutex);
    inbox->messages.push_back(OnOneLine(std::move(message)));
    inbox->changed.notify_all();
  }

  void OnHeaders(int status, const std::map<std::string, std::string>& headers) {
    media_type = MediaTypeOf(headers);
    const auto session = headers.find(ToLowerAscii(kSessionHeader));
    if (!IsSuccess(status) || !opens_session || session == headers.end()) return;
    const std::lock_guard lock(inbox->mutex);
    if (IsVisibleAscii(session->second) && session->second.size() <= kMaxSessionBytes) inbox->session = session->second;
  }

  bool OnData(std::string_view piece) {
    {
      const std::lock_guard lock(inbox->mutex);
      inbox->bytes += piece.size();
      if (inbox->bytes > kMaxHttpBytes) {
        too_long = true;
        return false;
      }
    }
    if (media_type == "text/event-stream") return events.Feed(piece).ok();
    body += piece;
    return true;
  }

  void OnEnd(const Result<HttpResponse>& response) {
    const std::lock_guard lock(inbox->mutex);
    ended = response;
    inbox->changed.notify_all();
  }

  // Once there is a response: takes what of it hasn't been taken, or says what is wrong with it.
  Status Conclude() {
    const Result<HttpResponse>& response = *ended;
    concluded = true;
    if (too_long) return InputError(fmt::format("its output exceeds {}", BytesText(kMaxHttpBytes)));
    if (!response) return response.error();
    if (IsRedirect(response->status)) {
      return Error{ErrorKind::kPermanent,
                   fmt::format("it answers with a redirect (HTTP {}), which isn't followed", response->status)};
    }
    if (!IsSuccess(response->status)) {
      if (has_session && response->status == 404) return Error{ErrorKind::kUnavailable, "it has ended the session"};
      const bool may_explain = !id.is_null() && (response->status == 400 || response->status == 404);
      const std::optional<std::string> error = may_explain ? ProtocolErrorIn(*response, id) : std::nullopt;
      if (!error) return ErrorOfResponse(*response, SystemClock().WallNow());
      Take(*error);
      return {};
    }
    if (Trim(body).empty()) return {};
    if (media_type != "application/json")
      return InputError(fmt::format("it answers with \"{}\" instead of JSON", ExcerptLine(media_type, 60)));
    if (!Trim(body).starts_with('[')) return Take(body), Status();
    ASSIGN_OR_RETURN(const Json batch, ParseJson(body, "its answer"));  // of the version 2025-03-26
    for (const Json& message : batch) Take(DumpJson(message));
    return {};
  }

  const std::shared_ptr<Inbox> inbox;
  Json id;  // of the request; null: the message asks for no answer
  bool opens_session = false;
  bool has_session = false;
  HttpClient::Ticket ticket = 0;

  // Of the client's thread until there is a response.
  std::string media_type;
  std::string body;
  SseParser events;
  bool too_long = false;

  std::optional<Result<HttpResponse>> ended;  // guarded by the inbox's mutex until it is there
  bool concluded = false;
};

McpHttp::McpHttp(McpAddress address, std::shared_ptr<HttpClient> client)
    : address_(std::move(address)), client_(std::move(client)), inbox_(std::make_shared<Inbox>()) {}

McpHttp::~McpHttp() {
  for (const auto& exchange : exchanges_) client_->Cancel(exchange->ticket);
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
  auto exchange = std::make_shared<Exchange>(inbox_);
  if (!method.empty()) exchange->id = Member(message, "id");
  exchange->opens_session = method == "initialize";
  HttpRequest request = RequestFor("POST");
  exchange->has_session = request.headers.size() > (version_.empty() ? 0U : 1U);
  request.headers.emplace_back("Content-Type", "application/json");
  request.headers.emplace_back("Accept", "application/json, text/event-stream");
  if (version_ >= kStatelessMcp && !method.empty()) {
    request.headers.emplace_back("Mcp-Method", method);
    if (const std::string name = StringAt(Member(message, "params"), "name"); !name.empty())
      request.headers.emplace_back("Mcp-Name", HeaderText(name));
  }
  request.body = Trim(line);
  request.max_body_bytes = 2 * kMaxHttpBytes;  // OnData has the limit
  // The deadline ends it, and `stop`.
  request.idle_timeout = request.total_timeout = std::chrono::hours(1);
  request.on_headers = [exchange](int status, const auto& headers) { exchange->OnHeaders(status, headers); };
  request.on_data = [exchange](std::string_view piece) { return exchange->OnData(piece); };
  exchange->ticket = client_->Start(std::move(request),
                                    [exchange](const Result<HttpResponse>& response) { exchange->OnEnd(response); });
  exchanges_.push_back(exchange);
  if (exchange->id.is_null()) {
    const Status answered = Await(*exchange);
    exchanges_.pop_back();
    if (!answered) client_->Cancel(exchange->ticket);
    return answered;
  }
  if (exchanges_.size() > kOpenStreams) {
    client_->Cancel(exchanges_.front()->ticket);
    exchanges_.erase(exchanges_.begin());
  }
  return {};
}

// Until the exchange is over.
Status McpHttp::Await(Exchange& exchange) {
  {
    std::unique_lock lock(inbox_->mutex);
    while (!exchange.ended) {
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
    if (exchanges_.empty()) return InputError("it wasn't asked anything");
    Exchange& asked = *exchanges_.back();
    if (asked.concluded)
      return Error{ErrorKind::kUnavailable, "its response has no answer"}.Because(ErrorCause::kBroken);
    if (asked.ended) {
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
  const auto exchange = std::make_shared<Exchange>(inbox_);
  const HttpClient::Ticket ticket = client_->Start(
      std::move(request), [exchange](const Result<HttpResponse>& response) { exchange->OnEnd(response); });
  std::unique_lock lock(inbox_->mutex);
  const bool over = inbox_->changed.wait_for(lock, kToEndSession, [&] { return exchange->ended.has_value(); });
  lock.unlock();
  if (!over) client_->Cancel(ticket);
}

}  // namespace upskill

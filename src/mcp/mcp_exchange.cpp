// SPDX-License-Identifier: Apache-2.0
#include "mcp/mcp_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "net/http_error.h"
#include "util/clock.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxSessionBytes = 1'024;

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
  return DumpJson({{"jsonrpc", "2.0"}, {"id", id}, {"error", body->at("error")}});
}

}  // namespace

McpExchange::McpExchange(std::shared_ptr<McpInbox> inbox, Json id, bool opens_session, bool has_session)
    : inbox_(std::move(inbox)),
      id_(std::move(id)),
      opens_session_(opens_session),
      has_session_(has_session),
      events_([this](const SseEvent& event) { Take(event.data); }, kMaxMcpBytes) {}

void McpExchange::Take(std::string message) const {
  if (Trim(message).empty()) return;
  const std::lock_guard lock(inbox_->mutex);
  inbox_->messages.push_back(OnOneLine(std::move(message)));
  inbox_->changed.notify_all();
}

void McpExchange::OnHeaders(int status, const std::map<std::string, std::string>& headers) {
  media_type_ = MediaTypeOf(headers);
  const auto session = headers.find("mcp-session-id");
  if (!IsSuccess(status) || !opens_session_ || session == headers.end()) return;
  bad_session_ = !IsVisibleAscii(session->second) || session->second.size() > kMaxSessionBytes;
  if (bad_session_) return;
  const std::lock_guard lock(inbox_->mutex);
  inbox_->session = session->second;
}

bool McpExchange::OnData(std::string_view piece) {
  empty_ = empty_ && piece.empty();
  {
    const std::lock_guard lock(inbox_->mutex);
    inbox_->bytes += piece.size();
    too_long_ = inbox_->bytes > kMaxMcpBytes;
  }
  if (too_long_) return false;
  if (media_type_ == "text/event-stream") return events_.Feed(piece).ok();
  body_ += piece;
  return true;
}

void McpExchange::OnEnd(const Result<HttpResponse>& response) {
  const std::lock_guard lock(inbox_->mutex);
  response_ = response;
  inbox_->changed.notify_all();
}

Status McpExchange::Conclude() {
  concluded_ = true;
  if (too_long_) return InputError(fmt::format("its output exceeds {}", BytesText(kMaxMcpBytes)));
  const Result<HttpResponse>& response = *response_;
  if (!response) return response.error();
  if (!IsSuccess(response->status)) return ConcludeFailure(*response);
  if (bad_session_)
    return InputError(
        fmt::format("its header Mcp-Session-Id isn't up to {} visible ASCII characters", kMaxSessionBytes));
  if (Trim(body_).empty()) return {};
  if (media_type_ != "application/json")
    return InputError(media_type_.empty()
                          ? std::string("its answer has no Content-Type")
                          : fmt::format("it answers with \"{}\" instead of JSON", ExcerptLine(media_type_, 60)));
  if (!Trim(body_).starts_with('[')) return Take(std::move(body_)), Status();
  ASSIGN_OR_RETURN(const Json batch, ParseJson(body_, "its answer"));  // of the version 2025-03-26
  for (const Json& message : batch) Take(DumpJson(message));
  return {};
}

Status McpExchange::ConcludeFailure(const HttpResponse& response) const {
  if (IsRedirect(response.status)) {
    return Error{ErrorKind::kPermanent,
                 fmt::format("it answers with a redirect (HTTP {}), which isn't followed", response.status)};
  }
  if (has_session_ && response.status == 404) return Error{ErrorKind::kUnavailable, "it has ended the session"};
  const bool may_explain = expects_answer() && (response.status == 400 || response.status == 404);
  const std::optional<std::string> error = may_explain ? ProtocolErrorIn(response, id_) : std::nullopt;
  if (!error) return ErrorOfResponse(response, SystemClock().WallNow());
  Take(*error);
  return {};
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "program/proxy_answer.h"

#include <algorithm>
#include <utility>

#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxEventBytes = std::size_t{16} << 20U;

Error Broken(const char* what) { return Error{ErrorKind::kUnavailable, what}.Because(ErrorCause::kBroken); }

}  // namespace

Usage GeminiUsage(const Json& body) {
  const Json& counts = Member(body, "usageMetadata");
  Usage usage;
  const std::int64_t prompt = TokensOf(counts, "promptTokenCount");
  usage.cache_read = std::min(TokensOf(counts, "cachedContentTokenCount"), prompt);
  usage.input = prompt - usage.cache_read;
  usage.reasoning = TokensOf(counts, "thoughtsTokenCount");
  usage.output = TokensOf(counts, "candidatesTokenCount") + usage.reasoning;
  return usage;
}

ProxyAnswer::ProxyAnswer(Protocol protocol, bool streamed)
    : protocol_(protocol),
      streamed_(streamed),
      assembler_(protocol == Protocol::kGemini ? nullptr : WireFormatOf(WireOf(protocol)).assembler()),
      parser_([this](const SseEvent& event) { TakeEvent(event); }, kMaxEventBytes) {}

void ProxyAnswer::Feed(std::string_view piece) {
  if (error_) return;
  if (!streamed_ || !has_event_) {
    raw_ += piece;
    if (raw_.size() > kMaxAnswerBodyBytes) error_ = InputError("the answer is too long").Because(ErrorCause::kTooLong);
  }
  if (!streamed_) return;
  if (const Status fed = parser_.Feed(piece); !fed && !error_)
    error_ = Error{ErrorKind::kUnavailable, fed.error().message}.Because(ErrorCause::kTooLong);
}

void ProxyAnswer::TakeEvent(const SseEvent& event) {
  has_event_ = true;
  raw_.clear();
  if (error_) return;
  if (assembler_ != nullptr) {
    if (const Status taken = assembler_->Take(event); !taken) error_ = taken.error();
    return;
  }
  if (Trim(event.data).empty()) return;
  const Result<Json> body = ParseBody(event.data);
  if (!body) {
    error_ = body.error();
  } else if (const std::optional<Error> reported = ErrorInBody(*body)) {
    error_ = reported;
  } else {
    TakeGemini(*body);
  }
}

// A part of an answer; the counts are those of all parts so far.
void ProxyAnswer::TakeGemini(const Json& body) {
  if (FindMember(body, "usageMetadata") != nullptr) gemini_.usage = GeminiUsage(body);
  if (std::string model = StringAt(body, "modelVersion"); !model.empty()) gemini_.served_model = std::move(model);
  const Json& candidates = Member(body, "candidates");
  if (!candidates.is_array() || candidates.empty()) return;
  const std::string reason = StringAt(candidates.front(), "finishReason");
  if (!reason.empty()) gemini_ended_ = true;
  if (reason == "MAX_TOKENS") gemini_.stop = StopReason::kLength;
  if (reason == "SAFETY" || reason == "PROHIBITED_CONTENT") gemini_.stop = StopReason::kRefusal;
}

Result<ChatResponse> ProxyAnswer::Finish() {
  // The last event may lack the empty line after it.
  if (streamed_) Feed("\n\n");
  if (error_) return *error_;
  if (has_event_) {
    if (assembler_ == nullptr) {
      if (!gemini_ended_) return Broken("the stream ended before the answer was complete");
      return std::move(gemini_);
    }
    ASSIGN_OR_RETURN(const Json body, assembler_->Body());
    return WireFormatOf(WireOf(protocol_)).parse(body);
  }
  ASSIGN_OR_RETURN(const Json body, ParseBody(raw_));
  if (assembler_ != nullptr) return WireFormatOf(WireOf(protocol_)).parse(body);
  if (const std::optional<Error> reported = ErrorInBody(body)) return *reported;
  TakeGemini(body);
  return std::move(gemini_);
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "model/wire/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>

#include "model/wire/formats.h"
#include "util/hash.h"
#include "util/invariant.h"
#include "util/known_secrets.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kShownColumns = 300;
constexpr std::size_t kMaxEvents = 1'000'000;  // of one streamed answer
// Invalid bytes become three.
constexpr JsonLimits kBodyLimits = {3 * kMaxAnswerBodyBytes, 250'000, 100'000, 3 * kMaxAnswerBodyBytes,
                                    ErrorKind::kPermanent};

ErrorKind KindOfCode(std::int64_t code, const std::string& type) {
  if (ContainsAny(type,
                  {"insufficient_quota", "billing", "authentication", "permission", "invalid_api_key", "not_found"}))
    return ErrorKind::kPermanent;
  if (code == 401 || code == 402 || code == 404) return ErrorKind::kPermanent;
  // The server had started to answer, so the key is right: 403 is a filter that rejects this one request.
  if (code == 400 || code == 403 || code == 413 || code == 422) return ErrorKind::kInput;
  if (code == 0 && ContainsAny(type, {"invalid", "context_length", "exceed_context", "too_large", "policy"}))
    return ErrorKind::kInput;
  return ErrorKind::kUnavailable;
}

ErrorCause CauseOfCode(std::int64_t code, const std::string& type, ErrorKind kind) {
  if (code == 403 || ContainsAny(type, {"policy", "content_filter", "moderation"})) return ErrorCause::kFiltered;
  if (code == 429 || ContainsAny(type, {"rate_limit"})) return ErrorCause::kRateLimit;
  if (code == 503 || code == 529 || ContainsAny(type, {"overloaded"})) return ErrorCause::kOverloaded;
  if (code == 408 || code == 504 || ContainsAny(type, {"timeout"})) return ErrorCause::kTimeout;
  return kind == ErrorKind::kUnavailable ? ErrorCause::kServerError : ErrorCause::kRejected;
}

std::int64_t CodeOf(const Json& code) {
  if (code.is_number_integer()) return code.get<std::int64_t>();
  return 0;
}

}  // namespace

const WireFormat& WireFormatOf(Wire wire) {
  static constexpr WireFormat kAnthropic = {"/v1/messages", BuildAnthropic, ParseAnthropic, MakeAnthropicAssembler};
  static constexpr WireFormat kChat = {"/chat/completions", BuildChat, ParseChat, MakeChatAssembler};
  static constexpr WireFormat kResponses = {"/responses", BuildResponses, ParseResponses, MakeResponsesAssembler};
  switch (wire) {
    case Wire::kAnthropic:
      return kAnthropic;
    case Wire::kChat:
      return kChat;
    case Wire::kResponses:
      break;
  }
  return kResponses;
}

Status StreamAssembler::Take(const SseEvent& event) {
  const std::string_view data = Trim(event.data);
  if (data.empty()) return {};
  if (++events_ > kMaxEvents)
    return InputError(fmt::format("the answer has more than {} events", WithThousands(kMaxEvents)))
        .Because(ErrorCause::kTooLong);
  if (data == "[DONE]") {
    TakeDone();
    return {};
  }
  ASSIGN_OR_RETURN(const Json json, ParseBody(data));
  if (std::optional<Error> error = ErrorInBody(json)) {
    return events_ > 1 ? WhileAnswering(*error) : *error;
  }
  RETURN_IF_ERROR(TakeJson(json));
  if (parts() > kMaxParts)
    return Error{ErrorKind::kUnavailable, fmt::format("the answer has more than {} parts", kMaxParts)}.Because(
        ErrorCause::kTooLong);
  return {};
}

Result<Json> StreamAssembler::Body() {
  if (!complete())
    return Error{ErrorKind::kUnavailable, "the stream ended before the answer was complete"}.Because(
        ErrorCause::kBroken);
  // A secret may have arrived in several events.
  return WithoutKnownSecrets(MakeBody());
}

namespace {

// The number of a `\uXXXX` at `at`; nothing if there is none.
std::optional<unsigned> EscapedUnit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned unit = 0;
  const auto [end, code] = std::from_chars(text.data() + at + 2, text.data() + at + 6, unit, 16);
  return code == std::errc() && end == text.data() + at + 6 ? std::optional(unit) : std::nullopt;
}

// Half an escaped surrogate pair becomes U+FFFD: servers that cut an answer at a token may write it, and JSON allows
// it.
std::string ReplaceLoneSurrogates(std::string_view body) {
  std::string text;
  for (std::size_t at = 0; at < body.size();) {
    if (body[at] != '\\') {
      text += body[at++];
      continue;
    }
    const std::optional<unsigned> unit = EscapedUnit(body, at);
    if (!unit || *unit < 0xD800 || *unit > 0xDFFF) {
      text += body.substr(at, 2);
      at += 2;
      continue;
    }
    const std::optional<unsigned> low = *unit < 0xDC00 ? EscapedUnit(body, at + 6) : std::nullopt;
    const bool is_pair = low && *low >= 0xDC00 && *low <= 0xDFFF;
    text += is_pair ? body.substr(at, 12) : "\\ufffd";
    at += is_pair ? 12 : 6;
  }
  return text;
}

}  // namespace

Result<Json> ParseBody(std::string_view body) {
  Result<Json> json = FindInvalidUtf8(body) ? ParseJson(ReplaceInvalidUtf8(body), "the server's response", kBodyLimits)
                                            : ParseJson(body, "the server's response", kBodyLimits);
  if (!json && body.find("\\u") != std::string_view::npos) {
    Result<Json> again =
        ParseJson(ReplaceLoneSurrogates(ReplaceInvalidUtf8(body)), "the server's response", kBodyLimits);
    if (again) json = std::move(again);
  }
  if (json) return WithoutKnownSecrets(*std::move(json));
  if (json.error().kind == kBodyLimits.error_kind)
    return InputError(json.error().message).Because(ErrorCause::kTooLong);
  const std::string start = body.empty() ? "(empty)" : ExcerptLine(ReplaceInvalidUtf8(body.substr(0, 400)), 100);
  const bool like_json = Trim(body).starts_with('{') || Trim(body).starts_with('[');
  return Error{ErrorKind::kUnavailable, like_json ? fmt::format("{}; it begins with: {}", json.error().message, start)
                                                  : fmt::format("the server's response isn't JSON: {}", start)}
      .Because(ErrorCause::kUnusable);
}

std::optional<Error> ErrorInBody(const Json& body) {
  if (!body.is_object()) return std::nullopt;
  const Json& error = Member(body, "error");
  const bool is_error_event =
      JsonGet<std::string>(body, "type", "") == "error" || JsonGet<std::string>(body, "object", "") == "error";
  const bool has_error = error.is_object() || error.is_array() || error.is_string()
                             ? !error.empty() && error != Json("")
                             : error == Json(true);
  if (!has_error && !is_error_event) return std::nullopt;
  const Json& object = error.is_object() ? error : body;
  const std::string type = JsonGet<std::string>(object, "type", "") + " " + JsonGet<std::string>(object, "code", "");
  std::string text = error.is_string() ? error.get<std::string>() : JsonGet<std::string>(object, "message", "");
  if (text.empty()) text = MaskSecrets(DumpJson(error.is_null() ? body : error)).substr(0, 4 * kShownColumns);
  const std::int64_t code = CodeOf(Member(object, "code"));
  const std::string shown = ExcerptLine(text, kShownColumns);
  const ErrorKind kind = KindOfCode(code, type);
  return Error{kind, code != 0 ? fmt::format("the provider reported an error in its response ({}): {}", code, shown)
                               : fmt::format("the provider reported an error in its response: {}", shown)}
      .Because(CauseOfCode(code, type, kind));
}

Error WhileAnswering(const Error& error) {
  return MayDependOnAnswer(error.cause) ? error : error.Because(ErrorCause::kBroken);
}

std::int64_t TokensOf(const Json& object, const char* key) {
  const Json& value = Member(object, key);
  if (value.is_number_unsigned())
    return static_cast<std::int64_t>(std::min<std::uint64_t>(value.get<std::uint64_t>(), kMaxStoredTokens));
  if (value.is_number_integer()) return std::clamp<std::int64_t>(value.get<std::int64_t>(), 0, kMaxStoredTokens);
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number >= 0.0 && number <= static_cast<double>(kMaxStoredTokens)) return static_cast<std::int64_t>(number);
  }
  return 0;
}

ToolCall MakeToolCall(std::string id, std::string name, std::string raw_arguments) {
  ToolCall call{std::move(id), std::move(name), nullptr, std::move(raw_arguments)};
  if (Trim(call.raw_arguments).empty()) {
    call.arguments = Json::object();
  } else if (Result<Json> json = ParseJson(call.raw_arguments, "arguments", kBodyLimits); json && json->is_object()) {
    call.arguments = WithoutKnownSecrets(*std::move(json));
  }
  return call;
}

std::string ArgumentsText(const ToolCall& call) {
  if (!call.arguments.is_object()) return "{}";
  return call.raw_arguments.empty() || Trim(call.raw_arguments).empty() ? DumpJson(call.arguments) : call.raw_arguments;
}

int MaxTokensOf(const ChatRequest& request, const WireOptions& options) {
  return options.settings.max_tokens.value_or(request.sampling.max_tokens);
}

std::optional<double> TemperatureOf(const ChatRequest& request, const WireOptions& options) {
  if (!options.dialect.temperature) return std::nullopt;
  return options.settings.temperature ? options.settings.temperature : request.sampling.temperature;
}

bool UsesNativeSchema(const ChatRequest& request, const WireOptions& options) {
  const std::string& requested = options.settings.structured;
  return request.answer_schema && options.dialect.schema && (requested.empty() || requested == "json");
}

std::string CacheKeyOf(const ChatRequest& request) { return "upskill-" + Sha256Hex(request.system).substr(0, 32); }

bool IsStrictSchema(const Json& schema) {
  if (schema.is_array()) return std::all_of(schema.begin(), schema.end(), IsStrictSchema);
  if (!schema.is_object()) return true;
  const Json& properties = Member(schema, "properties");
  if (JsonGet<std::string>(schema, "type", "") == "object" || properties.is_object()) {
    if (Member(schema, "additionalProperties") != Json(false) || !properties.is_object()) return false;
    const Json& required = Member(schema, "required");
    for (const auto& item : properties.items()) {
      if (!required.is_array() || std::find(required.begin(), required.end(), Json(item.key())) == required.end())
        return false;
    }
  }
  for (const auto& item : schema.items()) {
    if (item.key() == "properties" && item.value().is_object()) {
      for (const auto& property : item.value().items()) {
        if (!IsStrictSchema(property.value())) return false;
      }
    } else if ((item.key() == "items" || item.key() == "anyOf") && !IsStrictSchema(item.value())) {
      return false;
    }
  }
  return true;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "net/http_error.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "net/url.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kMaxWait{120'000};
constexpr double kLongestWaitSeconds = 600.0;  // a longer one isn't waited for: the run ends and can be resumed
constexpr std::size_t kMaxJson = 256U << 10U;  // error messages are never this long

// A provider's description of an error, whatever its format.
struct ProviderError {
  std::string type;  // machine-readable: error.type and error.code
  std::string text;
};

void AddType(ProviderError& found, const Json& object, const char* key) {
  const auto member = object.find(key);
  if (member == object.end()) return;
  const std::string type = member->is_string() ? member->get<std::string>() : "";
  if (!type.empty()) found.type += (found.type.empty() ? "" : ", ") + type;
}

ProviderError ProviderErrorInJson(const Json& body) {
  ProviderError found;
  if (!body.is_object()) {
    if (body.is_array() && !body.empty())
      return ProviderErrorInJson(body.front());  // Google wraps its errors in a list
    return found;
  }
  const auto error = body.find("error");
  const Json& object = error != body.end() && error->is_object() ? *error : body;
  if (&object != &body) AddType(found, object, "type");
  AddType(found, object, "code");
  if (error != body.end() && error->is_string()) found.text = error->get<std::string>();
  for (const char* key : {"message", "detail", "error_description"}) {
    if (found.text.empty()) found.text = JsonGet<std::string>(object, key, "");
  }
  if (found.text.empty()) found.text = DumpJson(body);
  return found;
}

ProviderError ProviderErrorOf(const HttpResponse& response) {
  const std::string_view body = Trim(response.body);
  if (body.empty()) return {};
  if (body.front() == '<') return {"", "(a web page, not an API response; check the base URL)"};
  if (body.size() <= kMaxJson && (body.front() == '{' || body.front() == '[')) {
    if (const Result<Json> json = ParseJson(body, "answer")) return ProviderErrorInJson(*json);
  }
  return {"", std::string(body)};
}

// Payment is required: waiting doesn't help. Providers also say "billing" and "quota" about plain rate limits, so the
// text counts only if no type says rate limit and no delay is given.
bool IsOutOfMoney(const HttpResponse& response, const ProviderError& found) {
  if (response.status == 402) return true;
  const std::string type = ToLowerAscii(found.type);
  const std::string text = ToLowerAscii(std::string_view(found.text).substr(0, 4096));
  if (ContainsAny(type, {"insufficient_quota", "billing", "credit"}) ||
      ContainsAny(text, {"insufficient_quota", "credit balance"})) {
    return response.status >= 400 && response.status < 500;
  }
  if (response.status != 429 && response.status != 403) return false;
  const bool has_delay = response.headers.contains("retry-after") || response.headers.contains("retry-after-ms");
  return !has_delay && !ContainsAny(type, {"rate_limit"}) && ContainsAny(text, {"credit", "billing"});
}

std::optional<bool> ShouldRetry(const HttpResponse& response) {
  const std::optional<std::string> value = HeaderOf(response, "x-should-retry");
  if (value == "true") return true;
  if (value == "false") return false;
  return std::nullopt;
}

std::optional<double> NumberOf(const std::string& text) {
  double number = 0.0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(number) || number < 0.0)
    return std::nullopt;
  return number;
}

std::optional<std::time_t> DateOf(const std::string& text) {
  const std::time_t time = curl_getdate(text.c_str(), nullptr);
  if (time < 0) return std::nullopt;
  return time;
}

// The seconds that the server asks to wait. The server's own clock says how far away its date is; ours, `now`, may be
// hours off.
std::optional<double> AskedWait(const HttpResponse& response, std::optional<std::time_t> now) {
  if (const auto ms = HeaderOf(response, "retry-after-ms")) {
    if (const auto number = NumberOf(*ms)) return *number / 1000.0;
  }
  const auto after = HeaderOf(response, "retry-after");
  if (!after) return std::nullopt;
  if (const auto seconds = NumberOf(*after)) return seconds;
  const std::optional<std::time_t> then = DateOf(*after);
  const std::optional<std::time_t> server_now = DateOf(HeaderOf(response, "date").value_or(""));
  if (!then || (!server_now && !now)) return std::nullopt;
  return std::max(0.0, std::difftime(*then, server_now ? *server_now : *now));
}

// The wait that a server asks for, if it is too long to be waited for; else 0.
double TooLongWait(const HttpResponse& response) {
  if (response.status != 429 && response.status != 503 && response.status != 529) return 0.0;
  const double wait = AskedWait(response, {}).value_or(0.0);
  return wait > kLongestWaitSeconds ? wait : 0.0;
}

// "3 hours": rounded up.
std::string WaitText(double seconds) {
  const double hours = std::ceil(seconds / 3600.0);
  return seconds > 7200.0 ? fmt::format("{:.0f} hours", hours)
                          : fmt::format("{:.0f} minutes", std::ceil(seconds / 60.0));
}

ErrorKind KindOf(const HttpResponse& response, const ProviderError& found) {
  const int status = response.status;
  if (IsOutOfMoney(response, found)) return ErrorKind::kPermanent;
  const std::optional<bool> should_retry = ShouldRetry(response);
  if (TooLongWait(response) > 0.0) return ErrorKind::kPermanent;
  if (should_retry == true) return ErrorKind::kUnavailable;
  if (status == 408 || status == 409 || status == 429 || status >= 500) {
    if (!should_retry) return ErrorKind::kUnavailable;
    return status == 429 ? ErrorKind::kPermanent : ErrorKind::kInput;
  }
  if (status == 401 || status == 402 || status == 403 || status == 404 || status < 400) return ErrorKind::kPermanent;
  return ErrorKind::kInput;
}

// A response that takes longer may have come while the model was answering.
constexpr double kAtOnceSeconds = 2.0;

ErrorCause CauseOf(const HttpResponse& response, const ProviderError& found) {
  const int status = response.status;
  if (status >= 400 && status < 500) {
    const std::string words = ToLowerAscii(found.type) + " " + ToLowerAscii(found.text.substr(0, 4096));
    // What Azure, OpenAI, Alibaba and Mistral say about answers that their filters hold back.
    if (ContainsAny(words, {"content_filter", "content_policy", "content management policy", "data_inspection_failed",
                            "moderation"}))
      return ErrorCause::kFiltered;
    // Groq, about answers that don't fit a schema or a tool.
    if (ContainsAny(words, {"json_validate_failed", "tool_use_failed"})) return ErrorCause::kUnusable;
  }
  if (IsOutOfMoney(response, found)) return ErrorCause::kRejected;
  if (status == 429) return ErrorCause::kRateLimit;
  if (status == 408 || status == 504) return ErrorCause::kTimeout;
  if (status < 500) return ErrorCause::kRejected;
  const bool declined = (status == 503 || status == 529) && response.seconds < kAtOnceSeconds;
  return declined ? ErrorCause::kOverloaded : ErrorCause::kServerError;
}

// "https://other.example" of a Location header, or nothing.
std::string RedirectTarget(const HttpResponse& response) {
  const std::optional<std::string> location = HeaderOf(response, "location");
  if (!location) return {};
  const Result<HttpUrl> url = ParseHttpUrl(*location);
  if (!url) return {};
  return ServerText((url->secure ? "https://" : "http://") + url->authority);
}

std::string RedirectMessage(const HttpResponse& response) {
  const std::string target = RedirectTarget(response);
  if (target.empty())
    return fmt::format("HTTP {}: the server redirects elsewhere; check its base URL", response.status);
  return fmt::format("HTTP {}: the server redirects to {}; use that address as its base URL", response.status, target);
}

}  // namespace

std::optional<milliseconds> RetryAfter(const HttpResponse& response, Clock::Wall now) {
  const std::optional<double> asked = AskedWait(response, Clock::Wall::clock::to_time_t(now));
  if (!asked) return std::nullopt;
  return milliseconds(static_cast<std::int64_t>(std::min(*asked * 1000.0, static_cast<double>(kMaxWait.count()))));
}

bool IsRateLimit(const HttpResponse& response) {
  const int status = response.status;
  if (status != 429 && status != 503 && status != 529) return false;
  if (status == 503 && !response.headers.contains("retry-after") && !response.headers.contains("retry-after-ms"))
    return false;
  return KindOf(response, ProviderErrorOf(response)) == ErrorKind::kUnavailable;
}

Error ErrorOfResponse(const HttpResponse& response, Clock::Wall now) {
  if (response.status >= 300 && response.status < 400)
    return Error{ErrorKind::kPermanent, RedirectMessage(response)}.Because(ErrorCause::kRejected);
  const ProviderError found = ProviderErrorOf(response);
  std::string message = fmt::format("HTTP {}", response.status);
  if (const std::string type = ServerText(found.type); !type.empty()) message += " (" + type + ")";
  if (const std::string text = ServerText(found.text); !text.empty()) message += ": " + text;
  if (IsOutOfMoney(response, found)) {
    message += "; the account has no credit or quota left, and waiting doesn't help: add credit, or use another key";
  } else if (const double wait = TooLongWait(response); wait > 0.0) {
    message += fmt::format("; the server asks to wait {}", WaitText(wait));
  }
  for (const char* name : {"request-id", "x-request-id"}) {
    if (const auto id = HeaderOf(response, name); id && !id->empty()) {
      message += " [request " + ServerText(*id) + "]";
      break;
    }
  }
  return {KindOf(response, found), std::move(message), RetryAfter(response, now), CauseOf(response, found)};
}

}  // namespace upskill

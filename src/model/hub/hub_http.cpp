// SPDX-License-Identifier: Apache-2.0
#include "model/hub/hub_http.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "net/http_error.h"
#include "net/url.h"
#include "util/await.h"
#include "util/clock.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kMaxRedirects = 5;
constexpr std::size_t kMaxBody = 16U << 20U;
constexpr std::chrono::milliseconds kTick{100};
constexpr std::chrono::hours kLongestDownload{24 * 30};

Error Stopped() { return {ErrorKind::kCancelled, "interrupted"}; }

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// The scheme and host of a URL, which identify a server.
Result<std::string> OriginOf(const std::string& url) {
  ASSIGN_OR_RETURN(const HttpUrl parsed, ParseHttpUrl(url));
  return (parsed.secure ? "https://" : "http://") + parsed.authority;
}

// RFC 3986, section 5.2, for what servers send: a URL, or a path on the same host.
Result<std::string> Joined(const std::string& from, const std::string& location) {
  const std::string lower = ToLowerAscii(location);
  if (lower.starts_with("https://") || lower.starts_with("http://")) return location;
  const std::size_t host = from.find("://") + 3;
  if (location.starts_with("//")) return from.substr(0, host - 2) + location;
  if (location.starts_with('/')) return from.substr(0, from.find_first_of("/?#", host)) + location;
  return Error{ErrorKind::kPermanent, fmt::format("invalid redirect to '{}'", ServerText(location))};
}

std::string WithoutQuotes(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  std::string text = ToLowerAscii(etag);
  std::erase(text, '"');
  return text;
}

}  // namespace

Result<HttpResponse> HubHttp::Send(HttpRequest request, const std::function<void()>& on_tick) const {
  HttpClient::Ticket ticket = 0;
  AwaitHooks hooks;
  hooks.stopped = [this] { return stopped(); };
  hooks.cancel = [&] { client_.Cancel(ticket); };
  hooks.on_tick = on_tick;
  Result<HttpResponse> answer = Await<Result<HttpResponse>>(
      [&](HttpClient::Done done) { ticket = client_.Start(std::move(request), std::move(done)); }, hooks);
  if (!answer && stopped()) return Stopped();
  return answer;
}

Result<HttpRequest> HubHttp::RequestFor(const HubRequest& wanted, const std::string& url) const {
  HttpRequest request;
  request.method = "GET";
  request.url = url;
  // Compression would change the bytes that a range counts.
  request.headers.emplace_back("Accept-Encoding", "identity");
  if (!wanted.range.empty()) request.headers.emplace_back("Range", wanted.range);
  ASSIGN_OR_RETURN(const std::string own, OriginOf(endpoint_));
  ASSIGN_OR_RETURN(const std::string origin, OriginOf(url));
  if (!token_.empty() && origin == own)
    request.secret_headers.emplace_back("Authorization", Secret("Bearer " + token_.reveal()));
  request.max_body_bytes = kMaxBody;
  if (wanted.on_data) {
    request.max_body_bytes = std::string::npos;
    request.idle_timeout = std::chrono::seconds(60);
    request.total_timeout = kLongestDownload;
    request.on_data = wanted.on_data;
    request.is_binary = true;
  }
  return request;
}

Result<HubAnswer> HubHttp::Get(const HubRequest& wanted) const {
  HubAnswer answer;
  answer.url = wanted.url;
  for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
    if (stopped()) return Stopped();
    ASSIGN_OR_RETURN(HttpRequest request, RequestFor(wanted, answer.url));
    ASSIGN_OR_RETURN(answer.response, Send(std::move(request), wanted.on_tick));
    const std::optional<std::string> etag = HeaderOf(answer.response, "x-linked-etag");
    if (etag && !wanted.hash.empty() && WithoutQuotes(*etag) != wanted.hash) {
      return Error{ErrorKind::kPermanent, "the file has changed on the Hub since it was listed; try again"};
    }
    const std::optional<std::string> location = HeaderOf(answer.response, "location");
    if (!IsRedirect(answer.response.status) || !location) return answer;
    ASSIGN_OR_RETURN(std::string next, Joined(answer.url, *location));
    ASSIGN_OR_RETURN(const HttpUrl from, ParseHttpUrl(answer.url));
    ASSIGN_OR_RETURN(const HttpUrl to, ParseHttpUrl(next));
    if (from.secure && !to.secure)
      return Error{ErrorKind::kPermanent, fmt::format("{} redirects from https to http", from.authority)};
    answer.url = std::move(next);
  }
  return Error{ErrorKind::kPermanent, fmt::format("more than {} redirects", kMaxRedirects)};
}

Status HubHttp::Pause(std::chrono::milliseconds time) const {
  while (time.count() > 0 && !stopped()) {
    const std::chrono::milliseconds step = std::min(time, kTick);
    std::this_thread::sleep_for(step);
    time -= step;
  }
  if (stopped()) return Stopped();
  return {};
}

Error HubError(const HubAnswer& answer, const HubHttp& http, const std::string& what) {
  const HttpResponse& response = answer.response;
  const Result<std::string> own = OriginOf(http.endpoint());
  const Result<std::string> origin = OriginOf(answer.url);
  const bool from_hub = own && origin && *own == *origin;
  if (from_hub && HeaderOf(response, "x-error-code") == "GatedRepo") {
    return Error{
        ErrorKind::kPermanent,
        fmt::format("{}: access is restricted; accept the conditions on {}, then set HF_TOKEN", what, http.endpoint())};
  }
  if (from_hub && (response.status == 401 || response.status == 403 || response.status == 404)) {
    return Error{
        ErrorKind::kPermanent,
        fmt::format("{}: not found, or private: {}", what,
                    http.has_token() ? "the token (HF_TOKEN or the saved login) has no access to it" : "set HF_TOKEN")};
  }
  const Error error = ErrorOfResponse(response, SystemClock().WallNow()).With(what);
  // Signed URLs of a storage host expire: a new one from the Hub may work.
  if (!from_hub && error.kind == ErrorKind::kPermanent) return Error{ErrorKind::kUnavailable, error.message};
  return error.kind == ErrorKind::kInput ? Error{ErrorKind::kPermanent, error.message} : error;
}

}  // namespace upskill

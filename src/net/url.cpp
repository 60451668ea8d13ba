// SPDX-License-Identifier: Apache-2.0
#include "net/url.h"

#include <curl/curl.h>

#include <memory>
#include <optional>
#include <string_view>

#include "util/known_secrets.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMaxServerText = 300;

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

std::optional<std::string> Part(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK || text == nullptr) return std::nullopt;
  std::string copy(text);
  curl_free(text);
  return copy;
}

bool IsLoopback(std::string_view host) {
  if (host == "localhost" || host.ends_with(".localhost") || host == "::1") return true;
  return host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

Result<HttpUrl> ParseHttpUrl(const std::string& url) {
  const Error bad{ErrorKind::kPermanent, "the server's address is not a valid http:// or https:// URL"};
  const std::unique_ptr<CURLU, UrlDeleter> parsed(curl_url());
  if (parsed == nullptr || url.find('\0') != std::string::npos) return bad;
  if (curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return bad;
  const std::optional<std::string> scheme = Part(parsed.get(), CURLUPART_SCHEME);
  std::optional<std::string> host = Part(parsed.get(), CURLUPART_HOST);
  if (!scheme || !host || host->empty() || (*scheme != "http" && *scheme != "https")) return bad;

  HttpUrl result;
  result.secure = *scheme == "https";
  result.authority = ToLowerAscii(*host);
  if (const auto port = Part(parsed.get(), CURLUPART_PORT)) result.authority += ":" + *port;
  result.host = ToLowerAscii(*host);
  if (result.host.starts_with('[') && result.host.ends_with(']'))
    result.host = result.host.substr(1, result.host.size() - 2);
  result.loopback = IsLoopback(result.host);
  std::optional<std::string> password = Part(parsed.get(), CURLUPART_PASSWORD, CURLU_URLDECODE);
  if (!password || password->empty()) password = Part(parsed.get(), CURLUPART_USER, CURLU_URLDECODE);
  if (password) result.password = Secret(*std::move(password));
  return result;
}

std::string ServerText(std::string_view text) {
  // More bytes than 300 columns can show.
  constexpr std::size_t kMaxBytes = 4 * kMaxServerText;
  // First, because what is cut off in the middle of a secret can't be found any more.
  const std::string masked = MaskSecrets(std::string(text));
  return ExcerptLine(Trim(std::string_view(masked).substr(0, kMaxBytes)), kMaxServerText);
}

std::string AuthorityOf(const std::string& url) {
  const Result<HttpUrl> parsed = ParseHttpUrl(url);
  return parsed ? parsed->authority : "the server";
}

}  // namespace upskill

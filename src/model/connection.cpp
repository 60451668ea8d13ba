// SPDX-License-Identifier: Apache-2.0
#include "model/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "net/url.h"
#include "util/invariant.h"
#include "util/known_secrets.h"
#include "util/text.h"

namespace upskill {
namespace {

// A base URL as users write it, in the form that paths are appended to.
Result<std::string> CleanBaseUrl(const std::string& text, const Provider& provider) {
  std::string url(Trim(text));
  while (url.ends_with('/')) url.pop_back();
  if (url.find_first_of("?#") != std::string::npos)
    return InputError("the base URL must not have a query (?) or a fragment (#)");
  const Result<HttpUrl> parsed = ParseHttpUrl(url);
  if (!parsed) {
    // A password in it isn't repeated.
    const bool lacks_scheme =
        !url.empty() && url.find("://") == std::string::npos && url.find('@') == std::string::npos;
    const std::string hint =
        lacks_scheme ? fmt::format(" ('{0}'); did you mean http://{0}?", ExcerptLine(url, 200)) : "";
    return InputError("the base URL: " + parsed.error().message + hint);
  }
  RememberSecret(parsed->password);
  const bool has_path = url.find('/', url.find("://") + 3) != std::string::npos;
  if (provider.wire == Wire::kAnthropic && url.ends_with("/v1")) url.resize(url.size() - 3);
  // All such servers have their API there.
  if (provider.base_url_option && !has_path) url += "/v1";
  return url;
}

Result<std::vector<std::string>> BaseUrls(const Provider& provider, const NetworkOptions& options) {
  std::vector<std::string> urls;
  if (provider.base_url_option) urls = options.base_urls;
  for (const std::string& name : provider.base_url_variables) {
    if (!urls.empty() || !options.variable) break;
    const std::string value(Trim(options.variable(name).value_or("")));
    if (!value.empty()) urls = {value};
  }
  if (urls.empty()) urls = {provider.base_url};
  for (std::string& url : urls) {
    ASSIGN_OR_RETURN(url, CleanBaseUrl(url, provider));
  }
  return urls;
}

Status CheckUrlsKeepSecrets(const Connection& connection, const NetworkOptions& options) {
  const std::optional<std::string>& default_key = connection.provider.default_key;
  const bool has_key = !connection.key.empty() && !(default_key && connection.key.reveal() == *default_key);
  for (const std::string& base_url : connection.base_urls) {
    ASSIGN_OR_RETURN(const HttpUrl url, ParseHttpUrl(base_url));
    if (has_key) {
      RETURN_IF_ERROR(
          CheckUrlKeepsSecrets(url, fmt::format("key for '{}'", connection.provider.name), options.variable));
    }
    if (!url.password.empty()) RETURN_IF_ERROR(CheckUrlKeepsSecrets(url, "password in the base URL", options.variable));
  }
  return {};
}

bool IsOAuthToken(const Secret& key) { return key.reveal().starts_with("sk-ant-oat"); }

}  // namespace

Result<Connection> ConnectionOf(const ModelSpec& spec, const NetworkOptions& options) {
  CHECK(options.catalog != nullptr && options.clock != nullptr && options.client != nullptr && spec.network());
  const Provider* provider = options.catalog->FindProvider(spec.provider);
  if (provider == nullptr) return InputError(fmt::format("unknown provider '{}'", spec.provider));
  Connection connection;
  connection.provider = *provider;
  connection.long_context = spec.settings.long_context;
  Result<std::vector<std::string>> urls = BaseUrls(*provider, options);
  if (!urls) return urls.error().With(fmt::format("model '{}'", spec.text));
  connection.base_urls = *std::move(urls);
  connection.local = true;
  std::vector<std::string> servers;
  for (const std::string& url : connection.base_urls) {
    ASSIGN_OR_RETURN(const HttpUrl parsed, ParseHttpUrl(url));
    connection.local = connection.local && parsed.loopback;
    if (url != provider->base_url || provider->base_url_option)
      connection.hosts += (connection.hosts.empty() ? "" : ",") + parsed.authority;
    const std::size_t path = std::min(url.find('/', url.find("://") + 3), url.size());
    servers.push_back((parsed.secure ? "https://" : "http://") + parsed.authority + url.substr(path));
  }
  std::sort(servers.begin(), servers.end());
  connection.servers = fmt::format("{}", fmt::join(servers, ", "));
  if (!options.needs_key) return connection;
  ASSIGN_OR_RETURN(connection.key, FindApiKey(*provider, spec.text, options.variable));
  connection.key_source = ApiKeySource(*provider, options.variable);
  if (const Status safe = CheckUrlsKeepSecrets(connection, options); !safe)
    return safe.error().With(fmt::format("model '{}'", spec.text));
  return connection;
}

HttpRequest NewRequest(const Connection& connection) {
  HttpRequest request;
  request.headers = connection.provider.headers;
  request.headers.emplace_back("content-type", "application/json");
  std::string beta;
  if (connection.long_context) beta = "context-1m-2025-08-07";
  if (!connection.key.empty()) {
    if (connection.provider.wire == Wire::kAnthropic && !IsOAuthToken(connection.key)) {
      request.secret_headers.emplace_back("x-api-key", connection.key);
    } else {
      request.secret_headers.emplace_back("authorization", Secret("Bearer " + connection.key.reveal()));
    }
    if (connection.provider.wire == Wire::kAnthropic && IsOAuthToken(connection.key))
      beta += beta.empty() ? "oauth-2025-04-20" : ",oauth-2025-04-20";
  }
  if (!beta.empty()) request.headers.emplace_back("anthropic-beta", beta);
  return request;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "model/request_advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "util/json.h"
#include "util/nearest_name.h"
#include "util/text.h"

namespace upskill {
namespace {

// Absent: the response lists no models.
std::optional<std::vector<std::string>> ModelsIn(const Result<HttpResponse>& list) {
  const Result<Json> json = list ? ParseJson(list->body, "models") : Result<Json>(list.error());
  if (!json || !json->is_object()) return std::nullopt;
  const Json* const data = FindMember(*json, "data");
  if (data == nullptr || !data->is_array()) return std::nullopt;
  std::vector<std::string> names;
  for (const Json& model : *data) {
    if (std::string name = model.is_object() ? JsonGet<std::string>(model, "id", "") : ""; !name.empty())
      names.push_back(std::move(name));
  }
  return names;
}

std::string Listed(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 8;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i) shown.push_back(ExcerptLine(names[i], 80));
  const std::size_t more = names.size() - shown.size();
  return fmt::format("{}{}", fmt::join(shown, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
}

}  // namespace

bool AsksForModelList(const Error& error) {
  if (error.message.starts_with("HTTP 404")) return true;
  const std::string text = ToLowerAscii(error.message);
  return error.kind == ErrorKind::kInput && text.starts_with("http 4") && ContainsAny(text, {"model"}) &&
         ContainsAny(text,
                     {"not found", "not exist", "unknown model", "invalid model", "no such", "not a valid model"});
}

std::string ModelListPath(const Connection& connection) {
  return connection.provider.wire == Wire::kAnthropic ? "/v1/models" : "/models";
}

std::string ModelListAdvice(const Connection& connection, std::string_view path, const std::string& model,
                            const Error& error, const Result<HttpResponse>& list) {
  std::string called = fmt::format("; {}{} was called", connection.servers, path);
  const std::optional<std::vector<std::string>> names = ModelsIn(list);
  // Where only the model is missing, the server's message mentions it.
  const bool lacks_path = !ContainsAny(ToLowerAscii(error.message), {"model"});
  if (connection.provider.wire == Wire::kAnthropic && !connection.hosts.empty() && lacks_path) {
    return fmt::format(
        "{}: the server seems to lack Anthropic's Messages API; if it has OpenAI's, use -m {} --base-url {}/v1", called,
        names && !names->empty() ? ExcerptLine(names->front(), 80) : "MODEL", connection.servers);
  }
  if (!names) {
    constexpr std::string_view kChat = "/chat/completions";
    if (connection.servers.ends_with(kChat)) return called + ": leave /chat/completions out of the base URL";
    const bool may_lack_version = connection.provider.base_url_option && connection.base_urls.size() == 1 &&
                                  !connection.base_urls.front().ends_with("/v1");
    return called + (may_lack_version
                         ? fmt::format(": is /v1 missing? Most servers need --base-url {}/v1", connection.servers)
                         : ": check the base URL");
  }
  if (std::find(names->begin(), names->end(), model) != names->end()) return called;
  if (names->empty()) return called + "; the server has no model loaded";
  return fmt::format("; the server has no model '{}'{}; it has {}", model, DidYouMean(model, *names), Listed(*names));
}

std::string ConnectionAdvice(const Connection& connection, const Error& error) {
  const Provider& provider = connection.provider;
  if (error.message.starts_with("HTTP 401")) {
    if (!connection.key_source.empty())
      return fmt::format("; the key is from {}: put a valid one there", connection.key_source);
    if (provider.key_variables.empty()) return "";
    return fmt::format("; the server wants a key: put it into {}", provider.key_variables.front());
  }
  const bool by_default = provider.base_url_option && connection.base_urls == std::vector{provider.base_url};
  if (error.cause == ErrorCause::kUnreachable && by_default)
    return fmt::format(
        "; without --base-url, '{}' is at {} (Ollama); say where your server is, as in "
        "--base-url http://localhost:8080/v1",
        provider.name, provider.base_url);
  return "";
}

}  // namespace upskill

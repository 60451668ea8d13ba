// SPDX-License-Identifier: Apache-2.0
#include "program/endpoint_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "model/wire/wire.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

// In no protocol do these names mean something that is needed.
constexpr std::array<std::string_view, 11> kExtraKeys = {
    "n",      "best_of", "service_tier", "background",  "web_search_options", "plugins",
    "models", "route",   "fallbacks",    "mcp_servers", "container"};

// In the type of a tool; a provider adds a date or its own name.
constexpr std::array<std::string_view, 8> kProviderTools = {
    "web_search",       "web_fetch", "code_execution", "code_interpreter", "file_search",
    "image_generation", "mcp",       "browser_search"};

void EraseKey(Json& object, std::string_view key) {
  if (object.is_object()) object.erase(std::string(key));
}

bool IsOfProvider(const Json& tool) {
  const std::string type = StringAt(tool, "type");
  return std::any_of(kProviderTools.begin(), kProviderTools.end(),
                     [&](std::string_view name) { return type.find(name) != std::string::npos; });
}

// Gemini's tools are named by their members; only functions are the program's own.
Json OwnFunctions(const Json& tool) {
  Json own = Json::object();
  for (const char* key : {"functionDeclarations", "function_declarations"}) {
    if (const Json* const functions = FindMember(tool, key)) own[key] = *functions;
  }
  return own;
}

// Without those that the provider runs. What is no list is left as it is: the provider refuses it.
Json OwnTools(const Json& tools, bool gemini) {
  if (!tools.is_array()) return tools;
  Json kept = Json::array();
  for (const Json& tool : tools) {
    if (!gemini && !IsOfProvider(tool)) kept.push_back(tool);
    if (gemini) {
      if (Json own = OwnFunctions(tool); !own.empty()) kept.push_back(std::move(own));
    }
  }
  return kept;
}

// A program's request without what would reach more than the model, or cost more than one answer of it: tools that the
// provider runs itself (web search, fetching pages, running code, MCP servers), several answers at once, other models
// to fall back to, faster and dearer service, answers that are fetched later.
Json WithoutExtras(Json body, Protocol protocol) {
  if (!body.is_object()) return body;
  for (const std::string_view key : kExtraKeys) EraseKey(body, key);
  const bool gemini = protocol == Protocol::kGemini;
  if (gemini) {
    for (const char* key : {"generationConfig", "generation_config"}) {
      Json* const config = FindMember(body, key);
      if (config == nullptr) continue;
      EraseKey(*config, "candidateCount");
      EraseKey(*config, "candidate_count");
    }
  }
  if (protocol == Protocol::kResponses) {  // newer versions of Codex offer tools in an item of the input
    Json* const input = FindMember(body, "input");
    for (std::size_t i = 0; input != nullptr && input->is_array() && i < input->size(); ++i) {
      Json& item = (*input)[i];
      if (!item.is_object()) continue;
      if (Json* const tools = FindMember(item, "tools")) *tools = OwnTools(*tools, false);
    }
  }
  if (Json* const choice = FindMember(body, "tool_choice"); choice != nullptr && !gemini && IsOfProvider(*choice))
    EraseKey(body, "tool_choice");
  Json* const tools = FindMember(body, "tools");
  if (tools == nullptr || !tools->is_array() || tools->empty()) return body;
  Json kept = OwnTools(*tools, gemini);
  if (kept.empty()) {
    // A choice among no tools would be refused.
    for (const char* key : {"tools", "tool_choice", "toolConfig", "tool_config"}) EraseKey(body, key);
  } else {
    *tools = std::move(kept);
  }
  return body;
}

using Kind = EndpointRequest::Kind;

// Headers that concern one connection, or that the client sets itself, or that hold keys.
constexpr std::array<std::string_view, 18> kOwnHeaders = {"host",
                                                          "connection",
                                                          "keep-alive",
                                                          "proxy-authorization",
                                                          "proxy-connection",
                                                          "te",
                                                          "trailer",
                                                          "transfer-encoding",
                                                          "upgrade",
                                                          "expect",
                                                          "content-length",
                                                          "accept-encoding",
                                                          "authorization",
                                                          "x-api-key",
                                                          "x-goog-api-key",
                                                          "cookie",
                                                          "origin",
                                                          "referer"};

Error NotServed(const ProxyRequest& request) {
  return InputError(fmt::format("{} {} isn't a request to a model", ExcerptLine(request.method, 20),
                                ExcerptLine(request.target.substr(0, request.target.find('?')), 100)));
}

// A path and what it is for; for Gemini, the parts around the model's name.
struct Place {
  Kind kind = Kind::kAnswer;
  std::string path;       // below the base URL
  std::string method_of;  // Gemini's method: "generateContent"
};

Result<Place> PlaceOfGemini(const ProxyRequest& request, const std::string& path, const std::string& model) {
  const std::size_t models = path.find("/models");
  const std::string_view version = std::string_view(path).substr(0, models);
  if (models == std::string::npos || (version != "/v1beta" && version != "/v1" && version != "/v1alpha"))
    return NotServed(request);
  if (request.method == "GET" && path.size() == models + 7) return Place{Kind::kOther, path, ""};
  const std::size_t colon = path.rfind(':');
  if (request.method != "POST" || colon == std::string::npos) return NotServed(request);
  const std::string method = path.substr(colon + 1);
  const bool counts = method == "countTokens";
  if (!counts && method != "generateContent" && method != "streamGenerateContent") return NotServed(request);
  return Place{counts ? Kind::kOther : Kind::kAnswer, fmt::format("{}/models/{}:{}", version, model, method), method};
}

Result<Place> PlaceOf(const ProxyRequest& request, const ModelEndpoint& endpoint) {
  std::string path = request.target.substr(0, request.target.find('?'));
  if (request.method == "HEAD") return Place{Kind::kHello, path, ""};
  if (endpoint.protocol == Protocol::kGemini) return PlaceOfGemini(request, path, endpoint.model);
  const std::string base = BasePathOf(endpoint.protocol);
  if (!path.starts_with(base)) return NotServed(request);
  path.erase(0, base.size());
  const bool messages = endpoint.protocol == Protocol::kMessages;
  if (request.method == "GET" && path == (messages ? "/v1/models" : "/models")) return Place{Kind::kOther, path, ""};
  if (request.method != "POST") return NotServed(request);
  if (messages && path == "/v1/messages/count_tokens") return Place{Kind::kOther, path, ""};
  const char* const answers = messages                               ? "/v1/messages"
                              : endpoint.protocol == Protocol::kChat ? "/chat/completions"
                                                                     : "/responses";
  if (path != answers) return NotServed(request);
  return Place{Kind::kAnswer, path, ""};
}

// The base URL without the version of the API, which is in the paths below it. Users write it with or without.
std::string_view BaseFor(Protocol protocol, std::string_view base_url) {
  if (protocol != Protocol::kMessages && protocol != Protocol::kGemini) return base_url;
  for (const std::string_view version : {"/v1", "/v1beta", "/v1alpha"}) {
    if (base_url.ends_with(version)) return base_url.substr(0, base_url.size() - version.size());
  }
  return base_url;
}

// The query without a key in it.
std::string QueryOf(const std::string& target) {
  const std::size_t question = target.find('?');
  if (question == std::string::npos) return "";
  std::string query;
  std::string_view rest = std::string_view(target).substr(question + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    if (!pair.empty() && !pair.starts_with("key=")) query += (query.empty() ? "?" : "&") + std::string(pair);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return query;
}

// The limit of tokens under one of the names that it has, lowered to the most, or set.
int BoundTokens(Json& body, std::initializer_list<const char*> names, const std::string& own_name) {
  int most = 0;
  for (const char* name : names) {
    Json* const limit = FindMember(body, name);
    if (limit == nullptr || !limit->is_number()) continue;
    const int tokens = std::clamp(JsonGet<int>(body, name, kMostAnswerTokens), 1, kMostAnswerTokens);
    *limit = tokens;
    most = std::max(most, tokens);
  }
  if (most > 0) return most;
  body[own_name] = kMostAnswerTokens;
  return kMostAnswerTokens;
}

void AdaptBody(Json& body, const ModelEndpoint& endpoint, EndpointRequest& request) {
  const auto named = [&](const char* fallback) {
    return endpoint.token_limit.empty() ? std::string(fallback) : endpoint.token_limit;
  };
  const Json& tools = Member(body, "tools");
  request.has_tools = tools.is_array() && !tools.empty();
  if (endpoint.protocol == Protocol::kGemini) {
    Json& config = body["generationConfig"];
    if (!config.is_object()) config = Json::object();
    request.max_tokens = BoundTokens(config, {"maxOutputTokens"}, "maxOutputTokens");
    return;
  }
  body["model"] = endpoint.model;
  request.streamed = JsonGet<bool>(body, "stream", false);
  switch (endpoint.protocol) {
    case Protocol::kMessages:
      request.max_tokens = BoundTokens(body, {"max_tokens"}, "max_tokens");
      break;
    case Protocol::kChat:
      request.max_tokens = BoundTokens(body, {"max_completion_tokens", "max_tokens"}, named("max_tokens"));
      if (request.streamed) {
        Json& options = body["stream_options"];
        if (!options.is_object()) options = Json::object();
        options["include_usage"] = true;
      }
      break;
    case Protocol::kResponses:
      // Newer versions of Codex offer tools in an item of the input.
      request.has_tools = request.has_tools || Member(body, "input").is_array();
      request.max_tokens = BoundTokens(body, {"max_output_tokens"}, named("max_output_tokens"));
      break;
    case Protocol::kGemini:
      break;
  }
}

}  // namespace

std::string BasePathOf(Protocol protocol) {
  return protocol == Protocol::kChat || protocol == Protocol::kResponses ? "/v1" : "";
}

Result<EndpointRequest> RequestForEndpoint(const ProxyRequest& request, const ModelEndpoint& endpoint,
                                           const std::string& base_url) {
  ASSIGN_OR_RETURN(const Place place, PlaceOf(request, endpoint));
  EndpointRequest out;
  out.kind = place.kind;
  if (place.kind == Kind::kHello) return out;
  out.streamed = place.method_of == "streamGenerateContent";
  out.http.method = request.method;
  out.http.url = fmt::format("{}{}{}", BaseFor(endpoint.protocol, base_url), place.path, QueryOf(request.target));
  out.http.headers = endpoint.headers;
  for (const auto& [name, value] : request.headers) {
    const bool own = std::find(kOwnHeaders.begin(), kOwnHeaders.end(), name) != kOwnHeaders.end();
    const bool ours = std::any_of(endpoint.headers.begin(), endpoint.headers.end(),
                                  [&, &key = name](const auto& header) { return ToLowerAscii(header.first) == key; });
    if (!own && !ours) out.http.headers.emplace_back(name, value);
  }
  if (endpoint.key) out.http.secret_headers.push_back(*endpoint.key);
  if (request.method == "POST") {
    ASSIGN_OR_RETURN(Json body, ParseJson(request.body, "the request"));
    if (!body.is_object()) return InputError("the request isn't an object");
    body = WithoutExtras(std::move(body), endpoint.protocol);
    if (place.kind == Kind::kAnswer) {
      AdaptBody(body, endpoint, out);
    } else if (endpoint.protocol != Protocol::kGemini) {
      body["model"] = endpoint.model;
    }
    out.http.body = DumpJson(body);
  }
  constexpr std::chrono::milliseconds kHour{3'600'000};
  out.http.idle_timeout = endpoint.local ? kHour : std::chrono::milliseconds(out.streamed ? 180'000 : 600'000);
  out.http.total_timeout = kHour;
  out.http.max_body_bytes = out.streamed ? 4 * kMaxAnswerBodyBytes : kMaxAnswerBodyBytes;
  return out;
}

}  // namespace upskill

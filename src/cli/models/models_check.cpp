// SPDX-License-Identifier: Apache-2.0
#include "cli/models/models_check.h"

#include <fmt/format.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "model/api_key.h"
#include "model/connection.h"
#include "net/http_client.h"
#include "net/http_error.h"
#include "net/url.h"
#include "util/json.h"
#include "util/text.h"

namespace upskill {
namespace {

// Ports of llama-server, Ollama, vLLM, LM Studio and SGLang.
constexpr std::array kLocalPorts = {8080, 11434, 8000, 1234, 30000};

struct Question {
  Reachability about;
  HttpRequest request;
  std::optional<Result<HttpResponse>> answer = std::nullopt;
};

void SetTimeouts(HttpRequest& request) {
  request.method = "GET";
  request.connect_timeout = std::chrono::seconds(3);
  request.idle_timeout = std::chrono::seconds(5);
  request.total_timeout = std::chrono::seconds(8);
  request.max_body_bytes = 16U << 20U;
}

void AddProvider(const Provider& provider, const Catalog& catalog, const std::shared_ptr<HttpClient>& client,
                 const Env& env, std::vector<Question>& questions) {
  ModelSpec spec;
  spec.text = spec.provider = provider.name;
  spec.model = "models";
  NetworkOptions options;
  options.clock = env.clock;
  options.client = client;
  options.catalog = &catalog;
  options.variable = env.variable;
  const Result<Connection> connection = ConnectionOf(spec, options);
  if (!connection) {
    questions.push_back({{provider.name, "", Reachability::Kind::kNotReachable, connection.error().message},
                         {},
                         Result<HttpResponse>(connection.error())});
    return;
  }
  for (const std::string& base_url : connection->base_urls) {
    const Result<HttpUrl> url = ParseHttpUrl(base_url);
    Question question{{provider.name, url ? url->authority : "", Reachability::Kind::kNotReachable, ""},
                      NewRequest(*connection)};
    question.request.url = base_url + (provider.wire == Wire::kAnthropic ? "/v1/models" : "/models");
    SetTimeouts(question.request);
    questions.push_back(std::move(question));
  }
}

void AddLocalServers(std::vector<Question>& questions) {
  std::set<std::string> known;
  for (const Question& question : questions) known.insert(question.about.host);
  for (const int port : kLocalPorts) {
    const std::string host = fmt::format("localhost:{}", port);
    if (known.contains(host)) continue;
    Question question{{"", host, Reachability::Kind::kNotReachable, ""}, {}};
    question.request.url = "http://" + host + "/v1/models";
    SetTimeouts(question.request);
    questions.push_back(std::move(question));
  }
}

void Ask(HttpClient& client, std::vector<Question>& questions) {
  std::mutex mutex;
  std::condition_variable ready;
  std::size_t open = 0;
  for (const Question& question : questions) open += question.answer ? 0 : 1;
  for (Question& question : questions) {
    if (question.answer) continue;
    client.Start(std::move(question.request), [&](Result<HttpResponse> result) {
      const std::lock_guard lock(mutex);
      question.answer = std::move(result);
      if (--open == 0) ready.notify_one();
    });
  }
  std::unique_lock lock(mutex);
  ready.wait(lock, [&] { return open == 0; });
}

void Judge(Question& question, const Env& env) {
  Reachability& about = question.about;
  const Result<HttpResponse>& answer = *question.answer;
  if (!answer) {
    about.detail = answer.error().message;
    return;
  }
  if (answer->status == 401 || answer->status == 403) {
    about.kind = Reachability::Kind::kKeyRejected;
    about.detail = fmt::format("status {}", answer->status);
    return;
  }
  if (answer->status >= 500 || answer->status == 429) {
    about.detail = ErrorOfResponse(*answer, env.clock->WallNow()).message;
    return;
  }
  about.kind = Reachability::Kind::kReachable;
  about.detail = "does not list its models";
  if (answer->status != 200) return;
  const Result<Json> json = ParseJson(answer->body, "models");
  if (!json || !json->is_object()) return;
  const auto data = json->find("data");
  if (data != json->end() && data->is_array())
    about.detail = fmt::format("{} model{}", data->size(), data->size() == 1 ? "" : "s");
}

}  // namespace

KeyState KeyStateOf(const Provider& provider, const Env& env) {
  using Kind = KeyState::Kind;
  const Result<Secret> key = FindApiKey(provider, provider.name, env.variable);
  if (!key && key.error().kind != ErrorKind::kPermanent) return {Kind::kBroken, key.error().message};
  for (const std::string& name : provider.key_variables) {
    if (!Trim(env.variable(name).value_or("")).empty()) return {Kind::kVariable, name};
  }
  if (!key) return {Kind::kMissing, provider.key_variables.empty() ? "" : provider.key_variables.front()};
  const bool is_default = provider.default_key && key->reveal() == *provider.default_key;
  return {is_default ? Kind::kNotNeeded : Kind::kSaved, ""};
}

std::vector<Reachability> CheckServers(const Catalog& catalog, const Env& env, bool ask_providers) {
  const auto client = std::make_shared<HttpClient>();  // as connections hold it
  std::vector<Question> questions;
  for (const auto& [name, provider] : catalog.providers) {
    if (ask_providers && KeyStateOf(provider, env).usable()) AddProvider(provider, catalog, client, env, questions);
  }
  AddLocalServers(questions);
  Ask(*client, questions);
  std::vector<Reachability> list;
  for (Question& question : questions) {
    Judge(question, env);
    if (question.about.provider.empty() && question.about.kind == Reachability::Kind::kNotReachable) continue;
    list.push_back(std::move(question.about));
  }
  return list;
}

const char* ReachabilityName(Reachability::Kind kind) {
  switch (kind) {
    case Reachability::Kind::kReachable:
      return "reachable";
    case Reachability::Kind::kKeyRejected:
      return "key rejected";
    case Reachability::Kind::kNotReachable:
      return "not reachable";
  }
  return "";
}

}  // namespace upskill

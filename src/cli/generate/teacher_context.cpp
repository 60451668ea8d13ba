// SPDX-License-Identifier: Apache-2.0
#include "cli/generate/teacher_context.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "cli/env/catalog_file.h"
#include "model/catalog.h"
#include "model/chat.h"
#include "model/connection.h"
#include "model/model_spec.h"
#include "net/http_client.h"
#include "util/result.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr int kAnswerTokens = 8192;  // of a teacher, unless ?max_tokens= says otherwise

Result<HttpResponse> Get(HttpClient& client, HttpRequest request) {
  std::mutex mutex;
  std::condition_variable ready;
  std::optional<Result<HttpResponse>> answer;
  client.Start(std::move(request), [&](Result<HttpResponse> result) {
    const std::lock_guard lock(mutex);
    answer = std::move(result);
    ready.notify_one();
  });
  std::unique_lock lock(mutex);
  ready.wait(lock, [&] { return answer.has_value(); });
  return *std::move(answer);
}

// 0: the server doesn't tell.
std::int64_t AskServer(const GenerateCommandOptions& options, const Env& env) {
  const Result<Catalog> catalog = LoadCatalogOf(env);
  if (!catalog) return 0;
  const Result<ModelSpec> spec = ParseModelSpec(options.model, {&*catalog, !options.base_urls.empty()});
  if (!spec || !spec->network()) return 0;
  NetworkOptions network;
  network.base_urls = options.base_urls;
  network.clock = env.clock;
  network.client = std::make_shared<HttpClient>();  // as connections hold it
  network.catalog = &*catalog;
  network.variable = env.variable;
  const Result<Connection> connection = ConnectionOf(*spec, network);
  if (!connection || connection->provider.wire == Wire::kAnthropic) return 0;
  std::int64_t least = 0;
  for (const std::string& base_url : connection->base_urls) {
    HttpRequest request = NewRequest(*connection);
    request.method = "GET";
    request.url = base_url + "/models";
    request.connect_timeout = std::chrono::seconds(3);
    request.idle_timeout = std::chrono::seconds(5);
    request.total_timeout = std::chrono::seconds(8);
    request.max_body_bytes = 16U << 20U;
    const Result<HttpResponse> answer = Get(*network.client, std::move(request));
    if (!answer || answer->status != 200) return 0;
    const Result<Json> listing = ParseJson(answer->body, "models");
    const std::int64_t tokens = listing ? ContextInListing(*listing, spec->model) : 0;
    if (tokens == 0) return 0;
    least = least == 0 ? tokens : std::min(least, tokens);
  }
  return least;
}

// The lowest of the figures that one object of a list has; 0: none.
std::int64_t LeastContext(const Json& entry) {
  constexpr std::int64_t kMost = 1'000'000'000;
  std::int64_t least = 0;
  for (const char* key :
       {"context_length", "max_model_len", "max_context_length", "loaded_context_length", "n_ctx", "n_ctx_train"}) {
    const auto tokens = JsonGet<std::int64_t>(entry, key, 0);
    if (tokens < 1 || tokens > kMost) continue;
    least = least == 0 ? tokens : std::min(least, tokens);
  }
  return least;
}

}  // namespace

std::size_t BudgetOfContext(std::int64_t context_tokens, std::int64_t answer_tokens) {
  constexpr std::int64_t kLeast = 500;
  constexpr std::int64_t kMost = 200'000;
  constexpr std::int64_t kInstructions = 6000;
  // A repair of an unusable answer sends that answer back.
  const std::int64_t answers = 2 * std::min(answer_tokens, context_tokens / 4);
  const std::int64_t rest = context_tokens - answers - std::min(kInstructions, context_tokens / 8);
  // Refinement sends up to half of the budget each of material and failures, and a quarter of earlier candidates.
  return static_cast<std::size_t>(std::clamp(rest / 5 * 4, kLeast, kMost));
}

std::int64_t ContextInListing(const Json& listing, std::string_view model) {
  const Json& data = Member(listing, "data");
  if (!data.is_array()) return 0;
  const Json* found =
      data.size() == 1 && data.front().is_object() ? &data.front() : nullptr;  // a local server's only one
  for (const Json& entry : data) {
    if (!entry.is_object()) continue;
    const std::string id = StringAt(entry, "id");
    // `org/model:provider` of a router is listed as `org/model`.
    if (!id.empty() && (id == model || (model.starts_with(id) && model.substr(id.size()).starts_with(':')))) {
      found = &entry;
      if (id == model) break;
    }
  }
  if (found == nullptr) return 0;
  std::int64_t least = LeastContext(*found);
  const auto lower = [&](const Json& part) {
    const std::int64_t tokens = part.is_object() ? LeastContext(part) : 0;
    if (tokens > 0) least = least == 0 ? tokens : std::min(least, tokens);
  };
  lower(Member(*found, "meta"));
  lower(Member(*found, "top_provider"));
  if (const Json& providers = Member(*found, "providers"); providers.is_array()) {
    for (const Json& provider : providers) lower(provider);
  }
  return least;
}

MaterialBudget BudgetFor(const GenerateCommandOptions& options, const Model& teacher, std::size_t material_tokens,
                         const Env& env) {
  MaterialBudget budget{options.how.context_tokens, ""};
  if (options.given.contains("--budget")) return budget;
  std::string source = teacher.info().in_process ? "its file" : "the catalogue";
  std::int64_t context = teacher.info().context_tokens;
  constexpr std::size_t kFitsAnywhere = 4000;
  if (context == 0 && material_tokens > kFitsAnywhere && !options.dry_run) {
    context = AskServer(options, env);
    source = "its server";
  }
  if (context > 0) {
    ChatRequest request;
    request.sampling.max_tokens = kAnswerTokens;
    budget.tokens = BudgetOfContext(context, teacher.MaxOutputTokens(request));
    budget.told = fmt::format("budget   {} of material in one request: {} has a context of {} ({})",
                              Counted(budget.tokens, "token"), teacher.info().name,
                              WithThousands(static_cast<long long>(context)), source);
  } else if (material_tokens > budget.tokens) {
    budget.told = fmt::format("budget   {} of material in one request: the context of {} is unknown (--budget sets it)",
                              Counted(budget.tokens, "token"), teacher.info().name);
  }
  return budget;
}

}  // namespace upskill

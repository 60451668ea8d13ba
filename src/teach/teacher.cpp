// SPDX-License-Identifier: Apache-2.0
#include "teach/teacher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "eval/run/backoff.h"
#include "model/structured_answer.h"
#include "trace/redact/redact.h"
#include "util/hash.h"
#include "util/json_schema.h"
#include "util/text.h"

namespace upskill {

namespace fs = std::filesystem;

namespace {

// Why a response has no answer within the schema.
std::string ProblemOf(const ChatResponse& response) {
  if (response.stop == StopReason::kRefusal) return "it is a refusal";
  if (response.stop == StopReason::kContext)
    return "it was cut off because the model's context window is full (--budget N sends less material)";
  if (response.stop != StopReason::kEnd) return "it was cut off at the token limit (NAME?max_tokens=N sets another)";
  return response.schema_problem;
}

// A server that rejects a request doesn't mean that the material or the options are wrong.
Error ErrorOfModel(const std::string& name, Error error) {
  if (error.kind == ErrorKind::kInput) error.kind = ErrorKind::kPermanent;
  return error.With("teacher " + name);
}

// What an answer cost; at least what it counts as under a limit.
std::optional<double> CostOf(const ModelInfo& info, const ChatResponse& response, const Spending& used) {
  std::optional<double> usd = response.cost_usd;
  const std::optional<Price> price = KnownPrice(info);
  if (!usd && price) usd = CostUsd(*price, response.usage);
  if (used.usd > usd.value_or(0.0)) usd = used.usd;
  return usd;
}

}  // namespace

Result<Teacher> Teacher::Open(Model& model, const fs::path& calls, const StopFlag* stop, const Clock* clock) {
  // Opening it locks it: another process may have written to it until then.
  ASSIGN_OR_RETURN(AppendFile file, AppendFile::Open(calls, true));
  ASSIGN_OR_RETURN(const std::string stored, ReadFile(calls));
  Teacher teacher(model, std::move(file), stop, clock);
  for (const std::string_view line : SplitLines(stored)) {
    const Result<Json> record = ParseJson(line, calls.string());
    const std::string key = record ? JsonGet<std::string>(*record, "key", "") : "";
    const bool failed = record && JsonGet(*record, "failed", false);
    if (key.empty() && !failed) continue;  // torn by a crash
    teacher.Count(JsonGet<std::string>(*record, "stage", ""), *record);
    if (!failed) teacher.stored_[key] = *record;
  }
  return teacher;
}

std::string Teacher::KeyOf(const TeacherCall& call) const {
  return Sha256Hex(CanonicalJson({{"key", 1},
                                  {"model", model_->info().identity},
                                  {"system", call.system},
                                  {"prompt", call.prompt},
                                  {"schema", call.schema},
                                  {"attempt", call.attempt},
                                  {"max_tokens", call.max_tokens}}));
}

Result<Json> Teacher::Ask(const TeacherCall& call) {
  const std::string key = KeyOf(call);
  if (const auto found = stored_.find(key); found != stored_.end()) {
    if (!found->second.contains("answer"))
      return InputError(JsonGet<std::string>(found->second, "problem", "the teacher's answer can't be used"));
    const Json& answer = found->second.at("answer");
    if (CheckJsonSchema(call.schema, answer)) return answer;  // otherwise the file was edited
  }
  ChatRequest request;
  request.id = key.substr(0, 40);
  request.system = call.system;
  request.messages.push_back({Role::kUser, call.prompt});
  request.sampling.max_tokens = call.max_tokens;
  request.sampling.seed = static_cast<std::uint64_t>(call.attempt);
  request.answer_schema = call.schema;
  StructuredHooks hooks;
  hooks.left_out = [&](const std::set<std::string>& keys) {
    Say(call, fmt::format("left out of the answer because they weren't asked for: {}", fmt::join(keys, ", ")));
  };
  hooks.ask = [&](const ChatRequest& each) -> Result<ChatResponse> {
    const auto found = stored_.find(each.id);
    if (found == stored_.end()) return Send(call, each);
    ChatResponse rejected;  // paid for already
    rejected.text = JsonGet<std::string>(found->second, "rejected", "");
    return rejected;
  };
  hooks.before_repair = [&](const ChatRequest& each, const ChatResponse& answer) -> Status {
    if (stored_.contains(each.id)) return {};
    Say(call, fmt::format("asking {} again: {}", model_->info().name, answer.schema_problem));
    return Store(each.id, call, answer, {{"rejected", answer.text}});
  };
  ASSIGN_OR_RETURN(const ChatResponse response, GenerateStructured(hooks, std::move(request)));
  if (!response.parsed.is_null()) {
    RETURN_IF_ERROR(Store(key, call, response, {{"answer", response.parsed}}));
    return response.parsed;
  }
  const std::string problem = "the teacher's last answer can't be used: " + ProblemOf(response);
  RETURN_IF_ERROR(Store(key, call, response, {{"problem", problem}}));
  return InputError(problem);
}

ChatRequest Teacher::WithoutSecrets(const TeacherCall& call, ChatRequest request) const {
  if (keep_secrets_) return request;
  Redactor redactor{{}};
  request.system = redactor.Apply(std::move(request.system));
  for (Message& message : request.messages) message.text = redactor.Apply(std::move(message.text));
  if (!redactor.redactions().empty())
    Say(call, RedactionSummary(redactor.redactions(), "replaced in the request just before it was sent"));
  return request;
}

Result<ChatResponse> Teacher::Send(const TeacherCall& call, const ChatRequest& unchecked) {
  const ChatRequest request = WithoutSecrets(call, unchecked);
  for (int attempt = 0;; ++attempt) {
    if (meter_.reserve) RETURN_IF_ERROR(meter_.reserve(*model_, request));
    Result<ChatResponse> response = SendOnce(call, request);
    const Spending used = Settle(response);
    if (response) {
      response->cost_usd = CostOf(model_->info(), *response, used);
      return response;
    }
    if (used.usd > 0.0) RETURN_IF_ERROR(StoreFailure(call, used.usd));
    if (response.error().kind != ErrorKind::kUnavailable || attempt + 1 >= kMaxAttempts)
      return ErrorOfModel(model_->info().name, response.error());
    RETURN_IF_ERROR(WaitBeforeNextAttempt(attempt, response.error()));
  }
}

// Says what it is waiting for.
Result<ChatResponse> Teacher::SendOnce(const TeacherCall& call, ChatRequest request) const {
  constexpr int kTicksBetweenLines = 300;  // half a minute
  int ticks = 0;
  bool dropped_waiting = false;
  bool said_stopping = false;
  const auto say = [&] {
    const bool stopping = stop_ != nullptr && stop_->load() > 0;
    if (stopping && !std::exchange(dropped_waiting, true)) {
      model_->Cancel(Model::CancelScope::kWaiting);
    } else if (stopping && !std::exchange(said_stopping, true)) {
      Say(call, fmt::format("stopping when {} has answered (Ctrl-C again to drop its answer)", model_->info().name));
    }
    if (++ticks % kTicksBetweenLines == 0)
      Say(call, fmt::format("waiting for {}, {} s", model_->info().name, ticks / 10));
  };
  return Generate(*model_, std::move(request), stop_, say);
}

void Teacher::Tell(const std::string& stage, const std::string& text) const {
  if (say_) say_(fmt::format("{:<8} {}", stage, text));
}

Spending Teacher::Settle(const Result<ChatResponse>& answer) const {
  if (meter_.settle) return meter_.settle(answer);
  return {};
}

Status Teacher::WaitBeforeNextAttempt(int attempt, const Error& error) const {
  constexpr std::chrono::milliseconds kLook{100};  // at the stop flag
  const SystemClock system;
  const Clock& clock = clock_ == nullptr ? system : *clock_;
  std::mutex mutex;
  std::condition_variable nothing;
  std::unique_lock lock(mutex);
  const Clock::Steady until = clock.Now() + Backoff(attempt, error);
  for (Clock::Steady now = clock.Now(); now < until; now = clock.Now()) {
    if (stop_ != nullptr && stop_->load() > 0) return Error{ErrorKind::kCancelled, "stopped"};
    clock.WaitUntil(nothing, lock, std::min(until, now + kLook));
  }
  return {};
}

void Teacher::Count(const std::string& stage, const Json& record) {
  StageCost& cost = costs_[stage];
  ++cost.calls;
  cost.prompt_tokens += JsonGet<std::int64_t>(record, "prompt_tokens", 0);
  cost.output_tokens += JsonGet<std::int64_t>(record, "output_tokens", 0);
  if (record.contains("cost_usd") && record.at("cost_usd").is_number()) {
    cost.usd += record.at("cost_usd").get<double>();
  } else {
    cost.all_costs_known = false;
  }
}

Status Teacher::Store(const std::string& key, const TeacherCall& call, const ChatResponse& response,
                      const Json& result) {
  Json record = {{"key", key},
                 {"stage", call.stage},
                 {"attempt", call.attempt},
                 {"prompt_tokens", response.usage.prompt()},
                 {"output_tokens", response.usage.output},
                 {"cost_usd", response.cost_usd ? Json(*response.cost_usd) : Json(nullptr)}};
  record.update(result);
  RETURN_IF_ERROR(file_.Append(DumpJson(record) + "\n"));
  RETURN_IF_ERROR(file_.Sync());
  Count(call.stage, record);
  stored_[key] = std::move(record);
  return {};
}

// A request without an answer that may have cost something.
Status Teacher::StoreFailure(const TeacherCall& call, double usd) {
  const Json record = {{"failed", true}, {"stage", call.stage}, {"attempt", call.attempt}, {"cost_usd", usd}};
  RETURN_IF_ERROR(file_.Append(DumpJson(record) + "\n"));
  RETURN_IF_ERROR(file_.Sync());
  Count(call.stage, record);
  return {};
}

double Teacher::cost_usd() const {
  double sum = 0.0;
  for (const auto& [stage, cost] : costs_) sum += cost.usd;
  return sum;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "teach/teacher.h"

#include <fmt/format.h>

#include "model/structured_answer.h"
#include "util/hash.h"
#include "util/json_schema.h"
#include "util/text.h"

namespace upskill {

namespace fs = std::filesystem;

namespace {

// Why a response has no answer within the schema.
std::string ProblemOf(const ChatResponse& response) {
  if (response.stop == StopReason::kRefusal) return "it is a refusal";
  if (response.stop != StopReason::kEnd) return "it was cut off at the token limit (NAME?max_tokens=N sets another)";
  return response.schema_problem;
}

// A server that rejects a request doesn't mean that the material or the options are wrong.
Error ErrorOfModel(const std::string& name, Error error) {
  if (error.kind == ErrorKind::kInput) error.kind = ErrorKind::kPermanent;
  return error.With("teacher " + name);
}

// What the answer cost, repairs included; at least what it counts as under a limit.
std::optional<double> CostOf(const ModelInfo& info, const ChatResponse& response, const Spending& used) {
  std::optional<double> usd = response.cost_usd;
  const std::optional<Price> price = KnownPrice(info);
  if (!usd && price) usd = CostUsd(*price, response.usage);
  if (used.usd > usd.value_or(0.0)) usd = used.usd;
  return usd;
}

}  // namespace

Result<Teacher> Teacher::Open(Model& model, const fs::path& calls, const StopFlag* stop) {
  std::string stored;
  std::error_code code;
  if (fs::exists(calls, code)) {
    ASSIGN_OR_RETURN(stored, ReadFile(calls));
  }
  ASSIGN_OR_RETURN(AppendFile file, AppendFile::Open(calls, true));
  Teacher teacher(model, std::move(file), stop);
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
  Spending used;
  bool denied = false;
  RequestMeter meter;
  meter.before = [&](const ChatRequest& next) {
    Status allowed = meter_.reserve ? meter_.reserve(*model_, next) : Status();
    denied = !allowed.ok();
    return allowed;
  };
  meter.after = [&](const Result<ChatResponse>& answer) { used.Add(UsedBy(answer)); };
  const Result<ChatResponse> response = GenerateStructured(*model_, std::move(request), stop_, meter);
  if (!response) {
    if (used.tokens > 0 || used.usd > 0) RETURN_IF_ERROR(StoreFailure(call, used));
    return denied ? response.error() : ErrorOfModel(model_->info().name, response.error());
  }
  const std::optional<double> usd = CostOf(model_->info(), *response, used);
  Json record = {{"key", key},
                 {"stage", call.stage},
                 {"attempt", call.attempt},
                 {"prompt_tokens", response->usage.prompt()},
                 {"output_tokens", response->usage.output},
                 {"cost_usd", usd ? Json(*usd) : Json(nullptr)}};
  if (!response->parsed.is_null()) {
    record["answer"] = response->parsed;
    RETURN_IF_ERROR(Store(key, std::move(record)));
    return response->parsed;
  }
  record["problem"] = "the teacher's last answer can't be used: " + ProblemOf(*response);
  RETURN_IF_ERROR(Store(key, std::move(record)));
  return InputError(stored_.at(key).at("problem").get<std::string>());
}

Spending Teacher::UsedBy(const Result<ChatResponse>& answer) const {
  if (meter_.settle) return meter_.settle(answer);
  if (!answer) return {};
  return {answer->usage.prompt() + answer->usage.output, answer->cost_usd.value_or(0.0)};
}

// A session before this one may not have known the price.
void Teacher::Count(const std::string& stage, const Json& record) {
  StageCost& cost = costs_[stage];
  Usage usage;
  usage.input = JsonGet<std::int64_t>(record, "prompt_tokens", 0);
  usage.output = JsonGet<std::int64_t>(record, "output_tokens", 0);
  ++cost.calls;
  cost.prompt_tokens += usage.input;
  cost.output_tokens += usage.output;
  std::optional<double> usd;
  if (const Json& stored = Member(record, "cost_usd"); stored.is_number()) {
    usd = stored.get<double>();
  } else if (const std::optional<Price> price = KnownPrice(model_->info())) {
    usd = CostUsd(*price, usage);
  }
  known_usd_ += usd.value_or(0.0);
  cost.usd = cost.usd && usd ? std::optional(*cost.usd + *usd) : std::nullopt;
}

Status Teacher::Store(const std::string& key, Json record) {
  RETURN_IF_ERROR(file_.Append(DumpJson(record) + "\n"));
  RETURN_IF_ERROR(file_.Sync());
  Count(JsonGet<std::string>(record, "stage", ""), record);
  if (!key.empty()) stored_[key] = std::move(record);
  return {};
}

// A call without an answer that may have cost something.
Status Teacher::StoreFailure(const TeacherCall& call, const Spending& used) {
  const bool known = used.usd > 0 || KnownPrice(model_->info());
  return Store("", {{"failed", true},
                    {"stage", call.stage},
                    {"attempt", call.attempt},
                    {"cost_usd", known ? Json(used.usd) : Json(nullptr)}});
}

}  // namespace upskill

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
  if (response.stop == StopReason::kRefusal) return "the model refused to answer";
  if (response.stop != StopReason::kEnd)
    return "the answer was cut off at the token limit (NAME?max_tokens=N sets another)";
  return response.schema_problem;
}

// A server that rejects a request doesn't mean that the material or the options are wrong.
Error ErrorOfModel(const std::string& name, Error error) {
  if (error.kind == ErrorKind::kInput) error.kind = ErrorKind::kPermanent;
  return error.With("teacher " + name);
}

}  // namespace

Result<Teacher> Teacher::Open(Model& model, const fs::path& calls, const StopFlag* stop) {
  ASSIGN_OR_RETURN(AppendFile file, AppendFile::Open(calls, true));  // first: nothing is added from now on
  ASSIGN_OR_RETURN(const std::string stored, ReadFile(calls));
  Teacher teacher(model, std::move(file), stop);
  for (const std::string_view line : SplitLines(stored)) {
    const Result<Json> record = ParseJson(line, calls.string());
    const std::string key = record ? JsonGet<std::string>(*record, "key", "") : "";
    if (key.empty()) continue;  // torn by a crash
    teacher.Count(JsonGet<std::string>(*record, "stage", ""), *record);
    teacher.stored_[key] = *record;
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
  if (may_ask_) RETURN_IF_ERROR(may_ask_());
  ChatRequest request;
  request.id = key.substr(0, 40);
  request.system = call.system;
  request.messages.push_back({Role::kUser, call.prompt});
  request.sampling.max_tokens = call.max_tokens;
  request.sampling.seed = static_cast<std::uint64_t>(call.attempt);
  request.answer_schema = call.schema;
  const Result<ChatResponse> response = GenerateStructured(*model_, std::move(request), stop_);
  if (!response) return ErrorOfModel(model_->info().name, response.error());
  if (!response->parsed.is_null()) {
    RETURN_IF_ERROR(Store(key, call, *response, response->parsed, ""));
    return response->parsed;
  }
  RETURN_IF_ERROR(Store(key, call, *response, nullptr, ProblemOf(*response)));
  return InputError(stored_.at(key).at("problem").get<std::string>());
}

void Teacher::Count(const std::string& stage, const Json& record) {
  StageCost& cost = costs_[stage];
  ++cost.calls;
  cost.prompt_tokens += JsonGet<std::int64_t>(record, "prompt_tokens", 0);
  cost.output_tokens += JsonGet<std::int64_t>(record, "output_tokens", 0);
  const bool known = record.contains("cost_usd") && record.at("cost_usd").is_number();
  if (cost.usd) cost.usd = known ? std::optional(*cost.usd + record.at("cost_usd").get<double>()) : std::nullopt;
}

Status Teacher::Store(const std::string& key, const TeacherCall& call, const ChatResponse& response, const Json& answer,
                      const std::string& problem) {
  Json record = {{"key", key},
                 {"stage", call.stage},
                 {"attempt", call.attempt},
                 {"prompt_tokens", response.usage.prompt()},
                 {"output_tokens", response.usage.output},
                 {"cost_usd", response.cost_usd ? Json(*response.cost_usd) : Json(nullptr)}};
  if (model_->info().local) record["cost_usd"] = 0.0;
  if (problem.empty()) {
    record["answer"] = answer;
  } else {
    record["problem"] = "the teacher's answer can't be used: " + problem;
  }
  RETURN_IF_ERROR(file_.Append(DumpJson(record) + "\n"));
  RETURN_IF_ERROR(file_.Sync());
  Count(call.stage, record);
  stored_[key] = std::move(record);
  return {};
}

double Teacher::cost_usd() const {
  double sum = 0.0;
  for (const auto& [stage, cost] : costs_) sum += cost.usd.value_or(0.0);
  return sum;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "util/stored_json.h"
#include "util/text.h"

namespace upskill {
namespace {

struct StoredText {
  std::string text;
  bool cut = false;
};

StoredText Cut(std::string text, std::size_t most) {
  constexpr std::size_t kReplacementBytes = 3;  // for each invalid byte (DumpJson)
  if (text.size() <= most / kReplacementBytes) return {std::move(text), false};
  if (FindInvalidUtf8(text)) text = ReplaceInvalidUtf8(text);
  if (text.size() <= most) return {std::move(text), false};
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  text.resize(most);
  text.shrink_to_fit();
  return {std::move(text), true};
}

ErrorKind KindFromName(const std::string& name) {
  for (const ErrorKind kind : {ErrorKind::kInput, ErrorKind::kNotFound, ErrorKind::kIo, ErrorKind::kUnavailable,
                               ErrorKind::kPermanent, ErrorKind::kCancelled}) {
    if (name == ErrorKindName(kind)) return kind;
  }
  if (name == "refused") return ErrorKind::kPermanent;  // the former name of kPermanent in journals of upskill 0.1
  return ErrorKind::kUnavailable;
}

// The cause of an error in an older journal, which doesn't tell it. Only what the message makes certain is taken to be
// independent of the answer.
ErrorCause GuessCause(const std::string& message) {
  if (message.starts_with("no connection to ")) return ErrorCause::kUnreachable;
  if (message.starts_with("HTTP 429")) return ErrorCause::kRateLimit;
  if (message.starts_with("HTTP 529")) return ErrorCause::kOverloaded;
  for (const char* status : {"HTTP 401", "HTTP 402", "HTTP 404"}) {
    if (message.starts_with(status)) return ErrorCause::kRejected;
  }
  return ErrorCause::kUnknown;
}

Error ErrorFromJson(const Json& json) {
  Error error{KindFromName(JsonGet<std::string>(json, "kind", "")), JsonGet<std::string>(json, "message", "")};
  const auto cause = JsonGet<std::string>(json, "cause", "");
  error.cause = cause.empty() ? GuessCause(error.message) : ErrorCauseFromName(cause);
  return error;
}

Json JudgmentsToJson(const std::vector<StoredJudgment>& judgments) {
  Json list = Json::array();
  for (const StoredJudgment& stored : judgments) list.push_back(JudgmentToJson(stored));
  return list;
}

// Errors: a cost out of range.
Result<std::optional<double>> CostFromJson(const Json& json) {
  const auto cost = json.find("cost_usd");
  if (cost == json.end() || !cost->is_number()) return std::optional<double>();
  const auto usd = cost->get<double>();
  if (!(usd >= 0.0) || usd > kMaxStoredUsd) return InputError("not a sample: cost_usd is out of range");
  return std::optional(usd);
}

Result<StoredJudgment> ReadJudgmentOf(const StoredJson& json) {
  StoredJudgment stored;
  stored.key = json.at("key").text();
  ASSIGN_OR_RETURN(stored.judgment.word, JudgeWordFromName(json.at("word").text()));
  stored.judgment.reason = StringAt(json.json(), "reason");
  if (json.has("quotes")) stored.judgment.quotes = json.at("quotes").texts();
  stored.usage = UsageFromJson(Member(json.json(), "usage"));
  stored.seconds = std::clamp(JsonGet(json.json(), "seconds", 0.0), 0.0, kMaxStoredSeconds);
  ASSIGN_OR_RETURN(stored.cost_usd, CostFromJson(json.json()));
  return stored;
}

Result<std::vector<StoredJudgment>> JudgmentsFromJson(const StoredJson& json) {
  std::vector<StoredJudgment> judgments;
  if (!json.has("judgments")) return judgments;
  for (const StoredJson& one : json.at("judgments").elements()) {
    ASSIGN_OR_RETURN(StoredJudgment stored, ReadJudgmentOf(one));
    judgments.push_back(std::move(stored));
  }
  return judgments;
}

void AddAnswer(const Sample& sample, Json& json) {
  json["answer"] = sample.response.text;
  if (sample.cut_from > 0) json["cut_from_bytes"] = sample.cut_from;
  if (!sample.response.reasoning.empty()) json["reasoning"] = sample.response.reasoning;
  json["stop"] = StopReasonName(sample.response.stop);
  json["usage"] = UsageToJson(sample.response.usage);
  json["seconds"] = sample.response.seconds;
  if (sample.response.cost_usd) json["cost_usd"] = *sample.response.cost_usd;
  if (!sample.response.served_model.empty()) json["served_model"] = sample.response.served_model;
  if (!sample.response.request_id.empty()) json["request_id"] = sample.response.request_id;
  Json checks = Json::array();
  for (const CheckResult& check : sample.checks) {
    Json stored = {{"name", check.name}, {"outcome", OutcomeName(check.outcome)}, {"detail", check.detail}};
    if (check.run) stored["seconds"] = check.run->seconds;
    if (check.run && !check.run->tools.empty()) stored["tools"] = check.run->tools;
    checks.push_back(std::move(stored));
  }
  json["checks"] = std::move(checks);
  if (sample.response.work) json["work"] = WorkRecordToJson(*sample.response.work);
  if (!sample.judgments.empty()) json["judgments"] = JudgmentsToJson(sample.judgments);
}

Status TakeAnswer(const StoredJson& stored, Sample& sample) {
  const Json& json = stored.json();
  sample.response.text = stored.at("answer").text();
  sample.cut_from = JsonGet<std::size_t>(json, "cut_from_bytes", 0);
  sample.response.reasoning = JsonGet<std::string>(json, "reasoning", "");
  ASSIGN_OR_RETURN(sample.response.stop, StopReasonFromName(JsonGet<std::string>(json, "stop", "end")));
  sample.response.usage = UsageFromJson(Member(json, "usage"));
  sample.response.seconds = std::clamp(JsonGet(json, "seconds", 0.0), 0.0, kMaxStoredSeconds);
  ASSIGN_OR_RETURN(sample.response.cost_usd, CostFromJson(json));
  sample.response.served_model = JsonGet<std::string>(json, "served_model", "");
  sample.response.request_id = JsonGet<std::string>(json, "request_id", "");
  for (const StoredJson& check : stored.at("checks").elements()) {
    ASSIGN_OR_RETURN(const Outcome outcome, OutcomeFromName(check.at("outcome").text()));
    CheckResult result{check.at("name").text(), outcome, StringAt(check.json(), "detail")};
    if (const Json& seconds = Member(check.json(), "seconds"); seconds.is_number()) {
      result.run = CheckRun{std::clamp(seconds.get<double>(), 0.0, kMaxStoredSeconds), StringAt(check.json(), "tools")};
    }
    sample.checks.push_back(std::move(result));
  }
  ASSIGN_OR_RETURN(sample.judgments, JudgmentsFromJson(stored));
  if (stored.has("work")) {
    ASSIGN_OR_RETURN(sample.response.work, WorkRecordFromJson(stored.at("work").json()).With("work"));
  }
  return {};
}

}  // namespace

std::string CellName(const Sample& sample) {
  return fmt::format("{}\n{}\n{}\n{}", sample.student, ArmName(sample.arm), sample.case_id, sample.round);
}

Sample CutAnswer(Sample sample) {
  const std::size_t bytes = sample.response.text.size();
  StoredText answer = Cut(std::move(sample.response.text), kMaxAnswerBytes);
  sample.response.text = std::move(answer.text);
  if (answer.cut) sample.cut_from = bytes;
  sample.response.reasoning = Cut(std::move(sample.response.reasoning), kMaxReasoningBytes).text;
  return sample;
}

Sample ToCheckAgain(Sample sample) {
  sample.error.reset();
  sample.keeps_answer = false;
  sample.will_retry = false;
  sample.checks.clear();
  return sample;
}

Json JudgmentToJson(const StoredJudgment& stored) {
  Json json = {{"key", stored.key},
               {"word", JudgeWordName(stored.judgment.word)},
               {"reason", stored.judgment.reason},
               {"quotes", stored.judgment.quotes},
               {"usage", UsageToJson(stored.usage)},
               {"seconds", stored.seconds}};
  if (stored.cost_usd) json["cost_usd"] = *stored.cost_usd;
  return json;
}

Result<StoredJudgment> JudgmentFromJson(const Json& json) {
  try {
    return ReadJudgmentOf(StoredJson(json));
  } catch (const StoredJsonFault& fault) {
    return InputError(fault.what());
  }
}

Json SampleToJson(const Sample& sample) {
  Json json = {{"schema", kSampleSchema},    {"key", sample.key},      {"model", sample.student},
               {"arm", ArmName(sample.arm)}, {"case", sample.case_id}, {"round", sample.round},
               {"attempt", sample.attempt},  {"time", sample.time},    {"status", sample.ok() ? "ok" : "error"}};
  if (!sample.cached_from.empty()) json["cached_from"] = sample.cached_from;
  for (const ErrorCause cause : sample.failed_before) json["failed_before"].push_back(ErrorCauseName(cause));
  if (sample.error) {
    json["error"] = {{"kind", ErrorKindName(sample.error->kind)},
                     {"cause", ErrorCauseName(sample.error->cause)},
                     {"message", sample.error->message}};
    if (sample.will_retry) json["will_retry"] = true;
    if (sample.keeps_answer) AddAnswer(sample, json);
    return json;
  }
  json["passed"] = sample.passed();
  AddAnswer(sample, json);
  return json;
}

Result<Sample> SampleFromJson(const Json& json) {
  const int schema = JsonGet(json, "schema", 0);
  if (schema < 1 || schema > kSampleSchema) return InputError(fmt::format("unknown sample schema {}", schema));
  try {
    const StoredJson stored(json);
    Sample sample;
    sample.key = stored.at("key").text();
    sample.student = stored.at("model").text();
    ASSIGN_OR_RETURN(sample.arm, ArmFromName(stored.at("arm").text()));
    sample.case_id = stored.at("case").text();
    sample.round = stored.at("round").number<int>();
    sample.attempt = JsonGet(json, "attempt", 0);
    sample.time = JsonGet<std::string>(json, "time", "");
    sample.cached_from = JsonGet<std::string>(json, "cached_from", "");
    if (stored.at("status").text() != "ok") {
      sample.error = ErrorFromJson(stored.at("error").json());
      sample.will_retry = JsonGet(json, "will_retry", false);
      sample.keeps_answer = stored.has("answer");
      if (sample.keeps_answer) RETURN_IF_ERROR(TakeAnswer(stored, sample));
      return sample;
    }
    if (stored.has("failed_before")) {
      for (const std::string& cause : stored.at("failed_before").texts())
        sample.failed_before.push_back(ErrorCauseFromName(cause));
    }
    RETURN_IF_ERROR(TakeAnswer(stored, sample));
    return sample;
  } catch (const StoredJsonFault& fault) {
    return InputError(fmt::format("not a sample: {}", fault.what()));
  }
}

}  // namespace upskill

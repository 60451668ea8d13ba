// SPDX-License-Identifier: Apache-2.0
#include "report/export/inspect_sample.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "eval/plan/prompts.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kThinBytes = 1024;

// The beginning of a text, cut between characters.
std::string Beginning(const std::string& text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  std::size_t end = bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

Json UsageToInspect(const Usage& usage, const std::optional<double>& cost_usd) {
  return {{"input_tokens", usage.input},
          {"output_tokens", usage.output},
          {"total_tokens", usage.prompt() + usage.output},
          {"input_tokens_cache_write", usage.cache_write},
          {"input_tokens_cache_read", usage.cache_read},
          {"reasoning_tokens", usage.reasoning},
          {"total_cost", JsonOrNull(cost_usd)}};
}

const char* StopReasonOfInspect(StopReason reason) {
  switch (reason) {
    case StopReason::kEnd:
      return "stop";
    case StopReason::kLength:
      return "max_tokens";
    case StopReason::kRefusal:
      return "content_filter";
    case StopReason::kToolUse:
      return "tool_calls";
    case StopReason::kContext:
      return "model_length";
  }
  return "unknown";
}

// "C" correct, "I" incorrect, "N" no answer: Inspect's words.
const char* ValueOf(Outcome outcome) { return outcome == Outcome::kPass ? "C" : outcome == Outcome::kFail ? "I" : "N"; }

std::string Explanation(const CheckResult& check) {
  std::string text = fmt::format("{}: {}", check.name, OutcomeName(check.outcome));
  if (!check.detail.empty()) text += fmt::format(" ({})", check.detail);
  return text;
}

// Whether the answer passed, and each of its checks by its position, so that cases with different checks share columns.
Json Scores(const Sample& sample) {
  constexpr std::size_t kMostExplained = 200;
  std::string all;
  Json scores = {{"passed", Json::object()}};
  for (std::size_t i = 0; i < sample.checks.size(); ++i) {
    const std::string text = Explanation(sample.checks[i]);
    if (i < kMostExplained) all += (all.empty() ? "" : "\n") + text;
    if (i == kMostExplained) all += fmt::format("\nand {} more", sample.checks.size() - i);
    if (i < kMostInspectScores)
      scores[fmt::format("check {}", i + 1)] = {{"value", ValueOf(sample.checks[i].outcome)}, {"explanation", text}};
  }
  scores["passed"] = {{"value", sample.passed() ? "C" : "I"}, {"explanation", all}};
  return scores;
}

Json AssistantMessage(const Sample& sample) {
  const ChatResponse& response = sample.response;
  Json content = response.text;
  if (!response.reasoning.empty()) {
    content = Json::array({Json{{"type", "reasoning"}, {"reasoning", response.reasoning}},
                           Json{{"type", "text"}, {"text", response.text}}});
  }
  Json message = {{"id", "answer"},
                  {"content", std::move(content)},
                  {"source", "generate"},
                  {"role", "assistant"},
                  {"model", sample.student}};
  Json calls = Json::array();
  for (const ToolCall& call : response.tool_calls) {
    calls.push_back({{"id", call.id},
                     {"function", call.name},
                     {"arguments", call.arguments.is_object() ? call.arguments : Json::object()},
                     {"type", "function"}});
  }
  if (!calls.empty()) message["tool_calls"] = std::move(calls);
  return message;
}

// The texts that an answer must contain, or the reference: what Inspect calls the target.
Json Target(const Case& test_case) {
  if (!test_case.reference.empty()) return test_case.reference;
  Json texts = Json::array();
  for (const CheckSpec& check : test_case.checks) {
    if (check.type != "contains") continue;
    for (const std::string& value : check.values) texts.push_back(value);
  }
  if (texts.empty()) return "";
  return texts;
}

Json SampleMetadata(const Sample& sample, const Case& test_case) {
  Json metadata = {{"case", sample.case_id}, {"arm", ArmName(sample.arm)}, {"round", sample.round + 1}};
  if (!test_case.tags.empty()) metadata["tags"] = test_case.tags;
  if (sample.attempt > 0) metadata["attempts"] = sample.attempt + 1;
  if (!sample.cached_from.empty()) metadata["cached_from"] = sample.cached_from;
  if (sample.cut_from > 0) metadata["answer_cut_from_bytes"] = sample.cut_from;
  return metadata;
}

void PutAnswer(const Sample& sample, Json& json) {
  const Json message = AssistantMessage(sample);
  json["messages"].push_back(message);
  const Json usage = InspectUsage(sample);
  json["output"] = {
      {"model", sample.response.served_model.empty() ? sample.student : sample.response.served_model},
      {"choices",
       Json::array({Json{{"message", message}, {"stop_reason", StopReasonOfInspect(sample.response.stop)}}})},
      {"completion", sample.response.text},
      {"usage", usage.empty() ? Json(nullptr) : usage},
      {"time", sample.response.seconds}};
  json["scores"] = Scores(sample);
}

// Strings and other values of more than 1 KiB are cut or left out.
void Thin(Json& object) {
  Json thin = Json::object();
  for (auto& [key, value] : object.items()) {
    if (value.is_string()) {
      thin[key] = Beginning(value.get<std::string>(), kThinBytes);
    } else if (DumpJson(value).size() < kThinBytes) {
      thin[key] = std::move(value);
    }
  }
  object = std::move(thin);
}

}  // namespace

std::vector<std::string> InspectIds(const Suite& suite) {
  constexpr std::size_t kMaxIdBytes = 120;
  std::vector<std::string> ids;
  std::unordered_set<std::string> taken;
  for (const Case& test_case : suite.cases) {
    std::string id = Beginning(SafeForTerminalLine(test_case.id), kMaxIdBytes);
    for (char& c : id) {
      if (c == '/' || c == '\\') c = '-';
    }
    std::string different = id;
    for (std::size_t k = 2; !taken.insert(different).second; ++k) different = fmt::format("{} {}", id, k);
    ids.push_back(std::move(different));
  }
  return ids;
}

std::string InspectSampleId(const std::string& case_id, Arm arm) {
  return fmt::format("{} ({})", case_id, ArmName(arm));
}

Json InspectUsage(const Sample& sample) {
  if (!ReportsTokens(sample)) return Json::object();
  return UsageToInspect(sample.response.usage, sample.response.cost_usd);
}

Json InspectModelUsage(const Plan& plan, const Sample& sample) {
  Json usage = Json::object();
  if (!sample.ok() && !sample.keeps_answer) return usage;
  if (Json of_student = InspectUsage(sample); !of_student.empty()) usage[sample.student] = std::move(of_student);
  if (!plan.judge) return usage;
  for (const StoredJudgment& stored : sample.judgments) {
    Json of_judge = Json::object();
    of_judge[plan.judge->spec] = UsageToInspect(stored.usage, stored.cost_usd);
    AddInspectUsage(of_judge, usage);
  }
  return usage;
}

void AddInspectUsage(const Json& more, Json& sum) {
  for (const auto& [model, usage] : more.items()) {
    if (!sum.contains(model)) {
      sum[model] = usage;
      continue;
    }
    Json& to = sum[model];
    for (const auto& [key, value] : usage.items()) {
      const bool is_known = value.is_number() && to[key].is_number();
      if (!is_known) {
        to[key] = nullptr;  // a cost that isn't known for all
      } else if (value.is_number_float()) {
        to[key] = to[key].get<double>() + value.get<double>();
      } else {
        to[key] = to[key].get<std::int64_t>() + value.get<std::int64_t>();
      }
    }
  }
}

Json InspectSample(const Plan& plan, const Sample& sample, std::size_t case_index, const std::string& case_id) {
  const Case& test_case = plan.suite.cases[case_index];
  const std::string input = UserMessage(test_case);
  Json json = {
      {"id", InspectSampleId(case_id, sample.arm)},
      {"epoch", sample.round + 1},
      {"input", input},
      {"target", Target(test_case)},
      {"messages", Json::array({Json{{"id", "system"}, {"content", SystemPrompt(plan, sample.arm)}, {"role", "system"}},
                                Json{{"id", "request"}, {"content", input}, {"source", "input"}, {"role", "user"}}})},
      {"output", {{"model", sample.student}, {"choices", Json::array()}}},
      {"scores", nullptr},
      {"metadata", SampleMetadata(sample, test_case)},
      {"store", Json::object()},
      {"events", Json::array()},
      {"model_usage", InspectModelUsage(plan, sample)}};
  if (sample.ok() || sample.keeps_answer) {
    PutAnswer(sample, json);
    json["total_time"] = sample.response.seconds;
    json["working_time"] = sample.response.seconds;
  }
  if (!sample.ok()) {
    json["scores"] = nullptr;
    json["error"] = {{"message", sample.error->message}, {"traceback", ""}, {"traceback_ansi", ""}};
  }
  if (std::string time = InspectTime(sample.time, ""); !time.empty()) json["completed_at"] = std::move(time);
  json["uuid"] = Sha256Hex(plan.run + "\n" + CellName(sample)).substr(0, 22);
  json["attachments"] = Json::object();
  return json;
}

Json InspectSummary(const Json& sample) {
  Json summary = Json::object();
  for (const char* key : {"id", "epoch", "input", "target", "metadata", "scores", "model_usage", "completed_at",
                          "total_time", "working_time", "uuid"}) {
    if (const Json* value = FindMember(sample, key)) summary[key] = *value;
  }
  summary["input"] = Beginning(StringAt(sample, "input"), kThinBytes);
  if (Json& target = summary["target"]; target.is_string())
    target = Beginning(target.get<std::string>(), kThinBytes);
  else if (DumpJson(target).size() > kThinBytes)
    target = "";
  Thin(summary["metadata"]);
  if (Json* scores = FindMember(summary, "scores")) {
    for (auto& [name, score] : scores->items()) Thin(score);
  }
  if (const Json* error = FindMember(sample, "error"))
    summary["error"] = Beginning(StringAt(*error, "message"), kThinBytes);
  summary["completed"] = true;
  summary["message_count"] = Member(sample, "messages").size();
  return summary;
}

std::string InspectTime(const std::string& time, const std::string& fallback) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
  if (time.size() != kForm.size()) return fallback;
  for (std::size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = time[i] >= '0' && time[i] <= '9';
    if (kForm[i] == '0' ? !is_digit : time[i] != kForm[i]) return fallback;
  }
  const auto number = [&](std::size_t at, std::size_t digits) { return std::stoi(time.substr(at, digits)); };
  const std::chrono::year_month_day day(std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2))));
  const bool exists = day.ok() && number(0, 4) > 0 && number(11, 2) < 24 && number(14, 2) < 60 && number(17, 2) < 60;
  return exists ? time : fallback;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "report/export/python_result.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <iomanip>
#include <map>
#include <sstream>
#include <utility>

#include "report/terminal/csv.h"
#include "util/files.h"
#include "util/json_file.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
constexpr double kMsPerSecond = 1000.0;
constexpr std::array kTokenKeys = {"input_tokens", "output_tokens", "total_tokens"};
constexpr std::uint64_t kMaxResultBytes = 64ULL << 20U;

// Local time without a zone, as Python's datetime.now().isoformat().
std::string LocalIso(const std::string& utc) {
  std::tm time = {};
  std::istringstream in(utc);
  in >> std::get_time(&time, "%Y-%m-%dT%H:%M:%SZ");
  if (in.fail()) return utc;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::localtime(timegm(&time)));
}

std::string CsvRow(const Json& result) {
  const Json& metadata = Member(result, "metadata");
  const Json& stats = Member(result, "stats");
  const auto text = [](const Json& object, const char* key) { return CsvField(JsonGet<std::string>(object, key, "")); };
  const auto whole = [](const Json& object, const char* key) { return WholeNumber(object, key); };
  const auto tokens = [&](const char* key) {
    const bool unknown = stats.is_object() && !stats.empty() && !stats.contains(key);
    return unknown ? "" : std::to_string(WholeNumber(stats, key));
  };
  const auto real = [](const Json& object, const char* key) { return Json(JsonGet(object, key, 0.0)).dump(); };
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
                     text(metadata, "batch_id"), whole(metadata, "run_number"), text(metadata, "model"),
                     text(metadata, "task"), text(metadata, "timestamp"),
                     JsonGet(result, "passed", false) ? "True" : "False", whole(result, "assertions_passed"),
                     whole(result, "assertions_total"), tokens(kTokenKeys[0]), tokens(kTokenKeys[1]),
                     tokens(kTokenKeys[2]), real(stats, "conversation_span_ms"), real(stats, "llm_time_ms"),
                     real(stats, "tool_time_ms"), whole(stats, "turns"), whole(stats, "tool_calls"),
                     whole(stats, "tool_errors"), whole(stats, "mcp_calls"), whole(stats, "execute_calls"),
                     text(result, "error_message"), text(result, "session_id"), text(result, "session_history_file"));
}

}  // namespace

Json PythonMetadata(const Plan& plan, const Student& student, int number) {
  return {{"model", student.spec},
          {"task", plan.skill.name},
          {"batch_id", plan.run},
          {"run_number", number},
          {"timestamp", LocalIso(plan.created)}};
}

Json PythonStats(const SampleList& samples) {
  double seconds = 0.0;
  std::int64_t input = 0;
  std::int64_t output = 0;
  int turns = 0;
  int reported = 0;
  std::map<std::string, int> tools;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const FinalSample sample = samples.final(i);
    if (!sample.answered) continue;
    ++turns;
    seconds += sample.figures->seconds;
    input += sample.figures->prompt_tokens;
    output += sample.figures->output_tokens;
    reported += sample.figures->reports_tokens() ? 1 : 0;
    if (!sample.figures->calls_tools) continue;
    for (const ToolCall& call : samples[i]->response.tool_calls) ++tools[call.name];
  }
  int calls = 0;
  int mcp = 0;
  for (const auto& [name, count] : tools) {
    calls += count;
    if (name.find("__") != std::string::npos) mcp += count;
  }
  const double ms = std::round(seconds * kMsPerSecond * 100.0) / 100.0;
  Json stats = {{"conversation_span_ms", ms},
                {"llm_time_ms", ms},
                {"tool_time_ms", 0.0},
                {"turns", turns},
                {"tool_calls", calls},
                {"tool_errors", 0},
                {"mcp_calls", mcp},
                {"execute_calls", calls - mcp},
                {"tool_call_map", tools},
                {"tool_error_map", Json::object()},
                {"input_tokens", input},
                {"output_tokens", output},
                {"total_tokens", input + output},
                {"usage_summaries", Json::array()},
                {"timing_summaries", Json::array()}};
  if (reported < turns) {
    for (const char* key : kTokenKeys) stats.erase(key);
  }
  return stats;
}

std::int64_t WholeNumber(const Json& object, const char* key) {
  constexpr double kMax = 1e12;
  const double value = JsonGet(object, key, 0.0);
  return std::isfinite(value) ? static_cast<std::int64_t>(std::clamp(value, -kMax, kMax)) : 0;
}

Result<Json> ReadPythonObject(const fs::path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxResultBytes));
  ASSIGN_OR_RETURN(Json json, ParseJsonFile(text, file));
  if (!json.is_object()) return InputError(file.string() + ": expected an object");
  return json;
}

Result<Json> ReadPythonResult(const fs::path& run_folder) {
  std::error_code code;
  if (fs::exists(run_folder / "run_result.json", code)) {
    ASSIGN_OR_RETURN(Json result, ReadPythonObject(run_folder / "run_result.json"));
    if (const auto metadata = result.find("metadata"); metadata != result.end() && metadata->is_object()) return result;
    return InputError((run_folder / "run_result.json").string() + ": no metadata");
  }
  ASSIGN_OR_RETURN(Json metadata, ReadPythonObject(run_folder / "run_metadata.json"));
  return Json{{"metadata", std::move(metadata)}, {"passed", false}, {"error_message", "No result file found"}};
}

std::string PythonCsv(const std::vector<Json>& results) {
  std::string out = std::string(kPythonCsvBeginning) +
                    "model,task,timestamp,passed,assertions_passed,assertions_total,input_tokens,output_tokens,"
                    "total_tokens,conversation_span_ms,llm_time_ms,tool_time_ms,turns,tool_calls,tool_errors,mcp_calls,"
                    "execute_calls,error_message,session_id,session_history_file\r\n";
  for (const Json& result : results) out += CsvRow(result);
  return out;
}

}  // namespace upskill

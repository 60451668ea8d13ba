// SPDX-License-Identifier: Apache-2.0
#include "report/python_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <iomanip>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "report/csv.h"
#include "report/derived_file.h"
#include "report/figures.h"
#include "util/files.h"
#include "util/json.h"
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

Json Metadata(const JudgedRun& run, const Student& student, int number) {
  return {{"model", student.spec},
          {"task", run.plan().skill.name},
          {"batch_id", run.plan().run},
          {"run_number", number},
          {"timestamp", LocalIso(run.plan().created)}};
}

Json Stats(const JudgedRun& run, std::size_t student, Arm arm) {
  double seconds = 0.0;
  std::int64_t input = 0;
  std::int64_t output = 0;
  int turns = 0;
  int reported = 0;
  std::map<std::string, int> tools;
  for (const Sample* sample : run.data.samples(student, arm)) {
    if (!sample->ok()) continue;
    ++turns;
    seconds += sample->response.seconds;
    input += sample->response.usage.prompt();
    output += sample->response.usage.output;
    reported += ReportsTokens(*sample) ? 1 : 0;
    for (const ToolCall& call : sample->response.tool_calls) ++tools[call.name];
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
  // The Python tool takes whole numbers only, and a key that is missing for 0.
  if (reported < turns) {
    for (const char* key : kTokenKeys) stats.erase(key);
  }
  return stats;
}

// What an incomplete arm says of itself, with the first error.
Json ErrorMessage(const JudgedRun& run, std::size_t student, Arm arm, const ArmSummary& summary) {
  if (summary.answered >= summary.cells) return nullptr;
  std::string text = fmt::format("{} of {} cells unanswered", summary.cells - summary.answered, summary.cells);
  for (const Sample* sample : run.data.samples(student, arm)) {
    if (!sample->ok()) return text + "; the first: " + sample->error->message;
  }
  return text;
}

Json RunResult(const JudgedRun& run, std::size_t index, Arm arm, int number) {
  const ArmSummary& summary = run.summary.students[index].arms.at(arm);
  const bool judged = arm == Arm::kSkill && ReferenceArm(run.plan()).has_value();
  const bool passed = judged ? run.verdicts[index].word == Verdict::kHelps : summary.rate().value_or(0.0) > 0.5;
  return {{"metadata", Metadata(run, run.plan().students[index], number)},
          {"stats", Stats(run, index, arm)},
          {"passed", passed},
          {"assertions_passed", summary.passed},
          {"assertions_total", summary.answered},
          {"error_message", ErrorMessage(run, index, arm, summary)},
          {"session_id", nullptr},
          {"session_history_file", nullptr},
          {"run_type", arm == Arm::kSkill ? "with_skill" : "baseline"},
          {"skill_name", run.plan().skill.name}};
}

std::vector<fs::path> SubFolders(const fs::path& folder) {
  std::vector<fs::path> folders;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    std::error_code ignored;
    if (entry->is_directory(ignored)) folders.push_back(entry->path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// The run_N folders below a folder, sorted as text like Python's sorted().
std::vector<fs::path> RunFolders(const fs::path& folder) {
  std::vector<fs::path> folders = SubFolders(folder);
  std::erase_if(folders, [](const fs::path& entry) { return !entry.filename().string().starts_with("run_"); });
  return folders;
}

Result<Json> ReadObject(const fs::path& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxResultBytes));
  ASSIGN_OR_RETURN(Json json, ParseJsonFile(text, file));
  if (!json.is_object()) return InputError(file.string() + ": expected an object");
  return json;
}

// run_result.json, or what run_metadata.json alone allows to say.
Result<Json> ReadResult(const fs::path& run_folder) {
  std::error_code code;
  if (fs::exists(run_folder / "run_result.json", code)) {
    ASSIGN_OR_RETURN(Json result, ReadObject(run_folder / "run_result.json"));
    if (const auto metadata = result.find("metadata"); metadata != result.end() && metadata->is_object()) return result;
    return InputError((run_folder / "run_result.json").string() + ": no metadata");
  }
  ASSIGN_OR_RETURN(Json metadata, ReadObject(run_folder / "run_metadata.json"));
  return Json{{"metadata", std::move(metadata)}, {"passed", false}, {"error_message", "No result file found"}};
}

// A whole number as other programs may write it (5, 5.0, 1e400), within a range that sums can't leave.
std::int64_t WholeNumber(const Json& object, const char* key) {
  constexpr double kMax = 1e12;
  const double value = JsonGet(object, key, 0.0);
  return std::isfinite(value) ? static_cast<std::int64_t>(std::clamp(value, -kMax, kMax)) : 0;
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

std::size_t Count(const Json& object, const char* key) {
  return static_cast<std::size_t>(std::max<std::int64_t>(WholeNumber(object, key), 0));
}

void AddResult(ArmSummary& arm, const Json& result) {
  const std::size_t total = Count(result, "assertions_total");
  const std::size_t passed = std::min(total, Count(result, "assertions_passed"));
  const Json& stats = Member(result, "stats");
  const bool failed = total == 0 && !JsonGet<std::string>(result, "error_message", "").empty();
  arm.cells += failed ? 1 : total;
  arm.errors += failed ? 1 : 0;
  arm.answered += total;
  arm.passed += passed;
  arm.checks_total += total;
  arm.checks_passed += passed;
  arm.prompt_tokens += static_cast<std::int64_t>(Count(stats, "input_tokens"));
  arm.evaluated_tokens = arm.prompt_tokens;
  arm.output_tokens += static_cast<std::int64_t>(Count(stats, "output_tokens"));
  if (Count(stats, "input_tokens") + Count(stats, "output_tokens") > 0) arm.tokens_known += total;
}

RunRow NewRow(const fs::path& folder, const Json& result) {
  const Json& metadata = Member(result, "metadata");
  RunRow row;
  row.run = folder.filename().string();
  row.created = JsonGet<std::string>(metadata, "timestamp", "");
  row.skill = JsonGet<std::string>(result, "skill_name", "");
  if (row.skill.empty()) row.skill = JsonGet<std::string>(metadata, "task", "");
  const std::string model = JsonGet<std::string>(metadata, "model", "");
  row.student.student = {model, model, model};
  return row;
}

// Puts the results of one model and skill into rows: pairs where there are baselines, else one sum.
void AddRows(std::vector<RunRow>& rows, const fs::path& folder, const std::vector<const Json*>& results) {
  const auto is_baseline = [](const Json* result) {
    return JsonGet<std::string>(*result, "run_type", "") == "baseline";
  };
  const bool pairs = std::any_of(results.begin(), results.end(), is_baseline);
  const Json* baseline = nullptr;
  bool baseline_used = true;
  const auto add_baseline = [&](RunRow& row) {
    if (baseline != nullptr) AddResult(row.student.arms[Arm::kBaseline], *baseline);
    baseline_used = true;
  };
  std::optional<RunRow> sum;
  for (const Json* result : results) {
    if (is_baseline(result)) {
      if (!baseline_used) add_baseline(rows.emplace_back(NewRow(folder, *baseline)));
      baseline = result;
      baseline_used = false;
      continue;
    }
    if (!pairs) {
      if (!sum) sum = NewRow(folder, *result);
      AddResult(sum->student.arms[Arm::kSkill], *result);
      continue;
    }
    RunRow& row = rows.emplace_back(NewRow(folder, *result));
    add_baseline(row);
    AddResult(row.student.arms[Arm::kSkill], *result);
  }
  if (!baseline_used) add_baseline(rows.emplace_back(NewRow(folder, *baseline)));
  if (sum) rows.push_back(std::move(*sum));
}

}  // namespace

Status WritePythonFiles(const JudgedRun& run, const fs::path& run_folder) {
  ASSIGN_OR_RETURN(const Folder place, Folder::Make(run_folder));
  Json results = Json::array();
  std::string models;
  std::size_t passed = 0;
  int number = 0;
  for (std::size_t i = 0; i < run.plan().students.size(); ++i) {
    models += (i == 0 ? "" : ", ") + run.plan().students[i].spec;
    for (const Arm arm : {Arm::kBaseline, Arm::kSkill}) {
      if (!run.plan().has_arm(arm)) continue;
      Json result = RunResult(run, i, arm, ++number);
      const fs::path folder = fmt::format("run_{}", number);
      RETURN_IF_ERROR(WriteDerivedFile(place, folder / "run_metadata.json", DumpJsonIndented(result["metadata"])));
      RETURN_IF_ERROR(WriteDerivedFile(place, folder / "run_result.json", DumpJsonIndented(result)));
      passed += result["passed"].get<bool>() ? 1 : 0;
      results.push_back(std::move(result));
    }
  }
  const Json batch = {{"batch_id", run.plan().run}, {"model", models},       {"task", run.plan().skill.name},
                      {"total_runs", number},       {"passed_runs", passed}, {"results", std::move(results)}};
  RETURN_IF_ERROR(WriteDerivedFile(place, "batch_summary.json", DumpJsonIndented(batch)));
  return WriteResultsCsv(fs::absolute(run_folder).lexically_normal().parent_path());
}

Status WriteResultsCsv(const fs::path& runs_dir) {
  constexpr std::string_view kFirstColumns = "batch_id,run_number,";
  constexpr std::chrono::seconds kLimit{30};
  ASSIGN_OR_RETURN(const Folder runs, Folder::Make(runs_dir));
  // Of runs that end together, the last to get the lock sees the files of all.
  RETURN_IF_ERROR(runs.Lock(kLimit));
  const fs::path path = runs_dir / "results.csv";
  std::error_code code;
  if (fs::exists(path, code) && !fs::is_symlink(path, code)) {  // a link is replaced, not followed
    // A folder that was made a runs folder by a link or by mistake may have another table of this name.
    constexpr std::size_t kMostBytes = std::size_t{1} << 30U;
    ASSIGN_OR_RETURN(const std::string present, ReadFile(path, kMostBytes));
    if (!present.empty() && !present.starts_with(kFirstColumns))
      return InputError(fmt::format("{} is not a table of runs, so it was not replaced; move it away", path.string()));
  }
  std::string out =
      std::string(kFirstColumns) +
      "model,task,timestamp,passed,assertions_passed,assertions_total,input_tokens,output_tokens,"
      "total_tokens,"
      "conversation_span_ms,llm_time_ms,tool_time_ms,turns,tool_calls,tool_errors,mcp_calls,execute_calls,error_"
      "message,session_id,"
      "session_history_file\r\n";
  for (const fs::path& batch : SubFolders(runs_dir)) {
    for (const fs::path& folder : RunFolders(batch)) {
      const Result<Json> result = ReadResult(folder);
      if (result) out += CsvRow(*result);
    }
  }
  return WriteDerivedFile(runs, "results.csv", out);
}

std::vector<fs::path> FindPythonRuns(const fs::path& runs_dir) {
  std::vector<fs::path> found;
  std::error_code code;
  for (const fs::path& folder : SubFolders(runs_dir)) {
    if (fs::exists(folder / "plan.json", code)) continue;
    if (fs::exists(folder / "batch_summary.json", code) || !RunFolders(folder).empty()) found.push_back(folder);
  }
  return found;
}

Result<PythonRun> ReadPythonRun(const fs::path& folder) {
  PythonRun run;
  std::vector<Json> results;
  for (const fs::path& entry : RunFolders(folder)) {
    Result<Json> result = ReadResult(entry);
    if (result) {
      results.push_back(std::move(result).value());
    } else {
      run.warnings.push_back(result.error().message);
    }
  }
  if (results.empty()) {
    ASSIGN_OR_RETURN(const Json batch, ReadObject(folder / "batch_summary.json"));
    const auto found = batch.find("results");
    if (found == batch.end() || !found->is_array())
      return InputError((folder / "batch_summary.json").string() + ": no results");
    for (const Json& result : *found) {
      if (result.is_object()) results.push_back(result);
    }
  }
  // The folder's order as text puts run_10 before run_2.
  std::stable_sort(results.begin(), results.end(), [](const Json& a, const Json& b) {
    return JsonGet(Member(a, "metadata"), "run_number", 0.0) < JsonGet(Member(b, "metadata"), "run_number", 0.0);
  });
  std::map<std::pair<std::string, std::string>, std::vector<const Json*>> groups;
  for (const Json& result : results) {
    const RunRow row = NewRow(folder, result);
    groups[{row.skill, row.student.student.spec}].push_back(&result);
  }
  for (const auto& [key, group] : groups) AddRows(run.rows, folder, group);
  for (RunRow& row : run.rows) {
    const ArmSummary* before = ArmOf(row.student, Arm::kBaseline);
    const ArmSummary* after = ArmOf(row.student, Arm::kSkill);
    if (before != nullptr && after != nullptr && before->rate() && after->rate())
      row.student.lift = *after->rate() - *before->rate();
    for (const auto& [arm, summary] : row.student.arms) {
      row.cells += summary.cells;
      row.answered += summary.answered;
    }
  }
  return run;
}

}  // namespace upskill

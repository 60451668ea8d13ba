// SPDX-License-Identifier: Apache-2.0
#include "report/export/python_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "report/export/derived_file.h"
#include "report/export/python_result.h"
#include "report/terminal/figures.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// What an incomplete arm says of itself, with the first error.
Json ErrorMessage(const JudgedRun& run, std::size_t student, Arm arm, const ArmSummary& summary) {
  if (summary.answered >= summary.cells) return nullptr;
  const std::string text = fmt::format("{} of {} cells unanswered", summary.cells - summary.answered, summary.cells);
  const SamplePtr error = run.data.samples(student, arm).first_error();
  return error == nullptr ? text : text + "; the first: " + error->error->message;
}

Json RunResult(const JudgedRun& run, std::size_t index, Arm arm, int number) {
  const ArmSummary& summary = run.summary.students[index].arms.at(arm);
  const bool judged = arm == Arm::kSkill && ReferenceArm(run.plan()).has_value();
  const bool passed = judged ? run.verdicts[index].word == Verdict::kHelps : summary.rate().value_or(0.0) > 0.5;
  return {{"metadata", PythonMetadata(run.plan(), run.plan().students[index], number)},
          {"stats", PythonStats(run.data.samples(index, arm))},
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
    if (!present.empty() && !present.starts_with(kPythonCsvBeginning))
      return InputError(fmt::format("{} is not a table of runs, so it was not replaced; move it away", path.string()));
  }
  std::vector<Json> results;
  for (const fs::path& batch : SubFolders(runs_dir)) {
    for (const fs::path& folder : RunFolders(batch)) {
      Result<Json> result = ReadPythonResult(folder);
      if (result) results.push_back(std::move(result).value());
    }
  }
  return WriteDerivedFile(runs, "results.csv", PythonCsv(results));
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
    Result<Json> result = ReadPythonResult(entry);
    if (result) {
      results.push_back(std::move(result).value());
    } else {
      run.warnings.push_back(result.error().message);
    }
  }
  if (results.empty()) {
    ASSIGN_OR_RETURN(const Json batch, ReadPythonObject(folder / "batch_summary.json"));
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
  run.results = std::move(results);
  return run;
}

}  // namespace upskill

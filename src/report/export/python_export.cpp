// SPDX-License-Identifier: Apache-2.0
#include "report/export/python_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "eval/plan/cell.h"
#include "report/export/derived_file.h"
#include "report/export/python_files.h"
#include "report/export/python_result.h"
#include "util/files.h"
#include "util/folder.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

struct AssertionCounts {
  std::size_t passed = 0;
  std::size_t total = 0;
};

// The checks of a case that stand for its `expected`, which is one assertion.
std::size_t ExpectedChecks(const Case& test_case) {
  const Json& contains = Member(Member(test_case.raw, "expected"), "contains");
  return contains.is_array() ? contains.size() : contains.is_string() ? 1U : 0U;
}

void Add(const Case& test_case, const std::vector<CheckResult>& checks, AssertionCounts& sum) {
  const auto passes = [](const CheckResult& check) { return check.outcome == Outcome::kPass; };
  const auto others = checks.begin() + static_cast<std::ptrdiff_t>(std::min(ExpectedChecks(test_case), checks.size()));
  if (others != checks.begin()) {
    ++sum.total;
    sum.passed += std::all_of(checks.begin(), others, passes) ? 1 : 0;
  }
  sum.total += static_cast<std::size_t>(checks.end() - others);
  sum.passed += static_cast<std::size_t>(std::count_if(others, checks.end(), passes));
}

// One arm of one round.
struct ArmRound {
  SampleList samples;  // answers and final errors
  AssertionCounts assertions = {};
  std::size_t cells = 0;
  std::size_t answered = 0;
  std::size_t passed = 0;
  Json stats = nullptr;

  double rate() const { return answered == 0 ? 0.0 : static_cast<double>(passed) / static_cast<double>(answered); }
  double tokens() const { return JsonGet(stats, "total_tokens", 0.0); }
};

ArmRound RoundOf(const JudgedRun& run, std::size_t student, Arm arm, int round) {
  const Plan& plan = run.plan();
  ArmRound one{run.data.samples_of_round(student, arm, round)};
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
    if (!InShard(plan, student, round, i)) continue;
    ++one.cells;
    const FinalSample cell = run.data.at(student, arm, i, round);
    if (!cell.answered) continue;
    ++one.answered;
    one.passed += cell.passed ? 1 : 0;
    Add(plan.suite.cases[i], run.data.Load(student, arm, i, round)->checks, one.assertions);
  }
  one.stats = PythonStats(one.samples);
  return one;
}

Json ErrorOf(const ArmRound& round) {
  if (round.answered == round.cells) return nullptr;
  const std::string text = fmt::format("{} of {} cells unanswered", round.cells - round.answered, round.cells);
  const SamplePtr error = round.samples.first_error();
  return error == nullptr ? text : text + "; the first: " + error->error->message;
}

// EvalResults.is_beneficial.
bool IsBeneficial(const ArmRound& with, const ArmRound& without) {
  const double lift = with.rate() - without.rate();
  const double saved = without.tokens() > 0.0 ? 1.0 - with.tokens() / without.tokens() : 0.0;
  return lift > 0.05 || (lift >= 0.0 && saved > 0.2);
}

bool Passed(const Plan& plan, const ArmRound& round, const std::optional<ArmRound>& baseline) {
  if (round.answered == 0) return false;
  if (baseline) return IsBeneficial(round, *baseline);
  const bool is_benchmark = plan.students.size() > 1 || plan.rounds > 1;
  return is_benchmark ? round.passed == round.cells : round.rate() > 0.5;
}

Json ResultOf(const Plan& plan, const Student& student, Arm arm, const ArmRound& round, bool passed,
              std::size_t number) {
  return {{"metadata", PythonMetadata(plan, student, static_cast<int>(number))},
          {"stats", round.stats},
          {"passed", passed},
          {"assertions_passed", round.assertions.passed},
          {"assertions_total", round.assertions.total},
          {"error_message", ErrorOf(round)},
          {"session_id", nullptr},
          {"session_history_file", nullptr},
          {"run_type", arm == Arm::kSkill ? "with_skill" : "baseline"},
          {"skill_name", plan.skill.name}};
}

Status ExportRun(const JudgedRun& run, const fs::path& folder) {
  std::error_code code;
  if (fs::exists(fs::symlink_status(folder, code))) {
    return InputError(
        fmt::format("{} already exists and is left unchanged; name another folder with -o", folder.string()));
  }
  ASSIGN_OR_RETURN(const Folder place, Folder::Make(folder));
  std::string models;
  for (const Student& student : run.plan().students) models += (models.empty() ? "" : ", ") + student.spec;
  Json results = Json::array();
  std::size_t passed = 0;
  for (Json& result : PythonRounds(run)) {
    const fs::path name = fmt::format("run_{}", results.size() + 1);
    RETURN_IF_ERROR(WriteDerivedFile(place, name / "run_metadata.json", DumpJsonIndented(result["metadata"])));
    RETURN_IF_ERROR(WriteDerivedFile(place, name / "run_result.json", DumpJsonIndented(result)));
    passed += result["passed"].get<bool>() ? 1 : 0;
    results.push_back(std::move(result));
  }
  const std::size_t total = results.size();
  const Json batch = {{"batch_id", run.plan().run}, {"model", models},       {"task", run.plan().skill.name},
                      {"total_runs", total},        {"passed_runs", passed}, {"results", std::move(results)}};
  return WriteDerivedFile(place, "batch_summary.json", DumpJsonIndented(batch));
}

}  // namespace

std::vector<Json> PythonRounds(const JudgedRun& run) {
  const Plan& plan = run.plan();
  std::vector<Json> results;
  for (std::size_t i = 0; i < plan.students.size(); ++i) {
    for (int round = 0; round < run.data.rounds(i); ++round) {
      std::optional<ArmRound> baseline;
      if (plan.has_arm(Arm::kBaseline)) baseline = RoundOf(run, i, Arm::kBaseline, round);
      const ArmRound skill = RoundOf(run, i, Arm::kSkill, round);
      if (skill.samples.empty() && (!baseline || baseline->samples.empty())) continue;
      if (baseline) {
        results.push_back(
            ResultOf(plan, plan.students[i], Arm::kBaseline, *baseline, baseline->rate() > 0.5, results.size() + 1));
      }
      if (plan.has_arm(Arm::kSkill)) {
        results.push_back(
            ResultOf(plan, plan.students[i], Arm::kSkill, skill, Passed(plan, skill, baseline), results.size() + 1));
      }
    }
  }
  return results;
}

Status ExportToPython(std::span<const JudgedRun> runs, const fs::path& dir) {
  for (const JudgedRun& run : runs) {
    const std::string& name = run.plan().run;
    if (name.find('/') != std::string::npos || !ContainedPath("", name))
      return InputError(fmt::format("the run's name '{}' is not that of a folder", ExcerptLine(name, 60)));
    RETURN_IF_ERROR(ExportRun(run, dir / name));
  }
  return WriteResultsCsv(dir);
}

}  // namespace upskill

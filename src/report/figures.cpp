// SPDX-License-Identifier: Apache-2.0
#include "report/report_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "util/invariant.h"

namespace upskill {

ReportInput MakeReportInput(const Plan& plan, const std::vector<Sample>& samples, RunSummary summary,
                            std::vector<StudentVerdict> verdicts) {
  CHECK(summary.students.size() == plan.students.size());
  CHECK(verdicts.empty() || verdicts.size() == plan.students.size());
  ReportInput run{&plan, {}, std::move(summary), std::move(verdicts), {}};
  run.verdicts.resize(plan.students.size());

  std::unordered_map<std::string_view, std::size_t> students;
  std::unordered_map<std::string_view, std::size_t> cases;
  for (std::size_t i = 0; i < plan.students.size(); ++i) students.emplace(plan.students[i].spec, i);
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) cases.emplace(plan.suite.cases[i].id, i);
  using Place = std::tuple<std::size_t, std::size_t, Arm, int>;
  std::vector<std::pair<Place, const Sample*>> placed;
  for (const Sample* sample : FinalSamples(samples)) {
    const auto student = students.find(sample->student);
    const auto test_case = cases.find(sample->case_id);
    if (student == students.end() || test_case == cases.end() || !plan.has_arm(sample->arm)) continue;
    if (sample->round < 0 || sample->round >= plan.rounds) continue;
    placed.push_back({{test_case->second, student->second, sample->arm, sample->round}, sample});
  }
  std::sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  run.samples.reserve(placed.size());
  for (const auto& [place, sample] : placed) run.samples.push_back(sample);
  return run;
}

ReportInput MakeReportInput(const JudgedRun& run, const std::vector<Sample>& samples) {
  ReportInput input = MakeReportInput(run.plan, samples, run.summary, run.verdicts);
  input.others = run.others;
  return input;
}

std::optional<Arm> ReferenceArm(const Plan& plan) {
  const Arm arm = ComparedArm(plan);
  if (!plan.has_arm(arm)) return std::nullopt;
  return arm;
}

std::string ArmLabel(Arm arm) {
  switch (arm) {
    case Arm::kBaseline:
      return "baseline";
    case Arm::kSkill:
      return "with skill";
    case Arm::kPlacebo:
      return "placebo";
    case Arm::kPrevious:
      return "previous version";
  }
  return "";
}

std::string PointsText(double fraction) {
  const double points = std::round(fraction * 100.0);
  return fmt::format("{}{:.0f}", points > 0 ? "+" : "", points == 0 ? 0.0 : points);
}

std::optional<double> LiftOf(const ReportInput& run, std::size_t student) {
  if (run.verdicts[student].lift) return run.verdicts[student].lift;
  return run.summary.students[student].lift;
}

const ArmSummary* ArmOf(const StudentSummary& student, Arm arm) {
  const auto found = student.arms.find(arm);
  return found == student.arms.end() ? nullptr : &found->second;
}

std::optional<double> MeanTokens(const ArmSummary& arm) {
  if (arm.answered == 0) return std::nullopt;
  return static_cast<double>(arm.prompt_tokens + arm.output_tokens) / static_cast<double>(arm.answered);
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "report/eval_json.h"

namespace upskill {
namespace {

Json OrNull(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json ArmToJson(const StudentSummary& student, Arm arm) {
  const auto found = student.arms.find(arm);
  if (found == student.arms.end()) return nullptr;
  const ArmSummary& summary = found->second;
  return {{"passed", summary.passed},
          {"total", summary.answered},
          {"rate", OrNull(summary.rate())},
          {"errors", summary.errors},
          {"missing", summary.cells - summary.answered},
          {"checks_passed", summary.checks_passed},
          {"checks_total", summary.checks_total},
          {"truncated", summary.truncated},
          {"refused", summary.refused}};
}

Json TokensToJson(const StudentSummary& student, Arm arm) {
  const auto found = student.arms.find(arm);
  if (found == student.arms.end()) return nullptr;
  const ArmSummary& summary = found->second;
  return {{"prompt", summary.prompt_tokens},
          {"prompt_evaluated", summary.evaluated_tokens},
          {"output", summary.output_tokens},
          {"output_mean", OrNull(summary.mean_output_tokens())}};
}

}  // namespace

Json EvalToJson(const Plan& plan, const RunSummary& summary) {
  Json students = Json::array();
  for (const StudentSummary& student : summary.students) {
    std::size_t saved = 0;
    for (const auto& [arm, entry] : student.arms) saved += entry.from_cache;
    Json cases = Json::array();
    for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
      Json entry = {{"id", plan.suite.cases[i].id}};
      for (const auto& [arm, tallies] : student.cases) {
        entry[arm == Arm::kBaseline ? "baseline" : "with_skill"] = {{"passed", tallies[i].passed}, {"total", tallies[i].answered}};
      }
      cases.push_back(std::move(entry));
    }
    students.push_back({{"model", student.student.spec},
                        {"name", student.student.name},
                        {"verdict", nullptr},
                        {"e_value", nullptr},
                        {"lift", OrNull(student.lift)},
                        {"lift_low", nullptr},
                        {"lift_high", nullptr},
                        {"baseline", ArmToJson(student, Arm::kBaseline)},
                        {"with_skill", ArmToJson(student, Arm::kSkill)},
                        {"tokens",
                         {{"baseline", TokensToJson(student, Arm::kBaseline)},
                          {"with_skill", TokensToJson(student, Arm::kSkill)}}},
                        {"cost_usd", nullptr},
                        {"cells_saved", saved},
                        {"cases", std::move(cases)}});
  }
  return {{"run", plan.run.empty() ? Json(nullptr) : Json(plan.run)},
          {"skill", plan.skill.name},
          {"cases", plan.suite.cases.size()},
          {"rounds", plan.rounds},
          {"students", std::move(students)},
          {"complete", summary.complete()}};
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "report/figures.h"

#include <fmt/format.h>

#include <cmath>

namespace upskill {

std::vector<const Sample*> SamplesByCase(const RunData& data) {
  std::vector<const Sample*> found;
  for (std::size_t i = 0; i < data.plan().suite.cases.size(); ++i) {
    for (std::size_t student = 0; student < data.plan().students.size(); ++student) {
      for (const Arm arm : data.plan().arms) {
        const std::vector<const Sample*> rounds = data.samples(student, arm, i);
        found.insert(found.end(), rounds.begin(), rounds.end());
      }
    }
  }
  return found;
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

std::optional<double> LiftOf(const JudgedRun& run, std::size_t student) {
  if (run.verdicts[student].lift) return run.verdicts[student].lift;
  return run.summary.students[student].lift;
}

std::optional<Verdict> WordOf(const JudgedRun& run, std::size_t student) {
  if (!LiftOf(run, student)) return std::nullopt;
  return run.verdicts[student].word;
}

const ArmSummary* ArmOf(const StudentSummary& student, Arm arm) {
  const auto found = student.arms.find(arm);
  return found == student.arms.end() ? nullptr : &found->second;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "teach/trial_answers.h"

#include <tuple>

namespace upskill {
namespace {

// (student, case, round)
using PassedCells = std::set<std::tuple<std::string, std::string, int>>;

PassedCells PassedCellsOf(const Trial& trial) {
  PassedCells cells;
  for (const SamplePtr& sample : trial.judged.data.samples()) {
    if (sample->ok() && sample->arm == Arm::kSkill && sample->passed())
      cells.emplace(sample->student, sample->case_id, sample->round);
  }
  return cells;
}

}  // namespace

std::set<std::string> FailedCases(const Trial& trial, Arm arm) {
  std::set<std::string> failed;
  for (const SamplePtr& sample : trial.judged.data.samples()) {
    if (sample->ok() && sample->arm == arm && !sample->passed()) failed.insert(sample->case_id);
  }
  return failed;
}

std::size_t AnswersPassed(const Trial& trial, const std::set<std::string>& case_ids) {
  std::size_t passed = 0;
  for (const auto& [student, case_id, round] : PassedCellsOf(trial)) passed += case_ids.contains(case_id) ? 1U : 0U;
  return passed;
}

PassedCases AlwaysPassed(const Trial& trial) {
  PassedCases passed;
  std::map<std::string, std::set<std::string>> failed;
  for (const SamplePtr& sample : trial.judged.data.samples()) {
    if (!sample->ok() || sample->arm != Arm::kSkill) continue;
    PassedByStudent& of_student = passed[sample->student];
    if (sample->passed()) {
      ++of_student.answers_passed;
      of_student.always.insert(sample->case_id);
    } else {
      failed[sample->student].insert(sample->case_id);
    }
  }
  for (const auto& [student, ids] : failed) {
    for (const std::string& id : ids) passed[student].always.erase(id);
  }
  return passed;
}

std::map<std::string, std::size_t> PassesByCase(const Trial& trial) {
  std::map<std::string, std::size_t> passes;
  for (const auto& [student, case_id, round] : PassedCellsOf(trial)) ++passes[case_id];
  return passes;
}

Screening AnswersKept(const Trial& trial, const PassedCases& before) {
  Screening kept;
  for (const SamplePtr& sample : trial.judged.data.samples()) {
    if (!sample->ok() || sample->arm != Arm::kSkill) continue;
    const auto of_student = before.find(sample->student);
    if (of_student == before.end() || !of_student->second.always.contains(sample->case_id)) continue;
    ++kept.best_passed;
    kept.passed += sample->passed() ? 1U : 0U;
  }
  return kept;
}

std::size_t AnswersLost(const Trial& before, const Trial& after) {
  const PassedCells kept = PassedCellsOf(after);
  std::size_t lost = 0;
  for (const auto& cell : PassedCellsOf(before)) lost += kept.contains(cell) ? 0U : 1U;
  return lost;
}

}  // namespace upskill

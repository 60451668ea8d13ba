// SPDX-License-Identifier: Apache-2.0
#include "eval/summary.h"

#include <algorithm>
#include <unordered_map>

namespace upskill {
namespace {

void Add(ArmSummary& arm, const Sample& sample) {
  if (!sample.ok()) {
    ++arm.errors;
    return;
  }
  ++arm.answered;
  if (sample.passed()) ++arm.passed;
  arm.checks_total += sample.checks.size();
  arm.checks_passed += static_cast<std::size_t>(std::count_if(
      sample.checks.begin(), sample.checks.end(), [](const CheckResult& check) { return check.outcome == Outcome::kPass; }));
  if (sample.response.stop == StopReason::kLength) ++arm.truncated;
  if (sample.response.stop == StopReason::kRefusal) ++arm.refused;
  arm.prompt_tokens += sample.response.usage.prompt();
  arm.evaluated_tokens += sample.response.usage.prompt() - sample.response.usage.cache_read;
  arm.output_tokens += sample.response.usage.output;
  if (!sample.cached_from.empty()) ++arm.from_cache;
}

std::optional<double> Lift(const StudentSummary& student) {
  const auto baseline = student.cases.find(Arm::kBaseline);
  const auto skill = student.cases.find(Arm::kSkill);
  if (baseline == student.cases.end() || skill == student.cases.end()) return std::nullopt;
  double sum = 0.0;
  std::size_t cases = 0;
  for (std::size_t i = 0; i < baseline->second.size(); ++i) {
    const CaseTally& without = baseline->second[i];
    const CaseTally& with = skill->second[i];
    if (without.answered == 0 || with.answered == 0) continue;
    sum += static_cast<double>(with.passed) / static_cast<double>(with.answered) -
           static_cast<double>(without.passed) / static_cast<double>(without.answered);
    ++cases;
  }
  if (cases == 0) return std::nullopt;
  return sum / static_cast<double>(cases);
}

}  // namespace

std::vector<const Sample*> LastWords(const std::vector<Sample>& samples) {
  std::unordered_map<std::string, std::size_t> position;
  std::vector<const Sample*> words;
  for (const Sample& sample : samples) {
    const auto [found, is_new] = position.emplace(CellName(sample), words.size());
    if (is_new) {
      words.push_back(&sample);
    } else if (!words[found->second]->ok()) {
      words[found->second] = &sample;
    }
  }
  return words;
}

RunSummary Summarize(const Plan& plan, const std::vector<Sample>& samples) {
  RunSummary summary;
  std::unordered_map<std::string_view, std::size_t> students;
  std::unordered_map<std::string_view, std::size_t> cases;
  for (const Student& student : plan.students) {
    students.emplace(student.spec, summary.students.size());
    StudentSummary entry;
    entry.student = student;
    for (const Arm arm : plan.arms) {
      entry.arms[arm].cells = plan.suite.cases.size() * static_cast<std::size_t>(plan.rounds);
      entry.cases[arm].resize(plan.suite.cases.size());
      summary.cells += entry.arms[arm].cells;
    }
    summary.students.push_back(std::move(entry));
  }
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) cases.emplace(plan.suite.cases[i].id, i);

  for (const Sample* sample : LastWords(samples)) {
    const auto student = students.find(sample->student);
    const auto case_index = cases.find(sample->case_id);
    if (student == students.end() || case_index == cases.end()) continue;
    if (sample->round < 0 || sample->round >= plan.rounds) continue;
    StudentSummary& entry = summary.students[student->second];
    const auto arm = entry.arms.find(sample->arm);
    if (arm == entry.arms.end()) continue;
    Add(arm->second, *sample);
    if (!sample->ok()) continue;
    ++summary.answered;
    CaseTally& tally = entry.cases[sample->arm][case_index->second];
    ++tally.answered;
    if (sample->passed()) ++tally.passed;
  }
  for (StudentSummary& student : summary.students) student.lift = Lift(student);
  return summary;
}

}  // namespace upskill

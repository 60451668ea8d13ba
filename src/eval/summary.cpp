// SPDX-License-Identifier: Apache-2.0
#include "eval/summary.h"

#include <algorithm>
#include <unordered_map>

#include "eval/cell.h"
#include "eval/verdict.h"

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
  arm.checks_passed +=
      static_cast<std::size_t>(std::count_if(sample.checks.begin(), sample.checks.end(),
                                             [](const CheckResult& check) { return check.outcome == Outcome::kPass; }));
  if (sample.response.stop == StopReason::kLength) ++arm.truncated;
  if (sample.response.stop == StopReason::kRefusal) ++arm.refusals;
  arm.prompt_tokens += sample.response.usage.prompt();
  arm.evaluated_tokens += sample.response.usage.prompt() - sample.response.usage.cache_read;
  arm.output_tokens += sample.response.usage.output;
  if (!sample.cached_from.empty()) ++arm.from_cache;
  arm.seconds += sample.response.seconds;
  if (sample.response.cost_usd) {
    arm.cost_usd += *sample.response.cost_usd;
    ++arm.cost_known;
  }
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

// How many (round, case) the plan's shard holds for a student.
std::size_t PairsInShard(const Plan& plan, std::size_t student) {
  std::size_t pairs = 0;
  for (int round = 0; round < plan.rounds; ++round) {
    for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) pairs += InShard(plan, student, round, i) ? 1 : 0;
  }
  return pairs;
}

// Where the verdict is known, the cells that were not asked for are not missing.
void LeaveOutSavedCells(const Plan& plan, const std::vector<Sample>& samples, RunSummary& summary) {
  const std::vector<StudentVerdict> verdicts = JudgeRun(plan, samples, ComparedArm(plan));
  for (std::size_t i = 0; i < summary.students.size(); ++i) {
    if (verdicts[i].word == Verdict::kUndecided && !verdicts[i].answers_repeat) continue;
    StudentSummary& student = summary.students[i];
    student.rounds = std::max(verdicts[i].complete_rounds, 1);
    for (auto& [arm, entry] : student.arms) {
      const std::size_t asked = entry.answered + entry.errors;
      student.cells_saved += entry.cells - asked;
      entry.cells = asked;
    }
  }
}

}  // namespace

std::vector<const Sample*> FinalSamples(const std::vector<Sample>& samples) {
  std::unordered_map<const Sample*, std::size_t, CellHash, SameCell> position;
  position.reserve(samples.size());
  std::vector<const Sample*> words;
  words.reserve(samples.size());
  for (const Sample& sample : samples) {
    const auto [found, is_new] = position.emplace(&sample, words.size());
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
    entry.rounds = plan.rounds;
    const std::size_t pairs = PairsInShard(plan, summary.students.size());
    for (const Arm arm : plan.arms) {
      entry.arms[arm].cells = pairs;
      entry.cases[arm].resize(plan.suite.cases.size());
    }
    summary.students.push_back(std::move(entry));
  }
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) cases.emplace(plan.suite.cases[i].id, i);

  for (const Sample* sample : FinalSamples(samples)) {
    const auto student = students.find(sample->student);
    const auto case_index = cases.find(sample->case_id);
    if (student == students.end() || case_index == cases.end()) continue;
    if (sample->round < 0 || sample->round >= plan.rounds) continue;
    StudentSummary& entry = summary.students[student->second];
    const auto arm = entry.arms.find(sample->arm);
    if (arm == entry.arms.end()) continue;
    Add(arm->second, *sample);
    if (!sample->ok()) continue;
    CaseTally& tally = entry.cases[sample->arm][case_index->second];
    ++tally.answered;
    if (sample->passed()) ++tally.passed;
  }
  for (StudentSummary& student : summary.students) student.lift = Lift(student);
  if (plan.stop_when_decided) LeaveOutSavedCells(plan, samples, summary);
  for (const StudentSummary& student : summary.students) {
    for (const auto& [arm, entry] : student.arms) {
      summary.cells += entry.cells;
      summary.answered += entry.answered;
    }
  }
  return summary;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/summary.h"

#include <algorithm>

#include "eval/plan/cell.h"

namespace upskill {
namespace {

void AddWork(const WorkRecord& record, bool on_demand, WorkSummary& work) {
  ++work.answers;
  work.turns += static_cast<std::size_t>(record.turns);
  work.tool_calls += static_cast<std::size_t>(record.tool_calls);
  work.tool_errors += static_cast<std::size_t>(record.tool_errors);
  for (const auto& [name, count] : record.tools) work.tools[name] += static_cast<std::size_t>(count);
  if (!record.limit.empty()) ++work.limits[record.limit];
  if (!record.skill) return;
  ++work.with_skill;
  if (on_demand) ++work.on_demand;
  const auto& read = record.skill->read;
  if (std::find(read.begin(), read.end(), "SKILL.md") != read.end()) ++work.skill_read;
  work.always_tokens += record.skill->always_tokens;
  work.loaded_tokens += record.skill->loaded_tokens;
  work.unread_tokens += record.skill->unread_tokens;
}

void AddCell(const FinalSample& cell, ArmSummary& arm, CaseTally& of_case) {
  if (cell.figures == nullptr) return;
  if (!cell.answered) {
    ++arm.errors;
    return;
  }
  const SampleFigures& sample = *cell.figures;
  ++arm.answered;
  ++of_case.answered;
  if (cell.passed) {
    ++arm.passed;
    ++of_case.passed;
  }
  arm.checks_total += sample.checks;
  arm.checks_passed += sample.checks_passed;
  if (sample.reached_time_limit) ++arm.time_limits;
  if (sample.stop == StopReason::kLength) ++arm.truncated;
  if (sample.is_cut) ++arm.cut;
  if (sample.stop == StopReason::kRefusal) ++arm.refusals;
  if (sample.is_empty) ++arm.empty;
  arm.prompt_tokens += sample.prompt_tokens;
  arm.evaluated_tokens += sample.prompt_tokens - sample.cache_read_tokens;
  arm.output_tokens += sample.output_tokens;
  if (sample.reports_tokens()) ++arm.tokens_known;
  if (sample.is_from_cache()) ++arm.from_cache;
  arm.seconds += sample.seconds;
  if (const std::optional<double>& cost = sample.cost_usd) {
    arm.cost_usd += *cost;
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

// The number of (round, case) pairs in the plan's shard for a student.
std::size_t PairsInShard(const Plan& plan, std::size_t student) {
  std::size_t pairs = 0;
  for (int round = 0; round < plan.rounds; ++round) {
    for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) pairs += InShard(plan, student, round, i) ? 1 : 0;
  }
  return pairs;
}

}  // namespace

RunSummary Summarize(const RunData& data) {
  const Plan& plan = data.plan();
  const bool on_demand = plan.workspace && plan.workspace->load == SkillLoad::kOnDemand;
  RunSummary summary;
  summary.judge = data.judged();
  for (std::size_t student = 0; student < plan.students.size(); ++student) {
    StudentSummary& entry = summary.students.emplace_back();
    entry.student = plan.students[student];
    entry.rounds = plan.rounds;
    const std::size_t pairs = PairsInShard(plan, student);
    for (const Arm arm : plan.arms) {
      ArmSummary& of_arm = entry.arms[arm];
      of_arm.cells = pairs;
      of_arm.attempts = data.attempts(student, arm).attempts;
      of_arm.failed_attempts = data.attempts(student, arm).errors;
      entry.cases[arm].resize(plan.suite.cases.size());
    }
    for (int round = 0; round < data.rounds(student); ++round) {
      for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
        for (const Arm arm : plan.arms) {
          const FinalSample cell = data.at(student, arm, i, round);
          AddCell(cell, entry.arms.at(arm), entry.cases.at(arm)[i]);
          if (!cell.answered || !cell.figures->has_work) continue;
          const SamplePtr sample = data.Load(student, arm, i, round);
          if (sample->response.work) AddWork(*sample->response.work, on_demand, entry.arms.at(arm).work);
        }
      }
    }
    for (const auto& [arm, of_arm] : entry.arms) {
      summary.cells += of_arm.cells;
      summary.answered += of_arm.answered;
    }
    entry.lift = Lift(entry);
    entry.activation = ActivationOf(data, student);
  }
  return summary;
}

}  // namespace upskill

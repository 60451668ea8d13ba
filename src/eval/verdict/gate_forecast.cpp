// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/gate_forecast.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "eval/verdict/judged_run.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kMostCells = 4'000;  // with more answers, nearly every clause can hold
constexpr int kMostRounds = 200;           // that are suggested

using Passes = std::function<bool(std::size_t student, Arm arm)>;

std::size_t CellsIn(const Plan& plan) {
  return plan.suite.cases.size() * plan.arms.size() * plan.students.size() * static_cast<std::size_t>(plan.rounds);
}

// A run of the plan in which each choice passes always or never.
JudgedRun Imagine(const Plan& plan, const Passes& passes) {
  std::vector<Sample> samples;
  samples.reserve(CellsIn(plan));
  const bool greedy = plan.sampling.temperature == 0.0;
  for (std::size_t student = 0; student < plan.students.size(); ++student) {
    for (int round = 0; round < plan.rounds; ++round) {
      for (const Case& test_case : plan.suite.cases) {
        for (const Arm arm : plan.arms) {
          Sample sample;
          sample.student = plan.students[student].spec;
          sample.arm = arm;
          sample.case_id = test_case.id;
          sample.round = round;
          sample.response.text = greedy ? "" : std::to_string(round);
          sample.checks = {{"imagined", passes(student, arm) ? Outcome::kPass : Outcome::kFail, ""}};
          samples.push_back(std::move(sample));
        }
      }
    }
  }
  return Judge(RunData(plan, std::move(samples)));
}

bool Holds(const GateClause& clause, const Plan& plan, const Passes& passes) {
  const std::vector<GateResult> results = CheckGate(Gate{{clause}}, Imagine(plan, passes));
  return std::all_of(results.begin(), results.end(), [](const GateResult& result) { return result.passed; });
}

bool Always(std::size_t /*student*/, Arm /*arm*/) { return true; }
bool OnlyWithSkill(std::size_t /*student*/, Arm arm) { return arm == Arm::kSkill; }
bool OnlyWithoutSkill(std::size_t /*student*/, Arm arm) { return arm != Arm::kSkill; }

// Whether the clause holds in the run that favours it most.
bool CanHold(const GateClause& clause, const Plan& plan) {
  if (Holds(clause, plan, Always) || Holds(clause, plan, OnlyWithSkill) || Holds(clause, plan, OnlyWithoutSkill))
    return true;
  if (clause.kind != GateClause::Kind::kContrast) return false;
  return Holds(clause, plan, [&](std::size_t student, Arm arm) {
    const GateChoice& choice = clause.choices.front();
    const Student& named = plan.students[student];
    return arm == choice.arm && (named.name == choice.model || named.spec == choice.model);
  });
}

// The fewest rounds with which `holds` is true.
std::optional<int> RoundsFor(Plan plan, const std::function<bool(const Plan&)>& holds) {
  if (plan.sampling.temperature == 0.0) return std::nullopt;  // further rounds would be copies
  const auto enough = [&](int rounds) {
    plan.rounds = rounds;
    return CellsIn(plan) > kMostCells || holds(plan);
  };
  int low = plan.rounds;
  int high = low;
  while (!enough(high)) {
    if (high >= kMostRounds) return std::nullopt;
    low = high;
    high = std::min(2 * high, kMostRounds);
  }
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return high;
}

std::string Advice(const std::optional<int>& rounds) {
  return rounds ? fmt::format("--runs {}, or more cases", *rounds) : "more cases";
}

bool DependsOnPassesOnly(const GateClause& clause) {
  switch (clause.kind) {
    case GateClause::Kind::kTokens:
    case GateClause::Kind::kCost:
    case GateClause::Kind::kSeconds:
      return false;
    default:
      return !clause.by_estimate && !clause.unchanged;
  }
}

std::string SizeOf(const Plan& plan) {
  return fmt::format("{} × {}", Counted(plan.suite.cases.size(), "case"),
                     Counted(static_cast<std::size_t>(plan.rounds), "round"));
}

bool IsNonInferiority(const GateClause& clause) {
  return clause.kind == GateClause::Kind::kNotHurts || (clause.kind == GateClause::Kind::kContrast && !clause.better);
}

}  // namespace

Result<std::vector<std::string>> ForecastGate(const Gate& gate, const Plan& plan) {
  std::vector<std::string> warnings;
  if (CellsIn(plan) > kMostCells || plan.shard.of > 1) return warnings;
  for (const GateClause& clause : gate.clauses) {
    if (!DependsOnPassesOnly(clause)) continue;
    if (!CanHold(clause, plan)) {
      const std::optional<int> rounds = RoundsFor(plan, [&](const Plan& larger) { return CanHold(clause, larger); });
      return InputError(
          fmt::format("gate clause '{}': {} are too few for it to hold, whatever the answers are; it "
                      "needs {}",
                      clause.text, SizeOf(plan), Advice(rounds)));
    }
    if (clause.kind == GateClause::Kind::kNotRegressed && Holds(clause, plan, OnlyWithoutSkill)) {
      return InputError(fmt::format(
          "gate clause '{}': {} are too few for it to fail, even if every answer with the skill fails; it needs {}",
          clause.text, SizeOf(plan),
          Advice(RoundsFor(plan, [&](const Plan& larger) { return !Holds(clause, larger, OnlyWithoutSkill); }))));
    }
    if (!IsNonInferiority(clause) || Holds(clause, plan, Always)) continue;
    const std::optional<int> rounds =
        RoundsFor(plan, [&](const Plan& larger) { return Holds(clause, larger, Always); });
    const bool of_skill = clause.kind == GateClause::Kind::kNotHurts;
    warnings.push_back(
        fmt::format("gate clause '{}': with {}, it can only hold if {}; to show that {} isn't worse by "
                    "more than {:g} points takes {}, or a wider margin",
                    clause.text, SizeOf(plan), of_skill ? "the skill helps" : "the first choice is better",
                    of_skill ? "a skill without effect" : "an equal one",
                    100.0 * clause.margin.value_or(plan.verdict.margin), Advice(rounds)));
  }
  return warnings;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/stop_rule.h"

#include <algorithm>
#include <array>

#include "eval/plan/alpha_share.h"
#include "eval/verdict/choice_answers.h"
#include "eval/verdict/contrast.h"
#include "eval/verdict/large_loss.h"

namespace upskill {
namespace {

using Kind = GateClause::Kind;

struct Choice {
  std::size_t student = 0;
  Arm arm = Arm::kBaseline;
};

// The rounds, from the first, in which each cell of the choice has its final sample.
int RoundsTried(const RunData& data, const Choice& choice) {
  for (int round = 0; round < data.rounds(choice.student); ++round) {
    for (std::size_t i = 0; i < data.plan().suite.cases.size(); ++i) {
      if (data.at(choice.student, choice.arm, i, round).figures == nullptr) return round;
    }
  }
  return data.rounds(choice.student);
}

bool IsOpenContrast(const GateClause& clause, const RunData& data, const Choice& a, const Choice& b) {
  const Result<Contrast> contrast = MakeContrast(AnswersOf(data, a.student, a.arm), AnswersOf(data, b.student, b.arm));
  if (!contrast) return true;  // no complete round yet
  if (contrast->answers_repeat || contrast->too_many_excluded) return false;
  const double alpha = LookAlpha(data.plan());
  if (clause.kind == Kind::kLift) {
    const Interval range = contrast->Range(1.0 - 2.0 * alpha);
    return range.low <= clause.bound && range.high >= clause.bound;
  }
  const double border = GateBorder(clause, data.plan());
  return contrast->PAbove(border) > alpha && contrast->PBelow(border) > alpha;
}

bool IsOpenInGeneral(const RunData& data, std::size_t student, Arm arm) {
  const StudentVerdict verdict = JudgeRun(data, arm)[student];
  return verdict.word == Verdict::kHelps && verdict.general == Verdict::kUndecided && !verdict.answers_repeat &&
         verdict.new_cases_low.has_value();
}

bool IsOpenLoss(const GateClause& clause, const RunData& data, std::size_t student, Arm arm) {
  const auto loss = FindLargeLoss(data, student, arm, AlphaOfRegression(clause, data.plan()));
  return !loss || (loss->state == LossGuard::State::kOpen && !loss->answers_repeat);
}

std::array<Choice, 2> ChoicesIn(const GateClause& clause, const Plan& plan) {
  const auto find = [&](const GateChoice& choice) {
    return Choice{StudentNamed(plan, choice.model).value_or(0), choice.arm};
  };
  return {find(clause.choices.at(0)), find(clause.choices.at(1))};
}

bool NeedsRounds(const GateClause& clause, const RunData& data, std::size_t student) {
  if (clause.by_estimate || clause.unchanged) return false;
  const Plan& plan = data.plan();
  if (clause.kind == Kind::kContrast) {
    const auto [a, b] = ChoicesIn(clause, plan);
    if (a.student != student && b.student != student) return false;
    const Choice& own = a.student == student ? a : b;
    const Choice& other = a.student == student ? b : a;
    return RoundsTried(data, other) >= RoundsTried(data, own) && IsOpenContrast(clause, data, a, b);
  }
  if (!GateNames(clause, plan.students[student])) return false;
  const std::vector<Arm> arms = GateArms(clause, plan);
  return std::any_of(arms.begin(), arms.end(), [&](Arm arm) {
    if (clause.kind == Kind::kNotRegressed) return IsOpenLoss(clause, data, student, arm);
    if (clause.kind == Kind::kInGeneral) return IsOpenInGeneral(data, student, arm);
    if (clause.kind != Kind::kNotHurts && clause.kind != Kind::kLift) return false;
    return IsOpenContrast(clause, data, {student, Arm::kSkill}, {student, arm});
  });
}

}  // namespace

StopRule::StopRule(const RunData& data) : data_(&data), gate_(GateOf(data.plan())) {
  for (const Arm arm : data.plan().arms) {
    if (arm != Arm::kSkill && AwaitsVerdict(gate_, data.plan(), arm)) watches_.emplace_back(data, arm);
  }
  if (data.plan().arms.size() < 2) watches_.emplace_back(data, ComparedArm(data.plan()));  // never settled
}

bool StopRule::IsSettledAfter(int rounds, std::size_t student) {
  const bool settled = std::all_of(watches_.begin(), watches_.end(),
                                   [&](VerdictWatch& watch) { return watch.IsSettledAfter(rounds, student); });
  return settled && (!gate_ || !GateNeedsRounds(*gate_, *data_, student));
}

bool AwaitsVerdict(const std::optional<Gate>& gate, const Plan& plan, Arm arm) {
  const auto is_guard = [](const GateClause& clause) { return clause.kind == Kind::kNotRegressed; };
  if (!gate || std::none_of(gate->clauses.begin(), gate->clauses.end(), is_guard)) return true;
  return std::any_of(gate->clauses.begin(), gate->clauses.end(), [&](const GateClause& clause) {
    if (is_guard(clause) || clause.kind == Kind::kContrast || clause.kind == Kind::kPass) return false;
    const std::vector<Arm> arms = GateArms(clause, plan);
    return std::find(arms.begin(), arms.end(), arm) != arms.end();
  });
}

bool GateNeedsRounds(const Gate& gate, const RunData& data, std::size_t student) {
  return std::any_of(gate.clauses.begin(), gate.clauses.end(),
                     [&](const GateClause& clause) { return NeedsRounds(clause, data, student); });
}

std::vector<std::size_t> StudentsContrastedWith(const Gate& gate, const Plan& plan, std::size_t student) {
  std::vector<std::size_t> others;
  for (const GateClause& clause : gate.clauses) {
    if (clause.kind != Kind::kContrast || clause.by_estimate) continue;
    const auto [a, b] = ChoicesIn(clause, plan);
    if (a.student == b.student || (a.student != student && b.student != student)) continue;
    others.push_back(a.student == student ? b.student : a.student);
  }
  return others;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "eval/journal/run_data.h"
#include "stats/loss_guard.h"

namespace upskill {

struct CaseLoss {
  std::size_t case_index = 0;  // of Plan::suite.cases
  int before = 0;              // answers that passed in the arm compared with
  int after = 0;               // with the skill
};

// What a student's answers say of a large loss, compared with another arm (GateClause::Kind::kNotRegressed). Which
// rounds and cases count is as for verdicts (complete_rounds.h); cases with the same input are one unit, which passes
// if all of them do. A loss is shown only if it would be with all answers lost to errors told for the skill, too.
struct LargeLoss {
  LossGuard guard{0.0, true};
  LossGuard::State state = LossGuard::State::kOpen;
  bool answers_repeat = false;  // CompleteRounds::answers_repeat: more rounds would add none
  double before = 0.0;          // pass rates
  double after = 0.0;
  double p = 1.0;
  int units = 0;
  int rounds = 0;               // complete ones
  int most_rounds = 0;          // that are evidence, or may be
  std::vector<CaseLoss> cases;  // those that passed less often, the largest loss first

  std::vector<CaseLoss> Broken() const;  // those that lost at least half of their answers

  // The smallest loss that would be found in 90 % of the runs (LossGuard::FindableLoss).
  std::optional<double> Findable() const { return guard.FindableLoss(units, most_rounds, before); }
};

// `alpha`: of this student. Nothing without a complete round.
std::optional<LargeLoss> FindLargeLoss(const RunData& data, std::size_t student, Arm against, double alpha);

// "87 % → 30 %: c2, c3 and 4 more broke"; "87 % → 85 %" if no loss is shown.
std::string LargeLossText(const LargeLoss& loss, const Plan& plan);

}  // namespace upskill

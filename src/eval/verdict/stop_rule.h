// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "eval/journal/run_data.h"
#include "eval/verdict/gate.h"
#include "eval/verdict/verdict.h"

namespace upskill {

// Whether a run that may stop when decided waits for the verdict against this arm. With a clause `not-regressed`, only
// for verdicts and bounds that other clauses are about: such a gate is to end early.
bool AwaitsVerdict(const std::optional<Gate>& gate, const Plan& plan, Arm arm);

// Decides when a student of a growing run with Plan::stop_when_decided needs no more rounds: when everything that the
// run was asked to find out about it is settled. That is the verdict against each of the plan's other arms
// (AwaitsVerdict) and, beyond words, the clauses of the gate that are valid at every look (GateNeedsRounds). `data`
// must outlive it. Not thread-safe.
class StopRule {
 public:
  explicit StopRule(const RunData& data);

  // Takes the rounds below `rounds`, of all students; the student must have no later ones.
  bool IsSettledAfter(int rounds, std::size_t student);

 private:
  const RunData* data_;
  std::vector<VerdictWatch> watches_;  // by arm
  std::optional<Gate> gate_;
};

// Whether further rounds of this student could still decide a clause: not-regressed, not-worse, better, not-hurts and
// lift while neither the claim nor its contrary is shown, and helps-in-general where the skill helps. The other clauses
// need none: verdicts have a rule of their own, and bounds of passes, tokens, cost and seconds aren't valid in a run
// that ends because of them. Where the other student of a contrast has answered fewer rounds, further ones of this
// student alone add nothing.
bool GateNeedsRounds(const Gate& gate, const RunData& data, std::size_t student);

// The students that a contrast of the gate compares with this one: neither needs a round before the other has completed
// the previous one.
std::vector<std::size_t> StudentsContrastedWith(const Gate& gate, const Plan& plan, std::size_t student);

}  // namespace upskill

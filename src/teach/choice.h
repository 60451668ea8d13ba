// SPDX-License-Identifier: Apache-2.0
// Which candidate wins, by the figures alone: nothing here asks a model or writes a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "teach/candidate.h"
#include "util/result.h"

namespace upskill {

struct GenerateOutcome;

// Whether `a` should be chosen before `b`: the higher mean pass rate over students, at equal rates the fewer tokens.
bool IsBetter(const Candidate& a, const Candidate& b);

// The index of the best candidate on train, the first of equals. One that was not measured, or is shorter and lost
// answers, is beaten by any other that was measured; the first one stands when none was. `candidates` is not empty.
std::size_t BestOnTrain(const std::vector<Candidate>& candidates);

// The index of the one that becomes the skill: the best on train, or the latest when none was measured.
std::size_t ChosenCandidate(const std::vector<Candidate>& candidates);

// What is recorded of each candidate once `chosen` is known.
std::string StatusAfterChoice(const Candidate& candidate, bool chosen);

// Answers that passed on the cases that a candidate is screened on, in one round.
struct Screening {
  std::size_t passed = 0;
  std::size_t best_passed = 0;  // with the best so far
};

// A change is measured on all of train if more of the failing answers pass with it.
bool IsWorthMeasuring(const Screening& failing);
// A shorter skill is if none of the answers that passed is lost.
bool LosesNothing(const Screening& passing);

enum class AcceptRule { kHelps, kNeverWorse, kAny };
Result<AcceptRule> AcceptRuleFromName(const std::string& name);

// Why the chosen skill may not replace the existing one; empty: it may. `helps`: it helps a student against the
// existing version and hurts none. `never-worse`: it hurts none and its pass rate on the held-out cases isn't lower.
std::string ReasonToReject(const GenerateOutcome& outcome, AcceptRule rule);

}  // namespace upskill

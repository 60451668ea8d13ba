// SPDX-License-Identifier: Apache-2.0
// Which candidate wins, by the figures alone: nothing here calls a model or writes a file.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "teach/candidate.h"
#include "util/result.h"

namespace upskill {

struct GenerateOutcome;

// Whether `a` should be chosen over `b`: by the higher mean pass rate over students, then by fewer tokens,
// unless neither passes anything.
bool IsBetter(const Candidate& a, const Candidate& b);

// The index of the best candidate on train, the first if several are equal. Any measured candidate beats one that
// wasn't measured, or that is shorter and lost answers; if none was measured, the first. `candidates` is not empty.
std::size_t BestOnTrain(const std::vector<Candidate>& candidates);

// The index of the candidate that becomes the skill: the best on train, or the latest if none was measured.
std::size_t ChosenCandidate(const std::vector<Candidate>& candidates);

// The recorded status of a candidate after the choice.
std::string StatusAfterChoice(const Candidate& candidate, bool chosen);

// Passing answers to the cases that a candidate is screened on.
struct Screening {
  std::size_t passed = 0;
  std::size_t best_passed = 0;  // with the best candidate so far
  int rounds = 1;               // of `passed`
  int best_rounds = 1;          // of `best_passed`
};

// No further round is run with a change once fewer answers per round pass with it than with the best candidate.
bool FallsBehind(const Screening& failing);
// A change is measured on all of train if more of the failing answers pass with it, in as many rounds.
bool IsWorthMeasuring(const Screening& failing);
// A shorter skill is measured if no passing answer is lost.
bool LosesNothing(const Screening& passing);

enum class AcceptRule { kHelps, kNotWorse, kAny };
Result<AcceptRule> AcceptRuleFromName(const std::string& name);

// The loss, against the existing version, that `not-worse` must rule out if no other is given: a fraction.
inline constexpr double kAcceptMargin = 0.1;

// Why the chosen skill may not replace the existing one; empty: it may. `helps` requires that it helps at least one
// student compared with the existing version and hurts none; `not-worse` that a pass rate on the held-out cases lower
// by more than `margin` is ruled out for each student (one-sided, at the verdicts' alpha), and that one of the two
// passes at least one answer. docs/generate.md has how often that accepts what.
std::string ReasonToReject(const GenerateOutcome& outcome, AcceptRule rule, double margin = kAcceptMargin);

}  // namespace upskill

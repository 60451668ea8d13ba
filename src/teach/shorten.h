// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "eval/plan/plan.h"
#include "skill/skill_text.h"
#include "teach/generation_state.h"
#include "teach/train_trials.h"
#include "teach/trial.h"
#include "util/result.h"

namespace upskill {

// A shorter skill must be shown to lose at most this share of the answers to cases that passed, for each student, with
// an error probability of kShorterAlpha for each part that is left out (that of verdicts over kMaxShorter parts).
inline constexpr double kShorterMargin = 0.1;
inline constexpr std::size_t kMaxShorter = 4;
inline constexpr double kShorterAlpha = VerdictOptions().alpha / kMaxShorter;

// How many answers must all pass to show that: the smallest n with (1 − margin)^n ≤ alpha. For answers to cases that
// differ it is an upper bound of the error probability (W. Hoeffding, Ann. Math. Statist. 27 (1956) 713).
std::size_t AnswersToShow(double margin, double alpha);

// Whether some student passes more train cases with the skill than without, beyond chance (one-sided, at the verdicts'
// alpha). Only then is there something that a shorter skill could be shown to keep.
bool BeatsBaseline(const Trial& with_skill, const Trial& with_baseline);

// Tries to leave out parts of the best candidate, one at a time, those first that right answers use least. A part is
// left out if all answers pass to the cases that the longer skill always passed, as many as AnswersToShow in rounds
// that neither skill was chosen by, and if no other passing answer is lost. A skill that isn't shown to beat the
// baseline stays as it is. Errors: as for RunTrial.
Status LeavePartsOut(GenerationState& state, TrainTrials& trials);

// Removes files that the longer text (`before`) names and the shorter doesn't, by its body or a file that stays.
void DropUnnamedFiles(const std::string& before, SkillText& skill);

}  // namespace upskill

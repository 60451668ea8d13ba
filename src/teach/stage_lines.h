// SPDX-License-Identifier: Apache-2.0
// Progress lines of a generation's stages, without the stage's label.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "skill/suite.h"
#include "teach/body_target.h"
#include "teach/candidate.h"
#include "teach/choice.h"
#include "teach/draft.h"
#include "teach/material.h"

namespace upskill {

// "about 486 tokens".
std::string TokensText(std::size_t tokens, const BodyTarget& target);

// "adding · about 486 tokens · 7 rules, all citing a source". `unsupported`: the texts of rules that were left out.
std::string DraftLine(const Candidate& candidate, const Draft& draft, const std::vector<std::string>& unsupported,
                      const Material& material, const BodyTarget& target);

// "14 sound, 2 rejected (for example …)"; of cases whose kind is known, also how many ask for work and are transfers.
std::string CasesLine(const std::vector<Case>& sound, const std::vector<std::string>& rejected);

// "8 train tests, 8 held out".
std::string SplitLine(std::size_t train, std::size_t held_out);

// "candidate 3 (edit, 480 tokens)  haiku 40 → 65 %  best so far". `without`: the rate without a skill, by student.
std::string TrainLine(const Candidate& candidate, const std::vector<std::string>& students,
                      const std::vector<double>& without, bool best, const BodyTarget& target);

// The recorded status of a candidate that was screened out, and its progress line.
std::string ScreenedOutStatus(const Candidate& candidate, const Screening& screening);
std::string ScreenedOutLine(const Candidate& candidate);

// "haiku: 3 of 4 answers pass with the reference answers in place of the skill". `rate`: the share that passed.
std::string ProbeLine(const std::string& student, double rate, std::size_t answers);

// "all 16 answers pass without a skill: nothing to learn".
std::string NothingToLearnLine(std::size_t answers);
std::string PassedNothingLine(const std::string& student, std::size_t answers);

// "attempt 1 of 3: sonnet is shown 4 failing tests".
std::string AttemptLine(int attempt, int attempts, const std::string& teacher, std::size_t failing);

// "candidate 3 (edit), measured once on the 8 held-out tests".
std::string VerdictLine(const Candidate& candidate, std::size_t held_out);

// The sources of a rule of the draft: "RULE: PLACE PLACE".
std::string ProvenanceLine(const Rule& rule, const Material& material);

}  // namespace upskill

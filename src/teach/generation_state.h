// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "skill/skill_text.h"
#include "teach/generate.h"
#include "teach/generation_budget.h"
#include "teach/material.h"
#include "teach/rule.h"
#include "teach/trial.h"
#include "util/result.h"

namespace upskill {

// What the stages of a generation share. `input` must outlive it. Not thread-safe.
struct GenerationState {
  explicit GenerationState(const GenerateInput& from);

  const GenerateInput& input;
  const GenerateOptions& options;
  const Material& material;
  TrialContext trials;  // with the students that are able to use the skill
  GenerationBudget budget;
  GenerateOutcome out;
  std::vector<std::size_t> train;  // indices of the cases that the skill is refined on

  // A line of progress under the stage's label.
  void Say(std::string_view stage, const std::string& line) const;

  // Whether there are students and cases to measure them on.
  bool measures() const;

  // For teachers: "haiku, smollm2-135m; an answer has at most 512 tokens". Without the models' details: they tell
  // --jobs, which may change when a generation is resumed, and another prompt would be paid for again. Empty without
  // students.
  std::string StudentsText() const;

  // Returns its index in out.candidates. `parent`: the candidate's id, or -1.
  std::size_t AddCandidate(const std::string& kind, int parent, const std::string& why, SkillText skill,
                           std::vector<Rule> rules = {});

  // A trial within the budget; for errors see RunTrial.
  Result<Trial> Try(const SkillText& skill, TrialSpec spec);
  Result<Trial> Try(TrialSpec spec);

  // Removes a student from the trials; returns its name.
  std::string DropStudent(std::size_t index);
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>

#include "eval/journal/sample.h"
#include "eval/plan/plan.h"
#include "util/rng.h"
#include "verdict_claims.h"

namespace upskill {

// A plan of one student, with and without the skill, on cases that differ.
inline Plan SimulatedPlan(int cases, int rounds) {
  Plan plan;
  plan.students.push_back({"student", "student", "student"});
  plan.arms = {Arm::kBaseline, Arm::kSkill};
  plan.rounds = rounds;
  plan.verdict.alpha = kAlpha;
  for (int i = 0; i < cases; ++i) {
    Case& test_case = plan.suite.cases.emplace_back();
    test_case.id = fmt::format("case-{}", i);
    test_case.input = fmt::format("question {}", i);  // equal inputs would count once
  }
  return plan;
}

// A sample of a cell, with neither an answer nor an error yet.
inline Sample SampleOf(const Plan& plan, std::size_t student, std::size_t case_index, Arm arm, int round) {
  Sample sample;
  sample.student = plan.students[student].spec;
  sample.case_id = plan.suite.cases[case_index].id;
  sample.arm = arm;
  sample.round = round;
  return sample;
}

inline void SetAnswer(bool passes, std::string text, Sample& sample) {
  sample.response.text = std::move(text);
  sample.checks = {{"check", passes ? Outcome::kPass : Outcome::kFail, ""}};
}

}  // namespace upskill

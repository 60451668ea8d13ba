// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "eval/plan/plan.h"
#include "eval/plan/prompts.h"
#include "support/stepping_clock.h"
#include "util/invariant.h"

namespace upskill {

// For tests: a plan of two arms with `cases` cases "case-1", "case-2", …; case N is passed by an answer with "right N".
inline Plan MakeTestPlan(int cases, int rounds = 1, const std::vector<std::string>& students = {"fake"}) {
  Json list = Json::array();
  for (int i = 1; i <= cases; ++i) {
    const std::string number = std::to_string(i);
    list.push_back({{"input", "question " + number}, {"expected", {{"contains", "right " + number}}}});
  }
  Plan plan;
  Result<Suite> suite = ParseSuite(DumpJson(list), "suite.json");
  CHECK(suite.ok());
  plan.suite = std::move(suite).value();
  Skill skill;
  skill.name = "test-skill";
  skill.folder = "skills/test-skill";
  skill.body = "Answer right.";
  plan.skill = Snapshot(skill);
  for (const std::string& student : students) plan.students.push_back({student, student, "fake:" + student});
  plan.arms = {Arm::kBaseline, Arm::kSkill};
  plan.rounds = rounds;
  plan.system_prompt = BuiltInSystemPrompt();
  return plan;
}

}  // namespace upskill

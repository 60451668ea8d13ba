// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "eval/journal/sample.h"
#include "eval/plan/plan.h"
#include "eval/verdict/judged_run.h"
#include "util/invariant.h"

namespace upskill {

// For tests: a small run. In the baseline, case "easy" passes and "hard" fails; with the skill both pass, but one
// answer of "hard" is an error.
struct TestRun {
  TestRun() {
    Result<Suite> suite = ParseSuite(R"([
      {"id": "easy", "input": "What is 2 + 2?", "expected": {"contains": "4"}},
      {"id": "hard", "input": "Write the manifest.", "expected": {"contains": "edition = 5"}}])",
                                     "suite.json");
    CHECK(suite.ok());
    plan.run = "2026_11_21_10_12_33-abcd";
    plan.created = "2026-11-21T10:12:33Z";
    plan.suite = std::move(suite).value();
    plan.skill = {"manifests", "skills/manifests", std::string(700, 'x'), "0", "", ""};
    plan.students = {{"sim:base=0.4", "student", "sim:1:base=0.4"}};
    plan.arms = {Arm::kBaseline, Arm::kSkill};
    plan.rounds = 2;
    for (int round = 0; round < 2; ++round) {
      Add("easy", Arm::kBaseline, round, "4");
      Add("easy", Arm::kSkill, round, "4");
      Add("hard", Arm::kBaseline, round, "edition = 2");
      Add("hard", Arm::kSkill, round, "edition = 5");
    }
    samples.back().error = Error{ErrorKind::kUnavailable, "overloaded"};
    samples[2].response.stop = StopReason::kLength;
  }

  void Add(const std::string& case_id, Arm arm, int round, const std::string& answer) {
    Sample sample;
    sample.student = plan.students[0].spec;
    sample.case_id = case_id;
    sample.arm = arm;
    sample.round = round;
    sample.response.text = answer;
    sample.response.usage = {arm == Arm::kSkill ? 230 : 30, 0, 0, arm == Arm::kSkill ? 12 : 16, 0};
    for (const Case& test_case : plan.suite.cases) {
      if (test_case.id != case_id) continue;
      const Result<CaseChecks> checks = CaseChecks::Make(test_case);
      CHECK(checks.ok());
      sample.checks = checks->Run(answer);
    }
    samples.push_back(std::move(sample));
  }

  // As if the model didn't report tokens.
  void ForgetTokens() {
    for (Sample& sample : samples) sample.response.usage = {};
  }

  JudgedRun judged() const { return Judge(RunData(plan, samples)); }

  Plan plan;
  std::vector<Sample> samples;
};

// For tests: one of two cases has lost all of its answers since the previous version, the other one of five.
inline TestRun BrokenRun(const std::string& gate) {
  TestRun run;
  run.plan.arms = {Arm::kPrevious, Arm::kSkill};
  run.plan.terms.gate = gate;
  run.plan.rounds = 5;
  run.plan.suite.cases[1].id = "c|2";
  run.samples.clear();
  for (int round = 0; round < 5; ++round) {
    const std::string distinct = " " + std::to_string(round);
    run.Add("easy", Arm::kPrevious, round, "4" + distinct);
    run.Add("easy", Arm::kSkill, round, (round == 0 ? "five" : "4") + distinct);
    run.Add("c|2", Arm::kPrevious, round, "edition = 5" + distinct);
    run.Add("c|2", Arm::kSkill, round, "<b>unknown</b>" + distinct);
  }
  return run;
}

// Text that must never reach a terminal unescaped.
inline constexpr const char* kHostile = "evil\x1b[2J\r\nname\x07\u202E";

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "eval/verdict/choice_answers.h"
#include "eval/verdict/judged_run.h"
#include "support/plan_fixture.h"

namespace upskill {

// For tests: whether a cell passes.
using PassRule = std::function<bool(std::size_t student, Arm arm, std::size_t case_index, int round)>;

// A run of the plan in which every cell is answered, each with another text; 100 tokens, or 200 with the skill.
inline RunData AnsweredRun(const Plan& plan, const PassRule& passes) {
  std::vector<Sample> samples;
  for (std::size_t student = 0; student < plan.students.size(); ++student) {
    for (int round = 0; round < plan.rounds; ++round) {
      for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
        for (const Arm arm : plan.arms) {
          Sample sample;
          sample.student = plan.students[student].spec;
          sample.arm = arm;
          sample.case_id = plan.suite.cases[i].id;
          sample.round = round;
          sample.response.text = "answer " + std::to_string(round);
          sample.response.usage.input = arm == Arm::kSkill ? 180 : 80;
          sample.response.usage.output = 20;
          sample.response.seconds = 1.0;
          sample.checks = {{"check", passes(student, arm, i, round) ? Outcome::kPass : Outcome::kFail, ""}};
          samples.push_back(std::move(sample));
        }
      }
    }
  }
  return RunData(plan, std::move(samples));
}

// A choice with `rounds` rounds of `cases` cases; the first `losses` cells, round by round, fail.
inline ChoiceAnswers MakeAnswers(const std::string& name, int cases, int rounds, int losses = 0, double cost = 0.001) {
  ChoiceAnswers answers;
  answers.model = answers.name = name;
  answers.run = "run";
  answers.skill = "s";
  for (int i = 0; i < cases; ++i) {
    answers.cases.push_back("case-" + std::to_string(i + 1));
    answers.questions.push_back("question " + std::to_string(i + 1));
    answers.requests.push_back(answers.questions.back());
  }
  for (int round = 0; round < rounds; ++round) {
    std::vector<ChoiceAnswer>& row = answers.rounds.emplace_back();
    for (int i = 0; i < cases; ++i) {
      ChoiceAnswer answer;
      answer.state = ChoiceAnswer::State::kAnswered;
      answer.passed = losses-- <= 0;
      answer.text = static_cast<std::uint64_t>(round);
      answer.tokens = 100.0 + i;
      answer.output_tokens = 20.0 + i;
      answer.seconds = 1.0;
      answer.cost_usd = cost * (1.0 + 0.01 * i);
      row.push_back(answer);
    }
  }
  return answers;
}

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eval/journal/run_data.h"

namespace upskill {

// What a contrast needs of one cell.
struct ChoiceAnswer {
  enum class State : std::uint8_t { kOpen, kFailed, kAnswered };  // kFailed: the final sample is an error

  State state = State::kOpen;
  bool passed = false;
  bool lost = false;       // an attempt failed with an error that may depend on the answer (RunData::AssumeLost)
  std::uint64_t text = 0;  // equal for equal answers; 0: not known
  double seconds = 0.0;
  std::optional<double> tokens;  // prompt and output; like those below, absent where unknown
  std::optional<double> output_tokens;
  std::optional<double> cost_usd;
};

// The answers of one choice, that is of one student in one arm ("haiku with the skill"), without their texts: small
// enough to be kept for many runs. Owns everything; independent of the run it was made from.
struct ChoiceAnswers {
  std::string model;  // Student::spec
  std::string name;   // Student::name
  Arm arm = Arm::kBaseline;
  std::string run;
  std::string skill;                   // its name
  std::vector<std::string> cases;      // their ids
  std::vector<std::string> questions;  // by case: equal for cases with the same id, input, files and checks
  std::vector<std::string> requests;   // by case: equal for cases that ask a model the same, whatever their checks
  std::string system_prompt;
  int max_tokens = 0;  // of an answer
  std::optional<double> temperature;
  bool greedy = false;    // at temperature 0
  bool any_look = false;  // the number of rounds may depend on the answers (RoundsMayDependOnAnswers)
  std::vector<std::vector<ChoiceAnswer>> rounds;  // by round and case

  // "haiku with the skill", "opus without the skill".
  std::string label() const;
  // Passed answers among those given; nothing without answers.
  std::optional<double> rate() const;
};

// "with the skill", "without the skill", "with the placebo", "with the previous version".
const char* ArmPhrase(Arm arm);

// How many cases have one answer in all rounds: in two or more of them, or at temperature 0 in one. Answers without a
// text (of an imported run) aren't known to be equal above temperature 0.
std::size_t CountCopied(const ChoiceAnswers& answers);

ChoiceAnswers AnswersOf(const RunData& data, std::size_t student, Arm arm);
// Of every student and arm of the plan, in its order.
std::vector<ChoiceAnswers> ChoicesOf(const RunData& data);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "eval/verdict/choice_answers.h"
#include "eval/verdict/contrast.h"
#include "report/terminal/style.h"
#include "util/json.h"

namespace upskill {

// A choice by name.
struct ChoiceName {
  std::string run;
  std::string model;  // Student::spec
  std::string label;  // "haiku with the skill"
  Arm arm = Arm::kSkill;
};

// A contrast of B with A: B's pass rate minus A's.
struct NamedContrast {
  ChoiceName a;
  ChoiceName b;
  std::optional<Contrast> contrast;  // of B (its first choice) with A
  std::string problem;               // why there is no contrast
};

NamedContrast ContrastBWithA(const ChoiceAnswers& a, const ChoiceAnswers& b);

// What a contrast shows, each at one-sided level alpha and by itself. Printed and part of JSON: never rename.
enum class ContrastWord { kBetter, kNotWorse, kWorse, kNotShown };
ContrastWord WordFor(const Contrast& contrast, double margin, double alpha = VerdictOptions().alpha);
const char* ContrastWordName(ContrastWord word);  // "better", "not worse", "worse", "not shown"

// One row per contrast: difference with its interval, what it shows, and the ratios of tokens, cost and time.
TerminalText ContrastsText(std::span<const NamedContrast> contrasts, double margin, const Style& style);
Json ContrastsToJson(std::span<const NamedContrast> contrasts, double margin);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "prompts/prompts.h"
#include "skill/suite.h"
#include "teach/material.h"
#include "teach/teacher.h"
#include "trace/digest/digest.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Cases for a generated suite, and the reasons why others were rejected.
struct VettedCases {
  std::vector<Case> cases;
  std::vector<std::string> rejected;  // "INPUT: reason"
};

// A request apart from case and white space.
std::string NormalInput(const std::string& text);

// Adds a case if FindCaseWeaknesses finds none and it isn't a duplicate (the same input apart from case and white
// space); otherwise records why it was rejected. Makes its id unique.
void TakeCase(Case test_case, VettedCases& vetted);

// Schema of a teacher's cases: {input, contains, any_of, not_contains, reference, cites}. `tight`: short cases with
// `contains` alone, after an answer that was cut off or unusable.
Json CasesSchema(std::size_t most, bool tight = false);
Result<Case> CaseFromTeacher(const Json& json);

struct CaseOptions {
  std::size_t cases = 16;
  const Prompts* prompts = &BuiltInPrompts();
  std::size_t context_tokens = kDefaultDigestTokens;
  int tries = 3;  // requests for replacements of rejected cases
};

// Asks the teacher for cases from the task and the material, without showing it a skill. If the material has items, a
// case that cites none of them is rejected.
Result<VettedCases> WriteCases(Teacher& teacher, const Material& material, const CaseOptions& options);

// Indices of the held-out cases: the fraction `holdout`, drawn by `seed` and the inputs; at least one, and never all of
// two or more cases.
std::vector<std::size_t> HeldOut(const std::vector<Case>& cases, double holdout, std::uint64_t seed);

// A suite of some of the cases.
Suite SuiteOf(const std::vector<Case>& cases, const std::vector<std::size_t>& indices);

}  // namespace upskill

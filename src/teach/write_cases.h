// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "skill/suite.h"
#include "teach/material.h"
#include "teach/teacher.h"
#include "trace/digest/digest.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Cases that may enter a generated suite, and why others may not.
struct VettedCases {
  std::vector<Case> cases;
  std::vector<std::string> rejected;  // "INPUT: reason"
};

// Takes a case in if it is sound by FindCaseWeaknesses and no duplicate (the same input but for case and white space);
// else says why not. Its id becomes unique.
void TakeCase(Case test_case, VettedCases& vetted);

// {input, contains, any_of, not_contains, reference} as a teacher gives a case. `tight`: short ones with `contains`
// alone, for a teacher that found no end.
Json CasesSchema(std::size_t most, bool tight = false);
Result<Case> CaseFromTeacher(const Json& json);

struct CaseOptions {
  std::size_t cases = 16;
  std::size_t context_tokens = kDefaultDigestTokens;
  int tries = 3;  // times that rejected cases are written again
};

// Asks the teacher for cases from the task and the material. It is not shown any skill.
Result<VettedCases> WriteCases(Teacher& teacher, const Material& material, const CaseOptions& options);

// Indices of the cases that are held out: `holdout` of them (a fraction), drawn by `seed` and the inputs; at least one
// and never all of two or more cases.
std::vector<std::size_t> HeldOut(const std::vector<Case>& cases, double holdout, std::uint64_t seed);

// A suite of some of the cases.
Suite SuiteOf(const std::vector<Case>& cases, const std::vector<std::size_t>& indices);

}  // namespace upskill

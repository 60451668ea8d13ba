// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "eval/verdict/round_evidence.h"

namespace upskill {

struct StudentVerdict;

// The mean lift of each unit (distinct input) over the first `rounds` rounds.
std::vector<double> LiftsOfUnits(const RoundEvidence& evidence, std::size_t rounds);

// The mean of those for each source, since cases from one source aren't independent.
std::vector<double> LiftsOfSources(const RoundEvidence& evidence, std::size_t rounds);

// P-values of "on cases like these, the mean lift is at most 0" and "at least 0". The cases are the sample: their units
// (of several from one source, their mean) are independent draws from all cases that the suite stands for, whose lifts
// may have any distribution, so that copies of answers don't add evidence. The test is made after a few scheduled
// rounds only, each with its share of alpha; the p-value is the smallest over the looks so far, divided by the share. 1
// with fewer than kFewestCasesForNew units.
struct GeneralPValues {
  double helps = 1.0;
  double hurts = 1.0;
};
GeneralPValues GeneralPValuesOf(const RoundEvidence& evidence);

// Leaves StudentVerdict::general only beside the same word on these cases, and only while the interval for new cases
// leaves out 0: a test that decided after an early look says nothing against what came later. Otherwise moves it to
// general_withheld. May be called again after the word has changed.
void WithholdGeneral(StudentVerdict& verdict);

}  // namespace upskill

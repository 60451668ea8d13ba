// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "eval/journal/run_data.h"
#include "stats/agreement.h"

namespace upskill {

// What the judge's errors would make of a student's lift (the skill against ComparedArm), as a fraction, if it errs
// equally often in both arms: each judged answer counts (passed − (1 − specificity)) / (sensitivity + specificity − 1),
// whose mean is that of the true outcome (W. J. Rogan and B. Gladen, American J. Epidemiology 107 (1978) 71). Answers
// that failed before they were judged, and cases without a judge, count as they are.
//
// The interval for these cases holds with 95 % together with the exact intervals of the judge's rates (Bonferroni): it
// is the widest over the corners of those. Returns nothing if the judge wasn't compared with people on every rubric of
// the run, if that shows it to err more often in one arm, or doesn't show it to be better than chance, if a case has
// more than one judge check, one in a group or a comparison with the reference, or if the run may stop when decided,
// since the interval is for a fixed number of rounds.
std::optional<AgreementEstimate> JudgeCorrectedLift(const RunData& data, std::size_t student);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cluster/job_engine.h"
#include "util/result.h"

namespace upskill {

// Whether an option may be passed on to sbatch. Errors (kInput): upskill sets it itself, sbatch might take it for an
// abbreviation of one that upskill sets, or a value is missing or too much. Options that aren't sbatch's own pass: a
// cluster's plugins add some.
Status CheckSbatchOption(const JobOption& option);

}  // namespace upskill

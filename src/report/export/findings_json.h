// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "eval/verdict/case_findings.h"
#include "util/json.h"

namespace upskill {

// Adds to a student's object of `eval --json` what a run shows about single cases and groups of them: `fixed_cases`,
// `broken_cases`, `tags`, `pass_at_k`, `drift` and `train_cases` (docs/output.md).
void PutFindings(const CaseFindings& findings, Json& student);

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/eval_session.h"
#include "util/result.h"

namespace upskill {

// For a run that is resumed. One without an answer has taken no share of alpha, and others may have since it started:
// it gets the share that is left. Errors: the ledger can't be read or written, nor the plan.
Status ShareAlphaAgain(EvalSession& session);

}  // namespace upskill

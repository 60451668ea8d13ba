// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/eval_options.h"
#include "cli/eval_session.h"

namespace upskill {

// The command that resumes the session's run, with the same limits and gate.
std::string ResumeLine(const EvalOptions& options, const EvalSession& session);

}  // namespace upskill

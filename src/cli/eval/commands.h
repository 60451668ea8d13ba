// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/options/command.h"

namespace upskill {

Command QuickstartCommand();
Command EvalCommand();
Command BenchmarkCommand();
Command PlanCommand();
Command CheckCommand();
Command JudgeCheckCommand();
Command RecheckCommand();
Command SelftestCommand();

}  // namespace upskill

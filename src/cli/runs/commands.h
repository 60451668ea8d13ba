// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/options/command.h"

namespace upskill {

Command TraceCommand();
Command RunsCommand();
Command ReportCommand();
Command CompareCommand();
Command MergeCommand();
Command ImportCommand();

}  // namespace upskill

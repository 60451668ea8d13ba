// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/options/command.h"

namespace upskill {

Command ToolchainCommand();
Command KernelCommand();
Command DoctorCommand();

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/options/command.h"

namespace upskill {

Command GenerateCommand();
Command DeskCommand();
Command TeachCommand();
Command ImproveDescriptionCommand();

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/options/command.h"

namespace upskill {

Command PromptsCommand();
Command CompletionCommand();
Command ManCommand();
Command HelpCommand();

}  // namespace upskill

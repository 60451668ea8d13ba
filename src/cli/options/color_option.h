// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

// --color auto|always|never
void AddColorOption(CLI::App& command, ColorMode& mode);

}  // namespace upskill

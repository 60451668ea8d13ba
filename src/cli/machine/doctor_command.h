// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/env/env.h"
#include "cli/options/color_option.h"

namespace CLI {
class App;
}

namespace upskill {

struct DoctorOptions {
  bool check = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

void AddDoctorCommand(CLI::App& app, DoctorOptions& options);
// Fails (kFailed) if something is broken; what is only absent doesn't count.
ExitCode RunDoctor(const DoctorOptions& options, Env& env);

}  // namespace upskill

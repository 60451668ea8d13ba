// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/color_option.h"
#include "cli/env.h"

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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"

namespace upskill {

// One thing that `upskill doctor` has looked at.
struct Finding {
  enum class State { kReady, kAbsent, kBroken };
  std::string area;  // Models
  std::string name;  // default model
  State state = State::kReady;
  std::string text;    // what was found; never a key
  std::string remedy;  // what to do about it, if anything is to be done
};

const char* FindingStateName(Finding::State state);

// What this machine has that upskill uses, in the order of areas: models, checks, folders, settings. Servers on this
// machine are asked for their models; those of providers with a key only if `ask_providers`. Takes some seconds at
// most.
std::vector<Finding> LookAtMachine(const Env& env, bool ask_providers);

}  // namespace upskill

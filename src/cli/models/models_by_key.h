// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/env/env.h"

namespace upskill {

// What a key of the user's makes possible.
struct ModelsByKey {
  std::string teacher;  // the best model of its provider
  std::string student;  // a cheap one (Provider::student)
  std::string source;   // "ANTHROPIC_API_KEY"
};

// The models that commands use where none is named: those of the first provider with a key. A key alone spends nothing:
// callers need --max-cost, too, and say what was chosen. Nothing without a key.
std::optional<ModelsByKey> FindModelsByKey(const Env& env);

}  // namespace upskill

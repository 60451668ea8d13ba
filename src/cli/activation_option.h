// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "skill/suite.h"

namespace upskill {

// Whether, and among which skills, it is measured how students choose: options of `eval`.
struct ActivationChoice {
  bool on = false;
  std::vector<std::string> among;  // folders of other skills, or of several; empty: those next to the skill
  // Of `improve-description`:
  std::optional<std::string> description;  // instead of the skill's own
  Split split = Split::kUnknown;           // only these queries
};

}  // namespace upskill

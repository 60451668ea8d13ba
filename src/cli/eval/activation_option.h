// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace upskill {

// Whether, and among which skills, it is measured how students choose: options of `eval`.
struct ActivationChoice {
  bool on = false;
  std::vector<std::string> among;  // folders of other skills, or of several; empty: those next to the skill
};

}  // namespace upskill

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/model_spec.h"

namespace upskill {

// Whether a model runs in this process and costs nothing. A command, or whoever sits at a desk, may cost something.
inline bool RunsInProcess(const ModelSpec& spec) {
  return !spec.network() && spec.provider != "cmd" && spec.provider != "desk";
}

// The name that the prices of a model are listed under.
inline const std::string& PricedName(const ModelSpec& spec) { return spec.network() ? spec.model : spec.rest; }

}  // namespace upskill
